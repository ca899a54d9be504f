"""A transparency log: one line per signed run, each bound to the previous line, so that none can be removed.

The file is not part of any run directory. Kept where others see it, it shows the latest time by which a statement
existed.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sirocco.errors import ConfigError, EvidenceError
from sirocco.evidence.attestation import Attestation
from sirocco.evidence.files import writing
from sirocco.oasis.canonical import canonical_json

_FIRST = "sha256:" + "0" * 64


def append_entry(log: Path, run: Path, time: str) -> None:
    """Append the statement of a run that was just signed."""
    attestation = Attestation.of_run(run)
    if attestation is None:
        raise EvidenceError(run, "the run is not signed", "evaluate it again")
    earlier = [digest for digest, _ in _entries(log)] if log.exists() else []
    entry = {
        "time": time,
        "statement": attestation.digest,
        "evidence_root": attestation.predicate.get("evidence_root"),
        "key": attestation.key_id,
        "previous": earlier[-1] if earlier else _FIRST,
    }
    with writing(log, "the entry in the transparency log", remedy="append it again"), log.open("ab") as file:
        file.write((canonical_json(entry) + "\n").encode())


def logged_time(log: Path, attestation: Attestation) -> str | None:
    """When, according to the log, a statement existed; None if it has none. Raise ConfigError for a broken chain."""
    found = None
    for _, entry in _entries(log):
        if entry.get("statement") == attestation.digest and entry.get("key") == attestation.key_id:
            found = found or str(entry.get("time"))
    return found


def _entries(log: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's digest and content; every line must contain the digest of the previous one."""
    last = _FIRST
    try:
        lines = log.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(log, f"the log cannot be read: {error.strerror}", "give a transparency log") from error
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            is_next = entry["previous"] == last
        except (ValueError, KeyError, TypeError, RecursionError):
            is_next = False
        if not is_next:
            problem = "the line does not follow from the one before: the log was altered"
            raise ConfigError(f"{log}:{number}", problem, "compare it with another copy of the log")
        last = f"sha256:{hashlib.sha256(line).hexdigest()}"
        yield last, entry
