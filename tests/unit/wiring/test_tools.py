"""The tools of a model over an access to an API elsewhere, which has no endpoint for tools."""

import asyncio
from dataclasses import replace

import pytest

from builders import provision_request
from sirocco.domains.kubernetes.agent_access import HttpAgentClient, agent_access
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.observation import ObservationType
from sirocco.wiring import profile_source
from sirocco.wiring.serving import served_environments
from sirocco.wiring.tools import environment_tools

STATE = [
    {"resource": "deployment/web", "namespace": "shop", "replicas": 2},
    {"resource": "configmap/settings", "namespace": "shop", "data": {"a": "1"}},
]


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


def test_they_work_by_the_api_alone(profile):
    async def work():
        request = provision_request(*STATE, namespaces=["shop"])
        async with served_environments(profile, "127.0.0.1:0") as served, served.provision(request) as environment:
            text = environment.access.served.files["KUBECONFIG"]
            client = HttpAgentClient(agent_access({"agent_credentials": {"kubeconfig": text}}))
            access = replace(environment.access, client=client, served=None)
            async with environment_tools(KUBERNETES, lambda: "2026-01-05T09:00:00Z")(access) as tools:
                said = [
                    await tools.call(
                        "list_resources", {"kind": "configmaps", "field_selector": "metadata.name=settings"}
                    ),
                    await tools.call(
                        "patch_resource", {"kind": "configmap", "name": "settings", "patch": "data: {a: '2'}"}
                    ),
                    await tools.call("get_resource", {"kind": "secret", "name": "x/y"}),
                ]
            client.close()
            log = await environment.observe(ObservationType.AUDIT_LOG)
            return tools.offered, said, [entry["requestURI"] for entry in log.data["entries"]]

    offered, (listed, patched, wrong), asked = asyncio.run(work())
    assert {tool.name for tool in offered} >= {"list_resources", "query_metrics"}
    assert "settings" in listed.text
    assert "kube-root-ca" not in listed.text
    assert 'a: "2"' in patched.text
    assert wrong.failed
    assert any("?fieldSelector=metadata.name%3Dsettings" in uri for uri in asked)
