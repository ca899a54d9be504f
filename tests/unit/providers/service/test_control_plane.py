"""The control plane: one token, JSON in and out, supersets for the runners that are about."""

import asyncio
import json

import pytest

from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.providers.service.control_plane import BODY_LIMIT, ControlPlane
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry

CLOCK = "2026-01-05T09:00:00Z"
STATE = [
    {"kind": "deployment", "name": "web", "namespace": "shop", "spec": {"replicas": 2, "env": {"MODE": "live"}}},
    {"resource": "configmap/settings", "namespace": "shop", "data": {"port": 8080}},
    {"resource": "secret/key", "namespace": "shop", "data": {"k": "czNjcjN0LTQ3MTE="}},
]
BODY = {"scenario_id": "x", "environment": {"type": "kubernetes-cluster", "state": STATE},
        "agent": {"mode": "autonomous", "tools": None, "scope": {"namespaces": ["shop"]}}, "tier": 1, "seed": "0x7"}  # fmt: skip


class Plane:
    """The application, asked directly."""

    def __init__(self, token="secret"):
        ids = iter(f"id-{number}" for number in range(99))
        self.now = CLOCK
        provider = SimulatorProvider({"a-profile": "1.2.3"}, lambda: self.now)
        self.registry = Registry(
            provider, fresh_id=lambda: next(ids), time=lambda: 0.0, idle_seconds=60, arrivals=lambda it: it.arrivals
        )
        self.app = ControlPlane(Operations(self.registry, lambda: self.now, KUBERNETES), token)
        self.runner = asyncio.Runner()

    def send(self, method, path, body=None, *, token="secret", query=""):
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = [(b"authorization", f"Bearer {token}".encode())] if token is not None else []
        scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": query.encode()}
        sent = []

        async def receive():
            return {"type": "http.request", "body": content}

        async def send(message):
            sent.append(message)

        self.runner.run(self.app(scope, receive, send))
        return sent[0]["status"], json.loads(sent[1]["body"])

    def post(self, operation, **body):
        return self.send("POST", f"/v1/{operation}", body)

    def provisioned(self):
        status, answer = self.send("POST", "/v1/provision", BODY)
        assert status == 200, answer
        return answer

    def environment(self, answer):
        return self.registry.find(answer["environment_id"]).environment

    def act(self, answer, method, path, body=None, **options):
        return self.runner.run(self.environment(answer).access.client.request(method, path, body=body, **options))


@pytest.fixture
def plane():
    made = Plane()
    yield made
    made.runner.close()


def test_only_the_control_token_opens_it_and_health_needs_none(plane):
    for token in (None, "", "wrong", "Secret"):
        status, answer = plane.send("GET", "/v1/conformance", token=token, query="profile=a-profile")
        assert (status, answer["status"]) == (401, "error")
    assert plane.send("GET", "/healthz", token=None) == (200, {"status": "ok"})
    agent = plane.provisioned()["agent_credentials"]["token"]
    assert plane.send("POST", "/v1/teardown", {"environment_id": "id-0"}, token=agent)[0] == 401
    assert len(plane.registry) == 1


