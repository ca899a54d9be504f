"""The agent's way in, from whatever a provider hands out."""

import base64
import json

import pytest
import yaml

from kubesim.serving.kubeconfig import kubeconfig
from sirocco.domains.kubernetes.agent_access import agent_access, environment_access, token_principal
from sirocco.errors import FaultKind, ProviderFault

CA = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"


def jwt(claims):
    return ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b"{}", json.dumps(claims).encode(), b"x")
    )


def test_a_kubeconfig_says_everything():
    text = kubeconfig("https://10.0.0.1:6443/x", CA, "tok", "shop")
    access = agent_access({"agent_credentials": {"type": "kubeconfig", "kubeconfig": text}})
    assert (access.server, access.token, access.namespace, access.authority) == (
        "https://10.0.0.1:6443/x",
        "tok",
        "shop",
        CA,
    )


def test_an_endpoint_and_a_token_do_too():
    access = agent_access({"agent_endpoint": "https://10.0.0.1:6443/", "agent_credentials": {"token": "tok"}})
    assert (access.server, access.token, access.namespace) == ("https://10.0.0.1:6443", "tok", "default")


def test_options_of_a_kubeconfig_are_followed():
    document = json.loads(kubeconfig("https://10.0.0.1", CA, "tok", "shop"))
    document["clusters"][0]["cluster"] |= {"insecure-skip-tls-verify": True, "tls-server-name": "api"}
    access = agent_access({"agent_credentials": {"kubeconfig": yaml.safe_dump(document)}})
    assert not access.verify
    assert access.server_name == "api"


@pytest.mark.requirement("CO-01")
def test_a_kubeconfig_says_where_services_are_to_whoever_is_told_nothing_else():
    server = "https://10.0.0.1:6443/x"
    offered = {"metrics": f"{server}/services/metrics", "elsewhere": "https://10.0.0.2/y"}
    found = agent_access({"agent_credentials": {"kubeconfig": kubeconfig(server, "", "tok", "shop", services=offered)}})
    assert environment_access(found, {}, "e").services == {"metrics": "/services/metrics"}
    handed = {"services": {"traces": f"{server}/services/traces"}}
    assert environment_access(found, handed, "e").services == {"traces": "/services/traces"}


def test_what_other_tools_say_of_a_cluster_is_no_service():
    document = json.loads(kubeconfig("https://10.0.0.1", "", "tok", "shop"))
    noted = {"name": "cluster_info", "extension": {"provider": "https://10.0.0.1/other"}}
    document["clusters"][0]["cluster"]["extensions"] = [noted]
    found = agent_access({"agent_credentials": {"kubeconfig": json.dumps(document)}})
    assert environment_access(found, {}, "e").services == {}


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "answer",
    [{}, {"agent_credentials": None}, {"agent_endpoint": "https://a", "agent_credentials": {"token": ""}},
     {"agent_credentials": {"token": "tok"}}, {"agent_credentials": {"kubeconfig": "[]"}},
     {"agent_credentials": {"kubeconfig": ":\n- {"}}, {"agent_credentials": {"kubeconfig": {"a": 1}}},
     {"agent_credentials": {"kubeconfig": '{"clusters": [{"cluster": {"server": "https://a", "certificate-authority-data": "%"}}]}'}}],
)  # fmt: skip
def test_no_way_in_is_a_typed_fault(answer):
    with pytest.raises(ProviderFault, match="cannot reach the environment") as fault:
        agent_access(answer)
    assert fault.value.kind is FaultKind.MALFORMED


def test_a_service_accounts_token_names_its_account():
    assert (
        token_principal(jwt({"sub": "system:serviceaccount:shop:deploy-ops"}))
        == "system:serviceaccount:shop:deploy-ops"
    )
    for other in ("", "a.b", "a.b.c", jwt({"sub": "system:admin"}), jwt([1]), jwt({"sub": 7}), "é.é.é"):
        assert token_principal(other) == ""
