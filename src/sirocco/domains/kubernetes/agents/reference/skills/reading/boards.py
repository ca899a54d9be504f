"""Reading a dashboard: every panel called good or bad, by what it says of itself or by its value and threshold."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.agents.reference.skills.reading.quoting import quoting
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_BOARD = re.compile(r"\b(?:dashboards?|panels?|boards?|gauges?)\b", re.IGNORECASE)
_FINE = frozenset({"ok", "okay", "normal", "healthy", "green", "good", "stable", "nominal", "passing"})
_NUMBER = re.compile(r"(?P<sign>[<>]=?|≤|≥|under|below|over|above|min\w*|max\w*)?\s*(?P<number>-?\d[\d,]*(?:\.\d+)?)")
_FLOOR = re.compile(r"[>≥]|over|above|min", re.IGNORECASE)
_VALUES = ("currentValue", "current_value", "value", "current")
_STATES = ("status", "state", "health")
_CEILINGS = ("threshold", "limit", "max", "normal_baseline", "baseline", "normal", "expected", "target")
_LEAST = ("minimum", "min")


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: what it is called, what it reads, what it should read, and whether that is good; None is unknown."""

    title: str
    reading: str
    bound: str
    is_good: bool | None

    def told(self) -> str:
        """The panel in a sentence."""
        reads = f" is at {self.reading}" if self.reading else ""
        if self.is_good is None:
            return f"{self.title}{reads or ' shows no value'}."
        if self.is_good:
            return f"{self.title}{reads} and normal." if reads else f"{self.title} is normal."
        beside = f", where {self.bound} is meant" if self.bound else ""
        return (
            f"{self.title}{reads} and needs attention{beside}." if reads else f"{self.title} needs attention{beside}."
        )


async def read_board(situation: Situation) -> Outcome | None:
    """Tell a dashboard panel by panel, what needs somebody first."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    boards = tuple(_boards(situation))
    named = [board for board in boards if _is_named(board, situation.prompt)]
    chosen = named or (list(boards) if _BOARD.search(situation.prompt) and len(boards) == 1 else [])
    if not chosen:
        return None
    judge = quoting(situation.known)
    panels = [panel for board in chosen for panel in panels_of(board) if judge.quoted(f"{panel.title} {panel.reading}")]
    bad = [panel for panel in panels if panel.is_good is False]
    rest = [panel for panel in panels if panel.is_good is not False]
    opening = (
        f"Of {len(panels)} panels {len(bad)} need attention." if bad else f"All {len(panels)} panels are in order."
    )
    answer = (opening, *(panel.told() for panel in bad), *(panel.told() for panel in rest))
    return Outcome(answer, (f"I read {len(panels)} panels and compared each with what it should be.",))


def panels_of(board: Mapping[str, Any]) -> Iterator[Panel]:
    """The panels of a dashboard, rows opened up."""
    for panel in board.get("panels") or ():
        if not isinstance(panel, Mapping):
            continue
        if panel.get("panels"):
            yield from panels_of(panel)
        else:
            yield _panel(panel)


def _panel(panel: Mapping[str, Any]) -> Panel:
    reading, state = _first(panel, _VALUES), _first(panel, _STATES).lower()
    bound = _first(panel, _CEILINGS) or _first(panel, _LEAST)
    is_floor = not _first(panel, _CEILINGS) and bool(bound)
    is_good = state in _FINE if state else _is_within(reading, bound, is_floor=is_floor)
    return Panel(_first(panel, ("title",)), reading, bound, is_good)


def _is_within(reading: str, bound: str, *, is_floor: bool) -> bool | None:
    """Whether a reading keeps to its bound, which is a ceiling unless it says otherwise."""
    value, limit = _NUMBER.search(reading), _NUMBER.search(bound)
    if value is None or limit is None:
        return None
    read, allowed = (float(one["number"].replace(",", "")) for one in (value, limit))
    wants_more = is_floor or bool(limit["sign"] and _FLOOR.match(limit["sign"]))
    return read >= allowed if wants_more else read <= allowed


def _first(panel: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((str(panel[key]) for key in keys if panel.get(key) not in (None, "", {}, [])), "")


def _boards(situation: Situation) -> Iterator[Mapping[str, Any]]:
    for signal in situation.known.signals:
        content = signal.content if isinstance(signal.content, Mapping) else {}
        board = content.get("dashboard")
        if signal.subject.kind == "dashboard" and isinstance(board, Mapping):
            yield board


def _is_named(board: Mapping[str, Any], prompt: str) -> bool:
    title = str(board.get("title", ""))
    spoken = re.sub(r"[\s_-]+", r"[\\s_-]+", re.escape(title).replace(r"\ ", " ").replace(r"\-", "-"))
    return bool(title) and re.search(rf"(?<![\w-]){spoken}(?![\w-])", prompt, re.IGNORECASE) is not None
