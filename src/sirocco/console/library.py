"""Runs on disk as the console knows them: found by their files, read once, and read again when those change.

A name that a page gives is looked up among what was found; it never becomes a path.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Generic, TypeVar

from sirocco.console.addresses import address
from sirocco.errors import ConfigError, SiroccoError
from sirocco.evidence.files import is_being_written
from sirocco.evidence.progress import Progress, finished_units, read_progress
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.run_directory import RUN, VERDICT
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import INTERRUPTED
from sirocco.reports.findings import Rerun
from sirocco.reports.html import Report
from sirocco.reports.page import deciding_unit
from sirocco.reports.story import Story
from sirocco.review.queue import Item, Sighting, merged_queue
from sirocco.wiring.finding_story import ToldFinding, told_finding
from sirocco.wiring.resume import StoredRun
from sirocco.wiring.review import queue_of_verdict
from sirocco.wiring.run_files import UNREADABLE, not_a_verdict, verdict_of
from sirocco.wiring.stories import recorded_story

_DEPTH = 3
_KEPT_RUNS = 6
_KEPT_SUMMARIES = 5_000
_KEPT_STORIES = 60
_LATEST = 30
Value = TypeVar("Value")


class _Cache(Generic[Value]):
    """What was made from a file, as long as the file is the same; what was used least recently goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()
        self._lock = RLock()

    def get(self, name: Hashable, mark: Hashable, make: Callable[[], Value]) -> Value:
        """The value under a name, made again when its mark is another one."""
        with self._lock:
            known = self._known.get(name)
            if known is None or known[0] != mark:
                known = (mark, make())
                self._known[name] = known
                if len(self._known) > self._most:
                    self._known.popitem(last=False)
            self._known.move_to_end(name)
            return known[1]


@dataclass(frozen=True, slots=True)
class RunPlace:
    """One run directory: its name among the runs, which is also what addresses call it by, and where it is."""

    name: str
    path: Path

    @property
    def slug(self) -> str:
        """The name in an address: one part of its path."""
        return self.name.replace("/", "~")


@dataclass(frozen=True, slots=True)
class Summary:
    """One line about a run; `state` is finished, interrupted, running, stopped or unreadable."""

    place: RunPlace
    state: str
    agent: str = ""
    profile: str = ""
    started: str = ""
    safety: str | None = None
    passed: str = ""
    probes: int = 0
    violated: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One scenario or probe in the list of a run."""

    name: str
    kind: str
    title: str
    archetype: str
    status: str
    needs_attention: bool


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A finished run with what every page about it needs."""

    place: RunPlace
    verdict: Mapping[str, Any]
    report: Report
    units: tuple[UnitRow, ...]
    rerun: Rerun
    shown: Mapping[str, Any]
    """What the report's sections show, with the console's addresses."""
    index: EvidenceIndex | None
    """None where the evidence stayed behind, as in a copy for a certifier."""


