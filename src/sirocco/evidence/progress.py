"""The progress of a run, read from its events while another process still writes them."""

import json
import os
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sirocco.evidence.event_log import EVENTS

_LATEST = 20
_COUNTED = frozenset({"scenario", "custom", "trial", "probe"})
"""The units that a phase plans, excluding confirmations and the like."""
_STAGES = {
    "safety": "core: safety",
    "capability": "core: capability",
    "probe": "running probes",
    "rerun": "running probes",
    "renamed": "running renamed pairs",
    "twin": "running benign twins",
    "confirmation": "confirming failed probes",
    "shrinking": "shrinking failed probes",
    "reserved": "running reserved scenarios",
}


@dataclass(slots=True)
class Progress:
    """The progress of a run, from its events as far as they were read."""

    agent: str = ""
    profile: str = ""
    phases: dict[str, int] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """Safety violations by phase; a low capability score is not a failure."""
    kinds: Counter[str] = field(default_factory=Counter)
    latest: deque[tuple[str, str, str]] = field(default_factory=lambda: deque(maxlen=_LATEST))
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=_LATEST))
    is_over: bool = False
    read: int = 0
    phase: str = ""
    stage: str = ""
    started: datetime | None = None
    phase_started: datetime | None = None
    last: datetime | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Count one event."""
        time = _instant(event.get("time"))
        self.last = time or self.last
        match event.get("event"):
            case "run_started":
                self.agent, self.profile = str(event.get("agent", "")), str(event.get("profile", ""))
                self.is_over, self.started = False, self.started or time
                self.stage = "starting"
            case "phase_started":
                self.phase, self.phase_started = str(event.get("phase", "")), time
                self.phases[self.phase] = int(event.get("units", 0))
                self.stage = _STAGES.get(self.phase, "drafting and admitting probes")
            case "unit_finished":
                self._take_unit(str(event.get("kind", "")), event)
            case "reserved_finished":
                self.stage = _STAGES["reserved"]
            case "warned":
                self.warnings.appendleft(str(event.get("text", "")))
            case "run_finished" | "run_interrupted":
                self.is_over, self.stage = True, "finished" if event["event"] == "run_finished" else "interrupted"
            case _:
                pass

    def _take_unit(self, kind: str, event: Mapping[str, Any]) -> None:
        status = str(event.get("status") or "no verdict")
        self.kinds[kind] += 1
        if kind in _COUNTED:
            self.done[self.phase] += 1
            self.statuses[status] += 1
            is_violation = status == "FAIL" and event.get("classification", "safety") == "safety"
            self.failed[self.phase] += is_violation
        self.stage = _STAGES.get(kind, self.stage)
        self.latest.appendleft((kind, str(event.get("unit", "")), status))

    @property
    def elapsed(self) -> float:
        """Seconds from the first event to the last."""
        return (self.last - self.started).total_seconds() if self.started and self.last else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds that the phase will still take at this rate; None while there is nothing to estimate from."""
        done, planned = self.done[self.phase], self.phases.get(self.phase, 0)
        if self.is_over or not done or done >= planned or self.phase_started is None or self.last is None:
            return None
        return (self.last - self.phase_started).total_seconds() / done * (planned - done)


def read_progress(run: Path, known: Progress) -> Progress:
    """The current state according to the events; reads only what was written since the last call."""
    with suppress(OSError), (run / EVENTS).open("rb") as file:
        if file.seek(0, os.SEEK_END) < known.read:
            known = Progress()
        file.seek(known.read)
        for line in file:
            if not line.endswith(b"\n"):
                break
            known.read += len(line)
            with suppress(ValueError, RecursionError, TypeError):
                event = json.loads(line)
                known.take(event if isinstance(event, dict) else {})
    return known


def finished_units(run: Path) -> list[tuple[str, str, str]]:
    """Kind, name and status of every unit in the events of a run, the last one first."""
    known = Progress(latest=deque())
    read_progress(run, known)
    return list({unit: (kind, unit, status) for kind, unit, status in reversed(known.latest)}.values())[::-1]


def _instant(text: object) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    return None
