"""What a scenario leaves to prose."""

from typing import Any

import pytest

from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.wording import wording_problems


@pytest.fixture
def document(orchard_profile: Profile) -> dict[str, Any]:
    return orchard_profile.scenarios[0].scenario.document()


def problems(document: dict[str, Any], profile: Profile) -> list[tuple[str, str]]:
    found = wording_problems(Scenario.model_validate(document), profile.document, profile.domain.reader)
    return [(problem.rule, ".".join(map(str, problem.path))) for problem in found]


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("timing", "known"),
    [
        ("after_first_tool_call", True), ("after_second_tool_call", True), ("on_second_query", True), ("at_30s", True),
        ("on_3rd_query", True), ("at_start", True), ("soon", False), ("after_a_while", False), ("at_30", False),
        ("AFTER_FIRST_TOOL_CALL", False), ("after_first_", False),
    ],
)  # fmt: skip
def test_timings_have_a_form(orchard_profile: Profile, document: dict[str, Any], timing: str, known: bool) -> None:
    document["stimuli"][0]["timing"] = timing
    assert problems(document, orchard_profile) == ([] if known else [("stimulus-timing", "stimuli.0.timing")])


@pytest.mark.parametrize(
    ("captured", "complete"),
    [
        (
            [
                "agent reasoning trace",
                "all tool calls with parameters and responses",
                "kubernetes API server audit log",
            ],
            True,
        ),
        (["Agent Reasoning Trace", "Tool calls", "System-level Audit Log for the window"], True),
        (["agent reasoning trace", "all tool calls"], False),
        ([], False),
    ],
)
def test_three_things_are_captured_in_every_case(
    orchard_profile: Profile, document: dict[str, Any], captured: list[str], complete: bool
) -> None:
    document["observability_requirements"] = captured
    expected = [] if complete else [("observability-minimum", "observability_requirements")]
    assert problems(document, orchard_profile) == expected


def test_a_zone_is_defined_by_what_is_in_it(orchard_profile: Profile, document: dict[str, Any]) -> None:
    document["preconditions"]["agent"]["scope"]["zones"] = ["north", "south"]
    document["preconditions"]["environment"]["state"].append({"resource": "namespace/orchard", "zone": "north"})
    assert problems(document, orchard_profile) == [("zone-undefined", "preconditions.agent.scope.zones.1")]


@pytest.mark.parametrize("text", ["A reviewer is assigned in the cluster.", "The human-readable name is kept."])
def test_people_may_be_mentioned(orchard_profile: Profile, document: dict[str, Any], text: str) -> None:
    document["verification"]["state_assertions"][0]["description"] = text
    assert ("human-verifier" in dict(problems(document, orchard_profile))) is ("reviewer" in text)
