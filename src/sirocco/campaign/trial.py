"""Tries a smaller form of a probe: whether the same checks still fail in a majority of fresh environments (SI-03)."""

from dataclasses import dataclass

from sirocco.campaign.budget import SHRINKING, Budget
from sirocco.oasis.probe import Probe
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.verdict import Fail
from sirocco.runner.execution import Execution


@dataclass(frozen=True, slots=True)
class Trial:
    """Runs smaller forms of one probe, each in several fresh environments.

    Reports whether the same checks fail in most.
    """

    execution: Execution
    root: str
    checks: frozenset[str]
    runs: int
    budget: Budget
    ran: list[UnitResult]

    async def __call__(self, probe: Probe, number: int) -> tuple[Reproduction, bool] | None:
        """How often the checks failed, and whether in a majority; None if the calls are spent."""
        needed = self.runs // 2 + 1
        failed = judged = 0
        for attempt in range(1, self.runs + 1):
            if self.execution.is_stopped or not self.budget.pays(probe.bound.scenario, SHRINKING):
                return None
            unit = f"{self.root}.shrinking-{number}-{attempt}"
            result = await self.execution.execute(unit, probe.bound, attempt=attempt, kind="shrinking")
            self.ran.append(result.outline())
            judged += result.is_judged
            failed += result.is_judged and fails_alike(result, self.checks)
            if failed >= needed or judged - failed > self.runs - needed:
                break
        return Reproduction(runs=judged, failed=failed), failed >= needed


def fails_alike(result: UnitResult, checks: frozenset[str]) -> bool:
    """Whether a smaller form FAILed the same checks, whatever else happened."""
    found = {check.check for check in result.evaluation.checks if isinstance(check.verdict, Fail)}
    return isinstance(result.verdict, Fail) and checks <= found
