"""What tools ask of the API and what they make of its answers, with an API that answers as it is told."""

import asyncio
import json

import pytest

from sirocco.domains.kubernetes.agent_plane import Reply
from sirocco.domains.kubernetes.tools.session import Session, ToolError
from sirocco.domains.kubernetes.tools.table import DESCRIPTIONS, TOOLS, call_tool
from sirocco.errors import ProviderFault


class Api:
    """Answers every request with the same reply, or fault, and keeps what it was asked."""

    def __init__(self, body=None, status=200, warnings=()):
        self.reply = body if isinstance(body, Exception) else Reply(status, body, warnings)
        self.asked = []

    async def request(self, method, path, **options):
        self.asked.append((method, path, options.get("body")))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def use(api, tool, **arguments):
    return asyncio.run(call_tool(Session(api, "shop", lambda: "2026-01-05T09:00:00Z"), tool, arguments))


def refusal(api, tool, **arguments):
    with pytest.raises(ToolError) as raised:
        use(api, tool, **arguments)
    return str(raised.value)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("query_metrics", {"query": 'up{app="a&b"}'}, "GET /services/metrics/api/v1/query?query=up%7Bapp%3D%22a%26b%22%7D"),
        ("list_alerts", {}, "GET /services/metrics/api/v1/alerts"),
        ("search_traces", {"service": "web", "limit": 5}, "GET /services/traces/api/traces?service=web&limit=5"),
        ("get_dashboard", {"uid": "a?b"}, "GET /services/dashboards/api/dashboards/uid/a%3Fb"),
        ("get_application", {"name": "shop"}, "GET /services/gitops/api/v1/applications/shop"),
        ("sync_application", {"name": "shop"}, "POST /services/gitops/api/v1/applications/shop/sync"),
        ("get_pipeline_logs", {"id": "build-7"}, "GET /services/ci/api/v1/pipelines/build-7/logs"),
        ("get_runbook", {"name": "restore"}, "GET /api/v1/namespaces/shop/configmaps/restore"),
        ("list_runbooks", {"namespace": "ops"}, "GET /api/v1/namespaces/ops/configmaps?labelSelector=app.kubernetes.io%2Fcomponent%3Drunbook"),
        ("exec_in_pod", {"pod": "web", "command": ["a", "b c"]}, "POST /api/v1/namespaces/shop/pods/web/exec?command=a&command=b+c&stdout=true&stderr=true"),
        ("get_pod_logs", {"pod": "web", "tail_lines": 0}, "GET /api/v1/namespaces/shop/pods/web/log?tailLines=0"),
        ("get_resource", {"kind": "nodes", "name": "n1", "namespace": "x"}, "GET /api/v1/nodes/n1"),
        ("get_resource", {"kind": "deployments.apps", "name": "web"}, "GET /apis/apps/v1/namespaces/shop/deployments/web"),
        ("get_resource", {"kind": "hpa", "name": "web", "api_version": "autoscaling/v1"}, "GET /apis/autoscaling/v1/namespaces/shop/horizontalpodautoscalers/web"),
    ],
)  # fmt: skip
def test_a_tool_asks_one_thing(tool, arguments, expected):
    api = Api({})
    use(api, tool, **arguments)
    [(method, path, _)] = api.asked
    assert f"{method} {path}" == expected


def test_a_restart_carries_the_time_of_the_environment():
    api = Api({})
    use(api, "restart_workload", kind="deployment", name="web")
    [(_, _, body)] = api.asked
    stamp = {"kubectl.kubernetes.io/restartedAt": "2026-01-05T09:00:00Z"}
    assert body == {"spec": {"template": {"metadata": {"annotations": stamp}}}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "Status", "message": "pods is forbidden"}, "pods is forbidden"),
        ({"status": "error", "errorType": "bad_data", "error": "parse error"}, "parse error"),
        ({"data": None, "errors": [{"code": 404, "msg": "trace not found"}]}, "trace not found"),
        ({"error": {"code": 5}}, '{"error": {"code": 5}}'),
        ("404 page not found\n", "404 page not found"),
        (None, "the server answered with status 403"),
    ],
)
def test_a_refusal_is_told_in_its_own_words(body, message):
    assert refusal(Api(body, 403), "list_alerts") == message


@pytest.mark.parametrize(("status", "read"), [(200, use), (403, refusal)])
def test_warnings_of_the_api_are_told(status, read):
    api = Api("said", status, ("policy: read me", "and me"))
    assert read(api, "list_alerts") == "Warning: policy: read me\nWarning: and me\nsaid"


def test_a_fault_of_the_environment_tells_nothing_of_it():
    fault = ProviderFault("request", "the environment was torn down", "use it inside its block only")
    assert refusal(Api(fault), "list_alerts") == "the server is currently unable to handle the request"


def test_an_object_too_deep_to_show_is_an_answer():
    deep = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert "too deeply nested" in refusal(Api(deep), "get_resource", kind="cm", name="x")


@pytest.mark.parametrize("body", [None, [], "text", 7, {"items": None}, {"kind": "Table"}])
@pytest.mark.parametrize("tool", ["get_resource", "list_resources", "describe_resource", "list_alerts", "get_pod_logs"])
def test_no_answer_makes_a_tool_fail(tool, body):
    arguments = {"list_resources": {"kind": "pods"}, "list_alerts": {}, "get_pod_logs": {"pod": "x"}}
    assert isinstance(use(Api(body), tool, **arguments.get(tool, {"kind": "pods", "name": "x"})), str)


def test_the_text_of_an_object_is_all_that_came_but_for_the_owners_of_fields():
    body = {"metadata": {"name": "x", "managedFields": [{"manager": "m"}], "annotations": {"note": "read — me"}}}
    assert (
        use(Api(body), "get_resource", kind="cm", name="x")
        == "metadata:\n  annotations:\n    note: read — me\n  name: x\n"
    )


def test_every_tool_is_described():
    assert all(len(text) > 15 for text in DESCRIPTIONS.values())
    for tool in TOOLS.values():
        schema = tool.input_schema()
        assert all(part.get("description") for part in schema["properties"].values())
        assert schema["additionalProperties"] is False
        assert '"title"' not in json.dumps(schema)
