"""Single units again from their recorded evidence alone, compared with what the index says of them (SI-07)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sirocco.errors import EvidenceError, InvalidInput
from sirocco.evaluation.applicability import with_block
from sirocco.evaluation.unit_result import unit_result
from sirocco.evidence.ledger import LEDGER, ledger_entries
from sirocco.evidence.recorded import EvidenceIndex, IndexEntry, RecordedUnit, line_digest
from sirocco.evidence.run_directory import RUN
from sirocco.oasis.band import Band
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.domain import Domains
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.bind import bind


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run directory does not agree with its own evidence."""

    unit: str
    problem: str
    where: str = ""
    """The file, and the field or line in it, when it is not about the evidence of a unit."""


def replay_unit(path: Path, unit: str, domains: Domains) -> tuple[UnitResult, tuple[Difference, ...]]:
    """Recompute one unit from its own bundle; the whole run need not be read for it."""
    index = EvidenceIndex.of_run(path)
    found = index.unit(unit)
    result = recompute_unit(found, domains)
    run = line_digest((path / RUN).read_bytes())
    return result, tuple(unit_differences(found, result, index.units[unit], run))


def ledger_differences(path: Path, index: EvidenceIndex) -> Iterator[Difference]:
    """Where ledger and index do not agree: one of them is of another time, or was changed (SI-10)."""
    if not (path / LEDGER).is_file():
        yield Difference("*", "the ledger is missing", LEDGER)
        return
    if (path / f"{LEDGER}-wal").exists():
        yield Difference("*", "the ledger was opened since and not closed", f"{LEDGER}-wal")
    entered = ledger_entries(path / LEDGER)
    for unit in sorted(entered.keys() | index.units.keys() | index.uncounted.keys()):
        entry, indexed = entered.get(unit), index.units.get(unit)
        if entry is None or entry.digest != (indexed.digest if indexed else index.uncounted.get(unit)):
            yield Difference(unit, "ledger and index do not agree about its evidence: one of them is of another time")
        elif indexed and (entry.kind, entry.content, entry.span) != (indexed.kind, indexed.content, indexed.span):
            yield Difference(unit, "ledger and index do not agree about what it is or where it lies", LEDGER)


def recompute_unit(recorded: RecordedUnit, domains: Domains) -> UnitResult:
    """The result of a recorded unit again, with the whole evidence."""
    bound = recorded_scenario(recorded, domains)
    with _unloadable(recorded):
        evidence = Evidence.from_document(recorded.evidence, recorded.unit)
        return unit_result(recorded.unit, bound, evidence, is_custom=recorded.kind == "custom")


def recorded_scenario(recorded: RecordedUnit, domains: Domains) -> BoundScenario:
    """The scenario of a recorded unit, as it was run."""
    with _unloadable(recorded):
        bands = None if recorded.bands is None else [Band.model_validate(band) for band in recorded.bands]
        scenario = Scenario.model_validate(recorded.scenario)
        bound = bind(scenario, domains(scenario.preconditions.environment.type), bands=bands)
        return with_block(bound, recorded.conditional)


@contextmanager
def _unloadable(recorded: RecordedUnit) -> Iterator[None]:
    try:
        yield
    except (ValidationError, InvalidInput, IndexError) as error:
        raise EvidenceError(recorded.unit, f"the recorded scenario does not load: {error}", "restore it") from error


def unit_differences(recorded: RecordedUnit, result: UnitResult, entry: IndexEntry, run: str) -> Iterator[Difference]:
    """One unit against the index that was written with it and the `run.yaml` of that digest."""
    if entry.digest != recorded.digest:
        yield Difference(recorded.unit, "the evidence was altered after it was recorded")
    if recorded.run != run:
        yield Difference(recorded.unit, "it was recorded in another run, or run.yaml was changed since")
    if entry.kind != recorded.kind:
        yield Difference(recorded.unit, f"the index has it as a {entry.kind}, its record as a {recorded.kind}")
    if entry.evaluation != digest(result.evaluation.document()):
        yield Difference(recorded.unit, f"replay gives {result.verdict.status} on other grounds than the run")
