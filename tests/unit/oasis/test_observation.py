"""Observations: when their data can be relied on (CO-07)."""

from typing import Any

import pytest

from builders import audit_event, kubernetes_object, observation
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.oasis.observation import ObservationType, SourceStatus

AUDIT, STATE = ObservationType.AUDIT_LOG, ObservationType.RESOURCE_STATE
EVENT = audit_event("get", "pods", "x", "shop", impersonated="boss") | {"auditID": "a"}
POD = kubernetes_object("pod", "x", spec={}, status={"conditions": [{"type": "Ready"}]}, labels={"a": "b"})


def problem(kind: ObservationType, *items: Any) -> str | None:
    return KUBERNETES.record.problem(observation(kind, {"entries" if kind is AUDIT else "objects": list(items)}))


@pytest.mark.requirement("CO-07")
def test_what_a_source_really_gave_is_relied_on() -> None:
    assert problem(AUDIT) is problem(AUDIT, EVENT) is problem(STATE) is problem(STATE, POD) is None
    assert observation(AUDIT, {"entries": [EVENT]}).unavailable_as(AUDIT, KUBERNETES.record.problem) is None


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("status", [status for status in SourceStatus if status is not SourceStatus.AVAILABLE])
def test_what_is_not_available_is_not(status: SourceStatus) -> None:
    found = observation(AUDIT, {"entries": []}, status).unavailable_as(AUDIT, KUBERNETES.record.problem)
    assert found == f"audit_log could not be observed: source test is {status}"


@pytest.mark.requirement("CO-07")
def test_an_observation_of_something_else_is_none() -> None:
    found = observation(STATE, {"objects": [], "entries": []}).unavailable_as(AUDIT, KUBERNETES.record.problem)
    assert found == "audit_log could not be observed: the source gave resource_state"


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "change",
    [
        {"verb": 5},
        {"verb": None},
        {"user": None},
        {"user": "agent"},
        {"user": {"username": 7}},
        {"objectRef": "pods"},
        {"objectRef": {"resource": "pods", "name": {"a": "b"}}},
        {"impersonatedUser": ["boss"]},
        {"impersonatedUser": {"username": ["boss"]}},
        {"responseStatus": 200},
        {"responseStatus": {"code": "200"}},
        {"annotations": ["x"]},
        {"sourceIPs": "10.0.0.2"},
        {"sourceIPs": [None]},
        {"requestURI": None},
    ],
)
def test_an_entry_of_other_types_is_no_audit_event(change: dict[str, Any]) -> None:
    assert problem(AUDIT, EVENT, EVENT | change) == "entry 1 of the log is no audit event"


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("change", [{"objectRef": None}, {"sourceIPs": None}, {"responseStatus": None}, {"x": [{}]}])
def test_what_an_event_may_leave_out_is_left_out(change: dict[str, Any]) -> None:
    assert problem(AUDIT, EVENT | change | {"auditID": "b"}) is None
    assert isinstance(AuditEntry.from_event(EVENT | change, 0), AuditEntry)


@pytest.mark.requirement("CO-07")
def test_an_entry_is_delivered_twice_only_when_it_is_the_same_throughout() -> None:
    assert problem(AUDIT, EVENT, EVENT) == "entry 1 of the log was delivered before"
    assert problem(AUDIT, EVENT, EVENT | {"stage": "ResponseStarted"}) is None
    assert problem(AUDIT, EVENT, EVENT | {"verb": "list"}) is None, "a client may choose the id"
    assert problem(AUDIT, EVENT, EVENT | {"verb": "list"}, EVENT) == "entry 2 of the log was delivered before"
    nameless = EVENT | {"auditID": ""}
    assert problem(AUDIT, nameless, nameless) is None


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "item",
    [
        None,
        "pod",
        {},
        {"kind": "Pod"},
        POD | {"kind": None},
        POD | {"metadata": []},
        POD | {"metadata": {"name": 5}},
        POD | {"metadata": {"name": "x", "namespace": ["shop"]}},
        POD | {"metadata": {"name": "x", "labels": ["a"]}},
        POD | {"metadata": {"name": "x", "annotations": "a"}},
        POD | {"metadata": {"name": "x", "ownerReferences": "a"}},
        POD | {"metadata": {"name": "x", "ownerReferences": [None]}},
        POD | {"spec": "all is well"},
        POD | {"data": ["a"]},
        POD | {"status": 5},
        POD | {"status": {"conditions": {"Ready": "True"}}},
        POD | {"status": {"containerStatuses": ["x"]}},
    ],
)
def test_what_is_no_object_makes_a_state_unreliable(item: Any) -> None:
    assert problem(STATE, POD, item) == "object 1 is none"


@pytest.mark.parametrize("item", [POD | {"spec": None}, POD | {"metadata": {"name": "x", "labels": None}}])
def test_sections_may_be_left_empty(item: Any) -> None:
    assert problem(STATE, item) is None


@pytest.mark.requirement("CO-02")
@pytest.mark.parametrize("kind", ["Thing", "Pod"])
@pytest.mark.parametrize(
    "sections",
    [{"spec": "all"}, {"data": ["a"]}, {"status": 5}, {"status": {"conditions": "x", "containerStatuses": 1}}],
)
def test_a_custom_resource_may_hold_what_it_likes_and_spoils_no_state(kind: str, sections: dict[str, Any]) -> None:
    assert problem(STATE, POD, {**POD, "apiVersion": "example.com/v1", "kind": kind, **sections}) is None
    if kind == "Pod":
        assert problem(STATE, POD, {**POD, "apiVersion": "v1", "kind": kind, **sections}) == "object 1 is none"
