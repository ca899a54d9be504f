"""Coverage: what a run has evaluated, against the tier it claims and the agent it met."""

from dataclasses import replace
from typing import Any

import pytest

from builders import bound, evidence
from scored import identity, scored_unit
from sirocco.evaluation.coverage import configuration_coverage, coverage
from sirocco.oasis.archetype import Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.report import CoreResult, Excluded, Skipped, UnitResult
from sirocco.oasis.verdict import Evaluation, Fail, Pass, PayloadFacts, ProviderFailure, Verdict

SAFETY, CAPABILITY = Classification.SAFETY, Classification.CAPABILITY


def archetypes(category: str, *names: str) -> list[dict[str, Any]]:
    return [{"id": name, "name": name, "category": category, "pattern": "A pattern."} for name in names]


PROFILE = ProfileDocument.model_validate(
    {
        "id": "test-profile",
        "name": "Test",
        "version": "0.1.0",
        "description": "A profile.",
        "oasis_core": ">=1.0.0",
        "vocabulary": {},
        "categories": [
            {"id": "injection", "name": "Injection", "classification": "safety", "description": "..."},
            {"id": "boundary", "name": "Boundary", "classification": "safety", "description": "..."},
            {"id": "execution", "name": "Execution", "classification": "capability", "description": "..."},
        ],
        "archetypes": [
            *archetypes("injection", "S-PI-001", "S-PI-002"),
            *archetypes("boundary", "S-BE-001"),
            *archetypes("execution", "C-OE-001", "C-OE-002"),
        ],
        "tiers": [
            {"tier": 1, "environment": {}, "archetypes_per_category": 1},
            {
                "tier": 2,
                "environment": {},
                "archetypes_per_category": 2,
                "every_archetype": True,
                "coverage": ["variants required"],
            },
        ],
        "conformance": {},
    }
)


def safety(archetype: str, verdict: Verdict = Pass(), category: str = "injection") -> UnitResult:  # noqa: B008
    evaluation = Evaluation(verdict, (), (), PayloadFacts(None, attempted=False, effected=False))
    scenario = {"archetype": archetype, "category": category, "id": f"unit.{archetype.lower()}"}
    return UnitResult(scenario["id"], bound(**scenario), evidence(), evaluation)


def core(*results: UnitResult, tier: int = 1, **parts: Any) -> CoreResult:
    scenarios = parts.pop("scenarios", ())
    given = CoreResult(identity(PROFILE, tier=tier), results, (), None, **parts)
    return replace(given, scenarios=(*(result.bound.scenario for result in results), *scenarios))


def left_out(kind: type, archetype: str, category: str, reason: str = "the reason") -> Any:
    return kind(f"unit.{archetype.lower()}", archetype, category, reason)


def scenarios(archetype: str, category: str, number: int = 1) -> tuple[Any, ...]:
    names = [f"unit.{archetype.lower()}", *(f"unit.{archetype.lower()}.{index}" for index in range(1, number))]
    return tuple(bound(id=name, archetype=archetype, category=category).scenario for name in names)


@pytest.mark.requirement("CO-11")
def test_a_tier_is_covered_when_every_category_has_its_minimum() -> None:
    covered = coverage(core(safety("S-PI-001"), safety("S-BE-001", category="boundary")), SAFETY)
    assert covered.shortfalls == ()
    document = covered.document()
    assert (document["complete"], document["required_archetypes"], document["evaluated_archetypes"]) == (True, 2, 2)
    assert document["skipped_archetypes"] == [{"archetype": "S-PI-002", "reason": "the profile has no scenario of it"}]


@pytest.mark.requirement("CO-11")
def test_below_the_minimum_the_coverage_is_incomplete_and_says_where() -> None:
    document = coverage(core(safety("S-PI-001"), tier=2), SAFETY).document()
    assert not document["complete"]
    assert document["incomplete_because"] == [
        "injection: 1 of 2 archetypes evaluated",
        "boundary: 0 of 1 archetypes evaluated",
    ]
    assert document["required_by_category"] == {"injection": 2, "boundary": 1}
    assert document["not_measured"] == ["variants required"]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            scored_unit(None, undecidable="no store", category="execution"),
            "nothing can decide it for this agent: no store",
        ),
        (scored_unit(0.0, agent_fault="down", category="execution"), "the agent broke: down"),
        (scored_unit(None, provider_fault="no log", category="execution"), "the environment failed: no log"),
    ],
)
def test_what_says_nothing_about_the_agent_is_not_evaluated(result: UnitResult, reason: str) -> None:
    covered = coverage(core(result), CAPABILITY)
    assert covered.evaluated == {"execution": 0}
    assert covered.skipped["C-OE-001"] == reason
    assert coverage(core(result, replace(scored_unit(0.0), bound=result.bound)), CAPABILITY).evaluated == {
        "execution": 1
    }


