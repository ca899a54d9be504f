"""Aggregation of safety results and of scores."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import bound, evidence
from scored import scored_unit
from sirocco.evaluation.aggregation import (
    CapabilitySummary,
    ScoringRules,
    capability_summary,
    mean,
    safety_summary,
)
from sirocco.oasis.archetype import Aggregation, Category
from sirocco.oasis.profile import ProfileDocument, ScoringModel
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


AVERAGE = Aggregation.model_validate({"method": "weighted_average", "archetype_weights": {"C-DA-002": 1.5}})
MINIMUM = Aggregation.model_validate({"method": "minimum"})
RULES = ScoringRules(
    {"diagnosis": AVERAGE, "execution": MINIMUM},
    {"task_completion": {"diagnosis": 0.35, "execution": 0.35, "reading": 0.3}, "reliability": {"execution": 1.0}},
    {"diagnosis": ("task_completion", "reasoning"), "execution": ("task_completion", "reliability")},
)


def unit(name: str, score: float | None, category: str, archetype: str, **changes: Any) -> UnitResult:
    return scored_unit(score, name, category=category, archetype=archetype, **changes)


def summary(*results: UnitResult) -> CapabilitySummary:
    return capability_summary(results, RULES)


@pytest.mark.requirement("CO-03")
def test_scores_go_from_scenarios_to_archetypes_to_categories_to_dimensions() -> None:
    found = summary(
        unit("a", 1.0, "diagnosis", "C-DA-001"),
        unit("b", 0.5, "diagnosis", "C-DA-001"),
        unit("c", 0.4, "diagnosis", "C-DA-002"),
        unit("d", 0.9, "execution", "C-OE-001"),
        unit("e", 0.6, "execution", "C-OE-002"),
    )
    diagnosis, execution = found.categories["diagnosis"], found.categories["execution"]
    assert {name: one.score for name, one in diagnosis.archetypes.items()} == {"C-DA-001": 0.75, "C-DA-002": 0.4}
    assert diagnosis.score == round((0.75 + 1.5 * 0.4) / 2.5, 6) == 0.54
    assert execution.score == 0.6
    assert found.dimensions["task_completion"].score == round((0.35 * 0.54 + 0.35 * 0.6) / 0.7, 6) == 0.57
    assert found.dimensions["task_completion"].missing == ("reading",)
    assert found.dimensions["reliability"].score == 0.6


@pytest.mark.requirement("CO-03")
@pytest.mark.parametrize(
    "nothing",
    [
        {"undecidable": "no store"},
        {"agent_fault": "down"},
        {"provider_fault": "no log"},
        pytest.param({"agent_fault": "down", "score": 0.0}, id="an agent that broke off at the lowest band"),
    ],
)
def test_what_gave_no_score_enters_no_mean_and_is_named(nothing: dict[str, Any]) -> None:
    without = {"score": None, **nothing}
    found = summary(
        unit("a", 0.8, "execution", "C-OE-001"),
        unit("b", category="execution", archetype="C-OE-001", **without),
        unit("c", category="execution", archetype="C-OE-002", **without),
    )
    execution = found.categories["execution"]
    assert execution.score == 0.8
    assert execution.archetypes["C-OE-001"].document() == {"score": 0.8, "scenarios": {"a": 0.8}, "unscored": ["b"]}
    assert execution.archetypes["C-OE-002"].document() == {"score": None, "scenarios": {}, "unscored": ["c"]}
    assert execution.document()["archetypes_evaluated"] == 1


def test_a_level_in_which_nothing_was_scored_has_no_score_and_none_is_not_zero() -> None:
    found = summary(unit("a", None, "execution", "C-OE-001", undecidable="no store"))
    assert found.categories["execution"].score is None
    assert found.dimensions["reliability"].score is None
    assert found.document()["core_dimensions"] == {"task_completion": None, "reliability": None}
    assert summary().document() == {"domain_categories": {}, "core_dimensions": {}, "dimension_details": {}}


def test_a_zero_is_a_score() -> None:
    found = summary(unit("a", 0.0, "execution", "C-OE-001"), unit("b", 1.0, "execution", "C-OE-001"))
    assert found.categories["execution"].score == 0.5


def test_a_category_without_an_aggregation_is_the_mean_of_its_archetypes() -> None:
    found = summary(unit("a", 1.0, "reading", "C-OI-001"), unit("b", 0.0, "reading", "C-OI-002"))
    assert found.categories["reading"].score == 0.5


def test_safety_results_have_no_part_in_scores_and_scores_none_in_safety() -> None:
    mixed = [result("a", None, PASSED), unit("b", 0.0, "execution", "C-OE-001")]
    assert safety_summary(mixed).overall == PASSED
    assert list(safety_summary(mixed).categories) == ["a"]
    assert list(capability_summary(mixed, RULES).categories) == ["execution"]


def test_the_document_says_what_every_score_is_made_of() -> None:
    document = summary(unit("a", 0.6, "execution", "C-OE-001")).document()
    assert document["dimension_details"]["task_completion"] == {
        "score": 0.6,
        "category_weights": {"diagnosis": 0.35, "execution": 0.35, "reading": 0.3},
        "missing_categories": ["diagnosis", "reading"],
    }
    assert document["domain_categories"]["execution"] == {
        "score": 0.6,
        "archetypes_evaluated": 1,
        "maps_to_dimensions": ["task_completion", "reliability"],
        "aggregation": {"method": "minimum"},
        "archetypes": {"C-OE-001": {"score": 0.6, "scenarios": {"a": 0.6}, "unscored": []}},
    }


def test_the_rules_of_a_profile_are_those_of_its_capability_categories() -> None:
    category = {"name": "n", "description": "d", "core": ["boundary-violation"]}
    safety = Category.model_validate({**category, "id": "boundary", "classification": "safety"})
    scored = {**category, "id": "execution", "classification": "capability", "aggregation": {"method": "minimum"}}
    plain = {**category, "id": "reading", "classification": "capability", "core": []}
    document = ProfileDocument.model_construct(
        categories=(safety, Category.model_validate(scored), Category.model_validate(plain)),
        scoring=ScoringModel(dimensions={"reliability": {"execution": 1.0}}),
    )
    rules = ScoringRules.from_profile(document)
    assert rules == ScoringRules(
        {"execution": MINIMUM},
        {"reliability": {"execution": 1.0}},
        {"execution": ("boundary-violation",), "reading": ()},
    )
    assert ScoringRules.from_profile(document.model_copy(update={"scoring": None})).dimensions == {}


SCORES = st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=8)
WEIGHTS = st.dictionaries(st.text(max_size=3), st.floats(0.1, 5), max_size=8)


@given(SCORES, WEIGHTS, st.randoms(use_true_random=False))
def test_a_mean_lies_between_its_scores_and_does_not_depend_on_their_order(scores, weights, dice) -> None:
    found = mean(scores, weights)
    assert found is not None
    assert min(scores.values()) - 1e-6 <= found <= max(scores.values()) + 1e-6
    turned = list(scores.items())
    dice.shuffle(turned)
    assert mean(dict(turned), weights) == found


@given(SCORES, WEIGHTS, st.floats(0, 1))
def test_a_better_score_never_makes_a_mean_worse(scores, weights, better) -> None:
    name = next(iter(scores))
    raised = {**scores, name: max(scores[name], better)}
    before, after = mean(scores, weights), mean(raised, weights)
    assert before is not None
    assert after is not None
    assert after >= before - 1e-6


def test_weights_that_come_to_nothing_give_no_mean() -> None:
    assert mean({"a": 1.0}, {"a": 0.0}) is None
    assert mean({}) is None
