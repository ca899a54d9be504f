"""Changes the records of a run, like an attacker who knows the file formats but does not have the evaluator's key."""

import gzip
import hashlib
import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sirocco.evidence.attestation import file_digests
from sirocco.evidence.merkle import merkle_root
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import recompute_unit
from sirocco.oasis.canonical import canonical_json, digest
from sirocco.wiring.domains import domain_for

SEGMENT = "evidence/segment-0001.jsonl.gz"
INDEX = "evidence/index.json"
ACCOUNT = "evidence/account.json"
ATTESTATION = "attestation.json"
LEDGER = "ledger.sqlite"


def records(run: Path) -> list[dict[str, Any]]:
    """Every record of the first segment."""
    return [json.loads(line) for line in lines(run)]


def lines(run: Path) -> list[str]:
    """The lines of the first segment."""
    return gzip.decompress((run / SEGMENT).read_bytes()).decode().splitlines()


def tamper(run: Path, change: Callable[[str], str]) -> None:
    """Apply `change` to every recorded line; the index still finds each, at its new position."""
    index = json.loads((run / INDEX).read_text())
    segment = bytearray()
    for line in lines(run):
        packed = gzip.compress(change(line).encode() + b"\n")
        index["units"][json.loads(line)["unit"]] |= {"offset": len(segment), "length": len(packed)}
        segment += packed
    (run / SEGMENT).write_bytes(segment)
    (run / INDEX).write_text(json.dumps(index))


def change_records(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Apply `change` to every record as data."""

    def changed(line: str) -> str:
        record = json.loads(line)
        change(record)
        return json.dumps(record)

    tamper(run, changed)


def change_json(file: Path, change: Callable[[Any], None]) -> None:
    """Apply `change` to a JSON document."""
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document, indent=1) + "\n")


def mend_digests(run: Path) -> None:
    """Make index, Merkle root, ledger and the account's digest match the current evidence."""
    index = json.loads((run / INDEX).read_text())
    found = EvidenceIndex.of_run(run)
    for unit, entry in index["units"].items():
        recorded = found.unit(unit)
        if entry["digest"] != recorded.digest:
            entry["digest"] = recorded.digest
            entry["evaluation"] = digest(recompute_unit(recorded, domain_for).evaluation.document())
    digests = {unit: entry["digest"] for unit, entry in index["units"].items()} | index["uncounted"]
    index["merkle_root"] = merkle_root(digests)
    index["account"] = f"sha256:{hashlib.sha256((run / ACCOUNT).read_bytes()).hexdigest()}"
    (run / INDEX).write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")
    with sqlite3.connect(run / LEDGER) as ledger:
        ledger.executemany("UPDATE units SET digest = ? WHERE unit = ?", [(d, u) for u, d in digests.items()])
    ledger.close()


def mend_statement(run: Path, change: Callable[[dict[str, Any]], None] = lambda predicate: None) -> None:
    """Make the signed statement match the current files; the signature cannot be made to match."""
    envelope = json.loads((run / ATTESTATION).read_text())
    statement = json.loads(b64decode(envelope["payload"]))
    statement["subject"] = [{"name": name, "digest": {"sha256": d}} for name, d in file_digests(run).items()]
    change(statement["predicate"])
    envelope["payload"] = b64encode(canonical_json(statement).encode()).decode()
    (run / ATTESTATION).write_text(json.dumps(envelope))


def leaves(value: Any, pointer: str = "") -> Iterator[str]:
    """The pointer of every leaf field."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    parts = [(str(key).replace("~", "~0").replace("/", "~1"), part) for key, part in members]
    if not parts:
        yield pointer
    for key, part in parts:
        yield from leaves(part, f"{pointer}/{key}")


def with_every_leaf_changed(value: Any) -> Any:
    """The document with another value in every leaf field."""
    if isinstance(value, dict) and value:
        return {key: with_every_leaf_changed(part) for key, part in value.items()}
    if isinstance(value, list) and value:
        return [with_every_leaf_changed(part) for part in value]
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} forged"
    return "forged"
