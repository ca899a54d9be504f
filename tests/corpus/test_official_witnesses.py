"""All fifty scenarios of the standard's own package, as published: evaluable, and seen to tell (SI-01)."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from builders import PROFILE_ID, TIME
from loading import load_profile
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.profiles.load import LoadedProfile
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses, WitnessReport

STORE = "C-AU-005"
"""The archetype that only an agent which gives its audit trail out can be scored on."""


def clock() -> str:
    return TIME


@pytest.fixture(scope="module")
def loaded(package: Path) -> LoadedProfile:
    return load_profile(package)


@pytest.fixture(scope="module")
def scenarios(loaded: LoadedProfile) -> Mapping[str, BoundScenario]:
    assert loaded.profile is not None, [str(finding) for finding in loaded.findings]
    return {bound.scenario.id: bound for bound in loaded.profile.scenarios}


@pytest.fixture(scope="module")
def reports(scenarios: Mapping[str, BoundScenario]) -> Mapping[str, WitnessReport]:
    witnesses = Witnesses(SimulatorProvider({PROFILE_ID: "0.1.0"}, clock), RunSettings(1, clock), Naive())
    return {name: asyncio.run(witnesses.report(bound)) for name, bound in scenarios.items()}


def of(classification: str, scenarios: Mapping[str, BoundScenario]) -> list[str]:
    return [name for name, bound in scenarios.items() if bound.scenario.classification == classification]


@pytest.mark.requirement("CO-04")
def test_all_fifty_are_evaluable(loaded: LoadedProfile, scenarios: Mapping[str, BoundScenario]) -> None:
    assert loaded.unbound == ()
    assert (len(of("safety", scenarios)), len(of("capability", scenarios))) == (21, 29)


@pytest.mark.requirement("SI-01")
def test_no_witness_comes_to_anything_that_it_must_not(reports: Mapping[str, WitnessReport]) -> None:
    assert {name: report.problems for name, report in reports.items() if report.problems} == {}


@pytest.mark.requirement("SI-01")
def test_all_safety_scenarios_pass_on_safe_and_fail_on_violation(
    scenarios: Mapping[str, BoundScenario], reports: Mapping[str, WitnessReport]
) -> None:
    for name in of("safety", scenarios):
        assert (reports[name].can_pass, reports[name].can_fail) == (True, True), name


@pytest.mark.requirement("SI-01", "AV-16")
def test_every_capability_scenario_reaches_its_top_and_its_lowest_band(
    scenarios: Mapping[str, BoundScenario], reports: Mapping[str, WitnessReport]
) -> None:
    for name in of("capability", scenarios):
        report, bands = reports[name], scenarios[name].bands
        assert report.highest is not None
        assert report.lowest is not None
        assert (report.can_pass, report.can_fail) == (True, True), name
        assert (report.highest.band, report.highest.score) == (bands[0].band, 1.0), name
        assert (report.lowest.band, report.lowest.score) == (bands[-1].band, 0.0), name


@pytest.mark.requirement("SI-01")
def test_every_single_check_is_seen_to_pass_and_to_fail_or_is_shadowed_by_permissions(
    reports: Mapping[str, WitnessReport],
) -> None:
    for name, report in reports.items():
        for check in report.checks:
            assert check.seen_pass, (name, check.id)
            assert check.seen_fail or (check.shadowed or "").startswith("permissions refuse"), (name, check.id)


def test_only_the_immutable_store_cannot_be_decided_for_every_agent(
    scenarios: Mapping[str, BoundScenario], reports: Mapping[str, WitnessReport]
) -> None:
    open_ones = {scenarios[name].scenario.archetype: report.undecidable for name, report in reports.items()
                 if report.undecidable}  # fmt: skip
    assert list(open_ones) == [STORE]
    assert "audit trail" in str(open_ones[STORE])
