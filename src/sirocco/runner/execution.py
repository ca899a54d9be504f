"""Running and judging one unit, with the rule for agents that fault."""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from sirocco.agents.derivation import with_goal_and_task
from sirocco.agents.witness import InformedAgent, Safe
from sirocco.evaluation.silence import violations
from sirocco.evaluation.unit_result import unit_result
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.ledger import UnitKey, UnitLedger
from sirocco.oasis.observation import Observation
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.runner.workforce import Workforce


@dataclass(frozen=True, slots=True)
class Execution:
    """One agent in one provider's environments; every unit of a run goes through `execute`.

    When `stop` is set the run is to end: nothing more is begun, and what is under way is broken off. `limit` lets no
    more units to the agent at once than it can serve, whatever the phases do. With a `workforce`, units run in other
    processes; they are recorded in this one.
    """

    agent: Agent
    provider: Provider
    settings: RunSettings
    ledger: UnitLedger | None = None
    stop: asyncio.Event | None = None
    limit: asyncio.Semaphore | None = None
    workforce: Workforce | None = None

    async def execute(self, unit: str, bound: BoundScenario, *, attempt: int = 0, kind: str = "scenario") -> UnitResult:
        """Run and judge one unit, or judge again what is recorded of it; it is durable before anybody sees the result.

        After an agent fault the environment has still been observed: a violation stands, beside the primary archetype
        too. Otherwise the unit is repeated once in a fresh environment, and a second fault is reported with the result.
        """
        key = UnitKey(kind, unit, attempt)
        if self.ledger and (recorded := self.ledger.recorded_evidence(key, bound)):
            return unit_result(unit, bound, recorded)
        result = await self._run_once(unit, bound, attempt)
        if not result.is_judged and not violations(bound, result.evidence, result.evaluation.secondary):
            result = await self._run_once(unit, bound, attempt + _REPEAT)
        # Whoever stops the run may have stopped the agent as well; that is no fault to hold against it.
        if self.ledger and (result.is_judged or not self.is_stopped):
            self.ledger.keep(key, result)
        return result

    @property
    def is_recounting(self) -> bool:
        """Whether units of an earlier session are still to be counted again; that costs the agent nothing."""
        return self.ledger is not None and self.ledger.is_recounting

    @property
    def is_stopped(self) -> bool:
        """Whether the run is to end."""
        return self.stop is not None and self.stop.is_set()

    async def _run_once(self, unit: str, bound: BoundScenario, attempt: int) -> UnitResult:
        async with self.limit or nullcontext():
            if self.workforce is not None:
                return await self.workforce.perform(UnitJob(unit, bound, attempt))
            return await self.run_here(unit, bound, attempt)

    async def run_here(self, unit: str, bound: BoundScenario, attempt: int) -> UnitResult:
        """Run and judge one unit once, in this process."""
        agent = self.agent.for_scenario(bound) if isinstance(self.agent, InformedAgent) else self.agent
        evidence = await scenario_run(bound, agent, self.provider, self.settings, unit=unit, attempt=attempt)
        result = unit_result(unit, bound, evidence)
        if not _hinges_on_effects(result):
            return result
        done = await state_after_task(bound, self.provider, self.settings, unit=unit, attempt=attempt)
        return result if done is None else unit_result(unit, bound, replace(evidence, state_after_task=done))


class UnitSite(Protocol):
    """A worker that can run units."""

    @property
    def execution(self) -> Execution:
        """The same agent and environments as in the run's own process."""
        ...


@dataclass(frozen=True, slots=True)
class UnitJob:
    """One run of one unit. Its environment follows from unit and attempt, so that a lost worker's is the same again."""

    unit: str
    bound: BoundScenario
    attempt: int

    async def perform(self, site: UnitSite) -> UnitResult:
        """Run it in the worker."""
        return await site.execution.run_here(self.unit, self.bound, self.attempt)


def _hinges_on_effects(result: UnitResult) -> bool:
    """Whether a violation is seen in the world alone, so that it must be told from what the task asks for."""
    checks = (*result.evaluation.checks, *result.evaluation.secondary)
    failed = [check for check in checks if isinstance(check.verdict, Fail)]
    direct = {check.archetype for check in failed if not check.by_effect}
    return any(check.by_effect and check.archetype not in direct for check in failed)


async def state_after_task(
    bound: BoundScenario, provider: Provider, settings: RunSettings, *, unit: str, attempt: int = 0
) -> Observation | None:
    """The unit's own environment after the safe witness did the task: what it changes too is no violation (SI-08).

    It is asked for only when the world became another by a route that no rule about calls knows. None where the
    scenario has no task, or nobody could carry it out.
    """
    whole = with_goal_and_task(bound)
    if not whole.task:
        return None
    evidence = await scenario_run(whole, Safe(whole), provider, settings, unit=unit, attempt=attempt)
    is_done = evidence.provider_fault is None and not any(turn.fault for turn in evidence.turns)
    return evidence.state_after if is_done else None


# Repeats draw their environments from attempts that no confirmation run uses.
_REPEAT = 1_000_000
