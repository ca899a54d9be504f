"""The adversarial phase: draft, admit, run, confirm, serialize, report (AV-12, AV-13, AV-17)."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from sirocco.campaign.admission import Admission, Rejection
from sirocco.campaign.findings import FailedProbe, grouped
from sirocco.evaluation.aggregation import mean
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.event import DraftRejected, Event, PhaseStarted, ProbeSerialized, UnitFinished, Warned
from sirocco.oasis.probe import Probe, ProbeGenerator, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERPRETATION_NOTE, INTERRUPTED, CoreResult, UnitResult
from sirocco.oasis.resource import BY_NOUN
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order

_BLOCK = 64


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """How much to generate and how hard to look."""

    probes: int
    confirm: int
    parallel: int
    max_agent_calls: int


@dataclass(frozen=True, slots=True)
class _Ran:
    """What a report says about one probe that was run; the probe and its evidence are on disk."""

    archetype: str
    is_composition: bool
    is_reached: bool
    outcome: str
    score: float | None
    detail: Mapping[str, Any]

    @classmethod
    def of(cls, probe: Probe, result: UnitResult) -> "_Ran":
        return cls(
            probe.primary_archetype,
            bool(probe.secondary_archetypes),
            _reached(result),
            _outcome(result),
            result.score,
            _detail(probe, result),
        )


@dataclass(slots=True)
class _Tally:
    """What the phase has counted so far; of probes that did not fail no more than a line is held."""

    drafted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    admitted: set[str] = field(default_factory=set)
    ran: list[_Ran] = field(default_factory=list)
    violations: list[tuple[Probe, UnitResult]] = field(default_factory=list)
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
        for indices in self._blocks():
            probes: list[Probe] = []
            for stage in (self._admit(indices, probes), self._run(probes)):
                async with aclosing(stage) as events:
                    async for event in events:
                        yield event
        async with aclosing(self._confirm()) as events:
            async for event in events:
                yield event
        self._tally.incomplete = self._shortcoming()
        if self._tally.incomplete:
            yield Warned(f"the adversarial phase is incomplete: {self._tally.incomplete}")

    def _shortcoming(self) -> str | None:
        """Why the phase did not do all that was asked of it."""
        tally, wanted = self._tally, self.settings.probes
        if self.execution.is_stopped:
            return INTERRUPTED
        if tally.incomplete:
            return tally.incomplete
        if len(tally.admitted) < wanted:
            return f"only {len(tally.admitted)} of {wanted} probes were admitted"
        faulted = sum(ran.outcome == "agent_fault" for ran in tally.ran)
        return f"{faulted} probes ended in a fault of the agent" if faulted else None

    async def _admit(self, indices: range, probes: list[Probe]) -> AsyncGenerator[Event, None]:
        """Fill `probes` with admitted drafts, in draft order whatever finished first."""
        drafts = [draft async for draft in self.generator.propose(self._request(indices))]
        stop = self.execution.stop
        async with aclosing(in_order(self.admission.decide, drafts, self.settings.parallel, stop)) as decisions:
            async for decision in decisions:
                self._tally.drafted += 1
                if isinstance(decision, Rejection):
                    self._tally.rejected[decision.reason] += 1
                    draft = decision.draft
                    yield DraftRejected(draft.index, draft.primary_archetype, decision.reason, decision.detail)
                    continue
                for warning in decision.warnings:
                    yield Warned(warning)
                probe = decision.probe
                if probe.id in self._tally.admitted:
                    self._tally.rejected["repeat"] += 1
                    yield DraftRejected(probe.draft.index, probe.primary_archetype, "repeat", probe.id)
                    continue
                self._tally.admitted.add(probe.id)
                probes.append(probe)
                if len(self._tally.admitted) == self.settings.probes:
                    return

    def _blocks(self) -> Iterator[range]:
        """Draft indices, a block at a time, until there are enough probes or drafting more is judged hopeless.

        A block is run before the next is drafted, so that no more than one is in memory.
        """
        wanted, tally = self.settings.probes, self._tally
        most = 4 * wanted + 16 if wanted else 0
        size = max(1, min(wanted, _BLOCK))
        for start in range(0, most, size):
            if tally.incomplete or self.execution.is_stopped or len(tally.admitted) >= wanted:
                return
            yield range(start, min(start + size, most))

    def _request(self, indices: range) -> ProbeRequest:
        return ProbeRequest(self.targets, tuple(BY_NOUN), tuple(Surface), self.execution.settings.seed, indices)

    async def _run(self, probes: Sequence[Probe]) -> AsyncGenerator[Event, None]:
        """Each probe through the core's own path; a provider fault ends the phase and leaves the core alone."""
        affordable = self._affordable([(probe, 0) for probe in probes])
        stop = self.execution.stop
        async with aclosing(in_order(self._execute, affordable, self.settings.parallel, stop)) as results:
            async for probe, result in results:
                self._tally.ran.append(_Ran.of(probe, result))
                yield UnitFinished("probe", result)
                if isinstance(result.verdict, Fail):
                    self._tally.violations.append((probe, result.outline()))
                    yield self._serialized(FailedProbe(probe, result, Reproduction(runs=0, failed=0)))
                if self._ends_at(probe, result):
                    return

    async def _confirm(self) -> AsyncGenerator[Event, None]:
        """Run each failed probe again in fresh environments and keep it with the rate (AV-11).

        Only runs that were judged count: a fault is neither a return of the failure nor its absence.
        """
        failed = self._tally.violations
        attempts = [(probe, attempt) for probe, _ in failed for attempt in range(1, self.settings.confirm + 1)]
        again: dict[str, list[bool]] = {probe.id: [] for probe, _ in failed}
        if not self._tally.provider_fault:
            affordable, stop = self._affordable(attempts), self.execution.stop
            async with aclosing(in_order(self._execute, affordable, self.settings.parallel, stop)) as results:
                async for probe, result in results:
                    yield UnitFinished("confirmation", result)
                    if self._ends_at(probe, result):
                        break
                    if result.is_judged:
                        again[probe.id].append(isinstance(result.verdict, Fail))
        for probe, result in failed:
            runs = again[probe.id]
            failure = FailedProbe(probe, result, Reproduction(runs=len(runs), failed=sum(runs)))
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
        kind, unit = ("confirmation", f"{probe.id}.confirmation-{attempt}") if attempt else ("probe", probe.id)
        return probe, await self.execution.execute(unit, probe.bound, attempt=attempt, kind=kind)

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
        ran = tally.ran
        safety = [one for one in ran if self._is_safety(one.archetype)]
        capability = [one for one in ran if not self._is_safety(one.archetype)]
        violations = [failure for failure in tally.failed if self._is_safety(failure.probe.primary_archetype)]
        block: dict[str, Any] = {
            "performed": True,
            "complete": tally.incomplete is None,
            "generator": self.generator.method.document(),
            "planned": self.settings.probes,
            "executed": len(ran),
            "delivered": sum(one.is_reached for one in ran),
            "archetypes_without_delivered_probe": self._unprobed(),
            "admission": {
                "drafted": tally.drafted,
                "admitted": tally.drafted - tally.rejected.total(),
                "rejected": dict(sorted(tally.rejected.items())),
            },
            "probe_summary": {
                "total_probes": len(ran),
                "safety_probes": len(safety),
                "capability_probes": len(capability),
                "composition_probes": sum(one.is_composition for one in ran),
            },
            "safety_results": _safety_results(safety, violations),
            "capability_results": _capability_results(capability),
            "reserved_scenarios": {"executed": 0, "passed": 0, "failed": 0},
            "findings": grouped(tally.failed),
            "probe_details": [one.detail for one in ran],
            "interpretation_note": INTERPRETATION_NOTE,
        }
        if tally.incomplete:
            block["incomplete_reason"] = tally.incomplete
        if self._core_failed:
            block["core_incomplete"] = True
        return block

    def _is_safety(self, archetype: str) -> bool:
        return self.profile.classification(archetype) is Classification.SAFETY

    def _unprobed(self) -> list[str]:
        """Targets that no probe reached the agent for; a clean look must not hide them."""
        probed = {one.archetype for one in self._tally.ran if one.is_reached}
        return [archetype.id for archetype in self.targets if archetype.id not in probed]


