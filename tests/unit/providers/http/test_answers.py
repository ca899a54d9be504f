"""The variants of answers that are about."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import AGENT, audit_event, kubernetes_object
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.oasis.observation import ObservationType, SourceStatus
from sirocco.providers.http import answers

WIRE = KUBERNETES.wire
LOG, STATE = ObservationType.AUDIT_LOG, ObservationType.RESOURCE_STATE
AVAILABLE = {"type": "kube_api", "status": "available"}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["data", "entries", "objects", "raw", "user", "verb", "kind", "state", "metadata", "evidence_source", "type", "status", "requirements", "unmet_requirements", "x"]), inner, max_size=5),
    max_leaves=15,
)  # fmt: skip


def observed(data, kind, source=AVAILABLE):
    return answers.observation({"data": data, "evidence_source": source, "timestamp": "t"}, kind, WIRE)


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("unmet", "read"),
    [
        (None, []),
        ([], []),
        ([{"requirement": "tier", "reason": "too small"}], [("tier", "too small")]),
        (["tier"], [("tier", "no reason given")]),
        ([{"key": "tier", "message": "too small"}], [("tier", "too small")]),
    ],
)
def test_unmet_requirements_come_in_many_forms_and_none_is_lost(unmet, read):
    found = answers.conformance({"unmet_requirements": unmet, "supported": True}, "p")
    assert [(item.requirement, item.reason) for item in found.unmet_requirements] == read


@pytest.mark.requirement("CO-01")
def test_a_declaration_that_says_nothing_supports_nothing():
    found = answers.conformance({}, "p")
    assert found.supported is False
    assert found.oasis_core_spec_versions == ()
    assert answers.conformance({"supported": "yes"}, "p").supported is False


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize(
    "source",
    [None, {}, "available", {"type": "x"}, {"type": "x", "status": "fine"}, {"type": "x", "status": None},
     {"type": "x", "status": "partial"}, {"type": "x", "status": "empty_window"}, {"type": "x", "status": "unreachable"}],
)  # fmt: skip
def test_a_source_that_is_not_said_to_be_available_is_not(source):
    found = observed({"entries": []}, LOG, source)
    assert not found.is_available
    assert found.evidence_source.status is not SourceStatus.AVAILABLE


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("data", [None, "", {}, {"entries": None}, {"entries": "none"}, 7, {"items": []}])
def test_data_of_no_known_shape_is_not_an_empty_log(data):
    assert not observed(data, LOG).is_available


def test_our_own_entries_come_back_as_the_events_they_were():
    event = audit_event("patch", "deployments", "web", "shop", body={"spec": {"replicas": 3}}) | {"auditID": "a"}
    sent = json.loads(json.dumps(WIRE.entry_document(event, WIRE.time_of(event))))
    assert observed({"entries": [sent]}, LOG).data["entries"] == [event]
    assert observed({"entries": [{"raw": json.dumps(event)}]}, LOG).data["entries"] == [event]


def test_the_flat_form_says_what_the_event_would():
    flat = {"timestamp": "2026-01-01T00:00:00Z", "verb": "PATCH", "resource": "deployments", "namespace": "shop",
            "name": "web", "user": AGENT, "request_body": '{"spec": {"replicas": 3}}', "response_code": 200}  # fmt: skip
    found = observed({"entries": [flat]}, LOG)
    assert found.is_available
    entry = AuditEntry.from_event(found.data["entries"][0], 0)
    assert (entry.principal, entry.verb, entry.group, entry.resource, entry.name) == (
        AGENT,
        "patch",
        "apps",
        "deployments",
        "web",
    )
    assert (entry.request, entry.code) == ({"spec": {"replicas": 3}}, 200)


def test_flat_and_whole_form_agree():
    event = audit_event("delete", "deployments", "web", "shop", code=403, body={"kind": "DeleteOptions"})
    whole = WIRE.entry_document(event, WIRE.time_of(event))
    flat = {key: value for key, value in whole.items() if key != "raw"}
    one, other = (AuditEntry.from_event(WIRE.read_entry(item), 0) for item in (flat, whole))
    for field in ("principal", "verb", "group", "resource", "name", "namespace", "request", "code", "uri"):
        assert getattr(one, field) == getattr(other, field), field


@pytest.mark.parametrize(
    "data",
    [
        {"objects": [kubernetes_object("deployment", "web", spec={"replicas": 2})]},
        [
            {
                "kind": "Deployment",
                "name": "web",
                "namespace": "shop",
                "state": {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 2}},
            }
        ],
        {"resources": [{"kind": "deployment", "name": "web", "namespace": "shop", "spec": {"replicas": 2}}]},
        {
            "exists": True,
            "kind": "Deployment",
            "name": "web",
            "object": kubernetes_object("deployment", "web", spec={"replicas": 2}),
        },
    ],
    ids=["whole objects", "a list of elements with state", "elements with spec", "one element with object"],
)
def test_objects_are_found_in_every_shape(data):
    (item,) = observed(data, STATE).data["objects"]
    assert (item["apiVersion"], item["kind"]) == ("apps/v1", "Deployment")
    assert (item["metadata"]["name"], item["metadata"]["namespace"]) == ("web", "shop")
    assert item["spec"] == {"replicas": 2}


def test_an_absent_object_is_absent():
    assert observed({"exists": False, "kind": "Deployment", "name": "web"}, STATE).data == {"objects": []}


def test_namespaces_that_were_renamed_are_read_and_others_are_not_made_up():
    assert answers.resolved_namespaces({"resolved_namespaces": {"default": "env-1", "": "x", "a": None}}) == {
        "default": "env-1"
    }
    assert answers.resolved_namespaces({}) == {}


@given(JUNK)
def test_junk_is_never_available_by_accident_and_never_raises(junk):
    body = junk if isinstance(junk, dict) else {"data": junk}
    answers.conformance(body, "p")
    for kind in (LOG, STATE, ObservationType.RESPONSE_CONTENT):
        found = answers.observation(body, kind, WIRE)
        if found.is_available:
            assert body["evidence_source"]["status"] == "available"
