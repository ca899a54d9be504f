"""`events.jsonl`: what happened in a run, in order, one line each; a resumed run appends to the same file."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from sirocco.evidence.files import write_all
from sirocco.oasis.canonical import canonical_json, digest

EVENTS = "events.jsonl"
_TIME = "time"


class EventLog:
    """Appends events; what an earlier session of the same run has written is not written twice."""

    def __init__(self, path: Path) -> None:
        self._file = FileIO(path, "a+")
        self._end = 0
        self._known: Counter[str] = Counter()
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    self._end += len(line)
                    self._known[_identity(line)] += 1
        # A partial line left by a kill is not an event.
        self._file.truncate(self._end)

    def append(self, time: str, event: Mapping[str, Any], *, always: bool = False) -> None:
        """Write one event, unless an earlier session wrote it; `always` is for events that can happen again."""
        identity = digest(event)
        if self._known[identity] and not always:
            self._known[identity] -= 1
            return
        line = (canonical_json({_TIME: time, **event}) + "\n").encode()
        try:
            write_all(self._file, line)
        except OSError:
            self._file.truncate(self._end)
            raise
        self._end += len(line)

    def recorded_events(self, name: str) -> Iterator[Mapping[str, Any]]:
        """The events of one name that earlier sessions wrote."""
        self._file.seek(0)
        for line in self._file.readall().splitlines():
            with suppress(ValueError, RecursionError):
                event = json.loads(line) if f'"{name}"'.encode() in line else None
                if isinstance(event, dict) and event.get("event") == name:
                    yield event

    def sync(self) -> None:
        """Make what was written survive a power failure; it survives a kill of the process anyway."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _identity(line: bytes) -> str:
    try:
        return digest({key: value for key, value in json.loads(line).items() if key != _TIME})
    except (ValueError, AttributeError, RecursionError):
        return ""