def _safety_results(ran: Sequence[_Ran], failed: Sequence[FailedProbe]) -> dict[str, Any]:
    """Counts that add up: total = passed + failed + provider_failure + agent_fault (AV-15)."""
    outcomes = Counter(one.outcome for one in ran)
    return {
        "total": len(ran),
        "passed": outcomes["passed"],
        "failed": outcomes["failed"],
        "provider_failure": outcomes["provider_failure"],
        "agent_fault": outcomes["agent_fault"],
        "any_safety_violation": outcomes["failed"] > 0,
        "failures": [failure.summary() for failure in failed],
    }


def _capability_results(ran: Sequence[_Ran]) -> dict[str, Any]:
    """Means over the probes that have a score; one in the lowest band counts as failed (AV-11, AV-16)."""
    numbered = list(enumerate(ran))
    by_archetype: dict[str, dict[str, float | None]] = {}
    for number, one in numbered:
        by_archetype.setdefault(one.archetype, {})[str(number)] = one.score
    return {
        "total": len(ran),
        "failed": sum(one.outcome == "failed" for one in ran),
        "mean_score": _mean({str(number): one.score for number, one in numbered}),
        "per_archetype": {
            archetype: {"probes": len(scores), "mean": _mean(scores)} for archetype, scores in by_archetype.items()
        },
    }


def _mean(scores: Mapping[str, float | None]) -> float | None:
    return mean({name: score for name, score in scores.items() if score is not None})


def _detail(probe: Probe, result: UnitResult) -> dict[str, Any]:
    """One line about one probe, with the three facts of its payload."""
    payload = result.evaluation.payload
    return {
        "probe": probe.id,
        "archetype": probe.primary_archetype,
        "status": result.status,
        **({} if result.score is None else {"score": result.score}),
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
