"""The standard's own safety scenarios, as published: all bound, by written rules, and shown to tell right from wrong."""

import asyncio
from pathlib import Path

import pytest

from builders import PROFILE_ID, TIME
from corpus.official import overlay, scenarios
from loading import bind, binding_of, load_profile
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.profiles.prose.operations import operation_of
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import with_predicates
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses

BY_OVERLAY = {
    "infra.safety.be.zone-config-integrity-001": {"state_assertions.0"},
    # The first is a behaviour and the grammar reads the second, but against the ruling that makes one demand of them.
    "infra.safety.sc.partial-operation-001": {"must.0", "state_assertions.0", "api_audit.0"},
}


@pytest.fixture(scope="session")
def safety(package: Path) -> tuple[Scenario, ...]:
    return tuple(scenarios(package, "safety"))


def clock() -> str:
    return TIME


@pytest.fixture(scope="module")
def witnesses() -> Witnesses:
    return Witnesses(SimulatorProvider({PROFILE_ID: "0.1.0"}, clock), RunSettings(1, clock), Naive())


@pytest.mark.requirement("CO-04")
def test_all_twenty_one_are_bound_with_goal_and_no_entry_left_out(safety: tuple[Scenario, ...]) -> None:
    assert len(safety) == 21
    for scenario in safety:
        binding = binding_of(scenario, overlay())
        assert binding.problems == (), scenario.id
        assert binding.bound.goal is not None
        assert all(check.predicates for check in binding.bound.checks)
        verification, assertions = scenario.verification, scenario.assertions
        entries = (
            *assertions.must, *assertions.must_not, *verification.state_assertions, *verification.api_audit,
            *verification.negative_verification, *verification.value_containment,
        )  # fmt: skip
        assert len(binding.bound.checks) == len(entries)


def test_the_overlay_reads_only_what_structure_and_grammar_cannot(safety: tuple[Scenario, ...]) -> None:
    entries = {scenario.id: overlay().scenarios[scenario.id] for scenario in safety}
    assert {name: set(entry.predicates) for name, entry in entries.items() if entry.predicates} == BY_OVERLAY
    unread = {
        (scenario.id, check.id)
        for scenario in safety
        for check in binding_of(scenario).bound.checks
        if not check.predicates
    }
    ruled = {("infra.safety.sc.partial-operation-001", check) for check in ("must.0", "state_assertions.0")}
    assert unread == {(name, check) for name, checks in BY_OVERLAY.items() for check in checks} - ruled


def test_a_bound_scenario_carries_its_readings_and_binds_again_by_itself(safety: tuple[Scenario, ...]) -> None:
    for scenario in safety:
        bound = bind(scenario, overlay())
        assert bind(bound.scenario).checks == bound.checks, "what the overlay gave is in the scenario"
        recorded = with_predicates(bound).document()
        again = bind(Scenario.model_validate(recorded))
        assert (again.checks, again.goal, again.task) == (bound.checks, bound.goal, bound.task)
        assert with_predicates(again).document() == recorded
        # Nothing is left to the grammar: other words in the same place change no reading.
        recorded["verification"]["negative_verification"] = [
            "in other words" for _ in scenario.verification.negative_verification
        ]
        assert bind(Scenario.model_validate(recorded)).checks == bound.checks


@pytest.mark.requirement("SI-01")
def test_witnesses_show_every_check_to_pass_and_to_fail(safety: tuple[Scenario, ...], witnesses: Witnesses) -> None:
    for scenario in safety:
        bound = bind(scenario, overlay())
        assert witnesses.provider.unsupported_demands(bound.scenario) == ()
        report = asyncio.run(witnesses.report(bound))
        assert report.problems == (), scenario.id
        assert report.can_pass
        assert report.can_fail


def texts_of_operations(scenario: Scenario) -> list[str]:
    texts = [assertion.action for assertion in (*scenario.assertions.must, *scenario.assertions.must_not)]
    texts += [text for rule in scenario.verification.api_audit for text in (rule.forbidden, rule.required)]
    own = scenario.x_sirocco
    texts += [own.goal.operation if own.goal else None, *own.task]
    return [text for text in texts if text]


def test_printing_an_operation_and_parsing_it_again_changes_nothing(package: Path) -> None:
    loaded = load_profile(bundled_profile_folder())
    assert loaded.profile is not None
    bounds = [*loaded.profile.scenarios, *(binding_of(one, overlay()).bound for one in scenarios(package))]
    read = {text: operation_of(text) for bound in bounds for text in texts_of_operations(bound.scenario)}
    operations = [operation for operation in read.values() if operation is not None]
    assert len(operations) > 80
    assert [Operation.parse(str(operation)) for operation in operations] == operations
    prose = sorted(text for text, operation in read.items() if operation is None)
    assert len(prose) == 8, "seven required actions and one audit rule of the package are in words"


def test_every_safety_scenario_has_a_recorded_ruling_about_entries_that_it_has(safety: tuple[Scenario, ...]) -> None:
    for scenario in safety:
        checks = {check.id for check in bind(scenario, overlay()).checks}
        rulings = overlay().scenarios[scenario.id].rulings
        assert rulings
        for ruling in rulings:
            for about in ruling.about.split(", "):
                known = about in checks or about.partition(".")[0] in {*scenario.document(), "goal", "task"}
                assert known, (scenario.id, about)
