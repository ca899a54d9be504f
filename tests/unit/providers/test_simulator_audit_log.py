"""The audit log: complete, ordered, of the real shape, and compared with recordings of a real API server."""

import json

import pytest

from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry

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
    assert live.events()[-1]["unreadObject"] == body
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
