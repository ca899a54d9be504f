"""Conditions on agent configurations, decided over the whole space of them."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.configuration import condition_problems, mode_names, schema_problems

SCHEMA: dict[str, dict[str, Any]] = {
    "operational_mode": {"type": "enum", "values": ["autonomous", "supervised", "read_only"]},
    "night_shift": {"type": "boolean"},
    "interface_type": {"type": "enum", "values": ["cli", "web", "api"]},
}
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "operational_mode": st.lists(st.sampled_from(SCHEMA["operational_mode"]["values"]), min_size=1, unique=True),
        "night_shift": st.booleans(),
        "interface_type": st.sampled_from(["cli", "web", "api"]) | st.just(["cli", "api"]),
    },
)


@pytest.fixture
def scenario(orchard_profile: Profile) -> Scenario:
    return orchard_profile.scenarios[0].scenario


def conditioned(
    scenario: Scenario, applicability: dict[str, Any], *blocks: dict[str, Any], mode: str = "autonomous"
) -> Scenario:
    document = scenario.document()
    document["preconditions"]["agent"]["mode"] = mode
    document["applicability"] = applicability
    document["assertions"]["conditional"] = [
        {"when": when, "must_not": [{"action": "get secret/gate"}]} for when in blocks
    ]
    return Scenario.model_validate(document)


def rules(scenario: Scenario) -> list[str]:
    return [problem.rule for problem in condition_problems(scenario, SCHEMA)]


def matches(conditions: dict[str, Any], configuration: dict[str, Any]) -> bool:
    return all(
        configuration[name] in wanted if isinstance(wanted, list) else configuration[name] == wanted
        for name, wanted in conditions.items()
    )


@pytest.mark.requirement("CO-08")
@given(
    applicability=CONDITIONS.filter(lambda one: "operational_mode" not in one),
    blocks=st.lists(CONDITIONS.filter(bool), min_size=2, max_size=4),
)
def test_two_blocks_overlap_exactly_when_some_configuration_matches_both(
    orchard_profile: Profile, applicability: dict[str, Any], blocks: list[dict[str, Any]]
) -> None:
    domains = [SCHEMA["operational_mode"]["values"], [False, True], SCHEMA["interface_type"]["values"]]
    space = [dict(zip(SCHEMA, values, strict=True)) for values in itertools.product(*domains)]
    applying = [one for one in space if matches(applicability, one)]
    overlaps = sum(
        any(matches(first, one) and matches(second, one) for one in applying)
        for first, second in itertools.combinations(blocks, 2)
    )
    scenario = conditioned(orchard_profile.scenarios[0].scenario, applicability, *blocks)
    assert rules(scenario).count("conditional-overlap") == overlaps


@pytest.mark.requirement("CO-08")
def test_the_overlap_names_a_configuration_that_shows_it(scenario: Scenario) -> None:
    blocks = {"night_shift": True}, {"interface_type": ["web", "cli"], "night_shift": True}
    (problem,) = condition_problems(conditioned(scenario, {}, *blocks), SCHEMA)
    assert problem.path == ("assertions", "conditional", 1, "when")
    assert "interface_type=cli, night_shift=true" in problem.problem


@pytest.mark.requirement("CO-08")
def test_a_block_that_the_scenario_rules_out_never_matches(scenario: Scenario) -> None:
    assert rules(conditioned(scenario, {"night_shift": True}, {"night_shift": False})) == ["conditional-unmatched"]


@pytest.mark.requirement("CO-08")
@pytest.mark.parametrize(
    ("mode", "wanted", "expected"),
    [
        ("autonomous", "autonomous", []),
        ("autonomous", ["supervised", "autonomous"], []),
        ("autonomous", "read_only", ["applicability-mode"]),
        ("read-only", "read_only", []),
        ("read-only", "autonomous", ["applicability-mode"]),
    ],
)
def test_the_mode_of_a_scenario_is_one_that_it_applies_to(
    scenario: Scenario, mode: str, wanted: Any, expected: list[str]
) -> None:
    assert rules(conditioned(scenario, {"operational_mode": wanted}, mode=mode)) == expected


def test_a_schema_may_call_modes_by_whether_they_write() -> None:
    assert "read_write" in mode_names("supervised")
    assert mode_names("read-only") == {"read-only", "read_only"}


def test_true_is_not_one(scenario: Scenario) -> None:
    assert rules(conditioned(scenario, {"night_shift": 1})) == ["applicability-unknown"]


def test_without_a_schema_no_condition_has_a_meaning(scenario: Scenario) -> None:
    problems = list(condition_problems(conditioned(scenario, {"night_shift": True}), {}))
    assert [(problem.rule, problem.path) for problem in problems] == [
        ("applicability-unknown", ("applicability", "night_shift"))
    ]


@pytest.mark.parametrize(
    ("dimension", "sound"),
    [
        ({"type": "boolean"}, True),
        ({"type": "boolean", "default": False}, True),
        ({"type": "enum", "values": ["a", "b"], "default": "b"}, True),
        ({"type": "list", "values": ["a"]}, True),
        ({"type": "enum", "values": ["a", "a"]}, False),
        ({"type": "enum", "values": "ab"}, False),
        ({"type": "enum", "values": ["a", "b"], "default": "c"}, False),
        ({"type": "boolean", "default": 0}, False),
        ({}, False),
    ],
)
def test_a_dimension_leaves_a_choice(dimension: dict[str, Any], sound: bool) -> None:
    assert (not list(schema_problems({"x": dimension}))) is sound
