"""Reserved scenarios from bundle to counts: opened, run like the core's, recounted (AV-19, AV-21)."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sirocco.errors import ProviderFault, ReservedError, SiroccoError
from sirocco.evidence.replay import recompute_unit
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.domain import Domains
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished
from sirocco.oasis.ledger import SealedStore
from sirocco.oasis.participation import Part
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import Excluded, RunIdentity, Skipped, UnitResult
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.load import load_scenario
from sirocco.reserved.age import KeyPair, read_identities
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS
from sirocco.reserved.disclosure import ReservedCounts, ReservedOutcome, undisclosed_error, unit_label
from sirocco.reserved.manifest import ProfileReference, commitment
from sirocco.reserved.publication import Publication
from sirocco.reserved.sealed_ledger import SealedLedger, recorded_unit
from sirocco.reserved.vault import OpenedBundle, open_evidence, open_scenarios
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.planned import plan_scenario

FEWEST_OF_A_CATEGORY = 5
"""From this many executed scenarios on, a category's counts reveal nothing about a single one."""
_OUTCOMES: Mapping[type[Verdict], str] = {Pass: "passed", Fail: "failed"}


@dataclass(frozen=True, slots=True)
class ReservedUnit:
    """One reserved scenario, ready to run, under a label that reveals nothing about it."""

    label: str
    bound: BoundScenario = field(repr=False)
    edition: int = 1
    """The edition in which it was first sealed."""
    opening: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The verbatim document and its salt, which tie it to its commitment."""


@dataclass(frozen=True, slots=True)
class OpenedBundles:
    """Every reserved scenario of a run, once each and in memory only, and the recipients of their evidence."""

    units: tuple[ReservedUnit, ...]
    keys: tuple[KeyPair, ...] = field(repr=False)
    auditors: tuple[str, ...] = ()
    """The recipients of maintainers, who may audit the run."""
    roots: tuple[str, ...] = ()
    """The commitments to the scenarios (SI-06)."""


def opened_bundles(
    bundles: Sequence[Path], identity: Path, profile: Profile, publication: Publication, passphrase: str = ""
) -> OpenedBundles:
    """Open bundles with one key file, check signatures and commitments, and bind their scenarios to the profile.

    A scenario that is in several bundles, or in one that is given twice, counts once (AV-21).
    """
    keys = read_identities(file_bytes(identity, "--identity").decode("utf-8", "replace"), identity, passphrase)
    publication.require_evaluator(keys, identity)
    opened = [_opened_bundle(path, keys, profile, publication) for path in bundles]
    found = {
        digest(document): (document, since, salt)
        for one in opened
        for document, since, salt in zip(one.documents, one.since, one.salts, strict=True)
    }
    units = tuple(
        _bound_unit(unit_label(number), since, {"document": document, "salt": salt}, profile)
        for number, (document, since, salt) in enumerate(found.values(), start=1)
    )
    if len({unit.bound.scenario.id for unit in units}) < len(units):
        problem = "two of the bundles contain different scenarios under one id"
        raise ReservedError("--reserved", problem, "leave one of them out")
    auditors = tuple(dict.fromkeys(one.manifest.edition.audit_recipient for one in opened))
    return OpenedBundles(units, keys, auditors, tuple(dict.fromkeys(one.manifest.merkle_root for one in opened)))


def _opened_bundle(path: Path, keys: Sequence[KeyPair], profile: Profile, publication: Publication) -> OpenedBundle:
    data, reference = file_bytes(path, "--reserved"), ProfileReference.from_profile(profile)
    trusted = publication.policy.maintainers
    opened = open_scenarios(data, keys, profile=reference, maintainers=trusted, where=path)
    publication.require_current(opened.manifest, path)
    return opened


def _bound_unit(label: str, since: int, opening: Mapping[str, Any], profile: Profile) -> ReservedUnit:
    return ReservedUnit(label, _bound_scenario(label, opening["document"], profile), since, opening)


def _bound_scenario(label: str, document: Mapping[str, Any], profile: Profile) -> BoundScenario:
    try:
        return load_scenario(document, profile, label)
    except SiroccoError as error:
        raise undisclosed_error(error, label) from None


def file_bytes(path: Path, flag: str) -> bytes:
    """A file's content; errors drop their cause because it would contain the bytes of a key."""
    try:
        if path.stat().st_size > 4 * MAX_BUNDLE_CHARACTERS:
            raise ReservedError(flag, f"{path} is too large", "check that it is the right file")
        return path.read_bytes()
    except OSError:
        raise ReservedError(flag, f"{path} cannot be read", "check the path") from None


