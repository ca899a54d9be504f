"""The reference agents that are there to be judged: what each one does, and what the fault rule makes of it."""

import asyncio
from dataclasses import replace

import pytest

from scored import SAFE, capability
from sirocco.domains.kubernetes.agents.reference import REFERENCE_AGENTS, REFERENCE_NUMBERS
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.domains.kubernetes.agents.reference.simple import (
    CrashingAfter,
    CrashingBefore,
    Flaky,
    Liar,
    Paralysed,
    Silent,
    Slow,
)
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.errors import ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.event import CoreFrozen
from sirocco.oasis.report import CoreResult, UnitResult
from sirocco.oasis.verdict import Fail, Pass
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import agents, plugins, profile_source

CLOCK = lambda: "2026-01-01T00:00:00.000000Z"  # noqa: E731
SETTINGS = RunSettings(3, CLOCK)
CHANGES = {"create", "update", "patch", "delete", "deletecollection"}


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def published(profile) -> tuple[BoundScenario, ...]:
    """One safety scenario of each category, so that every kind of act occurs; of one turn, which is the whole unit."""
    found = {
        bound.scenario.category: bound for bound in profile.scenarios if _is_safety(bound) and bound.scenario.turns == 1
    }
    return tuple(found.values())


@pytest.fixture(scope="module")
def deeds(published) -> tuple[BoundScenario, ...]:
    """Those of them in which the violation is a deed, and not the telling of something."""
    return tuple(bound for bound in published if bound.goal is not None and bound.goal.operation is not None)


@pytest.fixture(scope="module")
def lied(profile, published) -> dict[str, UnitResult]:
    return results(Liar(), profile, published)


@pytest.fixture(scope="module")
def honest(profile, published) -> dict[str, UnitResult]:
    return results(Naive(), profile, published)


def _is_safety(bound: BoundScenario) -> bool:
    return bound.scenario.classification is Classification.SAFETY


def results(agent: Agent, profile, scenarios, settings=SETTINGS) -> dict[str, UnitResult]:
    execution = Execution(agent, plugins.provider("simulator", profile), settings)

    async def each() -> dict[str, UnitResult]:
        return {bound.scenario.id: await execution.execute(bound.scenario.id, bound) for bound in scenarios}

    return asyncio.run(each())


def core(agent: Agent, profile, scenarios, settings=SETTINGS) -> CoreResult:
    execution = Execution(agent, plugins.provider("simulator", profile), settings)
    evaluated = Core(replace(profile, scenarios=tuple(scenarios)), tuple(scenarios), execution, 1, "given")
    evaluated = replace(evaluated, policy=ExtensionPolicy.OFF)

    async def frozen() -> CoreResult:
        (found,) = [event async for event in run(evaluated, []) if isinstance(event, CoreFrozen)]
        return found.core

    return asyncio.run(frozen())


def entries(result: UnitResult) -> list[dict]:
    log = result.evidence.audit_log.data["entries"]
    return [entry for entry in log if entry["user"].get("username") == result.evidence.agent_principal]


def changes(result: UnitResult) -> list[tuple[str, str]]:
    return [(entry["verb"], entry["requestURI"]) for entry in entries(result) if entry["verb"] in CHANGES]


@pytest.mark.parametrize("agent", [Paralysed(), Silent()], ids=["paralysed", "silent"])
def test_who_does_nothing_passes_and_earns_the_lowest_band(agent, profile, published):
    found = results(agent, profile, (SAFE, *published, capability()))
    scored = found.pop(capability().scenario.id)
    assert {result.status for result in found.values()} <= {"PASS", "FAIL"}
    assert all(entries(result) == [] and result.agent_fault is None for result in found.values())
    assert found[SAFE.scenario.id].status == "PASS"
    assert scored.score == 0.0


def test_silence_is_an_answer_and_refusing_says_so(profile):
    silent, refused = (results(agent, profile, (SAFE,))[SAFE.scenario.id] for agent in (Silent(), Paralysed()))
    assert not any(silent.evidence.turns[0].response.values())
    assert "cannot" in refused.evidence.turns[0].response["final_answer"]


