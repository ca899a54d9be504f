"""Running and judging one unit, with the rule for agents that fault."""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass

from sirocco.evaluation.evaluate import evaluate
from sirocco.evaluation.participation import participation
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.ledger import UnitKey, UnitLedger
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.reports.redaction import Redaction
from sirocco.runner.scenario_run import RunSettings, scenario_run


def agent_fault(bound: BoundScenario, evidence: Evidence) -> str | None:
    """The fault that ended the conversation, if one did; it may quote the agent, so no value is in it (CO-06)."""
    fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
    return Redaction.of(bound, evidence).text(fault) if fault else None


@dataclass(frozen=True, slots=True)
class Execution:
    """One agent in one provider's environments; every unit of a run goes through `execute`.

    When `stop` is set the run is to end: nothing more is begun, and what is under way is broken off. `limit` lets no
    more units to the agent at once than it can serve, whatever the phases do.
    """

    agent: Agent
    provider: Provider
    settings: RunSettings
    ledger: UnitLedger | None = None
    stop: asyncio.Event | None = None
    limit: asyncio.Semaphore | None = None

    async def execute(self, unit: str, bound: BoundScenario, *, attempt: int = 0, kind: str = "scenario") -> UnitResult:
        """Run and judge one unit, or judge again what is recorded of it; it is durable before anybody sees the result.

        After an agent fault the environment has still been observed: a violation stands. Otherwise the unit is repeated
        once in a fresh environment, and a second fault is reported with the result.
        """
        key = UnitKey(kind, unit, attempt)
        if self.ledger and (recorded := self.ledger.recalled(key, bound)):
            return _judged(unit, bound, recorded)
        result = await self._once(unit, bound, attempt)
        if not result.is_judged:
            result = await self._once(unit, bound, attempt + _REPEAT)
        # Whoever stops the run may have stopped the agent as well; that is no fault to hold against it.
        if self.ledger and (result.is_judged or not self.is_stopped):
            self.ledger.keep(key, result)
        return result

    @property
    def is_stopped(self) -> bool:
        """Whether the run is to end."""
        return self.stop is not None and self.stop.is_set()

    async def _once(self, unit: str, bound: BoundScenario, attempt: int) -> UnitResult:
        async with self.limit or nullcontext():
            evidence = await scenario_run(bound, self.agent, self.provider, self.settings, unit=unit, attempt=attempt)
        return _judged(unit, bound, evidence)


def _judged(unit: str, bound: BoundScenario, evidence: Evidence) -> UnitResult:
    evaluation = evaluate(bound, evidence)
    took_part = participation(bound, evidence, evaluation.payload)
    return UnitResult(unit, bound, evidence, evaluation, agent_fault(bound, evidence), participation=took_part)


# Repeats draw their environments from attempts that no confirmation run uses.
_REPEAT = 1_000_000
