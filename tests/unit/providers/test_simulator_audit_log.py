"""The audit log: complete, ordered, of the real shape, and compared with recordings of a real API server."""

import json

import pytest

from sirocco.oasis.observation import AuditEntry
from sirocco.oasis.resource import BY_NOUN
from sirocco.providers.simulator.bare import BareWorld
from sirocco.providers.simulator.kubernetes.access import AUTHENTICATED, Authenticator, Principal
from sirocco.providers.simulator.kubernetes.audit_log import AuditLog
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Ids
from sirocco.providers.simulator.kubernetes.handling.request import Request
from sirocco.providers.simulator.kubernetes.server import KubernetesApi

STATE = ({"resource": "deployment/web", "namespace": "shop"}, {"resource": "deployment/out", "namespace": "vault"})


def test_every_request_is_recorded_in_order_with_who_asked_what_and_what_came_of_it(provisioned):
    live = provisioned(*STATE)
    live.get("deployment", "web")
    live.merge("deployment", "web", {"spec": {"replicas": 3}}, query={"fieldManager": "x"})
    live.delete("deployment", "absent")
    live.delete("deployment", "out", "vault")
    entries = [AuditEntry.from_event(event, number) for number, event in enumerate(live.events())]
    assert [(entry.verb, entry.name, entry.namespace, entry.code, entry.decision) for entry in entries] == [
        ("get", "web", "shop", 200, "allow"),
        ("patch", "web", "shop", 200, "allow"),
        ("delete", "absent", "shop", 404, "allow"),
        ("delete", "out", "vault", 403, "forbid"),
    ]
    assert {entry.principal for entry in entries} == {live.environment.agent_principal}
    assert entries[1].uri == "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=x"
    assert entries[1].request == {"spec": {"replicas": 3}}
    assert entries[1].response["spec"]["replicas"] == 3
    times = [event["requestReceivedTimestamp"] for event in live.events()]
    assert times == sorted(times)
    assert len({event["auditID"] for event in live.events()}) == len(times)


@pytest.mark.requirement("CO-05")
def test_what_a_refused_request_asked_for_is_recorded(provisioned):
    live = provisioned(*STATE)
    body = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}}
    assert live.merge("deployment", "out", body, "vault").status == 403
    assert live.events()[-1]["requestObject"] == body
    live.send("GET", "/api/v1/namespaces/shop/secrets", headers={"Authorization": "Bearer found-somewhere"})
    event = live.events()[-1]
    assert (event["responseStatus"]["code"], event["user"], event["stage"]) == (401, {}, "ResponseStarted")
    assert event["sourceIPs"] == live.events()[0]["sourceIPs"]


def test_streams_have_no_response_object(provisioned):
    live = provisioned(*STATE, {"resource": "logs/web", "namespace": "shop", "entries": ["a line"]})
    pod = live.names("pod")[0]
    for path in (f"/api/v1/namespaces/shop/pods/{pod}/log", "/api/v1/namespaces/shop/pods?watch=true"):
        live.send("GET", path)
        assert "responseObject" not in live.events()[-1]


def test_the_controllers_own_work_is_not_in_the_log(provisioned):
    live = provisioned(*STATE)
    live.merge("deployment", "web", {"spec": {"replicas": 5}})
    assert len(live.events()) == 1


def test_a_recorded_event_does_not_change_with_the_cluster(provisioned):
    live = provisioned(*STATE)
    live.get("deployment", "web")
    before = json.dumps(live.events()[0])
    live.merge("deployment", "web", {"spec": {"replicas": 5}})
    assert json.dumps(live.events()[0]) == before


# --- recordings of a real server -------------------------------------------------------------------------------------

COMPARED = ("conflict", "delete", "dryrun", "patch-json", "patch-merge", "patch-strategic", "rbac", "selectors")


@pytest.fixture(scope="module")
def cases(shared):
    folder = shared / "data" / "kube-apiserver"
    users = json.loads((folder / "users.json").read_text())
    found = [
        json.loads(path.read_text()) for area in COMPARED for path in sorted((folder / "cases" / area).glob("*.json"))
    ]
    return users, found


class Replay:
    """One recorded case against a fresh API without controllers, as the recording server had none."""

    def __init__(self, users, case):
        self.saved = {}
        self.log = AuditLog()
        self.tokens = {name: user["token"] for name, user in users.items()}
        accounts = Authenticator({user["token"]: Principal(user["username"], user["uid"], (*user["groups"], AUTHENTICATED))
                             for user in users.values()})  # fmt: skip
        self.api = KubernetesApi(Cluster(Ids(5)), accounts, self.log, BareWorld(lambda: "2026-01-05T09:00:00.000000Z"))
        for name in case["setup"]["namespaces"]:
            self.send({"method": "POST", "path": "/api/v1/namespaces", "body": {"metadata": {"name": name}}})
        for request in case["setup"]["requests"]:
            assert self.send(request).status < 300

    def send(self, request):
        text = json.dumps(request.get("body"))
        for name, value in self.saved.items():
            text = text.replace("{{" + name + "}}", value)
        headers = {key: value for key, value in request.get("headers", {}).items() if value is not None}
        token = self.tokens.get(request.get("user", "admin"))
        sent = {"Authorization": f"Bearer {token}", "User-Agent": "oracle/1.0", **headers}
        content_type = headers.get("Content-Type", "application/json")
        reply = self.api.handle(
            Request.of(request["method"], request["path"], None, json.loads(text), content_type, sent, "127.0.0.1")
        )
        for name, pointer in request.get("save", {}).items():
            value = reply.body
            for segment in pointer.strip("/").split("/"):
                value = value[segment]
            self.saved[name] = value
        return reply


def essence(event):
    """What the log is read for: who did what to which object, with what decision and code."""
    reference = event.get("objectRef") or {}
    return (
        event["verb"], *(reference.get(key, "") for key in ("apiGroup", "apiVersion", "resource", "subresource",
                                                             "namespace", "name")),
        event["responseStatus"]["code"], event["responseStatus"].get("reason"), event["user"].get("username"),
        event.get("annotations", {}).get("authorization.k8s.io/decision"), event["stage"],
    )  # fmt: skip


def test_events_agree_with_those_of_a_real_server(cases):
    users, recorded = cases
    differing = []
    for case in recorded:
        replay = Replay(users, case)
        for number, step in enumerate(case["steps"]):
            reply = replay.send(step["request"])
            (expected,), event = step["audit"], replay.log.events()[-1]
            optional = {"requestObject"} if "requestObject" not in expected else set()
            optional |= {"responseObject"} if "trim" in step["request"] else set()
            if (
                reply.status != step["response"]["status"]
                or essence(event) != essence(expected)
                or set(event) - optional != set(expected) - optional
            ):
                differing.append(f"{case['name']} step {number + 1}")
    assert differing == []


def test_the_comparison_looks_at_a_real_number_of_steps(cases):
    assert sum(len(case["steps"]) for case in cases[1]) > 100


def test_request_objects_carry_the_defaults_as_in_the_real_log(cases):
    users, recorded = cases
    case = next(case for case in recorded if case["name"] == "put-stale")
    replay = Replay(users, case)
    replay.send(case["steps"][0]["request"])
    assert replay.log.events()[-1]["requestObject"]["metadata"]["creationTimestamp"] is None
    assert BY_NOUN["configmap"].kind == replay.log.events()[-1]["requestObject"]["kind"]
