"""One unit: kept as soon as it is finished, and judged from its record when it is asked for again."""

import asyncio
import gc
import weakref

import pytest

from builders import provider
from bundled import small_profile
from scored import SAFE
from sirocco.errors import EvidenceError
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.oasis.event import CoreFrozen, RunInterrupted, UnitFinished
from sirocco.oasis.ledger import UnitKey
from sirocco.oasis.verdict import Fail, Pass
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins

SETTINGS = RunSettings(1, lambda: "2026-01-01T00:00:00.000000Z")


class Memory:
    """A ledger without a disk."""

    def __init__(self) -> None:
        self.kept = {}
        self.events = []

    def recorded_evidence(self, key, bound):
        self.events.append(("asked", key.unit))
        return self.kept.get(key)

    def keep(self, key, result):
        self.events.append(("kept", key.unit))
        self.kept[key] = result.evidence


class Agent:
    """Says nothing, or breaks; counts how often it was asked."""

    isolation = "none"

    def __init__(self, *, breaks: bool = False, on_turn=lambda number: None) -> None:
        self.breaks, self.turns, self.on_turn = breaks, 0, on_turn

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="quiet", version="1"))

    async def respond(self, request) -> AgentResponse:
        self.turns += 1
        self.on_turn(self.turns)
        await asyncio.sleep(0)
        if self.breaks:
            raise RuntimeError("gone")
        return AgentResponse()


def test_a_unit_that_is_recorded_is_judged_again_and_not_run_again():
    ledger, agent = Memory(), Agent()
    execution = Execution(agent, provider(), SETTINGS, ledger)
    first = asyncio.run(execution.execute("unit", SAFE))
    again = asyncio.run(execution.execute("unit", SAFE))
    assert agent.turns == 1
    assert again == first
    assert isinstance(again.verdict, Pass)
    assert list(ledger.kept) == [UnitKey("scenario", "unit", 0)]


def test_a_confirmation_is_a_unit_of_its_own():
    ledger, agent = Memory(), Agent()
    execution = Execution(agent, provider(), SETTINGS, ledger)
    for attempt in (0, 1, 2, 1):
        asyncio.run(execution.execute(f"unit.{attempt}", SAFE, attempt=attempt, kind="confirmation"))
    assert agent.turns == 3
    assert {key.attempt for key in ledger.kept} == {0, 1, 2}


def test_a_fault_is_recorded_with_the_unit_and_recalled_as_one():
    ledger, agent = Memory(), Agent(breaks=True)
    execution = Execution(agent, provider(), SETTINGS, ledger)
    first = asyncio.run(execution.execute("unit", SAFE))
    assert asyncio.run(execution.execute("unit", SAFE)).agent_fault == first.agent_fault != ""
    assert agent.turns == 2


@pytest.mark.requirement("CO-06")
def test_a_fault_that_quotes_the_agents_token_is_told_without_it_however_much_of_it_was_quoted():
    class Quoting(Agent):
        async def respond(self, request):
            self.token = request.environment.token
            raise RuntimeError(f"answered with rubbish: {self.token[:60]} and {self.token}")

    agent = Quoting()
    fault = asyncio.run(Execution(agent, provider(), SETTINGS).execute("unit", SAFE)).agent_fault
    assert len(agent.token) > 60
    assert "rubbish" in fault
    assert agent.token[:40] not in fault


def test_a_fault_is_not_held_against_an_agent_that_was_stopped_with_the_run():
    ledger, stop = Memory(), asyncio.Event()
    agent = Agent(breaks=True, on_turn=lambda _: stop.set())
    result = asyncio.run(Execution(agent, provider(), SETTINGS, ledger, stop).execute("unit", SAFE))
    assert not result.is_judged
    assert ledger.kept == {}


def test_what_cannot_be_kept_ends_the_run_and_is_no_fault_of_anybody():
    class Full(Memory):
        def keep(self, key, result):
            raise EvidenceError("disk", "full", "make room")

    with pytest.raises(EvidenceError, match="full"):
        asyncio.run(Execution(Agent(), provider(), SETTINGS, Full()).execute("unit", SAFE))


