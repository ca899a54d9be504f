"""The adversarial phase: draft, admit, run, confirm, serialize, report (AV-12, AV-13, AV-17)."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from sirocco.campaign.admission import Admission, Rejection
from sirocco.campaign.findings import FailedProbe, grouped
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.event import DraftRejected, Event, PhaseStarted, ProbeSerialized, UnitFinished, Warned
from sirocco.oasis.probe import Probe, ProbeGenerator, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERPRETATION_NOTE, CoreResult, UnitResult
from sirocco.oasis.resource import BY_NOUN
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """How much to generate and how hard to look."""

    probes: int
    confirm: int
    parallel: int
    max_agent_calls: int


@dataclass(slots=True)
class _Tally:
    """What the phase has counted so far."""

    drafted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    results: list[tuple[Probe, UnitResult]] = field(default_factory=list)
    failed: list[FailedProbe] = field(default_factory=list)
    agent_calls: int = 0
    provider_fault: bool = False
    incomplete: str | None = None


class AdversarialPhase:
    """Implements Phase with probes from one generator."""

    def __init__(
        self,
        profile: Profile,
        targets: Sequence[Archetype],
        generator: ProbeGenerator,
        admission: Admission,
        execution: Execution,
        settings: CampaignSettings,
    ) -> None:
        self.profile = profile
        self.targets = tuple(targets)
        self.generator = generator
        self.admission = admission
        self.execution = execution
        self.settings = settings
        self._tally = _Tally()
        self._core_failed = False

    async def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Admit probes, run them, confirm what FAILed; agent calls are spent in that order."""
        self._core_failed = not isinstance(core.safety, Pass)
        yield PhaseStarted("adversarial", self.settings.probes)
        probes: list[Probe] = []
        for stage in (self._admit(probes), self._run(probes), self._confirm()):
            async with aclosing(stage) as events:
                async for event in events:
                    yield event
        faulted = sum(not result.is_judged for _, result in self._tally.results)
        if faulted and not self._tally.incomplete:
            self._tally.incomplete = f"{faulted} probes ended in a fault of the agent"
        if self._tally.incomplete:
            yield Warned(f"the adversarial phase is incomplete: {self._tally.incomplete}")

    async def _admit(self, probes: list[Probe]) -> AsyncGenerator[Event, None]:
        """Fill `probes` with admitted drafts, in draft order whatever finished first."""
        for indices in self._blocks():
            drafts = [draft async for draft in self.generator.propose(self._request(indices))]
            async with aclosing(in_order(self.admission.decide, drafts, self.settings.parallel)) as decisions:
                async for decision in decisions:
                    self._tally.drafted += 1
                    if isinstance(decision, Rejection):
                        self._tally.rejected[decision.reason] += 1
                        draft = decision.draft
                        yield DraftRejected(draft.index, draft.primary_archetype, decision.reason, decision.detail)
                        continue
                    for warning in decision.warnings:
                        yield Warned(warning)
                    if decision.probe.id in {probe.id for probe in probes}:
                        self._tally.rejected["repeat"] += 1
                        yield DraftRejected(
                            decision.probe.draft.index, decision.probe.primary_archetype, "repeat", decision.probe.id
                        )
                        continue
                    probes.append(decision.probe)
                    if len(probes) == self.settings.probes:
                        return
        if len(probes) < self.settings.probes:
            self._tally.incomplete = f"only {len(probes)} of {self.settings.probes} probes were admitted"

    def _blocks(self) -> Iterator[range]:
        """Draft indices, a block at a time, until drafting more is judged hopeless."""
        most = 4 * self.settings.probes + 16 if self.settings.probes else 0
        for start in range(0, most, max(self.settings.probes, 1)):
            yield range(start, min(start + self.settings.probes, most))

    def _request(self, indices: range) -> ProbeRequest:
        return ProbeRequest(self.targets, tuple(BY_NOUN), tuple(Surface), self.execution.settings.seed, indices)

    async def _run(self, probes: Sequence[Probe]) -> AsyncGenerator[Event, None]:
        """Each probe through the core's own path; a provider fault ends the phase and leaves the core alone."""
        affordable = self._affordable([(probe, 0) for probe in probes])
        async with aclosing(in_order(self._execute, affordable, self.settings.parallel)) as results:
            async for probe, result in results:
                self._tally.results.append((probe, result))
                yield UnitFinished("probe", result)
                if isinstance(result.verdict, Fail):
                    yield self._serialized(FailedProbe(probe, result, Reproduction(runs=0, failed=0)))
                if self._ends_at(probe, result):
                    return

    async def _confirm(self) -> AsyncGenerator[Event, None]:
        """Run each failed probe again in fresh environments and keep it with the rate (AV-11).

        Only runs that were judged count: a fault is neither a return of the failure nor its absence.
        """
        failed = [(probe, result) for probe, result in self._tally.results if isinstance(result.verdict, Fail)]
        attempts = [(probe, attempt) for probe, _ in failed for attempt in range(1, self.settings.confirm + 1)]
        again: dict[str, list[UnitResult]] = {probe.id: [] for probe, _ in failed}
        if not self._tally.provider_fault:
            async with aclosing(in_order(self._execute, self._affordable(attempts), self.settings.parallel)) as results:
                async for probe, result in results:
                    yield UnitFinished("confirmation", result)
                    if self._ends_at(probe, result):
                        break
                    if result.is_judged:
                        again[probe.id].append(result)
        for probe, result in failed:
            repeated = sum(isinstance(run.verdict, Fail) for run in again[probe.id])
            failure = FailedProbe(probe, result, Reproduction(runs=len(again[probe.id]), failed=repeated))
            self._tally.failed.append(failure)
            yield self._serialized(failure)

    def _serialized(self, failure: FailedProbe) -> ProbeSerialized:
        return ProbeSerialized(failure.file_name, failure.serialized(self.profile.document.canary))

    def _ends_at(self, probe: Probe, result: UnitResult) -> bool:
        """Whether a provider fault in this result ends the phase."""
        if isinstance(result.verdict, ProviderFailure):
            self._tally.provider_fault = True
            self._tally.incomplete = f"provider fault in {probe.id}: {result.verdict.cause}"
        return self._tally.provider_fault

    async def _execute(self, work: tuple[Probe, int]) -> tuple[Probe, UnitResult]:
        probe, attempt = work
        unit = probe.id if attempt == 0 else f"{probe.id}.confirmation-{attempt}"
        return probe, await self.execution.execute(unit, probe.bound, attempt=attempt)

    def _affordable(self, work: Sequence[tuple[Probe, int]]) -> Iterator[tuple[Probe, int]]:
        """The units that the limit on agent calls still pays for; what is left out makes the phase incomplete."""
        for probe, attempt in work:
            calls = len(probe.bound.scenario.prompts)
            if self._tally.agent_calls + calls > self.settings.max_agent_calls:
                self._tally.incomplete = f"the limit of {self.settings.max_agent_calls} agent calls was reached"
                return
            self._tally.agent_calls += calls
            yield probe, attempt

    def block(self) -> Mapping[str, Any]:
        """The keys of section 6.1 of the extension, and ours (AV-22)."""
        tally = self._tally
        results = [result for _, result in tally.results]
        safety = [
            (probe, result)
            for probe, result in tally.results
            if self.profile.classification(probe.primary_archetype) is Classification.SAFETY
        ]
        composition = sum(bool(probe.secondary_archetypes) for probe, _ in tally.results)
        block: dict[str, Any] = {
            "performed": True,
            "complete": tally.incomplete is None,
            "generator": self.generator.method.document(),
            "planned": self.settings.probes,
            "executed": len(results),
            "delivered": sum(_reached(result) for result in results),
            "archetypes_without_delivered_probe": self._unprobed(),
            "admission": {
                "drafted": tally.drafted,
                "admitted": tally.drafted - tally.rejected.total(),
                "rejected": dict(sorted(tally.rejected.items())),
            },
            "probe_summary": {
                "total_probes": len(results),
                "safety_probes": len(safety),
                "capability_probes": len(results) - len(safety),
                "composition_probes": composition,
            },
            "safety_results": _safety_results(safety, tally.failed),
            "capability_results": {"total": 0, "mean_score": None, "per_archetype": {}},
            "reserved_scenarios": {"executed": 0, "passed": 0, "failed": 0},
            "findings": grouped(tally.failed),
            "probe_details": [_detail(probe, result) for probe, result in tally.results],
            "interpretation_note": INTERPRETATION_NOTE,
        }
        if tally.incomplete:
            block["incomplete_reason"] = tally.incomplete
        if self._core_failed:
            block["core_incomplete"] = True
        return block

    def _unprobed(self) -> list[str]:
        """Targets that no probe reached the agent for; a clean look must not hide them."""
        probed = {probe.primary_archetype for probe, result in self._tally.results if _reached(result)}
        return [archetype.id for archetype in self.targets if archetype.id not in probed]


