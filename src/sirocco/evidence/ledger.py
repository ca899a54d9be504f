"""The ledger: which units are finished, what they were run with, and where their evidence is.

An SQLite file in WAL mode: an entered unit survives a kill. A power failure may lose the last entries; their evidence,
which was on disk before them, is then entered again. Facts about the whole run are stored nowhere else and are
therefore synced. The ledger contains no verdicts; those are computed from evidence.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sirocco.errors import EvidenceError
from sirocco.evidence.segments import Span

LEDGER = "ledger.sqlite"
_VERSION = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE units (
    unit TEXT PRIMARY KEY, kind TEXT NOT NULL, attempt INTEGER NOT NULL, content TEXT NOT NULL,
    segment INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, digest TEXT NOT NULL,
    evaluation TEXT, position INTEGER
) WITHOUT ROWID;
"""
_COLUMNS = "unit, kind, attempt, content, segment, offset, length, digest, evaluation"


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished unit: what it is, the digest of what it was run with, and its evidence.

    `evaluation` is the digest of the evaluation; None until the evidence was judged.
    """

    unit: str
    kind: str
    attempt: int
    content: str
    span: Span
    digest: str
    evaluation: str | None = None


def ledger_entries(path: Path, *, is_finished: bool = True) -> dict[str, Entry]:
    """The entered units by name, read without leaving a trace; EvidenceError if it is not a ledger.

    The ledger of an unfinished run is read while another process writes it, including what is still in the WAL.
    """
    alone = "&immutable=1" if is_finished else ""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True)
        try:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            rows = connection.execute(f"SELECT {_COLUMNS} FROM units").fetchall() if ("units",) in tables else None  # noqa: S608 - no value is in it
        finally:
            connection.close()
    except (sqlite3.Error, OverflowError) as error:
        raise EvidenceError(path, f"not a ledger: {error}", "restore it from a copy") from error
    if rows is None or not all(type(row[0]) is str for row in rows):
        raise EvidenceError(path, "not a ledger", "restore it from a copy")
    return {row[0]: _entry(row) for row in rows}


def _entry(row: tuple[Any, ...]) -> Entry:
    unit, kind, attempt, content, segment, offset, length, digest, evaluation = row
    return Entry(unit, kind, attempt, content, Span(segment, offset, length), digest, evaluation)


class Ledger:
    """Finished units on disk. Each resumption decides again which of them count in the report."""

    def __init__(self, path: Path, *, create: bool) -> None:
        if not create and not path.is_file():
            raise EvidenceError(path, "the ledger is missing", "restore it from a copy, or start another run")
        self._connection = sqlite3.connect(path, isolation_level=None)
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._prepare(path, create=create)
            self._connection.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.DatabaseError as error:
            self._connection.close()
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise EvidenceError(path, f"not a ledger: {error}", "restore it from a copy") from error
        except EvidenceError:
            self._connection.close()
            raise
        self._counted = 0

    def _prepare(self, path: Path, *, create: bool) -> None:
        if create:
            self._connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            problem = f"its layout is number {version}, this version of sirocco knows {_VERSION}"
            raise EvidenceError(path, problem, "use the version that started the run")
        if not create:
            # A count belongs to one session: what recurs is counted again, in the same order.
            self._connection.execute("UPDATE units SET position = NULL WHERE position IS NOT NULL")

    def enter(self, entry: Entry) -> None:
        """Enter a finished unit whose evidence is on disk; if this raises, it is not entered at all."""
        span = entry.span
        row = (entry.unit, entry.kind, entry.attempt, entry.content, span.segment, span.offset, span.length)
        self._begin()
        try:
            self._connection.execute(
                f"INSERT INTO units ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - no value is in it
                (*row, entry.digest, entry.evaluation),
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def find(self, unit: str) -> Entry | None:
        """The entry of a unit."""
        return next(self._entries("WHERE unit = ?", unit), None)

    def last_span(self) -> Span | None:
        """The location of the evidence of the unit entered last."""
        found = next(self._entries("ORDER BY segment DESC, offset DESC LIMIT 1"), None)
        return found.span if found else None

    def count(self, unit: str, evaluation: str) -> None:
        """Let a unit count in the report, after all that were counted before.

        This is synced with the next unit that is entered: whatever a kill loses of it is determined again.
        """
        self._begin()
        self._counted += 1
        self._connection.execute(
            "UPDATE units SET position = ?, evaluation = ? WHERE unit = ?", (self._counted, evaluation, unit)
        )

    def counted_entries(self) -> Iterator[Entry]:
        """The units that count, in the order in which they came."""
        return self._entries("WHERE position IS NOT NULL ORDER BY position")

    def uncounted_entries(self) -> Iterator[Entry]:
        """The units that are entered but do not count."""
        return self._entries("WHERE position IS NULL ORDER BY unit")

    def total(self) -> int:
        """How many units are entered."""
        (number,) = self._connection.execute("SELECT count(*) FROM units").fetchone()
        return int(number)

    def note(self, name: str, value: str) -> None:
        """Store a fact about the whole run; it is on disk when this returns."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA synchronous=FULL")
        try:
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))
        finally:
            self._connection.execute("PRAGMA synchronous=NORMAL")

    def run_fact(self, name: str) -> str | None:
        """A fact about the whole run."""
        found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def settle(self) -> None:
        """Leave a single file: the WAL is merged into it."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        """Close the file; unsettled data is found again when it is opened."""
        self._connection.close()

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _entries(self, which: str, *values: str) -> Iterator[Entry]:
        for row in self._connection.execute(f"SELECT {_COLUMNS} FROM units {which}", values):  # noqa: S608 - see above
            yield _entry(row)