@pytest.mark.parametrize("verdict", [Pass(), Fail("seen")])
def test_a_fail_is_an_evaluation_as_a_pass_is(verdict: Verdict) -> None:
    assert coverage(core(safety("S-PI-001", verdict)), SAFETY).evaluated["injection"] == 1
    assert coverage(core(safety("S-PI-001", ProviderFailure("down"))), SAFETY).evaluated["injection"] == 0


def test_every_archetype_that_was_not_evaluated_has_its_reason() -> None:
    run = core(
        excluded=(left_out(Excluded, "S-PI-001", "injection", "it is for mode x"),),
        scenarios=(*scenarios("S-PI-001", "injection"), *scenarios("S-BE-001", "boundary")),
    )
    run = replace(run, skipped=(left_out(Skipped, "S-PI-002", "injection", "the provider cannot"),))
    assert coverage(run, SAFETY).skipped == {
        "S-PI-001": "not applicable: it is for mode x",
        "S-PI-002": "the provider cannot",
        "S-BE-001": "the run ended before it",
    }
    selected = replace(run, identity=replace(run.identity, filters={"categories": ["injection"]}), scenarios=())
    assert coverage(selected, SAFETY).skipped["S-BE-001"] == "no scenario of it was selected"


@pytest.mark.requirement("CO-08")
def test_archetypes_that_do_not_apply_to_the_agent_are_not_asked_for() -> None:
    excluded = (left_out(Excluded, "S-PI-001", "injection"),)
    all_of_it = core(safety("S-PI-002"), tier=2, excluded=excluded, scenarios=scenarios("S-PI-001", "injection"))
    assert coverage(all_of_it, SAFETY).required["injection"] == 1
    one_of_two = core(safety("S-PI-002"), tier=2, excluded=excluded, scenarios=scenarios("S-PI-001", "injection", 2))
    assert coverage(one_of_two, SAFETY).required["injection"] == 2


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(("excluded", "warned"), [(1, False), (2, False), (3, True), (4, True)])
def test_most_of_a_safety_category_not_applicable_is_a_warning(excluded: int, warned: bool) -> None:
    all_of_it = scenarios("S-PI-001", "injection", 4)
    left = tuple(Excluded(one.id, one.archetype, one.category, "it is for mode x") for one in all_of_it[:excluded])
    document = configuration_coverage(core(excluded=left, scenarios=all_of_it)).document()
    assert bool(document["warnings"]) is warned
    assert document["not_applicable_by_category"] == {"injection": excluded}
    assert (document["total_scenarios"], document["applicable"]) == (4, 4 - excluded)
    if warned:
        assert f"{excluded} of 4 scenarios of injection" in document["warnings"][0]


def test_a_capability_category_that_is_not_applicable_is_counted_without_a_warning() -> None:
    one = scored_unit(1.0, category="execution").bound.scenario
    left = (Excluded(one.id, one.archetype, one.category, "it is for mode x"),)
    found = configuration_coverage(core(excluded=left, scenarios=(one,)))
    assert found.warnings == ()
    assert found.not_applicable == {"execution": 1}


def test_each_archetype_has_its_own_reasons() -> None:
    one = scored_unit(None, "one", undecidable="no store", category="execution", archetype="C-OE-001")
    other = scored_unit(None, "other", provider_fault="no log", category="execution", archetype="C-OE-002")
    assert coverage(core(one, other), CAPABILITY).skipped == {
        "C-OE-001": "nothing can decide it for this agent: no store",
        "C-OE-002": "the environment failed: no log",
    }


def test_a_tier_that_the_profile_does_not_define_asks_for_one_archetype_a_category() -> None:
    assert coverage(core(tier=3), SAFETY).required == {"injection": 1, "boundary": 1}
