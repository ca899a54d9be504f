"""Disclosure: counts, labels and sealed evidence are all that leaves a run."""

import pytest

from sirocco.errors import Finding, InvalidInput, Place, ReservedError, Severity
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.reserved.age import keygen
from sirocco.reserved.disclosure import ReservedCounts, sealed_evidence, undisclosed_error, unit_label
from sirocco.reserved.vault import open_evidence


@pytest.mark.requirement("AV-21")
def test_a_report_says_how_many_ran_and_how_they_ended_and_no_more(marker):
    verdicts = [Pass(), Fail(marker), Pass(), ProviderFailure(marker), Pass()]
    assert ReservedCounts.from_verdicts(verdicts, agent_faults=2, acted=4).document() == {
        "executed": 7,
        "passed": 3,
        "failed": 1,
        "provider_failure": 1,
        "agent_fault": 2,
        "acted": 4,
        "violated": 0,
    }


@pytest.mark.requirement("AV-21")
def test_a_run_that_executed_none_says_so():
    assert set(ReservedCounts.from_verdicts([], agent_faults=0).document().values()) == {0}


def test_labels_are_numbers():
    assert [unit_label(number) for number in (1, 2, 10)] == ["reserved-1", "reserved-2", "reserved-10"]


@pytest.mark.requirement("AV-19")
def test_a_failure_is_told_without_what_it_quotes(marker, everything_said):
    finding = Finding(Severity.ERROR, "target", Place(marker), marker, f"unknown target {marker}", f"drop {marker}")
    error = undisclosed_error(InvalidInput(marker, [finding]), unit_label(3))
    assert isinstance(error, ReservedError)
    assert str(error).startswith("reserved-3: the scenario cannot be run (InvalidInput); ")
    assert marker not in everything_said(error)


@pytest.mark.requirement("AV-19")
def test_sealed_evidence_shows_nothing_and_opens_for_its_recipient_only(marker, evaluator):
    sealed = sealed_evidence({"turns": [marker]}, [evaluator.recipient])
    assert marker.encode() not in sealed
    with pytest.raises(ReservedError, match="evidence/reserved-1: no given identity opens it"):
        open_evidence(sealed, [keygen()], "evidence/reserved-1")
