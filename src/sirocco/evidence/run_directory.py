"""The run directory: every file of a run, written by one process at a time, and complete whenever that is killed."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, EvidenceError, SiroccoError
from sirocco.evidence.account import ACCOUNT
from sirocco.evidence.attestation import Attestation
from sirocco.evidence.event_log import EVENTS, EventLog
from sirocco.evidence.files import LOCK, Lock, sync_folder, write_whole, writing
from sirocco.evidence.ledger import LEDGER, Entry, Ledger
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import (
    FOLDER,
    INDEX,
    EvidenceIndex,
    IndexEntry,
    Record,
    RecordedUnit,
    content_digest,
    line_digest,
    recorded_unit,
    refuse_old_form,
)
from sirocco.evidence.segments import SegmentWriter, read_record, whole_records
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.ledger import UnitKey
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Evaluation

RUN = "run.yaml"
CORE = "core.yaml"
VERDICT = "verdict.json"
_FOLDERS = (FOLDER, "adversarial")
_FINISHED = "finished"
_NOT_BEGUN = "no run was started: fix it, or choose another --out"
_NOT_EMPTY = "choose another --out, or continue the existing run: --resume"


class RunDirectory:
    """Stores one run on disk (implements UnitLedger); nothing an agent or probe says is used as a path.

    Nothing is touched before `create_run` or `reopen_run`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._config_hash = ""
        self._run = ""
        self._is_void = False
        self._is_open = False
        self._recalled: set[str] = set()
        self._earlier: set[str] = set()
        self._judged: dict[str, tuple[Evaluation, str]] = {}
        self._ledger: Ledger
        self._segments: SegmentWriter
        self._events: EventLog

    @contextmanager
    def create_run(self, run: str, config_hash: str) -> Iterator["RunDirectory"]:
        """Make the directory for a new run with this text of `run.yaml`; refuse one that is not empty."""
        self._refuse_contents()
        is_new = not self.path.exists()
        with writing(self.path, "the run", remedy=_NOT_BEGUN):
            self.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with writing(self.path, "the run", remedy=_NOT_BEGUN):
                self._lock(held, config_hash)
            self._refuse_contents()
            held.callback(self._remove_void, is_new=is_new)
            self._run = line_digest(run.encode())
            with writing(self.path, "the run", remedy=_NOT_BEGUN):
                for folder in _FOLDERS:
                    (self.path / folder).mkdir()
                self._open(held, create=True)
                # Last, so that a directory with a run.yaml has everything that a resumed run needs.
                write_whole(self.path / RUN, run.encode())
                sync_folder(self.path.parent)
            try:
                with self._ending():
                    yield self
            except SiroccoError:
                # An unreadable ledger does not mean that nothing was recorded.
                with suppress(EvidenceError):
                    self._is_void = not self.units
                raise

    def _remove_void(self, *, is_new: bool) -> None:
        """Remove only what was made for a run that recorded nothing, so that the next attempt can use the path."""
        if not self._is_void:
            return
        with suppress(OSError):
            for folder in _FOLDERS:
                shutil.rmtree(self.path / folder, ignore_errors=True)
            for name in (RUN, EVENTS, LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm"):
                (self.path / name).unlink(missing_ok=True)
            if is_new:
                (self.path / LOCK).unlink(missing_ok=True)
                self.path.rmdir()

    @contextmanager
    def reopen_run(self, config_hash: str) -> Iterator["RunDirectory"]:
        """Continue an interrupted run; whatever a kill left half written is cut off."""
        refuse_old_form(self.path)
        with ExitStack() as held:
            with writing(self.path, "the run"):
                self._lock(held, config_hash)
                self._run = line_digest((self.path / RUN).read_bytes())
                self._open(held, create=False)
                self._refuse_rollback()
                self._refuse_altered()
                self._earlier = {entry.unit for entry in self._ledger.uncounted_entries()}
            with self._ending():
                yield self

    def _refuse_contents(self) -> None:
        if self.path.exists() and any(entry.name != LOCK for entry in self.path.iterdir()):
            raise ConfigError(self.path, "the run directory is not empty", _NOT_EMPTY)

    def _lock(self, held: ExitStack, config_hash: str) -> None:
        held.callback(Lock(self.path).release)
        self._config_hash = config_hash

    def _open(self, held: ExitStack, *, create: bool) -> None:
        """Open ledger, segments and events for continuation."""
        self._ledger = Ledger(self.path / LEDGER, create=create)
        self._is_open = True
        held.callback(self._ledger.close)
        self._adopt()
        self._segments = SegmentWriter(self.path / FOLDER, self._ledger.last_span())
        held.callback(self._segments.close)
        self._events = EventLog(self.path / EVENTS)
        held.callback(self._events.close)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """However a run ends, its ledger becomes one file; if that fails, the original error is the one reported."""
        try:
            yield
        except BaseException:
            with suppress(EvidenceError), writing(self.path, "the end of the run"):
                self._ledger.settle()
            raise
        with writing(self.path, "the end of the run"):
            self._events.sync()
            self._ledger.settle()

    def _adopt(self) -> None:
        """Enter complete records after the last entry: a kill or a power failure came before theirs."""
        folder = self.path / FOLDER
        for span, line in whole_records(folder, self._ledger.last_span()):
            recorded = recorded_unit(line, folder)
            self._refuse_another(recorded)
            if self._ledger.find(recorded.unit) is None:
                key, content = recorded.key, recorded.content(self._config_hash)
                self._ledger.enter(Entry(key.unit, key.kind, key.attempt, content, span, recorded.digest))

    def _refuse_another(self, recorded: RecordedUnit) -> None:
        """Raise EvidenceError for a unit that was recorded in another run (SI-10)."""
        if recorded.run != self._run:
            where = f"{self.path}: {recorded.unit}"
            problem = f"it was recorded in another run, or {RUN} was changed since"
            raise EvidenceError(where, problem, "restore the directory from a copy, or start another run")

    def _refuse_rollback(self) -> None:
        """Raise EvidenceError for finished units without a trace: a unit is entered before its event.

        Anyone who could remove a failed unit, and run it again until it passes, would choose the verdict (SI-10).
        """
        finished = [event["unit"] for event in self._events.recorded_events("unit_finished")]
        if lost := [unit for unit in finished if self._ledger.find(unit) is None]:
            problem = f"{EVENTS} names {len(lost)} finished units that are not recorded, {lost[0]} among them"
            raise EvidenceError(self.path, problem, "restore the directory from a copy, or start another run")

    def _refuse_altered(self) -> None:
        """Raise EvidenceError if a signed run, finished or interrupted, was changed since (SI-10).

        A resumed run is signed again, and the signature must not cover changes that someone made in between.
        """
        attestation = Attestation.of_run(self.path)
        if attestation is None or not (self.path / INDEX).is_file():
            return
        index = EvidenceIndex.of_run(self.path)
        known = {unit: entry.digest for unit, entry in index.units.items()} | dict(index.uncounted)
        is_same = all((entry := self._ledger.find(unit)) and entry.digest == found for unit, found in known.items())
        if not attestation.is_signed or not attestation.covers(self.path, INDEX) or not is_same:
            problem = "its evidence is not what was signed when the run was interrupted or ended"
            raise EvidenceError(self.path, problem, "restore the directory from a copy, or start another run")

    @property
    def is_recounting(self) -> bool:
        """Whether units of an earlier session still have to be counted again."""
        return bool(self._earlier)

    @property
    def is_finished(self) -> bool:
        """Whether the run was completed."""
        return self._ledger.run_fact(_FINISHED) is not None

    @property
    def missing_files(self) -> tuple[str, ...]:
        """The files of a finished run that this directory lacks; a resumed run writes all of them again."""
        return tuple(name for name in (INDEX, CORE, VERDICT) if not (self.path / name).is_file())

    @property
    def units(self) -> int:
        """How many units are recorded."""
        with writing(self.path / LEDGER, "the number of units"):
            return self._ledger.total()

    def finish(self, time: str) -> None:
        """Record that the run was completed: all files exist, and nothing is left to resume."""
        with writing(self.path / LEDGER, "the end of the run"):
            self._ledger.note(_FINISHED, time)

    def note(self, name: str, value: str) -> None:
        """Store a fact about the whole run for resumption; before the run starts there is nothing to resume."""
        if not self._is_open:
            return
        with writing(self.path / LEDGER, name):
            self._ledger.note(name, value)

    def run_fact(self, name: str) -> str | None:
        """A fact about the whole run; None if none was stored."""
        return self._ledger.run_fact(name) if self._is_open else None

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file durably: a reader sees the old content or the new, never a part."""
        with writing(self.path / name, name):
            write_whole(self.path / name, text.encode() if isinstance(text, str) else text)

    def append_event(self, time: str, event: Mapping[str, Any], *, always: bool = False) -> None:
        """Record an event; after a resume, only if it was not recorded before."""
        with writing(self.path / EVENTS, "an event"):
            self._events.append(time, event, always=always)

    def recorded_evidence(self, key: UnitKey, bound: BoundScenario) -> Evidence | None:
        """The recorded evidence of a unit; None if it was not run."""
        entry = self._ledger.find(key.unit)
        if entry is None:
            return None
        where = f"{self.path}: {key.unit}"
        if entry.content != content_digest(self._config_hash, key.attempt, bound):
            problem = "it was recorded for another scenario or attempt of the same name"
            raise EvidenceError(where, problem, "use the version and the profile that started the run")
        line = read_record(self.path / FOLDER, entry.span)
        if line_digest(line) != entry.digest:
            raise EvidenceError(where, "its evidence was altered after it was recorded", "restore the segment")
        recorded = recorded_unit(line, where)
        self._refuse_another(recorded)
        self._recalled.add(key.unit)
        return Evidence.from_document(recorded.evidence, where)

    def keep(self, key: UnitKey, result: UnitResult) -> None:
        """Append a unit's evidence to the segment, then enter it in the ledger; it is on disk when this returns."""
        record = Record.from_result(key, result, self._config_hash, self._run)
        proof, evaluation = record.digest, digest(result.evaluation.document())
        self._judged[key.unit] = (result.evaluation, evaluation)
        with writing(self.path / FOLDER, f"unit {key.unit}"):
            span = self._segments.append(record.line)
            entry = Entry(key.unit, key.kind, key.attempt, record.content, span, proof, evaluation)
            try:
                self._ledger.enter(entry)
            except BaseException:
                self._segments.cut(span)
                raise

    def count(self, kind: str, result: UnitResult) -> None:
        """Let a unit count in the report; one that was not stored when it was run is stored now."""
        is_new = result.unit in self._judged
        entry = None if is_new else self._ledger.find(result.unit)
        if entry is None and not is_new:
            self.keep(UnitKey(kind, result.unit), result)
        judged, evaluation = self._judged.pop(result.unit, (None, ""))
        if judged is not result.evaluation:
            evaluation = digest(result.evaluation.document())
        if result.unit in self._recalled:
            self._recalled.discard(result.unit)
            if entry and entry.evaluation not in {None, evaluation}:
                problem = "its evidence is judged differently than when it was recorded"
                raise EvidenceError(f"{self.path}: {result.unit}", problem, "use the version that started the run")
        with writing(self.path / LEDGER, f"unit {result.unit}"):
            self._ledger.count(result.unit, evaluation)
        self._earlier.discard(result.unit)

    def write_index(self, account: str = "") -> str:
        """Write the account and the evidence index; return the Merkle root over all recorded units."""
        self.write(ACCOUNT, account)
        units: dict[str, dict[str, Any]] = {}
        for position, entry in enumerate(self._ledger.counted_entries(), start=1):
            indexed = IndexEntry(position, entry.kind, entry.span, entry.digest, entry.content, entry.evaluation or "")
            units[entry.unit] = indexed.document()
        uncounted = {entry.unit: entry.digest for entry in self._ledger.uncounted_entries()}
        root = merkle_root({unit: entry["digest"] for unit, entry in units.items()} | uncounted)
        index = {
            "merkle_root": root,
            "account": line_digest(account.encode()),
            "units": units,
            "uncounted": uncounted,
        }
        self.write(INDEX, json.dumps(index, indent=1, sort_keys=True) + "\n")
        return root

    def uncounted_units(self) -> tuple[str, ...]:
        """Units that are recorded but do not count: they were in progress when the run was interrupted."""
        return tuple(entry.unit for entry in self._ledger.uncounted_entries())