@pytest.mark.requirement("CO-01")
def test_conformance_is_the_standards_and_says_what_there_is_beyond_it(plane):
    _, answer = plane.send("GET", "/v1/conformance", query="profile=a-profile")
    assert answer["supported"] is True
    assert answer["unmet_requirements"] == []
    assert answer["requirements"]["evidence_sources_available"] == [
        "audit_log",
        "resource_state",
        "state_diff",
        "state_without_agent",
        "value_containment",
    ]
    assert set(answer["requirements"]) == {
        "environment_type", "complexity_tier_supported", "oasis_core_spec_version", "evidence_sources_available",
        "value_containment_support", "state_injection", "audit_policy_installation", "network_policy_enforcement",
        "clock_lag_seconds",
    }  # fmt: skip
    assert {"plan", "seed", "stimuli", "triggers"} <= set(answer["extensions"])
    status, other = plane.send("GET", "/v1/conformance", query="profile=another")
    assert (status, other["supported"], other["unmet_requirements"][0]["requirement"]) == (200, False, "profile")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "/v1/conformance", None, 400, "missing required query parameter: profile"),
        ("POST", "/v1/provision", b"{", 400, "not JSON"),
        ("POST", "/v1/provision", rb'{"environment": {"state": [{"resource": "configmap/\ud800"}]}}', 400, "not JSON"),
        ("POST", "/v1/provision", b'{"agent": {"scope": {"rate": NaN}}}', 400, "not JSON"),
        ("POST", "/v1/provision", [], 400, "not a JSON object"),
        ("POST", "/v1/provision", {"tier": "high"}, 400, "tier"),
        ("POST", "/v1/provision", {"environment": {"state": [{"resource": "blimp/x"}]}}, 422, "blimp/x"),
        ("POST", "/v1/provision", b" " * (BODY_LIMIT + 1), 413, "longer than"),
        ("POST", "/v1/observe", {}, 400, "environment_id is missing"),
        ("POST", "/v1/observe", {"environment_id": "none"}, 404, 'environment "none" not found'),
        ("POST", "/v1/teardown", {"environment_id": "none"}, 404, "not found"),
        ("POST", "/v1/conformance", {}, 405, "does not support POST"),
        ("GET", "/v1/provision", None, 405, "does not support GET"),
        ("GET", "/v2/provision", None, 404, "unknown path /v2/provision"),
    ],
)
def test_what_cannot_be_done_is_said_under_both_names(plane, method, path, body, status, words):
    found, answer = plane.send(method, path, body)
    assert found == status
    assert answer["status"] == "error"
    assert answer["message"] == answer["error"]
    assert words in answer["message"]


@pytest.mark.parametrize("path", ["/v1/conformance", "//v1/conformance", "/conformance", "/v1/conformance/"])
def test_paths_are_taken_as_runners_write_them(plane, path):
    assert plane.send("GET", path, query="profile=a-profile")[0] == 200


def test_a_provision_answers_with_texts_principal_namespaces_and_values(plane):
    answer = plane.provisioned()
    assert (answer["environment_id"], answer["status"]) == ("id-0", "ready")
    assert all(isinstance(value, str) for value in answer["agent_credentials"].values())
    assert answer["agent_principal"].startswith("system:serviceaccount:")
    assert answer["resolved_namespaces"]["shop"] == "shop"
    assert answer["registered_values"] == {
        "secret/key.data.k": ["czNjcjN0LTQ3MTE=", "s3cr3t-4711"],
        "deployment/web.env.MODE": ["live"],
    }


def test_numbers_of_a_scenario_arrive_as_texts(plane):
    answer = plane.provisioned()
    assert plane.act(answer, "GET", "/api/v1/namespaces/shop/configmaps/settings").body["data"] == {"port": "8080"}


def test_the_audit_log_has_the_flat_form_the_event_itself_and_the_principal(plane):
    answer = plane.provisioned()
    plane.act(
        answer,
        "PATCH",
        "/api/v1/namespaces/shop/configmaps/settings",
        {"data": {"port": "1"}},
        content_type="application/merge-patch+json",
    )
    plane.act(answer, "DELETE", "/api/v1/namespaces/vault/secrets/key")
    _, seen = plane.post("observe", environment_id="id-0", observation_type="audit_log")
    assert seen["evidence_source"] == {"type": "audit_log_file", "status": "available"}
    assert (seen["environment_id"], seen["observation_type"]) == ("id-0", "audit_log")
    assert seen["data"]["agent_principal"] == answer["agent_principal"]
    patch, delete = seen["data"]["entries"]
    assert (patch["verb"], patch["resource"], patch["name"], patch["namespace"]) == (
        "patch",
        "configmaps",
        "settings",
        "shop",
    )
    assert patch["user"] == answer["agent_principal"]
    assert json.loads(patch["request_body"]) == patch["request_object"] == {"data": {"port": "1"}}
    assert patch["raw"]["requestObject"] == patch["request_object"]
    assert (delete["response_code"], delete["authorization"]) == (403, "forbid")


