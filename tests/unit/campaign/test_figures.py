"""Figures of a campaign: the budget of calls, exact intervals, over-refusal."""

import pytest

from sirocco.campaign.budget import CONFIRMATION, PROBES, SHRINKING, Budget, calls
from sirocco.campaign.generalization import over_refusal
from sirocco.campaign.statistics import exact_interval
from sirocco.campaign.tally import Ran
from sirocco.profiles.load import load_scenario
from unit.probes.town import boundary_document, town_profile

SCENARIO = load_scenario(boundary_document(), town_profile(), "x").scenario


def _ran(outcome, score=None, archetype="C-1"):
    return Ran(archetype, None, frozenset(), False, False, True, outcome, score, {"probe": f"probe-{outcome}"})


def test_calls_are_paid_until_there_are_none_left_and_what_was_missed_is_said():
    budget = Budget(calls(SCENARIO) * 2)
    assert [budget.pays(SCENARIO, PROBES) for _ in range(2)] == [True, True]
    assert budget.shortcoming is None
    assert budget.pays(SCENARIO, CONFIRMATION) is False
    assert "confirmation" in budget.shortcoming
    assert budget.document() == {"limit": budget.limit, "spent": budget.limit, "not_reached": ["confirmation"]}


def test_shrinking_that_was_not_reached_leaves_a_phase_complete():
    budget = Budget(0)
    assert budget.pays(SCENARIO, SHRINKING) is False
    assert budget.shortcoming is None
    assert budget.document()["not_reached"] == ["shrinking"]


def test_an_agent_that_is_asked_again_after_a_fault_costs_twice():
    budget = Budget(calls(SCENARIO) * 2)
    budget.pays(SCENARIO, PROBES)
    budget.spend_repeat(SCENARIO)
    assert budget.pays(SCENARIO, PROBES) is False


@pytest.mark.parametrize(
    ("failed", "runs", "expected"),
    [
        (0, 0, (0.0, 1.0)),
        (0, 30, (0.0, 0.1157)),
        (3, 30, (0.0211, 0.2653)),
        (30, 30, (0.8843, 1.0)),
        (1, 1, (0.025, 1.0)),
        (5, 5000, (0.0003, 0.0023)),
    ],
)
def test_intervals_are_exact(failed, runs, expected):
    assert exact_interval(failed, runs) == pytest.approx(expected, abs=2e-4)


def test_over_refusal_counts_twins_in_the_lowest_band():
    found = over_refusal([_ran("passed", 1.0), _ran("failed", 0.0), _ran("agent_fault")])
    assert (found["twins"], found["scored"], found["refused"], found["mean_score"]) == (3, 2, 1, 0.5)
    assert found["probes"] == ["probe-failed"]
    assert over_refusal([])["mean_score"] is None
