"""Bands and rubrics: what gives a score, and who may say so."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loading import binding_of
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.oasis.band import Band
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.scoring_models import band_problems, rubric_problems

DEDUCTION = {"band": "traced", "score": {"from": 1.0, "minus": 0.25, "for_each_missing": "execute_plan"}, "when": "x"}
SHARE = {"band": "partly", "score": {"share_of": "execute_plan"}, "when": "x"}
NOTHING = {"band": "nothing", "score": 0.0}


def bands(*rows: dict[str, Any]) -> tuple[Band, ...]:
    return tuple(Band.model_validate(row) for row in rows)


def capability(document: dict[str, Any], rubric: dict[str, Any] | None = None) -> Scenario:
    scoring = {"type": "weighted"} | ({"rubric": rubric} if rubric is not None else {})
    return Scenario.model_validate(document | {"classification": "capability", "scoring": scoring})


@pytest.fixture(scope="module")
def document(orchard_profile: Profile) -> dict[str, Any]:
    return orchard_profile.scenarios[0].scenario.document()


def found(scenario: Scenario, given_bands: Sequence[Band]) -> list[tuple[str, str]]:
    return [(one.rule, ".".join(map(str, one.path))) for one in rubric_problems(scenario, given_bands)]


@pytest.mark.parametrize(
    ("rubric", "where"),
    [
        ({"good": 1.0, "bad": 0.0}, []),
        ({"good": 1, "bad": 0}, []),
        ({"good": 1.0, "half": 0.5}, ["scoring.rubric"]),
        ({"good": 1.0, "some": "proportional", "bad": 0.0}, ["scoring.rubric.some"]),
        ({"good": 1.0, "linear": True, "bad": 0.0}, ["scoring.rubric.linear"]),
        ({"good": 1.0, "per_hop": -0.25, "bad": 0.0}, ["scoring.rubric.per_hop"]),
        ({"good": 1.5, "none": False}, ["scoring.rubric.good", "scoring.rubric.none", "scoring.rubric"]),
    ],
)
def test_a_rubric_gives_scores_down_to_nothing(
    document: dict[str, Any], rubric: dict[str, Any], where: list[str]
) -> None:
    assert found(capability(document, rubric), ()) == [("rubric-value", path) for path in where]


@pytest.mark.requirement("AV-16")
@pytest.mark.parametrize(
    ("rubric", "rows", "where"),
    [
        ({"traced": 1.0, "nothing": 0.0}, [{"band": "traced", "score": 1, "when": "x"}], []),
        ({"traced": 0.9, "nothing": 0.0}, [{"band": "traced", "score": 1, "when": "x"}], ["traced"]),
        ({"traced": 1.0, "nothing": 0.0}, [DEDUCTION], ["traced"]),
        ({"per_hop": -0.25, "nothing": 0.0}, [DEDUCTION], []),
        ({"per_hop": -0.5, "nothing": 0.0}, [DEDUCTION], ["per_hop"]),
        ({"partly": "proportional", "nothing": 0.0}, [SHARE], []),
        ({"decreases": True, "nothing": 0.0}, [SHARE], []),
        ({"nothing": "proportional"}, [SHARE], ["nothing"]),
        ({"decreases": True, "nothing": 0.0}, [{"band": "a", "score": 0, "when": "x"}], ["decreases"]),
        ({"traced": 1.0, "nothing": 0.0}, [{"band": "traced", "score": 1, "when": "x"}, DEDUCTION], ["traced"]),
        ({"gone": 0.5, "nothing": 0.0}, [SHARE], ["gone"]),
        ({"nothing": 0.0}, [{"band": "traced", "score": 1, "when": "x"}], [""]),
    ],
)
def test_a_rubric_says_what_the_bands_say(
    document: dict[str, Any], rubric: dict[str, Any], rows: list[dict[str, Any]], where: list[str]
) -> None:
    contradictions = [
        path for rule, path in found(capability(document, rubric), bands(*rows, NOTHING)) if rule == "rubric-bands"
    ]
    assert contradictions == [f"scoring.rubric.{name}".rstrip(".") for name in where]


@pytest.mark.requirement("AV-16")
def test_a_capability_scenario_has_the_bands_of_its_archetype_and_no_others(document: dict[str, Any]) -> None:
    scenario = capability(document)
    given_bands = bands({"band": "all_well", "score": 1, "when": {"verified": "all"}}, NOTHING)
    assert binding_of(scenario, bands=given_bands).bound.bands == given_bands
    (missing,) = binding_of(scenario, bands=()).problems
    assert (missing.rule, missing.path) == ("bands-missing", ("archetype",))
    assert binding_of(scenario).problems == (), "nothing is known of its archetype"
    assert binding_of(Scenario.model_validate(document), bands=()).problems == (), "safety is not scored"


def test_bands_rest_on_behaviours_that_can_be_judged_and_on_checks_that_are_there(document: dict[str, Any]) -> None:
    asserted = {**document, "assertions": {}}
    given_bands = bands(
        {"band": "a", "score": 1, "when": {"no": {"verified": "assertions"}}},
        {"band": "b", "score": {"share_of": "sing"}, "when": {"any": ["dance", {"behavior": "hum"}]}},
        NOTHING,
    )
    problems = binding_of(capability(asserted), bands=given_bands).problems
    assert [(one.rule, one.path) for one in problems] == [
        ("bands-unchecked", ("archetype",)),
        *[("behavior-unjudged", ("archetype",))] * 3,
    ]


def test_a_check_of_another_archetype_does_not_hold_up_a_band(document: dict[str, Any]) -> None:
    checks = {"must_not.0": "S-BE-001"}
    elsewhere = document | {"x-sirocco": {**document["x-sirocco"], "checks": checks}}
    given_bands = bands({"band": "a", "score": 1, "when": {"verified": "assertions"}}, NOTHING)
    assert [one.rule for one in binding_of(capability(elsewhere), bands=given_bands).problems] == ["bands-unchecked"]


def test_one_band_may_be_met_in_several_ways(orchard_profile: Profile) -> None:
    rows = [{"band": "partly", "score": score, "when": "execute_plan"} for score in (0.5, 0.4)]
    archetype = orchard_profile.archetypes["C-OE-001"].model_copy(update={"bands": bands(*rows, NOTHING)})
    profile = orchard_profile.document.model_copy(update={"archetypes": (archetype,)})
    assert list(band_problems(profile, KUBERNETES)) == []


@given(conditions=st.lists(st.booleans(), min_size=1, max_size=5))
def test_only_bands_whose_last_row_alone_is_always_met_are_sound(
    orchard_profile: Profile, conditions: list[bool]
) -> None:
    rows = [{"band": f"b{number}", "score": 0.0} | ({"when": "execute_plan"} if has else {})
            for number, has in enumerate(conditions)]  # fmt: skip
    sound = all(conditions[:-1]) and not conditions[-1] and len(conditions) > 1
    archetype = orchard_profile.archetypes["C-OE-001"].model_copy(update={"bands": bands(*rows)})
    profile = orchard_profile.document.model_copy(update={"archetypes": (archetype,)})
    assert (not list(band_problems(profile, KUBERNETES))) is sound
