"""A user's kubeconfig: what it says, and what is said when it says too little."""

import base64
import sys

import pytest
import yaml

from sirocco.domains.kubernetes.cluster.kubeconfig_access import read_kubeconfig
from sirocco.errors import ConfigError

SERVER = "https://127.0.0.1:6443"


def kubeconfig(folder, user, **cluster):
    document = {
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_context_leads_to_its_server_with_its_token(tmp_path):
    (tmp_path / "ca.pem").write_text("the authority")
    path = kubeconfig(tmp_path, {"token": "word"}, **{"certificate-authority": "ca.pem"})
    access = read_kubeconfig(path, "mine")
    assert (access.server, access.token, access.authority) == (SERVER, "word", "the authority")
    assert access.is_loopback


@pytest.mark.parametrize(
    ("server", "is_here"),
    [("https://localhost:1", True), ("https://[::1]:1", True), ("https://10.0.0.1:1", False), ("https://a.b:1", False),
     ("https://127.0.0.1.example.com:1", False)],
)  # fmt: skip
def test_only_an_address_of_this_machine_is_loopback(tmp_path, server, is_here):
    path = kubeconfig(tmp_path, {"token": "word"}, server=server)
    assert read_kubeconfig(path, "mine").is_loopback is is_here


def test_a_client_certificate_may_stand_in_the_file_itself(tmp_path):
    encoded = base64.b64encode(b"pair").decode()
    path = kubeconfig(tmp_path, {"client-certificate-data": encoded, "client-key-data": encoded})
    access = read_kubeconfig(path, "mine")
    assert (access.certificate, access.key) == ("pair", "pair")


def test_a_program_may_give_the_token(tmp_path):
    told = '{"status": {"token": "fresh"}}'
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": [
        "-c", f"print('{told}')"]}  # fmt: skip
    assert read_kubeconfig(kubeconfig(tmp_path, {"exec": plugin}), "mine").token == "fresh"


@pytest.mark.parametrize(
    ("user", "cluster", "context", "problem"),
    [
        ({"token": "w"}, {}, "other", "no context 'other'"),
        ({}, {}, "mine", "neither a token nor a certificate"),
        ({"token": "w"}, {"server": "https://host/k8s/clusters/c-1"}, "mine", "has a path"),
        ({"token": "w"}, {"certificate-authority": "none.pem"}, "mine", "cannot be read"),
        ({"exec": {"command": "/none/such"}}, {}, "mine", "gives no credentials"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path, user, cluster, context, problem):
    with pytest.raises(ConfigError, match=problem):
        read_kubeconfig(kubeconfig(tmp_path, user, **cluster), context)
