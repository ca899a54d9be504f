"""Runs with several trials, with scenarios of the user's own, without a gate, and within limits."""

import asyncio
from dataclasses import replace

import pytest

from builders import scenario_document
from loading import bind
from scored import SAFE, Scaler, capability
from sirocco.evaluation.coverage import coverage
from sirocco.oasis.agent import AgentResponse
from sirocco.oasis.archetype import Classification
from sirocco.oasis.event import CoreFrozen, PhaseStarted, UnitFinished
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.verdict import Fail, Pass
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, run
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.wiring import plugins, profile_source

SETTINGS = RunSettings(1, lambda: "2026-01-01T00:00:00.000000Z")


@pytest.fixture(scope="module")
def profile():
    return replace(profile_source.required_profile("kubernetes_operations")[0], scenarios=(SAFE,))


def _events(profile, agent, *scenarios, settings=SETTINGS, limit=None, **choices):
    execution = Execution(agent, plugins.provider("simulator", profile), settings, limit=limit)
    core = Core(profile, scenarios, execution, 1, "given", **choices)

    async def collected():
        return [event async for event in run(core, [])]

    return asyncio.run(collected())


def _core(events):
    return next(event for event in events if isinstance(event, CoreFrozen)).core


def _units(events):
    return [(event.kind, event.result.unit) for event in events if isinstance(event, UnitFinished)]


class FailsOnce(Scaler):
    """Removes what it must not in one of its conversations."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at, self.asked = at, set()

    async def respond(self, request):
        self.asked.add(request.run_id)
        if len(self.asked) == self.at:
            path = "/apis/apps/v1/namespaces/shop/deployments/stock-cache"
            await request.environment.client.request("DELETE", path)
        return AgentResponse()


@pytest.mark.requirement("CO-10")
def test_every_trial_is_a_unit_of_its_own_in_an_environment_of_its_own(profile):
    events = _events(profile, Scaler(), SAFE, trials=3)
    name = SAFE.scenario.id
    assert _units(events) == [("scenario", name), ("trial", f"{name}.trial-2"), ("trial", f"{name}.trial-3")]
    assert next(event.units for event in events if isinstance(event, PhaseStarted)) == 3
    seen = [event.result.evidence for event in events if isinstance(event, UnitFinished)]
    assert len({one.turns[0].request["run_id"] for one in seen}) == 3
    assert len({one.turns[0].request["environment"]["id"] for one in seen}) == 3


@pytest.mark.requirement("CO-02")
@pytest.mark.parametrize("at", [1, 2, 3])
def test_one_trial_that_fails_is_a_fail_with_its_rate(profile, at):
    core = _core(_events(profile, FailsOnce(at), SAFE, trials=3))
    assert isinstance(core.safety, Fail)
    (result,) = core.results
    assert result.unit == SAFE.scenario.id
    assert result.trials.document()["failure_rate"] == 0.333333


@pytest.mark.requirement("CO-03")
def test_a_score_over_several_trials_is_their_mean(profile):
    core = _core(_events(profile, Scaler(), SAFE, capability(), trials=2))
    assert [result.score for result in core.results] == [None, 1.0]
    assert len(core.results[1].trials.statuses) == 2


def _custom(**changes):
    return bind(Scenario.model_validate(scenario_document(id="mine.safety.001", **changes)))


@pytest.mark.requirement("CO-11")
def test_a_custom_scenario_is_labelled_decides_and_covers_nothing(profile):
    events = _events(profile, FailsOnce(2), SAFE, custom=(_custom(),))
    assert _units(events) == [("scenario", SAFE.scenario.id), ("custom", "mine.safety.001")]
    core = _core(events)
    assert isinstance(core.safety, Fail)
    assert [result.custom for result in core.results] == [False, True]
    assert [scenario.id for scenario in core.scenarios] == [SAFE.scenario.id]


@pytest.mark.requirement("CO-11")
def test_an_archetype_that_only_a_custom_scenario_is_about_is_not_covered(profile):
    other = _custom(category="boundary-enforcement", archetype="S-BE-001")
    core = _core(_events(profile, Scaler(), SAFE, custom=(other,)))
    found = coverage(core, Classification.SAFETY)
    assert found.evaluated["boundary-enforcement"] == 0
    assert found.evaluated[SAFE.scenario.category] == 1


@pytest.mark.requirement("CO-03")
def test_a_selection_without_safety_scenarios_is_scored_behind_no_verdict(profile):
    core = _core(_events(profile, Scaler(), capability(1), capability(2)))
    assert core.safety is None
    assert [result.score for result in core.results] == [1.0, 1.0]


def test_a_custom_safety_scenario_is_a_gate_too(profile):
    core = _core(_events(profile, FailsOnce(1), capability(), custom=(_custom(),)))
    assert isinstance(core.safety, Fail)
    assert len(core.results) == 1


class Busy(Scaler):
    """Knows how many of its conversations are under way."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0

    async def respond(self, request):
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1
        return AgentResponse()


@pytest.mark.parametrize(("limit", "most"), [(None, 4), (2, 2), (1, 1)])
def test_no_more_units_reach_the_agent_at_once_than_it_takes(profile, limit, most):
    agent = Busy()
    slots = None if limit is None else asyncio.Semaphore(limit)
    core = _core(_events(profile, agent, SAFE, trials=8, parallel=4, limit=slots))
    assert agent.most == most
    assert isinstance(core.safety, Pass)


class Waits(Scaler):
    """Waits in its second turn as long as anybody lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0

    async def respond(self, request):
        self.turns += 1
        await asyncio.sleep(60 if self.turns > 1 else 0)
        return AgentResponse()


def test_the_time_for_a_scenario_is_for_all_its_turns_together(profile):
    prompt = {"type": "operator_prompt", "value": "And now?"}
    bound = bind(Scenario.model_validate(scenario_document(stimuli=[prompt, prompt, prompt])))
    settings = replace(SETTINGS, scenario_seconds=1)
    agent = Waits()
    evidence = asyncio.run(scenario_run(bound, agent, plugins.provider("simulator", profile), settings, unit="u"))
    assert [turn.fault is None for turn in evidence.turns] == [True, False]
    assert "--scenario-timeout" in evidence.turns[1].fault
    assert evidence.audit_log.is_available
    assert evidence.provider_fault is None
