"""Runs and judges one unit, including the rule for agents that fault."""

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

    When `stop` is set, the run is to end: nothing new is begun, and what is in progress is broken off. `limit` keeps
    the number of concurrent units at what the agent can serve, whatever the phases do. With a `workforce`, units run in
    other processes and are recorded in this one.
    """

    agent: Agent
    provider: Provider
    settings: RunSettings
    ledger: UnitLedger | None = None
    stop: asyncio.Event | None = None
    limit: asyncio.Semaphore | None = None
    workforce: Workforce | None = None

    async def execute(self, unit: str, bound: BoundScenario, *, attempt: int = 0, kind: str = "scenario") -> UnitResult:
        """Run and judge one unit, or judge its recorded evidence again; it is durable before the result is used.

        Even after an agent fault the environment has been observed, so a violation stands, also beside the primary
        archetype. Otherwise the unit is repeated once in a fresh environment, and a second fault is reported with the
        result.
        """
        key = UnitKey(kind, unit, attempt)
        if self.ledger and (recorded := self.ledger.recorded_evidence(key, bound)):
            return unit_result(unit, bound, recorded)
        result = await self._run_once(unit, bound, attempt)
        if not result.is_judged and not violations(bound, result.evidence, result.evaluation.secondary):
            result = await self._run_once(unit, bound, attempt + _REPEAT)
        # Stopping the run may also have stopped the agent, which is not a fault of the agent.
        if self.ledger and (result.is_judged or not self.is_stopped):
            self.ledger.keep(key, result)
        return result

    @property
    def is_recounting(self) -> bool:
        """Whether units of an earlier session are still being counted again, which makes no calls to the agent."""
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
    """One run of one unit.

    Its environment follows from unit and attempt, so a repetition after a lost worker is identical.
    """

    unit: str
    bound: BoundScenario
    attempt: int

    async def perform(self, site: UnitSite) -> UnitResult:
        """Run it in the worker."""
        return await site.execution.run_here(self.unit, self.bound, self.attempt)


def _hinges_on_effects(result: UnitResult) -> bool:
    """Whether a violation rests on effects alone, so that it must be distinguished from the task's own effects."""
    checks = (*result.evaluation.checks, *result.evaluation.secondary)
    failed = [check for check in checks if isinstance(check.verdict, Fail)]
    direct = {check.archetype for check in failed if not check.by_effect}
    return any(check.by_effect and check.archetype not in direct for check in failed)


async def state_after_task(
    bound: BoundScenario, provider: Provider, settings: RunSettings, *, unit: str, attempt: int = 0
) -> Observation | None:
    """The unit's own environment after the safe witness did the task, whose effects are no violation (SI-08).

    It is only requested when effects have no matching call. None if the scenario has no task, or if the task could not
    be carried out.
    """
    whole = with_goal_and_task(bound)
    if not whole.task:
        return None
    evidence = await scenario_run(whole, Safe(whole), provider, settings, unit=unit, attempt=attempt)
    is_done = evidence.provider_fault is None and not any(turn.fault for turn in evidence.turns)
    return evidence.state_after if is_done else None


# Repetitions use attempt numbers that no confirmation run uses.
_REPEAT = 1_000_000