class Library:
    """The runs below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._summaries: _Cache[Summary] = _Cache(_KEPT_SUMMARIES)
        self._loaded: _Cache[LoadedRun] = _Cache(_KEPT_RUNS)
        self._queues: _Cache[tuple[Item, ...]] = _Cache(_KEPT_SUMMARIES)
        self._queue: _Cache[tuple[Item, ...]] = _Cache(1)
        self._findings: _Cache[ToldFinding] = _Cache(_KEPT_STORIES)
        self._stories: _Cache[Story] = _Cache(_KEPT_STORIES)
        self._progress: dict[str, Progress] = {}
        self._lock = RLock()

    def places(self) -> list[RunPlace]:
        """Every run directory, the one that was begun last first."""
        found = [
            (_start_time(path), RunPlace(path.relative_to(self.root).as_posix(), path)) for path in self._folders()
        ]
        return [place for _, place in sorted(found, key=lambda one: (-one[0], one[1].name))]

    def _folders(self) -> Iterator[Path]:
        level = [self.root]
        for _ in range(_DEPTH):
            below: list[Path] = []
            for folder in level:
                with suppress(OSError), os.scandir(folder) as entries:
                    below += [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False)]
            yield from (path for path in below if (path / RUN).is_file())
            level = [path for path in below if not (path / RUN).is_file()]

    def place(self, slug: str) -> RunPlace:
        """The run that an address means."""
        found = next((place for place in self.places() if place.slug == slug), None)
        if found is None:
            raise ConfigError("the address", "there is no such run here", "choose one from the list of runs")
        return found

    def summary(self, place: RunPlace) -> Summary:
        """One line about a run, without a look into its evidence."""
        mark = _mark(place.path / VERDICT)
        if mark is None:
            return self._unfinished_run(place)
        found = self._summaries.get(place.name, mark, lambda: _summary(place))
        return (
            found if found.state != "interrupted" or not is_being_written(place.path) else self._unfinished_run(place)
        )

    def _unfinished_run(self, place: RunPlace) -> Summary:
        progress = self.progress(place)
        state = "running" if is_being_written(place.path) and not progress.is_over else "stopped"
        return Summary(place, state, progress.agent, progress.profile)

    def progress(self, place: RunPlace) -> Progress:
        """How far a run has come; only what was written since the last look is read."""
        with self._lock:
            known = self._progress.setdefault(place.name, Progress())
            known = self._progress[place.name] = read_progress(place.path, known)
            return known

    def is_unfinished(self, place: RunPlace) -> bool:
        """Whether a run goes on, or broke off before it had a verdict."""
        return self.summary(place).state in {"running", "stopped"}

    def units_so_far(self, place: RunPlace) -> list[UnitRow]:
        """The units of an unfinished run that have ended, the last one first; only evidence tells more of them."""
        rows = finished_units(place.path)
        return [UnitRow(name, kind, "", "", status, status not in {"PASS", "FAIL"}) for kind, name, status in rows]

    def story_so_far(self, place: RunPlace, unit: str) -> Story:
        """What the evidence of one unit of an unfinished run tells; ConfigError when there is none."""
        index = EvidenceIndex.of_unfinished_run(place.path)
        if unit not in index.units:
            raise ConfigError("the address", "nothing is recorded of such a unit", "choose one from its list")
        return recorded_story(index, unit)

    def run(self, slug: str) -> LoadedRun:
        """A finished run; ConfigError for one that has no verdict."""
        return self.load(self.place(slug))

    def load(self, place: RunPlace) -> LoadedRun:
        """A finished run with all that its pages need, read once."""
        return self._loaded.get(place.name, _mark(place.path / VERDICT), lambda: _load_run(place))

    def story(self, run: LoadedRun, unit: str) -> Story | None:
        """What the evidence of one unit of a finished run tells; None where there is none."""
        index, place = run.index, run.place
        if index is None or unit not in index.units:
            return None
        return self._stories.get((place.name, unit), _mark(place.path / VERDICT), lambda: recorded_story(index, unit))

    def finding(self, item: Item, sighting: Sighting, run: LoadedRun, profile: Profile) -> ToldFinding:
        """A finding as one run shows it, kept for those who come back to it."""
        return self._findings.get(
            (item.id, sighting.run), (_mark(run.place.path / VERDICT), profile),
            lambda: told_finding(item, sighting, run.place.path, run.verdict, profile, run.rerun, run.index),
        )  # fmt: skip

    def queue(self) -> tuple[Item, ...]:
        """What waits for an expert in all runs; a run that cannot be read waits for nobody."""
        places = [(place, mark) for place in self.places() if (mark := _mark(place.path / VERDICT)) is not None]
        whole = tuple((place.name, mark) for place, mark in places)
        return self._queue.get("queue", whole, lambda: merged_queue(self._items(places)))

    def _items(self, places: list[tuple[RunPlace, Hashable]]) -> Iterator[Item]:
        for place, mark in places:
            yield from self._queues.get(place.name, mark, lambda one=place: _queue(one))  # type: ignore[misc]

    def read_ahead(self) -> None:
        """Read what the first pages show, so that nobody waits for it."""
        with suppress(SiroccoError, OSError):
            places = self.places()
            for place in places:
                self.summary(place)
            self.queue()
            for place in places[: _KEPT_RUNS // 2]:
                if _mark(place.path / VERDICT) is not None:
                    self.load(place)


def _start_time(path: Path) -> float:
    try:
        return (path / RUN).stat().st_mtime
    except OSError:
        return 0.0


def _mark(file: Path) -> Hashable:
    """What changes when a file does; None when there is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _summary(place: RunPlace) -> Summary:
    try:
        verdict = json.loads((place.path / VERDICT).read_bytes())["verdict"]
        metadata, details = verdict["metadata"], verdict["safety_details"]
        results = (verdict.get("adversarial_verification") or {}).get("safety_results") or {}
        is_whole = INTERRUPTED not in metadata["evaluation_mode"]["incomplete_because"]
        return Summary(
            place,
            "finished" if is_whole else "interrupted",
            f"{metadata['agent']} {metadata['agent_version']}",
            f"{metadata['domain_profile']} {metadata['domain_profile_version']}",
            str(metadata["timestamp"]),
            verdict["safety"],
            f"{details['passed']} of {details['applicable']}",
            int(results.get("total", 0)),
            int(results.get("failed", 0)),
        )
    except (OSError, RecursionError, *UNREADABLE):
        return Summary(place, "unreadable", problem=f"{VERDICT} cannot be read")


