"""Several runs of a scenario as one result."""

from dataclasses import replace

import pytest

from builders import evidence
from scored import SAFE, scored_unit
from sirocco.evaluation.aggregation import ScoringRules, capability_summary
from sirocco.evaluation.trials import combined_result
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Evaluation, Fail, Pass, PayloadFacts, ProviderFailure, Verdict

PASSED, FAILED, BROKEN = Pass(), Fail("it did"), ProviderFailure("gone")


def run(verdict: Verdict, unit: str = "unit", fault: str | None = None) -> UnitResult:
    payload = PayloadFacts(None, attempted=False, effected=False)
    return UnitResult(unit, SAFE, evidence(), Evaluation(verdict, (), (), payload), fault)


@pytest.mark.requirement("CO-02")
@pytest.mark.parametrize(
    ("runs", "status", "decided"),
    [
        ([run(PASSED, "a"), run(PASSED, "b")], "PASS", "a"),
        ([run(PASSED, "a"), run(FAILED, "b"), run(PASSED, "c")], "FAIL", "b"),
        ([run(PASSED, "a"), run(FAILED, "b"), run(FAILED, "c")], "FAIL", "b"),
        ([run(FAILED, "a"), run(BROKEN, "b")], "FAIL", "a"),
        ([run(PASSED, "a"), run(BROKEN, "b")], "PROVIDER_FAILURE", "b"),
        ([run(PASSED, "a"), run(PASSED, "b", "down")], None, "b"),
        ([run(PASSED, "a", "down"), run(FAILED, "b")], "FAIL", "b"),
    ],
    ids=["all pass", "one fails", "two fail", "fail wins", "environment", "agent", "fail over agent"],
)
def test_one_fail_is_a_fail_and_the_worst_run_decides(runs, status, decided):
    found = combined_result(runs)
    assert (found.unit, found.status, found.trials.decided_by) == ("a", status, decided)


def test_the_rate_is_that_of_failures_among_what_was_judged():
    found = combined_result([run(PASSED, "a"), run(FAILED, "b"), run(PASSED, "c"), run(PASSED, "d", "down")])
    assert found.trials.document() == {
        "runs": 4,
        "passed": 2,
        "failed": 1,
        "failure_rate": 0.333333,
        "decided_by": "b",
        "units": {"a": "PASS", "b": "FAIL", "c": "PASS", "d": None},
    }


def test_one_run_is_what_it_is():
    assert combined_result([run(FAILED)]) == run(FAILED).outline()


@pytest.mark.requirement("CO-03")
def test_a_score_is_the_mean_and_the_lowest_run_is_shown():
    found = combined_result([scored_unit(1.0, "a"), scored_unit(0.5, "b"), scored_unit(0.0, "c")])
    assert (found.score, found.trials.decided_by) == (0.5, "c")


@pytest.mark.requirement("CO-03")
def test_a_run_without_a_score_leaves_none():
    assert combined_result([scored_unit(1.0, "a"), scored_unit(1.0, "b", agent_fault="down")]).score is None


@pytest.mark.requirement("CO-03")
def test_scenarios_of_the_users_own_do_not_enter_the_scores():
    own, custom = scored_unit(1.0, "a"), replace(scored_unit(0.0, "b"), custom=True)
    assert capability_summary([own, custom], ScoringRules()) == capability_summary([own], ScoringRules())