def _safety_results(results: Sequence[tuple[Probe, UnitResult]], failed: Sequence[FailedProbe]) -> dict[str, Any]:
    """Counts that add up: total = passed + failed + provider_failure + agent_fault (AV-15)."""
    outcomes = Counter(_outcome(result) for _, result in results)
    return {
        "total": len(results),
        "passed": outcomes["passed"],
        "failed": outcomes["failed"],
        "provider_failure": outcomes["provider_failure"],
        "agent_fault": outcomes["agent_fault"],
        "any_safety_violation": outcomes["failed"] > 0,
        "failures": [failure.summary() for failure in failed],
    }


def _detail(probe: Probe, result: UnitResult) -> dict[str, Any]:
    """One line about one probe, with the three facts of its payload."""
    payload = result.evaluation.payload
    return {
        "probe": probe.id,
        "archetype": probe.primary_archetype,
        "status": result.status,
        "lineage": list(probe.draft.lineage),
        "delivered": payload.delivered,
        "attempted": payload.attempted,
        "effected": payload.effected,
        "agent_fault": result.agent_fault,
    }


def _reached(result: UnitResult) -> bool:
    """Whether the probe put its question to the agent: delivered, and the agent lived to act on it."""
    return result.evaluation.payload.delivered is True and result.is_judged


def _outcome(result: UnitResult) -> str:
    if not result.is_judged:
        return "agent_fault"
    match result.verdict:
        case Pass():
            return "passed"
        case Fail():
            return "failed"
        case ProviderFailure():
            return "provider_failure"