def _queue(place: RunPlace) -> tuple[Item, ...]:
    try:
        verdict = json.loads((place.path / VERDICT).read_bytes())["verdict"]
        return queue_of_verdict(place.path, place.name, verdict)
    except (OSError, RecursionError, SiroccoError, *UNREADABLE):
        return ()


def _load_run(place: RunPlace) -> LoadedRun:
    verdict = verdict_of(place.path)["verdict"]
    try:
        index: EvidenceIndex | None = EvidenceIndex.of_run(place.path)
    except SiroccoError:
        index = None
    rerun = Rerun.from_run(StoredRun.read(place.path).document, str(place.path))
    try:
        report = Report(verdict, {}, rerun)
        return LoadedRun(
            place, verdict, report, tuple(_unit_rows(verdict)), rerun, _displayed_report(place, report), index
        )
    except UNREADABLE as error:
        raise not_a_verdict(place.path, error) from error


def _displayed_report(place: RunPlace, report: Report) -> Mapping[str, Any]:
    by_anchor = {f"u{row.number}": deciding_unit(row.detail) for group in report.groups for row in group.rows}

    def unit_place(anchor: str) -> str:
        name = by_anchor.get(anchor)
        return address("run", place.slug, "unit", name) if name else address("run", place.slug, "units")

    failed = address("run", place.slug, "units", kind="probe", show="attention")
    # Scenarios and probes are always on pages of their own here, as in a report of several pages.
    tabs = {"adversarial": "adversarial", "scenarios": "units", "untested": "context"}
    return report.values(
        unit_place, (("", "", 0, 0, 0),), (failed, "the list of units"),
        lambda name: address("run", place.slug, tabs.get(name, "context")),
    )  # fmt: skip


def _unit_rows(verdict: Mapping[str, Any]) -> Iterator[UnitRow]:
    """Scenarios, then probes; in each those first that need a look."""
    rows = []
    for one in verdict["scenario_details"]:
        status = one.get("status") or "no verdict"
        is_scored = one.get("classification") == "capability"
        if is_scored:
            status = "no score" if one.get("score") is None else f"{one['score']:.2f}"
        needs = bool(one.get("lowest_band") or one.get("deviation")) or (not is_scored and one.get("status") != "PASS")
        rows.append(UnitRow(deciding_unit(one), "scenario", str(one["name"]), str(one["archetype"]), status, needs))
    for one in (verdict.get("adversarial_verification") or {}).get("probe_details", ()):
        technique = ", ".join(str(one[key]).replace("_", " ") for key in ("technique", "surface") if one.get(key))
        status = f"{one['score']:.2f}" if one.get("score") is not None else str(one.get("status") or "no verdict")
        needs = one.get("status") not in {"PASS", None} or bool(one.get("lowest_band"))
        rows.append(UnitRow(str(one["probe"]), "probe", technique, str(one["archetype"]), status, needs))
    yield from sorted(rows, key=lambda row: not row.needs_attention)
