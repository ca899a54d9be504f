"""The adversarial phase: plan, draft, admit, run, confirm, shrink, serialize, report (AV-12, AV-13, AV-17)."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from sirocco.campaign import block
from sirocco.campaign.account import DraftFacts, PhaseAccount
from sirocco.campaign.admission import Admission, AdmissionJob, Admitted, Rejection
from sirocco.campaign.arms_length import ANSWER_SECONDS
from sirocco.campaign.budget import CONFIRMATION, PAIRS, PROBES, RERUNS, SHRINKING, TWINS, Budget
from sirocco.campaign.drafting import Decide, Drafting
from sirocco.campaign.findings import FailedProbe, file_name, probe_text
from sirocco.campaign.pairs import renamed_forms
from sirocco.campaign.plan import CoveringDesign, Place
from sirocco.campaign.portfolio import Source, at_arms_length
from sirocco.campaign.pursuit import TURNS, PursuitSchedule
from sirocco.campaign.reruns import RENAMED, RERUN, Rerun, drawn_reruns, published_id
from sirocco.campaign.schedule import Observation, Schedule, ScheduleKind, Tried, schedule, schedule_remark
from sirocco.campaign.shrink import Shrunk
from sirocco.campaign.smallest import shrink_probe
from sirocco.campaign.spending import Limits, Spending
from sirocco.campaign.stopping import StoppingRule, met_rule
from sirocco.campaign.tally import AuthorTally, Ran, Tally
from sirocco.campaign.trial import Trial
from sirocco.errors import ProviderFault
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.event import Event, PhaseStarted, ProbeSerialized, UnitFinished, Warned
from sirocco.oasis.ledger import FactStore
from sirocco.oasis.probe import BENIGN_TWIN, Draft, GeneratorMethod, Probe, ProbeGenerator, ProbeOutcome, Wording
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERRUPTED, CoreResult, Excluded, Skipped, UnitResult
from sirocco.oasis.verdict import Fail, PayloadFacts, ProviderFailure
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.planned import plan_scenario

_BLOCK = 64
"""The number of probes that are run before the next are drafted, which bounds memory."""
_INTERIM_BLOCK = 16
"""The same when results decide what is run next, or whether to continue."""
_TWINS_START = 1_000_000
"""The first index for the places of twins, so that none of their drafts has the index of a draft of the plan."""
_MINIMUM_SHRINKING_CALLS = 12
"""The minimum number of agent calls with which shrinking a probe is worth starting."""
Unit = TypeVar("Unit", bound=Probe | Rerun)


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """How many probes to generate, how many times to confirm failures, and when to stop."""

    probes: int
    confirm: int
    parallel: int
    max_agent_calls: int
    limits: Limits = field(default_factory=Limits)
    schedule: ScheduleKind = ScheduleKind.FIXED
    turns: int = TURNS
    """Attempts on one environment, for a schedule that builds on its attempts."""
    twins: int = 0
    """Benign twins for each category of capability."""
    reruns: int = 0
    """Published scenarios that are run again among the probes."""
    pairs: int = 0
    """How many of them are also run under other names."""
    until: tuple[StoppingRule, ...] = ()
    """The rules by which the phase may end before all probes have run."""
    learned: tuple[Observation, ...] = ()
    """What earlier runs of the same agent found, for a schedule that uses it."""
    generator_seconds: float = ANSWER_SECONDS


class AdversarialPhase:
    """Implements Phase with probes from one generator."""

    def __init__(
        self,
        profile: Profile,
        targets: Sequence[Archetype],
        generator: ProbeGenerator | Sequence[Source],
        admission: Admission,
        execution: Execution,
        settings: CampaignSettings,
        facts: FactStore | None = None,
    ) -> None:
        self.profile = profile
        self.targets = tuple(targets)
        self.sources = tuple(generator) if isinstance(generator, Sequence) else (Source("", generator),)
        self.generator = at_arms_length(self.sources, settings.generator_seconds, execution.stop, facts)
        self.admission = admission
        self.execution = execution
        self.settings = settings
        self._tally = Tally()
        self._budget = Budget(settings.max_agent_calls)
        self._spending = Spending(settings.limits)
        self._core: CoreResult | None = None
        self._reruns: tuple[Rerun, ...] = ()
        self._rerun = 0
        """The number of re-runs that have been started."""
        self._drafts: dict[str, DraftFacts] = {}
        self._drafting = Drafting(
            self.generator, admission, self.targets, self._tally,
            seed=execution.settings.seed, parallel=settings.parallel, stop=execution.stop, fitting=self._fit_scenario,
            decide=self._decide_elsewhere(),
        )  # fmt: skip
        self._design = CoveringDesign((), (), {}, 0)
        self._schedule: Schedule = schedule(ScheduleKind.FIXED, self._design, 0)

    async def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Admit probes, run them, confirm FAILs, try twins, shrink; agent calls are spent in that order."""
        self._core = core
        for result in core.results:
            self._spending.add_session(result.session, in_core=True)
        yield PhaseStarted("adversarial", self.settings.probes)
        for stage in (self._prepare(core), self._probes(), self._confirm(), self._twins(), self._shrink()):
            try:
                async with aclosing(stage) as events:
                    async for event in events:
                        yield event
            except ProviderFault as fault:  # The provider was asked what it supports; the core is valid.
                self._end_by_fault("between probes", fault.problem)
        self._tally.incomplete = self._shortcoming()
        if blind := self._spending.blind_spot(self._tally.usage):
            yield Warned(blind)
        if self._tally.incomplete:
            yield Warned(f"the adversarial phase is incomplete: {self._tally.incomplete}")

    async def _prepare(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Draw the re-runs, and make the plan."""
        async for warning in self._draw_reruns(core):
            yield Warned(warning)
        async for warning in self._draw_up_plan():
            yield Warned(warning)

    async def _draw_reruns(self, core: CoreResult) -> AsyncIterator[str]:
        """Draw the published scenarios that are run again, with renamed forms beside some of them."""
        settings, seed = self.settings, self.execution.settings.seed
        in_core = {one.scenario for one in core.outcomes}
        fitted = (self._fit_scenario(one) for one in self.profile.scenarios if one.scenario.id in in_core)
        published = {one.scenario.id: one for one in fitted if isinstance(one, BoundScenario)}
        # Without a method no record is written: both forms of a pair are judged by the same rules.
        unrecorded = Admission(self.profile, tuple(self.profile.archetypes.values()), self.admission.witnesses)
        drafting = Drafting(self.generator, unrecorded, self.targets, Tally(), seed=seed, fitting=self._fit_scenario)
        forms = renamed_forms(published, settings.pairs, settings.probes, seed, drafting)
        renamed = [form async for form in forms]
        paired = [published_id(form.id) for form in renamed]
        reruns = drawn_reruns(published, settings.reruns, settings.probes, seed, paired)
        self._reruns = tuple(sorted((*reruns, *renamed), key=lambda one: one.probes_before))
        if len(renamed) < settings.pairs:
            yield f"only {len(renamed)} of {settings.pairs} renamed pairs can be made from the scenarios that were run"

    async def _draw_up_plan(self) -> AsyncIterator[str]:
        """Make the plan, and report whatever cannot be done as requested."""
        wanted = self.settings.probes
        self._design = await self._drafting.plan()
        self._schedule = self._schedule_over(self._design)
        if remark := schedule_remark(self.settings.schedule, wanted):
            yield remark
        if self._design.unoffered:
            yield f"the generator has nothing for {', '.join(self._design.unoffered)}"

    def _schedule_over(self, design: CoveringDesign) -> Schedule:
        settings = self.settings
        if settings.schedule is ScheduleKind.PURSUIT:
            return PursuitSchedule(design, settings.learned, turns=settings.turns)
        return schedule(settings.schedule, design, settings.probes, settings.learned)

    async def planned_spread(self) -> dict[str, int]:
        """How many places of the plan each target has, before anything is drafted."""
        places = Counter(place.archetype for place in (await self._drafting.plan()).places(self.settings.probes))
        return {target.id: places[target.id] for target in self.targets}

    def _shortcoming(self) -> str | None:
        """Why the phase did not do everything that was requested."""
        tally, wanted = self._tally, self.settings.probes
        if self.execution.is_stopped:
            return INTERRUPTED
        silent = "; ".join(fault.problem for fault in self.generator.faults.values()) or None
        if ended := tally.incomplete or silent or self._budget.shortcoming:
            return ended
        if len(tally.admitted) < wanted and not self._is_enough():
            return f"only {len(tally.admitted)} of {wanted} probes were admitted; the rest of the plan is exhausted"
        faulted = sum(ran.outcome == "agent_fault" for ran in (*tally.ran, *tally.twins))
        if faulted:
            return f"{faulted} probes ended in a fault of the agent"
        again = (*tally.reruns, *tally.renamed)
        broken = sum(one.status is None and one.agent_fault is not None for one in again)
        return f"{broken} re-runs ended in a fault of the agent" if broken else None

    async def _probes(self) -> AsyncGenerator[Event, None]:
        """Probes in blocks of places, until there are enough or nothing is left to ask for.

        Results are only examined between blocks, so the degree of parallelism changes nothing.
        """
        is_watched = self._schedule.kind is not ScheduleKind.FIXED or bool(self.settings.until)
        while self._wants_more():
            left = self.settings.probes - len(self._tally.admitted)
            places = self._schedule.places(min(_INTERIM_BLOCK if is_watched else _BLOCK, left))
            if not places:
                break
            filled: dict[int, Admitted] = {}
            for stage in (self._drafting.fill(places, filled), self._run(places, filled)):
                async with aclosing(stage) as events:
                    async for event in events:
                        yield event
        if self._is_enough() and not self._tally.provider_fault:
            async with aclosing(self._run((), {})) as events:
                async for event in events:
                    yield event
        thin = self._design.underfilled_archetypes(Counter(one.archetype for one in self._tally.ran))
        if thin and self._schedule.kind is ScheduleKind.FIXED:
            few = ", ".join(f"{name} ({number})" for name, number in thin.items())
            yield Warned(f"less than half of a fair share of the probes went to {few}")

    def _wants_more(self) -> bool:
        ended = self.generator.fault or self._tally.incomplete or self._budget.shortcoming or self.execution.is_stopped
        is_short = len(self._tally.admitted) < self.settings.probes
        return not ended and is_short and not self._is_late() and not self._is_enough()

    def _is_enough(self) -> bool:
        """Whether a stopping rule of the run is met."""
        return met_rule(self.settings.until, self._tally) is not None

    def _decide_elsewhere(self) -> Decide | None:
        """Admission by the run's workers; None if there are none."""
        workforce = self.execution.workforce
        if workforce is None:
            return None

        async def decide(draft: Draft, *, anew: bool = False) -> Admitted | Rejection:
            return await workforce.perform(AdmissionJob(draft, self._frozen_core.identity, anew))

        return decide

    def _fit_scenario(self, bound: BoundScenario) -> BoundScenario | Excluded | Skipped:
        return plan_scenario(bound, self._frozen_core.identity, self.execution.provider)

    @property
    def _frozen_core(self) -> CoreResult:
        if self._core is None:
            raise AssertionError("the core comes first")
        return self._core

    async def _run(self, places: Sequence[Place], filled: Mapping[int, Admitted]) -> AsyncGenerator[Event, None]:
        """Run each probe through the core's own path, with re-runs of published scenarios among them.

        A provider fault ends the phase and does not affect the core.
        """
        numbers = {admitted.probe.id: number for number, admitted in filled.items()}
        probes = [filled[number].probe for number in sorted(filled)]
        async with aclosing(
            self._results(((unit, 0) for unit in self._mixed(probes, is_over=not places)), PROBES)
        ) as results:
            async for unit, result in results:
                if isinstance(unit, Rerun):
                    self._tally.add_rerun(unit.kind, result)
                    yield UnitFinished(unit.kind, result)
                else:
                    number = numbers[unit.id]
                    place, admitted = places[number], filled[number]
                    is_kept = self._tally.add_probe(
                        unit, result, admitted.novelty, self._is_safety, place.arm,
                        is_recognised=admitted.is_goal_recognised,
                        author=unit.draft.author.name if unit.draft.author else "",
                    )  # fmt: skip
                    self._drafts[unit.id] = DraftFacts.from_admitted(admitted, place.arm)
                    became = _outcome(unit, self._tally.ran[-1], result.evaluation.payload)
                    self.generator.tell(unit.draft, became)
                    tried = Tried(unit.draft, became.evidence) if result.is_judged else None
                    self._schedule.learn(place, failed=isinstance(result.verdict, Fail), tried=tried)
                    yield UnitFinished("probe", result)
                    if is_kept:
                        yield self._kept_for_review(unit)
                if self._ends_at(unit, result):
                    return

    def _mixed(self, probes: Sequence[Probe], *, is_over: bool) -> Iterator[Probe | Rerun]:
        """Probes, each preceded by the re-runs that were drawn for its place; after the last one the remaining re-runs.

        Whether a probe was the last one may only turn out afterwards: then the rest comes when all `is_over`.
        """
        begun = len(self._tally.ran)
        for number, probe in enumerate(probes, begun):
            yield from self._due_reruns(number)
            yield probe
        if is_over or begun + len(probes) >= self.settings.probes:
            yield from self._due_reruns(self.settings.probes)

    def _due_reruns(self, probes_before: int) -> Iterator[Rerun]:
        """The re-runs that come before the next probe, each once."""
        for rerun in self._reruns[self._rerun :]:
            if rerun.probes_before > probes_before:
                return
            self._rerun += 1
            yield rerun

    def _kept_for_review(self, probe: Probe) -> ProbeSerialized:
        """A probe that failed or in which the agent violated something else, written to disk at once (AV-11)."""
        failed = self._tally.failed
        if failed and failed[-1].id == probe.id:
            return self._serialize_failure(failed[-1])
        return ProbeSerialized(file_name(probe.id), probe_text(probe, self.profile.document.canary))

    async def _confirm(self) -> AsyncGenerator[Event, None]:
        """Run each failed probe again in fresh environments and record the rate of recurrence (AV-11).

        Only judged runs count: a fault neither confirms nor refutes the failure.
        """
        failed = self._tally.failed
        attempts = ((one.probe, attempt) for attempt in range(1, self.settings.confirm + 1) for one in failed)
        if not self._tally.provider_fault:
            async with aclosing(self._results(attempts, CONFIRMATION)) as results:
                async for probe, result in results:
                    yield UnitFinished("confirmation", result)
                    if self._ends_at(probe, result):
                        break
                    self._tally.add_confirmation(probe.id, result)
        self._tally.settle_confirmations()
        for failure in failed:
            yield self._serialize_failure(failure)

    async def _twins(self) -> AsyncGenerator[Event, None]:
        """Run legitimate work that looks like an attack: an agent that leaves it undone is over-cautious."""
        places = self._twin_places()
        if not places or self._tally.provider_fault or self.execution.is_stopped:
            return
        aside = Tally()
        drafting = Drafting(
            self.generator, self.admission, self.targets, aside, seed=self.execution.settings.seed,
            parallel=self.settings.parallel, stop=self.execution.stop, fitting=self._fit_scenario, start=_TWINS_START,
            decide=self._decide_elsewhere(),
        )  # fmt: skip
        filled: dict[int, Admitted] = {}
        async with aclosing(drafting.fill(places, filled)) as events:
            async for _ in events:
                pass
        admitted = [filled[number] for number in sorted(filled)]
        by_id = {one.probe.id: one for one in admitted}
        twins = ((one.probe, 0) for one in admitted if one.probe.draft.technique == BENIGN_TWIN)
        async with aclosing(self._results(twins, TWINS, kind="twin")) as results:
            async for probe, result in results:
                is_kept = self._tally.add_twin(probe, result, by_id[probe.id].novelty)
                self._drafts[probe.id] = DraftFacts.from_admitted(by_id[probe.id])
                yield UnitFinished("twin", result)
                if is_kept:
                    yield ProbeSerialized(file_name(probe.id), probe_text(probe, self.profile.document.canary))
                if self._ends_at(probe, result):
                    return

    def _twin_places(self) -> list[Place]:
        """Places for the given number of twins per category of capability, drawn for the seed."""
        seed, by_category = self.execution.settings.seed, dict[str, list[str]]()
        for name in dict.fromkeys(one.archetype for one in self._drafting.offers if one.technique == BENIGN_TWIN):
            by_category.setdefault(self.profile.archetypes[name].category, []).append(name)
        return [
            Place(name, BENIGN_TWIN)
            for names in by_category.values()
            for name in sorted(names, key=lambda one: derived_seed(seed, "twins", one))[: self.settings.twins]
        ]

    async def _shrink(self) -> AsyncGenerator[Event, None]:
        """Reduce one confirmed probe of each finding to its smallest form, dividing the remaining calls among them.

        If shares would become too small to achieve anything, fewer findings are shrunk, safety first.
        """
        numbers = self._to_shrink()
        if not numbers or self._tally.provider_fault or self.execution.is_stopped or self._is_late():
            return
        left = max(0, self._budget.limit - self._budget.spent)
        share = max(left // len(numbers), _MINIMUM_SHRINKING_CALLS)
        if len(numbers) > left // share:
            self._budget.refused[SHRINKING] = len(numbers) - left // share
        numbers = numbers[: left // share]
        work = in_order(partial(self._shrunk, share), numbers, self.settings.parallel, self.execution.stop)
        async with aclosing(work) as outcomes:
            async for number, found, ran, budget in outcomes:
                for result in ran:
                    self._spending.add_session(result.session)
                    yield UnitFinished("shrinking", result)
                self._budget.spent += budget.spent
                if not found.is_finished:
                    self._budget.refused[SHRINKING] = self._budget.refused.get(SHRINKING, 0) + 1
                failure = replace(self._tally.failed[number], shrunk=found)
                self._tally.failed[number] = failure
                minimal = failure.serialized_minimal(self.profile.document.canary)
                if minimal is not None and failure.minimal_file_name is not None:
                    yield ProbeSerialized(failure.minimal_file_name, minimal)

    def _to_shrink(self) -> list[int]:
        """The first confirmed failure of each finding, safety before capability."""
        first: dict[object, int] = {}
        for number, failure in enumerate(self._tally.failed):
            if failure.is_confirmed:
                first.setdefault(failure.key, number)
        failed = self._tally.failed
        return sorted(first.values(), key=lambda n: (not self._is_safety(failed[n].primary_archetype), n))

    async def _shrunk(self, share: int, number: int) -> tuple[int, Shrunk, list[UnitResult], Budget]:
        """The smallest form of one failed probe that its share of the calls can reach."""
        failure = self._tally.failed[number]
        budget, ran = Budget(share), list[UnitResult]()
        runs = max(1, self.settings.confirm)
        probe = failure.probe
        trial = Trial(self.execution, probe.id, frozenset(failure.failing_checks), runs, budget, ran)
        found = await shrink_probe(probe, failure.reproduction, self._drafting, trial)
        return number, found, ran, budget

    def _serialize_failure(self, failure: FailedProbe) -> ProbeSerialized:
        return ProbeSerialized(failure.file_name, failure.probe_text(self.profile.document.canary))

    def _ends_at(self, unit: Probe | Rerun, result: UnitResult) -> bool:
        """Whether a provider fault in this result ends the phase."""
        if isinstance(result.verdict, ProviderFailure):
            self._end_by_fault(f"in {unit.id}", result.verdict.cause)
        return self._tally.provider_fault

    def _end_by_fault(self, where: str, cause: str) -> None:
        self._tally.provider_fault = True
        self._tally.incomplete = f"provider fault {where}: {cause}"

    async def _results(
        self, work: Iterable[tuple[Unit, int]], purpose: str, kind: str = "probe"
    ) -> AsyncGenerator[tuple[Unit, UnitResult], None]:
        """The results of the probes and re-runs that the budget allows, in order."""
        paid = self._affordable_units(work, purpose)
        results = in_order(partial(self._execute, kind), paid, self.settings.parallel, self.execution.stop)
        async with aclosing(results) as done:
            async for unit, result in done:
                if not result.is_judged:
                    self._budget.spend_repeat(unit.bound.scenario)
                yield unit, result

    async def _execute(self, kind: str, work: tuple[Unit, int]) -> tuple[Unit, UnitResult]:
        unit, attempt = work
        kind, name = (unit.kind if isinstance(unit, Rerun) else kind), unit.id
        if attempt:
            kind, name = "confirmation", f"{unit.id}.confirmation-{attempt}"
        result = await self.execution.execute(name, unit.bound, attempt=attempt, kind=kind)
        # Counted at once rather than in order, so that only units already in progress can exceed a limit.
        self._spending.add_session(result.session)
        return unit, result

    def _affordable_units(self, work: Iterable[tuple[Unit, int]], purpose: str) -> Iterator[tuple[Unit, int]]:
        """The units within the limit on agent calls; skipping a re-run for lack of calls does not end the phase."""
        for unit, attempt in work:
            if self._is_late():
                return
            beside = {RERUN: RERUNS, RENAMED: PAIRS}[unit.kind] if isinstance(unit, Rerun) else purpose
            if self._budget.pays(unit.bound.scenario, beside):
                yield unit, attempt
            elif not isinstance(unit, Rerun):
                return

    def _is_late(self) -> bool:
        """Whether time, tokens or money have run out; units in progress finish, and the report names what was not done.

        What an earlier session recorded counts first: resuming a run gives no choice about what is left out of it.
        """
        if self.execution.is_recounting:
            return False
        reached = self._spending.reached(self._tally.usage)
        self._tally.incomplete = self._tally.incomplete or reached
        return reached is not None

    def account(self) -> Mapping[str, Any]:
        """What the block is computed from besides recorded units.

        Stored with them, so that the block can be recomputed.
        """
        return {"campaign": self._account().document()}

    def _account(self) -> PhaseAccount:
        tally, design = self._tally, self._design
        return PhaseAccount(
            planned=self.settings.probes,
            twins=self.settings.twins,
            targets=tuple(target.id for target in self.targets),
            offers=design.offers,
            unoffered=design.unoffered,
            exhausted=tuple(sorted(set(tally.exhausted))),
            generator=block.generator_document(self._observed_method(), self._schedule, self.settings.until),
            generators=self._generators(),
            schedule=self._schedule.document(),
            admission=block.admission(tally, next(iter(self.generator.faults.values()), None)),
            agent_calls=self._budget.document(),
            usage=self._spending.document(tally.usage),
            incomplete=tally.incomplete,
            drafts=self._drafts,
            shrunk={one.id: one.shrunk.document() for one in tally.failed if one.shrunk is not None},
            reruns=tuple(one.id for one in self._reruns if one.kind == RERUN),
            pairs=self.settings.pairs,
            renamed=tuple(one.id for one in self._reruns if one.kind == RENAMED),
            until=tuple(rule.text for rule in self.settings.until),
        )

    def _observed_method(self) -> GeneratorMethod:
        """The declared method, with the model version observed in answers in place of the declared one."""
        method = self.generator.method
        seen = sorted({one for tally in self._tally.by_author.values() for one in tally.model_versions})
        return method.model_copy(update={"model_version": ", ".join(seen)}) if seen and method.model else method

    def _generators(self) -> tuple[Mapping[str, Any], ...]:
        """Each generator by itself.

        Empty if our engine is the only one, because the rest of the block already covers it.
        """
        authors = self.generator.authors
        if len(authors) == 1 and authors[0].wording is Wording.OURS:
            return ()
        tallies, faults = self._tally.by_author, self.generator.faults
        return tuple(
            {
                "name": author.name,
                "share": source.share,
                "method": author.method.document(),
                "admission": tallies.get(author.name, AuthorTally()).document(),
                **({"generator_fault": faults[author.name].document()} if author.name in faults else {}),
            }
            for author, source in zip(authors, self.sources, strict=True)
        )

    def block(self) -> Mapping[str, Any]:
        """The keys of section 6.1 of the extension, and ours (AV-22)."""
        return block.adversarial_block(self._account(), self._core, self._tally, self._is_safety)

    def _is_safety(self, archetype: str) -> bool:
        return self.profile.classification(archetype) is Classification.SAFETY


def _outcome(probe: Probe, ran: Ran, evidence: PayloadFacts) -> ProbeOutcome:
    """What a generator is told about a probe of its own that was run."""
    word = "undelivered" if ran.outcome == "passed" and not ran.is_reached else ran.outcome
    draft = probe.draft
    return ProbeOutcome(
        draft.index, ran.archetype, word, technique=draft.technique, surface=draft.surface, evidence=evidence
    )
