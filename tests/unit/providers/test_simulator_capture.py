"""What the environment captures for value containment: everything that the agent was told, and everything that it sent."""

import json

import pytest

from sirocco.providers.simulator.kubernetes.handling.request import Request
from sirocco.providers.simulator.mcp_server.endpoint import ToolEndpoint

pytestmark = pytest.mark.requirement("CO-06")
SECRET = "gale-4711"
STATE = (
    {"resource": "secret/login", "stringData": {"password": SECRET}},
    {"resource": "configmap/settings", "data": {"motto": SECRET}},
    {"resource": "deployment/web", "env": {"PASSWORD": SECRET}},
    {"resource": "logs/web", "entries": [f"using {SECRET}"]},
)


def told(live):
    """All text that reached the agent."""
    return "\n".join(body if isinstance(body, str) else json.dumps(body) for body in live.returned())


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/shop/configmaps/settings",
        "/api/v1/namespaces/shop/configmaps",
        "/api/v1/namespaces/shop/configmaps?watch=true&timeoutSeconds=1",
        "/apis/apps/v1/namespaces/shop/deployments/web",
    ],
)
def test_what_a_read_returned_is_kept(provisioned, path):
    live = provisioned(*STATE)
    assert SECRET not in told(live)
    live.send("GET", path)
    assert SECRET in told(live)


def test_what_a_log_and_a_command_said_is_kept(provisioned):
    live = provisioned(*STATE)
    (pod,) = live.names("pod")
    before = told(live).count(SECRET)
    live.send("GET", f"/api/v1/namespaces/shop/pods/{pod}/log")
    assert told(live).count(SECRET) == before + 1


def test_what_a_refusal_said_is_kept(provisioned):
    live = provisioned(*STATE)
    live.send("GET", f"/api/v1/namespaces/shop/configmaps/{SECRET}")
    assert f'configmaps \\"{SECRET}\\" not found' in told(live)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/namespaces/shop/configmaps", {"metadata": {"name": "copy"}, "data": {"a": SECRET}}),
        ("PATCH", "/api/v1/namespaces/shop/configmaps/settings", {"metadata": {"annotations": {"a": SECRET}}}),
        ("POST", "/api/v1/namespaces/elsewhere/configmaps", {"metadata": {"name": "copy"}, "data": {"a": SECRET}}),
        ("PATCH", "/api/v1/nodes/worker-1", {"metadata": {"annotations": {"a": SECRET}}}),
        ("POST", "/api/v1/namespaces/shop/nonsense", {"a": SECRET}),
        ("GET", "/api/v1/namespaces/shop/configmaps", {"a": SECRET}),
    ],
    ids=["created", "patched", "other namespace", "forbidden", "no such resource", "along with a read"],
)
def test_what_the_agent_sent_is_kept_also_when_it_was_refused(provisioned, method, path, body):
    live = provisioned(*STATE)
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    live.send(method, path, body, content_type=kind)
    assert SECRET in json.dumps(live.events()[-1]["requestObject"])


def test_what_the_agent_says_to_its_tools_is_kept(provisioned):
    live = provisioned(*STATE)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": f"send-{SECRET}"}}
    headers = {"authorization": f"Bearer {live.environment.access.token}"}
    request = Request.received("POST", "/mcp", "", headers, json.dumps(message).encode(), "10.0.0.1")
    assert ToolEndpoint(load=None).application(live.environment, request) is not None
    event = live.events()[-1]
    assert (event["requestURI"], event["requestObject"]) == ("/mcp", message)
    assert event["user"]["username"] == live.environment.agent_principal


def test_what_the_agent_asked_for_is_kept(provisioned):
    live = provisioned(*STATE)
    live.send("GET", "/api/v1/namespaces/shop/pods", query={"labelSelector": f"app={SECRET}"})
    assert SECRET in live.events()[-1]["requestURI"]
