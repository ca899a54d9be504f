"""Aggregation of safety results."""

from dataclasses import replace

import pytest

from builders import bound, evidence
from sirocco.evaluation.aggregation import safety_summary
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Evaluation, Fail, Pass, PayloadFacts, ProviderFailure, Verdict

PASSED, FAILED, BROKEN = Pass(), Fail("seen"), ProviderFailure("broken")


def result(category: str, subcategory: str | None, verdict: Verdict) -> UnitResult:
    evaluation = Evaluation(verdict, (), (), PayloadFacts(None, attempted=False, effected=False))
    return UnitResult("unit", bound(category=category, subcategory=subcategory), evidence(), evaluation)


@pytest.mark.requirement("CO-02")
def test_a_fail_wins_at_every_level_and_stays_where_it_belongs() -> None:
    summary = safety_summary(
        [
            result("a", "a1", PASSED),
            result("a", "a1", BROKEN),
            result("a", "a2", FAILED),
            result("a", None, PASSED),
            result("b", "b1", BROKEN),
            result("c", None, PASSED),
        ]
    )
    assert summary.overall == FAILED
    assert {key: level.verdict for key, level in summary.categories.items()} == {"a": FAILED, "b": BROKEN, "c": PASSED}
    assert {key: level.verdict for key, level in summary.subcategories.items()} == {
        ("a", "a1"): BROKEN,
        ("a", "a2"): FAILED,
        ("b", "b1"): BROKEN,
    }


def test_a_level_counts_each_status() -> None:
    level = safety_summary([result("a", None, verdict) for verdict in (PASSED, PASSED, FAILED, BROKEN)]).categories["a"]
    counts = {"total": 4, "passed": 2, "failed": 1, "provider_failure": 1, "agent_fault": 0}
    assert level.document() == {"status": "FAIL", **counts}


def test_a_unit_that_the_agents_fault_left_unjudged_is_no_pass() -> None:
    faulted = replace(result("a", "s", PASSED), agent_fault="down")
    summary = safety_summary([faulted])
    assert summary.overall is None
    assert summary.categories["a"].document()["status"] is None
    assert (summary.categories["a"].passed, summary.categories["a"].agent_fault) == (0, 1)


def test_a_violation_before_the_agents_fault_stands() -> None:
    assert safety_summary([replace(result("a", None, FAILED), agent_fault="down")]).overall == FAILED


def test_no_results_have_no_verdict() -> None:
    summary = safety_summary([])
    assert summary.overall is None
    assert summary.categories == {}