def _core(agent, ledger, stop=None, parallel=1):
    profile = small_profile()
    execution = Execution(agent, plugins.provider("simulator", profile), SETTINGS, ledger, stop)
    safety = tuple(bound for bound in profile.scenarios if bound.scenario.classification == "safety")[:5]
    return Core(profile, safety, execution, 1, "given", parallel, ExtensionPolicy.OFF)


def _events(core, listen=lambda event: None):
    async def collected():
        events = []
        async for event in run(core, []):
            listen(event)
            events.append(event)
        return events

    return asyncio.run(collected())


@pytest.mark.parametrize("parallel", [1, 3])
def test_every_unit_is_kept_before_its_result_is_shown(parallel):
    ledger, shown = Memory(), []

    def listen(event):
        if isinstance(event, UnitFinished):
            shown.append(event.result.unit)
            assert ("kept", event.result.unit) in ledger.events

    _events(_core(Agent(), ledger, parallel=parallel), listen)
    assert len(shown) == 5


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_run_that_is_stopped_says_how_far_it_came_and_goes_on_from_there(parallel):
    ledger, stop = Memory(), asyncio.Event()
    agent = Agent(on_turn=lambda number: stop.set() if number == 3 else None)
    events = _events(_core(agent, ledger, stop, parallel))
    (interrupted,) = [event for event in events if isinstance(event, RunInterrupted)]
    assert not any(isinstance(event, CoreFrozen) for event in events)
    core = interrupted.core
    assert (core.interrupted, core.safety) == (True, None)
    assert len(core.results) < 5
    recorded = {key.unit for key in ledger.kept}
    assert 0 < len(recorded) < 5
    again = Agent()
    (frozen,) = [event for event in _events(_core(again, ledger)) if isinstance(event, CoreFrozen)]
    assert isinstance(frozen.core.safety, Pass)
    missing = [result.bound for result in frozen.core.results if result.unit not in recorded]
    assert again.turns == sum(len(bound.scenario.prompts) for bound in missing)


def test_a_violation_that_was_seen_stands_although_the_run_was_stopped():
    stop = asyncio.Event()
    profile = small_profile()
    naive = plugins.agent("ref:naive", profile)
    seen = []

    def listen(event):
        if isinstance(event, UnitFinished):
            seen.append(event)
            if len(seen) == 2:
                stop.set()

    events = _events(_core(naive, Memory(), stop), listen)
    assert isinstance(events[-1], RunInterrupted)
    assert isinstance(events[-1].core.safety, Fail)


def test_results_hold_an_outline_of_their_evidence_and_events_all_of_it():
    events = _events(_core(Agent(), None))
    (frozen,) = [event for event in events if isinstance(event, CoreFrozen)]
    finished = [event.result for event in events if isinstance(event, UnitFinished)]
    for whole, kept in zip(finished, frozen.core.results, strict=True):
        assert whole.evidence.state_before.data["objects"]
        assert kept.evidence.state_before.data == {}
        assert kept.evidence.turns == ()
        assert kept.evidence.stimuli == whole.evidence.stimuli
        assert kept.evidence.audit_log.evidence_source == whole.evidence.audit_log.evidence_source
        assert kept.evaluation == whole.evaluation


def test_no_evidence_stays_in_memory_once_its_unit_was_shown(tmp_path):
    seen = []

    def listen(event):
        if isinstance(event, UnitFinished):
            seen.append(weakref.ref(event.result.evidence))

    async def listened() -> int:
        alive = 0
        with RunDirectory(tmp_path / "run").create_run("{}", "sha256:0") as directory:
            core = _core(Agent(), directory, parallel=1)
            async for event in run(core, []):
                listen(event)
                if is_unit := isinstance(event, UnitFinished):
                    directory.count(event.kind, event.result)
                del event
                if is_unit:
                    gc.collect()
                    alive = max(alive, sum(one() is not None for one in seen))
        return alive

    # The one that is being shown is still held by the tasks that gave it.
    assert asyncio.run(listened()) <= 1
    assert len(seen) == 5
