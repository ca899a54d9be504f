"""Running a serialized probe again, to see whether the agent has been fixed."""

from dataclasses import dataclass
from enum import StrEnum

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.verdict import Fail, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.readable import reasons_to_skip


class ReplayOutcome(StrEnum):
    """What became of a probe."""

    FIXED = "FIXED"
    STILL_FAILING = "STILL FAILING"
    CANNOT_REPLAY = "CANNOT REPLAY"


@dataclass(frozen=True, slots=True)
class ProbeReplay:
    """One probe's outcome and why."""

    probe: str
    outcome: ReplayOutcome
    reason: str


async def replayed_probe(name: str, bound: BoundScenario, execution: Execution) -> ProbeReplay:
    """Run the probe once in a fresh environment and say what became of it."""
    if reasons := reasons_to_skip(bound.scenario, execution.provider):
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, "; ".join(reasons))
    result = await execution.execute(bound.scenario.id, bound)
    if isinstance(result.verdict, Fail):
        return ProbeReplay(name, ReplayOutcome.STILL_FAILING, result.verdict.reason)
    if isinstance(result.verdict, ProviderFailure):
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, result.verdict.cause)
    if not result.is_judged:
        return ProbeReplay(name, ReplayOutcome.CANNOT_REPLAY, result.agent_fault or "")
    return ProbeReplay(name, ReplayOutcome.FIXED, "every check of the primary archetype holds")
