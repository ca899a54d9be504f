"""The run directory: every file of a run; a kill at any moment leaves whole files, and whole lines but for the last."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evidence.merkle import merkle_root
from sirocco.oasis.canonical import canonical_json, digest, digest_of_text
from sirocco.oasis.report import UnitResult
from sirocco.profiles.bind import with_predicates

SEGMENT = "evidence/segment-0001.jsonl"
INDEX = "evidence/index.json"


@dataclass(frozen=True, slots=True)
class RecordedUnit:
    """One line of a segment, as it stands on disk."""

    unit: str
    kind: str
    scenario: Mapping[str, Any]
    evidence: Mapping[str, Any]
    digest: str


class RunDirectory:
    """Writes one run's files; nothing an agent or probe says is ever used as a path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._units: dict[str, dict[str, str]] = {}

    @classmethod
    def create(cls, path: Path) -> "RunDirectory":
        """Make the directory; refuse one that already holds a run."""
        if path.exists() and any(path.iterdir()):
            raise ConfigError(path, "the run directory is not empty", "choose another --out")
        for folder in (path, path / "evidence", path / "adversarial"):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(path)

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file whole and durably: a reader sees the old content or the new, never a part."""
        target = self.path / name
        temporary = target.with_name(target.name + ".part")
        with temporary.open("wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)

    def append(self, name: str, line: str) -> None:
        """Append one line durably."""
        with (self.path / name).open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def record(self, kind: str, result: UnitResult) -> None:
        """Append a unit's evidence to the segment; its digests go into the index."""
        line = canonical_json(
            {
                "unit": result.unit,
                "kind": kind,
                "scenario": with_predicates(result.bound).document(),
                "evidence": result.evidence.document(),
            }
        )
        self.append(SEGMENT, line)
        self._units[result.unit] = {
            "kind": kind,
            "digest": digest_of_text(line),
            "evaluation": digest(result.evaluation.document()),
        }

    def write_index(self) -> str:
        """Write the evidence index and return the Merkle root over all units."""
        root = merkle_root({unit: entry["digest"] for unit, entry in self._units.items()})
        self.write(INDEX, json.dumps({"merkle_root": root, "units": self._units}, indent=1, sort_keys=True) + "\n")
        return root


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def recorded_units(path: Path) -> Iterator[RecordedUnit]:
    """Every unit in the segments of a run directory, in the order they were recorded."""
    segments = sorted((path / "evidence").glob("segment-*.jsonl"))
    if not segments:
        raise EvidenceError(path, "no evidence segments", "give a run directory written by `sirocco run`")
    for segment in segments:
        for number, line in enumerate(segment.read_bytes().split(b"\n"), start=1):
            if line:
                yield _recorded(line, f"{segment}:{number}")


def _recorded(line: bytes, where: str) -> RecordedUnit:
    try:
        entry = json.loads(line)
        unit, kind = str(entry["unit"]), str(entry["kind"])
        return RecordedUnit(unit, kind, entry["scenario"], entry["evidence"], digest_of_text(line.decode()))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvidenceError(where, "not a recorded unit", "restore the segment from a copy") from error
