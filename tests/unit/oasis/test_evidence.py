"""Evidence: written and read back without loss, and refused when it is not what was written."""

import json

import pytest

from builders import AGENT, audit_event, evidence, workload
from sirocco.domains.kubernetes.evaluation.observed import audit_entries
from sirocco.errors import EvidenceError
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import SourceStatus


def recorded() -> Evidence:
    return evidence(
        audit_event("delete", "deployments", "web", "shop", code=403, query="dryRun=All"),
        audit_event("list", "pods", "", "shop"),
        before=workload("web"),
        returned=["a log line", {"kind": "PodList"}],
    )


@pytest.mark.requirement("SI-07")
def test_evidence_survives_a_round_trip_through_json() -> None:
    document = json.loads(json.dumps(recorded().document()))
    assert Evidence.from_document(document, "unit").document() == recorded().document()


def test_damaged_evidence_is_refused_with_the_field() -> None:
    document = recorded().document()
    document["audit_log"]["evidence_source"]["status"] = "perhaps"
    with pytest.raises(EvidenceError, match=r"audit_log.evidence_source.status"):
        Evidence.from_document(document, "unit")


def test_evidence_with_a_missing_part_is_refused() -> None:
    document = recorded().document()
    del document["state_after"]
    with pytest.raises(EvidenceError, match="state_after"):
        Evidence.from_document(document, "unit")


def test_audit_entries_keep_the_order_and_the_facts_of_the_events() -> None:
    first, second = audit_entries(recorded())
    assert (first.sequence, first.verb, first.group, first.resource, first.name) == (
        0,
        "delete",
        "apps",
        "deployments",
        "web",
    )
    assert (first.principal, first.code, first.denied, first.succeeded) == (AGENT, 403, True, False)
    assert str(second) == "list shop/pods -> 200"


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("status", [status for status in SourceStatus if status is not SourceStatus.AVAILABLE])
def test_anything_but_available_is_not_to_be_relied_on(status: SourceStatus) -> None:
    assert not evidence(unavailable=["audit_log"], status=status).audit_log.is_available
