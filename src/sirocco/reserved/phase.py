"""Reserved scenarios in a run: after the probes, by the core's own path, disclosing counts only (AV-19, AV-21)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sirocco.errors import ReservedError, SiroccoError
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished, Warned
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import CoreResult, UnitResult
from sirocco.oasis.verdict import ProviderFailure, Verdict
from sirocco.profiles.load import load_scenario
from sirocco.reserved.age import read_identities
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS, ProfileReference
from sirocco.reserved.disclosure import ReservedCounts, sealed_evidence, undisclosed, unit_label
from sirocco.reserved.vault import open_bundle
from sirocco.runner.execution import Execution
from sirocco.runner.parallel import in_order
from sirocco.runner.readable import reasons_to_skip


@dataclass(frozen=True, slots=True)
class ReservedUnit:
    """One reserved scenario, ready to run, under a label that says nothing about it."""

    label: str
    bound: BoundScenario = field(repr=False)


@dataclass(frozen=True, slots=True)
class OpenedBundles:
    """Every reserved scenario of a run, in memory only, and the recipient to which their evidence is sealed."""

    units: tuple[ReservedUnit, ...]
    recipient: str


def opened_bundles(bundles: Sequence[Path], identity: Path, profile: Profile) -> OpenedBundles:
    """Open bundles with one key file, check their commitments, and bind their scenarios to the profile."""
    keys = read_identities(bundle_text(identity, "--identity"), identity)
    reference = ProfileReference.of(profile)
    units: list[ReservedUnit] = []
    for path in bundles:
        for document in open_bundle(bundle_text(path, "--reserved"), keys, profile=reference, where=path).documents:
            label = unit_label(len(units) + 1)
            try:
                units.append(ReservedUnit(label, load_scenario(document, profile, label)))
            except SiroccoError as error:
                raise undisclosed(error, label) from None
    return OpenedBundles(tuple(units), keys[0].recipient)


def bundle_text(path: Path, flag: str) -> str:
    """A file's text, byte for byte; the cause is dropped because it would carry the bytes of a key."""
    try:
        if path.stat().st_size > 4 * MAX_BUNDLE_CHARACTERS:
            raise ReservedError(flag, f"{path} is too large", "check that it is the right file")
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ReservedError(flag, f"{path} cannot be read as text", "check the path") from None


class ReservedPhase:
    """Implements Phase for reserved scenarios."""

    def __init__(self, opened: OpenedBundles, execution: Execution, parallel: int) -> None:
        self.opened = opened
        self.execution = execution
        self.parallel = parallel
        self._verdicts: list[Verdict] = []
        self._agent_faults = 0
        self._incomplete: str | None = None

    async def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:  # noqa: ARG002 - the port's signature
        """Run every reserved scenario; each event carries a label, an outcome and sealed evidence."""
        provider = self.execution.provider
        runnable = [unit for unit in self.opened.units if not reasons_to_skip(unit.bound.scenario, provider)]
        yield PhaseStarted("reserved", len(self.opened.units))
        if skipped := len(self.opened.units) - len(runnable):
            self._incomplete = f"{skipped} reserved scenario(s) cannot be run as written"
            yield Warned(self._incomplete)
        async with aclosing(in_order(self._execute, runnable, self.parallel)) as results:
            async for unit, result in results:
                yield self._finished(unit, result)
                if isinstance(result.verdict, ProviderFailure):
                    self._incomplete = f"provider fault in {unit.label}"
                    yield Warned(f"reserved scenarios ended early: {self._incomplete}")
                    return

    async def _execute(self, unit: ReservedUnit) -> tuple[ReservedUnit, UnitResult]:
        return unit, await self.execution.execute(unit.label, unit.bound)

    def _finished(self, unit: ReservedUnit, result: UnitResult) -> ReservedFinished:
        if result.is_judged:
            self._verdicts.append(result.verdict)
        else:
            self._agent_faults += 1
        record = {"scenario": unit.bound.scenario.document(), "evidence": result.evidence.document()}
        return ReservedFinished(
            unit.label, result.status or "AGENT_FAULT", sealed_evidence(record, self.opened.recipient)
        )

    def block(self) -> Mapping[str, Any]:
        """Counts, and nothing else (AV-21)."""
        counts = ReservedCounts.of(self._verdicts, agent_faults=self._agent_faults).document()
        ended = {"complete": False, "incomplete_reason": self._incomplete} if self._incomplete else {}
        return {"reserved_scenarios": counts, **ended}