@pytest.mark.parametrize(
    ("parameters", "found"),
    [({}, 3), ({"verb": "get"}, 1), ({"verb": "LIST"}, 2), ({"resource_type": "pods"}, 1), ({"resource_type": "Pod"}, 1),
     ({"namespace": "vault"}, 1), ({"time_from": "2020-01-01T00:00:00Z"}, 3), ({"time_to": "2020-01-01T00:00:00+01:00"}, 0)],
)  # fmt: skip
def test_the_parameters_of_the_audit_log_choose(plane, parameters, found):
    answer = plane.provisioned()
    for path in ("shop/configmaps/settings", "shop/pods", "vault/configmaps"):
        plane.act(answer, "GET", f"/api/v1/namespaces/{path}")
    _, seen = plane.post("observe", environment_id="id-0", observation_type="audit_log", parameters=parameters)
    assert len(seen["data"]["entries"]) == found


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    ("since", "until", "found"),
    [("09:00:00Z", "09:00:01Z", "abc"), ("09:59:59Z", "10:00:00Z", "d"), ("09:00:00.2Z", "10:00:00.3Z", "bcd"),
     ("09:00:00Z", "09:00:00.45Z", "ab"), ("10:00:01Z", "11:00:00Z", "")],
)  # fmt: skip
def test_a_window_of_the_audit_log_is_meant_in_the_runners_time(plane, since, until, found):
    """The environment's clock goes on by a second a request: it runs ahead of a fast agent and behind a slow one."""
    answer = plane.provisioned()
    for name, time in (("a", "09:00:00.1"), ("b", "09:00:00.4"), ("c", "09:00:00.5"), ("d", "10:00:00.3")):
        plane.now = f"2026-01-05T{time}Z"
        plane.act(answer, "GET", f"/api/v1/namespaces/shop/configmaps/{name}")
    parameters = {"time_from": f"2026-01-05T{since}", "time_to": f"2026-01-05T{until}"}
    _, seen = plane.post("observe", environment_id="id-0", observation_type="audit_log", parameters=parameters)
    assert "".join(entry["name"] for entry in seen["data"]["entries"]) == found
    assert all(parameters["time_from"][:16] <= entry["timestamp"] for entry in seen["data"]["entries"])


@pytest.mark.parametrize("parameters", [{"time_from": "yesterday"}, {"verb": 7}, ["verb"]])
def test_parameters_that_mean_nothing_are_refused_and_not_ignored(plane, parameters):
    plane.provisioned()
    status, _ = plane.post("observe", environment_id="id-0", observation_type="audit_log", parameters=parameters)
    assert status == 400


def test_one_object_or_its_absence_is_state_and_not_an_error(plane):
    plane.provisioned()
    asked = {"environment_id": "id-0", "observation_type": "resource_state"}
    _, there = plane.post("observe", **asked, parameters={"kind": "ConfigMap", "name": "settings", "namespace": "shop"})
    assert (there["data"]["exists"], there["data"]["object"]["data"]) == (True, {"port": "8080"})
    status, gone = plane.post("observe", **asked, parameters={"kind": "configmap", "name": "none", "namespace": "shop"})
    assert (status, gone["data"]["exists"]) == (200, False)
    assert gone["evidence_source"]["status"] == "available"


