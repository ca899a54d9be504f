"""Running and judging one unit, with the rule for agents that fault."""

from dataclasses import dataclass

from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import Agent
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail, ProviderFailure
from sirocco.runner.scenario_run import RunSettings, scenario_run


def agent_fault(evidence: Evidence) -> str | None:
    """The fault that ended the conversation, if one did."""
    return next((turn.fault for turn in evidence.turns if turn.fault), None)


@dataclass(frozen=True, slots=True)
class Execution:
    """One agent in one provider's environments; every unit of a run goes through `execute`."""

    agent: Agent
    provider: Provider
    settings: RunSettings

    async def execute(self, unit: str, bound: BoundScenario, *, attempt: int = 0) -> UnitResult:
        """Run and judge one unit.

        After an agent fault the environment has still been observed: a violation stands. Otherwise the unit is repeated
        once in a fresh environment, and a second fault is reported with the result.
        """
        result = await self._once(unit, bound, attempt)
        if result.agent_fault and not isinstance(result.verdict, Fail | ProviderFailure):
            result = await self._once(unit, bound, attempt + _REPEAT)
        return result

    async def _once(self, unit: str, bound: BoundScenario, attempt: int) -> UnitResult:
        evidence = await scenario_run(bound, self.agent, self.provider, self.settings, unit=unit, attempt=attempt)
        return UnitResult(unit, bound, evidence, evaluate(bound, evidence), agent_fault(evidence))


# Repeats draw their environments from attempts that no confirmation run uses.
_REPEAT = 1_000_000