@dataclass(slots=True)
class ReservedTally:
    """The results of reserved units: all that leaves the phase."""

    verdicts: list[Verdict] = field(default_factory=list)
    agent_faults: int = 0
    acted: int = 0
    violated: int = 0
    undecided: int = 0
    categories: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, result: UnitResult) -> None:
        """Count one unit; an undecidable one has no verdict."""
        if not result.is_judged:
            self.agent_faults += 1
            self._count_category(result, "executed")
        elif result.evaluation.undecidable is not None:
            self.undecided += 1
        else:
            self.verdicts.append(result.verdict)
            self.acted += result.participation is not None and result.participation.part is Part.ACTED
            is_safety = result.bound.scenario.classification is Classification.SAFETY
            self.violated += is_safety and isinstance(result.verdict, Fail)
            self._count_category(result, "executed", _OUTCOMES.get(type(result.verdict), "provider_failure"))

    def _count_category(self, result: UnitResult, *names: str) -> None:
        self.categories.setdefault(result.bound.scenario.category, Counter()).update(names)

    def counts(self, roots: Iterable[str] = ()) -> ReservedCounts:
        """The counts that a report may contain, with the commitments once a scenario was run (AV-21)."""
        is_any = bool(self.verdicts or self.agent_faults)
        shown = {
            name: {key: found[key] for key in ("executed", "passed", "failed")}
            for name, found in sorted(self.categories.items())
            if found["executed"] >= FEWEST_OF_A_CATEGORY
        }
        return ReservedCounts.from_verdicts(
            self.verdicts, agent_faults=self.agent_faults, acted=self.acted, violated=self.violated,
            categories=shown, merkle_roots=tuple(roots) if is_any else (),
        )  # fmt: skip


def recount_evidence(folder: Path, keys: Sequence[KeyPair], domains: Domains) -> ReservedCounts:
    """The counts recomputed from the sealed evidence in a folder, opened in memory with keys (SI-07)."""
    tally, roots = ReservedTally(), dict[str, None]()
    for label, document in sealed_documents(folder, keys):
        result = judged_again(label, document, domains)
        tally.add(result)
        roots |= dict.fromkeys(document.get("merkle_roots", ()))
        if isinstance(result.verdict, ProviderFailure):
            break  # the phase ended here; units that were in progress at the same time do not count
    return tally.counts(roots)


@dataclass(frozen=True, slots=True)
class CommittedRun:
    """How many scenarios the run's editions contain, and how many of them ran: all that apply to the agent."""

    run: int
    committed: int


def committed_run(folder: Path, keys: Sequence[KeyPair], profile: Profile, publication: Publication) -> CommittedRun:
    """What ran and what was committed to; ReservedError for evidence of an uncommitted scenario (SI-06)."""
    editions = {one.merkle_root: one for one in publication.editions}
    found: set[str] = set()
    roots: set[str] = set()
    for label, document in sealed_documents(folder, keys):
        named = {root for root in document.get("merkle_roots", ()) if root in editions}
        committed = {one for root in named for one in editions[root].commitments}
        opened = _opened_commitment(label, document, profile)
        if opened not in committed or opened in found:
            problem = "its evidence is not of a scenario that the profile committed to, or of one that ran twice"
            raise ReservedError(label, problem, "ask the evaluator which bundle was run")
        found.add(opened)
        roots |= named
    return CommittedRun(len(found), sum(editions[root].counts.total for root in roots))


def _opened_commitment(label: str, document: Mapping[str, Any], profile: Profile) -> str | None:
    """The commitment to the scenario of some evidence; None unless the evidence was judged by exactly that scenario."""
    opening, run_with = document.get("opening"), document.get("run_with")
    if not isinstance(opening, Mapping) or not isinstance(run_with, Mapping):
        return None
    written, salt = opening.get("document"), opening.get("salt")
    if not isinstance(written, Mapping) or not isinstance(salt, str):
        return None
    judged = with_predicates(_bound_scenario(label, written, profile)).document()
    return commitment(written, salt) if run_with.get("scenario") == judged else None


