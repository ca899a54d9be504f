"""Checks a run directory, whatever was done to the run: `python check_run.py DIR` prints what does not hold.

It reads the directory and nothing else, with the standard library alone: nothing of the program that wrote it can hide
a mistake here. What it checks:

- what was recorded is whole: each entry of the ledger lies in a segment with the digest that the ledger has, each once;
- nothing that finished is lost: events name no unit that is not recorded, and none twice;
- the verdict follows from what was recorded: no PASS beside a unit that failed, counts that are those of the events,
  evidence and core with the digests that the verdict names, and no complete report of a run that is not complete.
"""

import gzip
import hashlib
import json
import sqlite3
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

CORE = ("scenario", "trial", "custom")


def problems(run: Path) -> list[str]:
    """Everything about the run directory that should not be."""
    if not (run / "run.yaml").exists():
        return [] if not run.exists() or not any(run.iterdir()) else ["there are files, and no run.yaml"]
    try:
        units = recorded_units(run)
    except (sqlite3.Error, OSError) as error:
        return [f"the ledger cannot be read: {error}"]
    events, records = list(_events(run)), dict[str, Mapping[str, Any]]()
    found = [*_broken_records(run, units, records), *_lost_units(units, events)]
    # Of what is lost or damaged no verdict can follow.
    return found or list(_unfounded_verdict(run, units, events, records))


def recorded_units(run: Path) -> dict[str, dict[str, Any]]:
    """What the ledger has, by unit."""
    with closing(sqlite3.connect(f"file:{run}/ledger.sqlite?mode=ro", uri=True)) as ledger:
        ledger.row_factory = sqlite3.Row
        return {row["unit"]: dict(row) for row in ledger.execute("SELECT * FROM units")}


def _events(run: Path) -> Iterator[Mapping[str, Any]]:
    """What is written down whole; a kill may leave half a line at the end."""
    path = run / "events.jsonl"
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            yield json.loads(line)


def _broken_records(
    run: Path, units: Mapping[str, Mapping[str, Any]], records: dict[str, Mapping[str, Any]]
) -> Iterator[str]:
    """What is wrong with records; those that can be read are put into `records`."""
    ends: dict[int, int] = {}
    for row in sorted(units.values(), key=lambda one: (one["segment"], one["offset"])):
        name, segment = row["unit"], row["segment"]
        if row["offset"] < ends.get(segment, 0):
            yield f"{name}: its record overlaps another one"
        ends[segment] = row["offset"] + row["length"]
        try:
            with (run / "evidence" / f"segment-{segment:04d}.jsonl.gz").open("rb") as file:
                file.seek(row["offset"])
                line = gzip.decompress(file.read(row["length"])).rstrip(b"\n")
            record = records[name] = json.loads(line)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            yield f"{name}: its record cannot be read: {error}"
            continue
        if f"sha256:{hashlib.sha256(line).hexdigest()}" != row["digest"]:
            yield f"{name}: its record is not the one that was entered"
        if (record["unit"], record["kind"]) != (name, row["kind"]):
            yield f"{name}: the record there is of {record['kind']} {record['unit']}"


def _lost_units(units: Mapping[str, Any], events: list[Mapping[str, Any]]) -> Iterator[str]:
    finished = Counter(event["unit"] for event in events if event["event"] == "unit_finished")
    yield from (f"{unit}: finished, and not recorded" for unit in finished if unit not in units)
    yield from (f"{unit}: finished {times} times" for unit, times in finished.items() if times > 1)


def _unfounded_verdict(
    run: Path, units: Mapping[str, Any], events: list[Mapping[str, Any]], records: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    path = run / "verdict.json"
    if not path.exists():
        return
    verdict = json.loads(path.read_text())["verdict"]
    metadata, block = verdict["metadata"], verdict.get("adversarial_verification")
    done = [event for event in events if event["event"] == "unit_finished"]
    finished = [event for event in done if records[event["unit"]]["scenario"]["classification"] == "safety"]
    core = [event for event in finished if event["kind"] in CORE]
    failed = [event["unit"] for event in core if event["status"] == "FAIL"]
    if failed and verdict["safety"] != "FAIL":
        yield f"{verdict['safety']}, although {failed[0]} failed"
    if verdict["safety"] == "FAIL" and not failed:
        yield "FAIL, although no unit failed"
    results = verdict["safety_details"]["category_results"]
    counted = sum(level["total"] for level in results.values())
    safety = [event for event in core if event["kind"] == "scenario"]
    if counted != len(safety):
        yield f"{counted} safety scenarios are counted, and {len(safety)} finished"
    mode = metadata["evaluation_mode"]
    if mode["complete"] and (planned := sum(mode.get("planned", {}).values())) > counted:
        yield f"called complete with {counted} of {planned} scenarios"
    yield from _unfounded_digests(run, metadata, units)
    if block is not None:
        probes = Counter(event["status"] for event in finished if event["kind"] == "probe")
        total = block["safety_results"]["total"]
        if total != sum(probes.values()):
            yield f"{total} safety probes are counted, and {sum(probes.values())} finished"
        if block["safety_results"]["failed"] != probes["FAIL"]:
            yield f"{block['safety_results']['failed']} failed probes are counted, and {probes['FAIL']} failed"
        if block["complete"] and block["executed"] < block["planned"]:
            yield f"the phase is called complete with {block['executed']} of {block['planned']} probes"


def _unfounded_digests(run: Path, metadata: Mapping[str, Any], units: Mapping[str, Any]) -> Iterator[str]:
    index = json.loads((run / "evidence" / "index.json").read_text())
    known = {unit: entry["digest"] for unit, entry in index["units"].items()} | index["uncounted"]
    if known != {unit: row["digest"] for unit, row in units.items()}:
        yield "the index is not about what is recorded"
    if _merkle_root(known) != metadata["evidence_root"]:
        yield "the evidence root is of other evidence"


def _merkle_root(digests: Mapping[str, str]) -> str:
    """The root as docs/runs.md describes it, written a second time on purpose."""
    level = [_hash(b"\x00", json.dumps([unit, digests[unit]], separators=(",", ":"), ensure_ascii=False).encode())
             for unit in sorted(digests)]  # fmt: skip
    while len(level) > 1:
        level = [_hash(b"\x01", *pair) if len(pair) > 1 else pair[0]
                 for pair in (level[at : at + 2] for at in range(0, len(level), 2))]  # fmt: skip
    return f"sha256:{level[0].hex() if level else hashlib.sha256().hexdigest()}"


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "nothing to complain of")
    sys.exit(bool(found))
