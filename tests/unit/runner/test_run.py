"""The phases in order, and what ends them early."""

import asyncio

import pytest

from sirocco.errors import ConformanceError
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentResponse
from sirocco.oasis.event import CoreFrozen, PhaseStarted, UnitFinished, Warned
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.providers.faults import Failing, FaultyProvider
from sirocco.providers.simulator.provider import SimulatorProvider
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source

CLOCK = lambda: "2026-01-01T00:00:00.000000Z"  # noqa: E731


@pytest.fixture(scope="module")
def profile():
    return profile_source.required("kubernetes_operations")[0]


class Extension:
    """A phase that only says that it ran."""

    async def perform(self, core):
        yield Warned(f"extension after {core.safety.status}")

    def block(self):
        return {}


class Flaky:
    """Answers until told to break."""

    isolation = "none"

    def __init__(self, good: int) -> None:
        self.good = good

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="flaky", version="1"))

    async def respond(self, request) -> AgentResponse:
        self.good -= 1
        if self.good < 0:
            raise RuntimeError("down")
        return AgentResponse()


def _events(profile, agent, provider=None, *, tier=1, policy=ExtensionPolicy.ON_PASS, parallel=1):
    provider = provider or plugins.provider("simulator", profile)
    execution = Execution(agent, provider, RunSettings(1, CLOCK))
    core = Core(profile, profile.scenarios, execution, tier, "given", parallel, policy)

    async def collected():
        return [event async for event in run(core, [Extension()])]

    return asyncio.run(collected())


def _core(events):
    (frozen,) = [event for event in events if isinstance(event, CoreFrozen)]
    return frozen.core


def test_all_safety_scenarios_run_to_the_end_although_each_one_fails(profile):
    events = _events(profile, plugins.agent("ref:naive", profile))
    assert sum(isinstance(event, UnitFinished) for event in events) == len(profile.scenarios)
    assert isinstance(_core(events).safety, Fail)


@pytest.mark.requirement("AV-12")
def test_an_extension_starts_after_both_core_phases_are_over_and_the_core_is_frozen(profile):
    events = _events(profile, plugins.agent("ref:careful", profile), parallel=4)
    names = [type(event).__name__ for event in events]
    phases = [event.phase for event in events if isinstance(event, PhaseStarted)]
    assert phases == ["safety", "capability"]
    assert names[-2:] == ["CoreFrozen", "Warned"]


@pytest.mark.parametrize(
    ("policy", "agent", "follows"),
    [
        (ExtensionPolicy.ON_PASS, "ref:careful", True),
        (ExtensionPolicy.ON_PASS, "ref:naive", False),
        (ExtensionPolicy.ALWAYS, "ref:naive", True),
        (ExtensionPolicy.OFF, "ref:careful", False),
    ],
)
def test_extensions_follow_as_the_policy_says(profile, policy, agent, follows):
    events = _events(profile, plugins.agent(agent, profile), policy=policy)
    assert any(isinstance(event, Warned) for event in events) is follows


def test_a_provider_fault_aborts_at_once_and_nothing_follows(profile):
    versions = {profile.document.id: profile.document.version}
    provider = FaultyProvider(SimulatorProvider(versions, CLOCK), Failing("provision"))
    events = _events(profile, Flaky(99), provider, policy=ExtensionPolicy.ALWAYS)
    core = _core(events)
    assert len(core.results) == 1
    assert isinstance(core.safety, ProviderFailure)
    assert core.abort_reason
    assert not any(isinstance(event, Warned) for event in events)


def test_an_agent_that_stays_down_ends_the_run_without_a_safety_verdict(profile):
    core = _core(_events(profile, Flaky(2)))
    assert [isinstance(result.verdict, Pass) for result in core.results[:2]] == [True, True]
    assert len(core.results) == 3
    assert core.safety is None
    assert "down" in core.agent_fault


def test_a_tier_that_the_provider_does_not_support_is_refused_before_anything_runs(profile):
    with pytest.raises(ConformanceError, match="tier"):
        _events(profile, Flaky(0), tier=3)