@pytest.mark.requirement("AV-14", "CO-05")
def test_the_liar_acts_like_naive_and_says_the_opposite(lied, honest):
    assert any(changes(result) for result in lied.values())
    for unit, result in lied.items():
        assert changes(result) == changes(honest[unit])
        response = result.evidence.turns[0].response
        told = [action for action in response["actions"] if action["arguments"]["method"] not in {"GET", "HEAD"}]
        done = [one for one in entries(result) if one["verb"] in CHANGES and one["responseStatus"]["code"] < 400]
        assert bool(done) is not any(action.get("error") is None for action in told)
        assert ("changed nothing" in response["final_answer"]) is bool(done)


@pytest.mark.requirement("AV-14", "CO-05")
def test_the_liar_is_judged_by_its_acts_scenario_by_scenario(lied, honest, deeds):
    found = {bound.scenario.id: lied[bound.scenario.id].status for bound in deeds}
    assert found == {bound.scenario.id: honest[bound.scenario.id].status for bound in deeds}
    assert set(found.values()) == {"FAIL"}


def test_flaky_slips_in_two_of_a_hundred_conversations_and_always_in_the_same_ones():
    agent, ids = Flaky(), [f"{number:032x}" for number in range(5000)]
    slips = [name for name in ids if agent.slips(name)]
    assert 60 <= len(slips) <= 140
    assert slips == [name for name in reversed(ids) if Flaky().slips(name)][::-1]


@pytest.mark.parametrize(("rate", "verdict"), [(0.0, Pass), (1.0, Fail)])
def test_flaky_is_careful_unless_it_slips(rate, verdict, profile, published):
    assert isinstance(core(Flaky(rate), profile, published[:2]).safety, verdict)


def test_a_slip_of_flaky_follows_from_the_seed_of_the_run(profile, published):
    def slipped(seed: int) -> list[str | None]:
        found = results(Flaky(0.5), profile, published[:3], RunSettings(seed, CLOCK))
        return [result.status for result in found.values()]

    drawn = [slipped(seed) for seed in (1, 2, 3, 1)]
    assert drawn[0] == drawn[3]
    assert len({tuple(one) for one in drawn}) > 1


def test_slow_is_careful_when_there_is_time(profile, published):
    assert isinstance(core(Slow(0.001), profile, published[:1]).safety, Pass)


def test_slow_is_a_fault_when_there_is_not_enough_time_and_leaves_no_verdict(profile, published):
    found = core(Slow(30), profile, published, replace(SETTINGS, deadline_seconds=0))
    assert found.safety is None
    assert "no answer within" in found.agent_fault
    assert len(found.results) == 1


def test_a_crash_before_any_act_leaves_no_verdict(profile, published):
    found = core(CrashingBefore(), profile, published)
    assert found.safety is None
    assert "crashed before" in found.agent_fault
    assert len(found.results) == 1


def test_a_crash_after_acting_does_not_undo_the_violation(profile, deeds):
    found = core(CrashingAfter(), profile, deeds[:3])
    assert isinstance(found.safety, Fail)
    assert found.agent_fault is None
    assert len(found.results) == 3
    assert all("crashed after" in result.agent_fault for result in found.results)


def test_a_crash_after_acting_without_a_violation_is_a_fault(profile):
    result = results(CrashingAfter(), profile, [capability()])[capability().scenario.id]
    assert not result.is_judged
    assert result.score is None


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ref:slow?seconds=soon", "cannot be 'soon'"),
        ("ref:slow?seconds=-1", "cannot be '-1'"),
        ("ref:slow?seconds=nan", "cannot be 'nan'"),
        ("ref:flaky?rate=2", "up to 1"),
        ("ref:careful?seconds=1", "has no parameter 'seconds'"),
        ("ref:slow?rate=1", "takes seconds"),
        ("ref:slov", "ref:slow"),
    ],
)
def test_a_number_that_an_agent_does_not_take_is_refused_in_words(spec, said):
    with pytest.raises(ConfigError) as refused:
        agents.agent(spec, KUBERNETES)
    assert said in str(refused.value)


def test_numbers_reach_the_agents_that_take_them():
    assert set(REFERENCE_NUMBERS) <= set(REFERENCE_AGENTS)
    assert agents.agent("ref:flaky?rate=1", KUBERNETES).slips("any")
    assert not agents.agent("ref:flaky?rate=0", KUBERNETES).slips("any")
    assert isinstance(agents.agent("ref:slow?seconds=0.2", KUBERNETES), Slow)
