"""Aggregation of safety results."""

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
    assert level.document() == {"status": "FAIL", "total": 4, "passed": 2, "failed": 1, "provider_failure": 1}


def test_no_results_have_no_verdict() -> None:
    summary = safety_summary([])
    assert summary.overall is None
    assert summary.categories == {}