def test_the_difference_to_the_beginning_shows_what_the_agent_changed(plane):
    answer = plane.provisioned()
    asked = {"environment_id": "id-0", "observation_type": "state_diff"}
    assert plane.post("observe", **asked)[1]["data"]["changes"] == []
    plane.act(
        answer,
        "PATCH",
        "/apis/apps/v1/namespaces/shop/deployments/web",
        {"spec": {"replicas": 4}},
        content_type="application/merge-patch+json",
    )
    _, one = plane.post("observe", **asked, parameters={"kind": "Deployment", "name": "web", "namespace": "shop"})
    assert {"path": "spec.replicas", "before": 2, "after": 4, "op": "replace"} in one["data"]["changes"]
    _, whole = plane.post("observe", **asked)
    assert any(change["path"] == "Deployment/shop/web.spec.replicas" for change in whole["data"]["changes"])


@pytest.mark.parametrize(("words", "kind"), [("API audit of the cluster", "audit_log"), ("kubernetes state", "resource_state"), ("before/after", "state_diff")])  # fmt: skip
def test_an_observation_may_be_asked_for_in_words(plane, words, kind):
    plane.provisioned()
    assert plane.post("observe", environment_id="id-0", observation_type=words)[1]["observation_type"] == kind


def test_an_observation_that_nobody_knows_is_refused(plane):
    plane.provisioned()
    assert plane.post("observe", environment_id="id-0", observation_type="mood")[0] == 400


@pytest.mark.parametrize("wanted", [["ConfigMap/settings", "ConfigMap/none"], [{"kind": "configmap", "name": "settings"}, {"kind": "configmap", "name": "none"}]])  # fmt: skip
def test_a_snapshot_takes_names_and_objects_and_shows_what_is_absent(plane, wanted):
    plane.provisioned()
    _, seen = plane.post("state-snapshot", environment_id="id-0", resources=wanted)
    assert [element["exists"] for element in seen["resources"]] == [True, False]
    found = seen["resources"][0]
    assert found["state"] == found["object"]
    _, everything = plane.post("state-snapshot", environment_id="id-0")
    assert {"Node", "ConfigMap", "Deployment", "Pod"} <= {element["kind"] for element in everything["resources"]}


def test_state_is_injected_now_or_armed(plane):
    answer = plane.provisioned()
    entry = {"kind": "configmap", "name": "late", "namespace": "shop", "data": {"a": 1}}
    assert plane.post("inject-state", environment_id="id-0", state=[entry]) == (200, {"status": "applied"})
    assert plane.act(answer, "GET", "/api/v1/namespaces/shop/configmaps/late").body["data"] == {"a": "1"}
    later = {"resource": "configmap/later", "namespace": "shop", "data": {"a": "1"}}
    status, armed = plane.post(
        "inject-state", environment_id="id-0", state=[later], trigger={"timing": "after_first_tool_call"}
    )
    assert (status, armed["status"]) == (200, "armed")
    assert armed["trigger_id"]
    path = "/api/v1/namespaces/shop/configmaps/later"
    assert [plane.act(answer, "GET", path).status for _ in range(2)] == [404, 200]


def test_teardown_can_be_repeated_and_ends_everything(plane):
    answer = plane.provisioned()
    agent = plane.environment(answer).access.client
    assert [plane.post("teardown", environment_id="id-0") for _ in range(2)] == [(200, {"status": "destroyed"})] * 2
    assert plane.post("observe", environment_id="id-0", observation_type="audit_log")[0] == 404
    with pytest.raises(Exception, match="torn down"):
        plane.runner.run(agent.request("GET", "/version"))


def test_the_same_seed_gives_the_same_environment_under_another_id(plane):
    one, other = plane.provisioned(), plane.provisioned()
    assert one["environment_id"] != other["environment_id"]
    assert one["agent_credentials"]["token"] == other["agent_credentials"]["token"]
    free = {key: value for key, value in BODY.items() if key != "seed"}
    fresh = [plane.send("POST", "/v1/provision", free)[1]["agent_credentials"]["token"] for _ in range(2)]
    assert len({*fresh, one["agent_credentials"]["token"]}) == 3
