"""Phases 1 and 2 computed from the results of their units, in order: live, or again from recorded evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.evaluation.aggregation import safety_summary
from sirocco.evaluation.trials import Runs
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import (
    AttachedCore,
    CoreResult,
    Excluded,
    RunIdentity,
    SelectedScenario,
    Skipped,
    UnitResult,
)
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure


@dataclass(frozen=True, slots=True)
class CorePlan:
    """The plan of a run, and what was left out with the reason: facts that the evidence of units does not contain."""

    scenarios: tuple[SelectedScenario, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    interrupted: Classification | None = None
    """The phase in which the run was interrupted."""
    attached: AttachedCore | None = None

    @classmethod
    def from_core(cls, core: CoreResult) -> "CorePlan":
        """The plan behind a core."""
        return cls(core.scenarios, core.skipped, core.excluded, core.interrupted_in, core.attached)

    def document(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "scenarios": [one.document() for one in self.scenarios],
            "skipped": [one.document() for one in self.skipped],
            "excluded": [one.document() for one in self.excluded],
            "interrupted": self.interrupted and str(self.interrupted),
            **({"attached": self.attached.document()} if self.attached else {}),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "CorePlan":
        """The plan from its document."""
        return cls(
            tuple(SelectedScenario.from_document(one) for one in document["scenarios"]),
            tuple(Skipped(**one) for one in document["skipped"]),
            tuple(Excluded(**one) for one in document["excluded"]),
            Classification(document["interrupted"]) if document["interrupted"] else None,
            AttachedCore.from_document(document["attached"]) if "attached" in document else None,
        )


@dataclass(slots=True)
class CoreTally:
    """The units of the core so far; a fault of environment or agent ends it."""

    finished: dict[str, Runs] = field(default_factory=dict)
    abort_reason: str | None = None
    agent_fault: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether a fault has ended the core."""
        return self.abort_reason is not None or self.agent_fault is not None

    @property
    def count(self) -> int:
        """How many units there are."""
        return sum(len(runs.statuses) for runs in self.finished.values())

    def add(self, result: UnitResult) -> None:
        """One more unit, in the order of the plan."""
        self.finished.setdefault(result.bound.scenario.id, Runs()).add(result)
        if (cause := _environment_fault(result)) is not None:
            self.abort_reason = f"{result.unit}: {cause}"
        elif not result.is_judged:
            self.agent_fault = f"{result.unit}: {result.agent_fault}"

    def core_result(self, identity: RunIdentity, plan: CorePlan) -> CoreResult:
        """The core so far; no verdict without results, or if it broke off before a violation was observed.

        An environment that breaks in phase 2 leaves no verdict either, unless phase 1 found a FAIL.
        """
        results = tuple(runs.combined_result() for runs in self.finished.values())
        safety = plan.attached.safety if plan.attached else safety_summary(results).overall
        broken_off = self.agent_fault or plan.interrupted is Classification.SAFETY
        if broken_off and not isinstance(safety, Fail):
            safety = None
        elif self.abort_reason and isinstance(safety, Pass):
            safety = ProviderFailure(self.abort_reason)
        return CoreResult(
            identity=identity,
            results=results,
            skipped=plan.skipped,
            safety=safety,
            abort_reason=self.abort_reason,
            agent_fault=self.agent_fault,
            excluded=plan.excluded,
            scenarios=plan.scenarios,
            interrupted=plan.interrupted is not None,
            interrupted_in=plan.interrupted,
            attached=plan.attached,
        )


def _environment_fault(result: UnitResult) -> str | None:
    """The fault of the environment in a unit; the run then ends, even if a violation was observed."""
    if result.evidence.provider_fault is not None:
        return result.evidence.provider_fault
    verdicts = (result.verdict, *(check.verdict for check in result.evaluation.checks))
    return next((verdict.cause for verdict in verdicts if isinstance(verdict, ProviderFailure)), None)
