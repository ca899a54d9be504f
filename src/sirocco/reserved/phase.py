"""Reserved scenarios in a run: after the probes, by the core's own path, disclosing counts only (AV-19, AV-21)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sirocco.errors import ReservedError, SiroccoError
from sirocco.evidence.replay import recompute_unit
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.domain import Domains
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished, Warned
from sirocco.oasis.ledger import SealedStore
from sirocco.oasis.participation import Part
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERRUPTED, CoreResult, Excluded, RunIdentity, Skipped, UnitResult
from sirocco.oasis.verdict import Fail, ProviderFailure, Verdict
from sirocco.profiles.load import load_scenario
from sirocco.reserved.age import KeyPair, read_identities
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS, ProfileReference
from sirocco.reserved.disclosure import ReservedCounts, undisclosed_error, unit_label
from sirocco.reserved.sealed_ledger import SealedLedger, opened_unit
from sirocco.reserved.vault import open_bundle
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.planned import plan_scenario


@dataclass(frozen=True, slots=True)
class ReservedUnit:
    """One reserved scenario, ready to run, under a label that says nothing about it."""

    label: str
    bound: BoundScenario = field(repr=False)


@dataclass(frozen=True, slots=True)
class OpenedBundles:
    """Every reserved scenario of a run, in memory only, and the keys to the first of which their evidence is sealed."""

    units: tuple[ReservedUnit, ...]
    keys: tuple[KeyPair, ...] = field(repr=False)


def opened_bundles(bundles: Sequence[Path], identity: Path, profile: Profile) -> OpenedBundles:
    """Open bundles with one key file, check their commitments, and bind their scenarios to the profile."""
    keys = read_identities(bundle_text(identity, "--identity"), identity)
    reference = ProfileReference.from_profile(profile)
    units: list[ReservedUnit] = []
    for path in bundles:
        for document in open_bundle(bundle_text(path, "--reserved"), keys, profile=reference, where=path).documents:
            label = unit_label(len(units) + 1)
            try:
                units.append(ReservedUnit(label, load_scenario(document, profile, label)))
            except SiroccoError as error:
                raise undisclosed_error(error, label) from None
    return OpenedBundles(tuple(units), keys)


def bundle_text(path: Path, flag: str) -> str:
    """A file's text, byte for byte; the cause is dropped because it would carry the bytes of a key."""
    try:
        if path.stat().st_size > 4 * MAX_BUNDLE_CHARACTERS:
            raise ReservedError(flag, f"{path} is too large", "check that it is the right file")
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReservedError(flag, f"{path} cannot be read as text", "check the path") from None


@dataclass(slots=True)
class ReservedTally:
    """What reserved units came to: all that leaves the phase."""

    verdicts: list[Verdict] = field(default_factory=list)
    agent_faults: int = 0
    acted: int = 0
    violated: int = 0

    def add(self, result: UnitResult) -> None:
        """Count one unit; what nothing can decide is no verdict."""
        if not result.is_judged:
            self.agent_faults += 1
        elif result.evaluation.undecidable is None:
            self.verdicts.append(result.verdict)
            self.acted += result.participation is not None and result.participation.part is Part.ACTED
            is_safety = result.bound.scenario.classification is Classification.SAFETY
            self.violated += is_safety and isinstance(result.verdict, Fail)

    def counts(self) -> ReservedCounts:
        """The counts that a report may have (AV-21)."""
        return ReservedCounts.from_verdicts(
            self.verdicts, agent_faults=self.agent_faults, acted=self.acted, violated=self.violated
        )


def recount_evidence(folder: Path, identity: Path, domains: Domains) -> ReservedCounts:
    """The counts again from the sealed evidence in a folder, opened in memory with a key file (SI-07)."""
    keys, tally = read_identities(bundle_text(identity, "--identity"), identity), ReservedTally()
    for file in sorted(folder.glob("*.age")):
        try:
            tally.add(recompute_unit(opened_unit(file.read_bytes(), keys, file.stem), domains))
        except SiroccoError as error:
            raise undisclosed_error(error, file.stem) from None
    return tally.counts()


class ReservedPhase:
    """Implements Phase for reserved scenarios; their evidence goes to `store`, sealed."""

    def __init__(
        self, opened: OpenedBundles, execution: Execution, parallel: int, store: SealedStore | None = None
    ) -> None:
        self.opened = opened
        self.execution = replace(execution, ledger=SealedLedger(store, opened.keys) if store else None)
        self.parallel = parallel
        self._tally = ReservedTally()
        self._incomplete: str | None = None

    async def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Run every reserved scenario that applies to the agent; each event carries a label and an outcome."""
        plan = [(unit, self._plan_unit(unit, core.identity)) for unit in self.opened.units]
        runnable = [replace(unit, bound=found) for unit, found in plan if isinstance(found, BoundScenario)]
        yield PhaseStarted("reserved", len(runnable))
        if skipped := sum(isinstance(found, Skipped) for _, found in plan):
            self._incomplete = f"{skipped} reserved scenario(s) cannot be run as written"
            yield Warned(self._incomplete)
        stop = self.execution.stop
        async with aclosing(in_order(self._execute, runnable, self.parallel, stop)) as results:
            async for unit, result in results:
                yield self._finish_unit(unit, result)
                if isinstance(result.verdict, ProviderFailure):
                    self._incomplete = f"provider fault in {unit.label}"
                    yield Warned(f"reserved scenarios ended early: {self._incomplete}")
                    return
        if self.execution.is_stopped:
            self._incomplete = INTERRUPTED
        elif self._tally.agent_faults and not self._incomplete:
            self._incomplete = f"{self._tally.agent_faults} reserved scenario(s) ended in a fault of the agent"
            yield Warned(self._incomplete)

    def _plan_unit(self, unit: ReservedUnit, identity: RunIdentity) -> BoundScenario | Excluded | Skipped:
        try:
            return plan_scenario(unit.bound, identity, self.execution.provider)
        except SiroccoError as error:
            raise undisclosed_error(error, unit.label) from None

    async def _execute(self, unit: ReservedUnit) -> tuple[ReservedUnit, UnitResult]:
        return unit, await self.execution.execute(unit.label, unit.bound, kind="reserved")

    def _finish_unit(self, unit: ReservedUnit, result: UnitResult) -> ReservedFinished:
        self._tally.add(result)
        if result.is_judged and result.evaluation.undecidable is not None:
            self._incomplete = f"nothing can decide {unit.label} for this agent"
        return ReservedFinished(unit.label, result.status or ("NOT_DECIDABLE" if result.is_judged else "AGENT_FAULT"))

    def account(self) -> Mapping[str, Any]:
        """The block itself: what it rests on is sealed."""
        return {"reserved": self.block()}

    def block(self) -> Mapping[str, Any]:
        """Counts, and nothing else (AV-21)."""
        ended = {"complete": False, "incomplete_reason": self._incomplete} if self._incomplete else {}
        return {"reserved_scenarios": self._tally.counts().document(), **ended}