def sealed_documents(folder: Path, keys: Sequence[KeyPair]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The contents of a folder of sealed evidence, by label, in the order in which the units count."""
    files = sorted(folder.glob("reserved-*.age"), key=lambda file: (len(file.name), file.name))
    for file in files:
        yield file.stem, open_evidence(file.read_bytes(), keys, file)


def judged_again(label: str, document: Mapping[str, Any], domains: Domains) -> UnitResult:
    """A reserved unit judged again from its evidence; ReservedError if the result differs from the sealed one."""
    try:
        result = recompute_unit(recorded_unit(document, label), domains)
    except SiroccoError as error:
        raise undisclosed_error(error, label) from None
    if document.get("evaluation") != digest(result.evaluation.document()):
        problem = "its evidence is judged differently than when it was sealed"
        raise ReservedError(label, problem, "use the version that made the run")
    return result


@dataclass(frozen=True, slots=True)
class Published:
    """A published scenario that is run again before a reserved one, so that position does not reveal reserved ones.

    Nothing about it is stored (SI-02).
    """

    unit: str
    bound: BoundScenario
    before: int
    """How many reserved scenarios are started before it."""


class ReservedRun:
    """Runs reserved scenarios; their evidence goes to `store`, sealed, and only counts remain."""

    def __init__(
        self,
        opened: OpenedBundles,
        execution: Execution,
        parallel: int,
        store: SealedStore | None = None,
        published: Sequence[Published] = (),
    ) -> None:
        self.opened = opened
        self.published = published
        self._unkept = replace(execution, ledger=None)
        ledger = SealedLedger(store, opened.keys, opened.auditors, self._commitment) if store else None
        self.execution = replace(execution, ledger=ledger)
        self.parallel = parallel
        self._tally = ReservedTally()
        self._skipped = 0
        self._is_unplanned = False

    def _commitment(self, label: str) -> Mapping[str, Any]:
        """What is stored with the evidence of a unit about the origin of its scenario."""
        unit = next(one for one in self.opened.units if one.label == label)
        return {"merkle_roots": list(self.opened.roots), "edition": unit.edition, "opening": dict(unit.opening)}

    async def perform(self, identity: RunIdentity) -> AsyncGenerator[Event, None]:
        """Run every reserved scenario that applies to the agent; an event only says that one ended."""
        try:
            plan = [(unit, self._plan_unit(unit, identity)) for unit in self.opened.units]
        except ProviderFault:  # its text may quote a scenario
            self._is_unplanned = True
            yield PhaseStarted("reserved", 0)
            return
        runnable = [replace(unit, bound=found) for unit, found in plan if isinstance(found, BoundScenario)]
        self._skipped = sum(isinstance(found, Skipped) for _, found in plan)
        yield PhaseStarted("reserved", len(runnable))
        stop = self.execution.stop
        async with aclosing(in_order(self._execute, self._mixed_order(runnable), self.parallel, stop)) as results:
            async for result in results:
                if result is None:
                    continue
                self._tally.add(result)
                yield ReservedFinished()
                if isinstance(result.verdict, ProviderFailure):
                    break

    def _plan_unit(self, unit: ReservedUnit, identity: RunIdentity) -> BoundScenario | Excluded | Skipped:
        try:
            return plan_scenario(unit.bound, identity, self.execution.provider)
        except ProviderFault:
            raise
        except SiroccoError as error:
            raise undisclosed_error(error, unit.label) from None

    def _mixed_order(self, units: Sequence[ReservedUnit]) -> Iterator[ReservedUnit | Published]:
        for number in range(len(units) + 1):
            yield from (one for one in self.published if one.before == number)
            yield from units[number : number + 1]

    async def _execute(self, unit: ReservedUnit | Published) -> UnitResult | None:
        if isinstance(unit, Published):
            await self._unkept.execute(unit.unit, unit.bound)
            return None
        return await self.execution.execute(unit.label, unit.bound, kind="reserved")

    @property
    def outcome(self) -> ReservedOutcome:
        """The results of the phase so far."""
        return ReservedOutcome(
            counts=self._tally.counts(self.opened.roots),
            undecided=self._tally.undecided,
            skipped=self._skipped,
            is_unplanned=self._is_unplanned,
            is_interrupted=self.execution.is_stopped,
        )
