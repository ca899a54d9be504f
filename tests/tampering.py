"""Changing what a run recorded, as somebody would who knows the form of its files but cannot forge a digest."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEGMENT = "evidence/segment-0001.jsonl.gz"
INDEX = "evidence/index.json"


def records(run: Path) -> list[dict[str, Any]]:
    """Every record of the first segment."""
    return [json.loads(line) for line in lines(run)]


def lines(run: Path) -> list[str]:
    """The lines of the first segment."""
    return gzip.decompress((run / SEGMENT).read_bytes()).decode().splitlines()


def tamper(run: Path, change: Callable[[str], str]) -> None:
    """Apply `change` to every recorded line; the index still finds each, by its new place."""
    index = json.loads((run / INDEX).read_text())
    segment = bytearray()
    for line in lines(run):
        packed = gzip.compress(change(line).encode() + b"\n")
        index["units"][json.loads(line)["unit"]] |= {"offset": len(segment), "length": len(packed)}
        segment += packed
    (run / SEGMENT).write_bytes(segment)
    (run / INDEX).write_text(json.dumps(index))
