"""When the agent's calls were made, compared with changes that came about while it was at work (CO-13)."""

import re

from sirocco.evaluation.calls import agent_calls, is_dry_run
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import AuditEntry
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.timing import Occasion, Timing

_READS = frozenset({"get", "list", "watch"})
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
"""Read here and not by a library of clocks: what judges has none."""


def came_about(bound: BoundScenario, evidence: Evidence) -> tuple[int, ...]:
    """The numbers of the stimuli that came about in the course of the agent's work, not before it."""
    applied = {record.index for record in evidence.stimuli if record.applied is not None}
    return tuple(index for index in _awaited(bound.scenario) if index in applied)


def is_overdue(bound: BoundScenario, evidence: Evidence) -> bool:
    """Whether something had to come about by the agent's calls and the evidence does not say that it did (CO-07).

    What waits for a time, or for reads of one object, may well not have come; a timing that only the provider knows
    counts from the first call on.
    """
    applied = {record.index for record in evidence.stimuli if record.applied is not None}
    waiting = [_timing(bound.scenario, index) for index in _awaited(bound.scenario) if index not in applied]
    calls = [call for call in agent_calls(evidence) if call.resource] if waiting else []
    return any(len(_counted(timing, calls)) >= (timing.number if timing else 1) for timing in waiting)


def _counted(timing: Timing | None, calls: list[AuditEntry]) -> list[AuditEntry]:
    """The calls that bring a change nearer."""
    match timing and timing.occasion:
        case Occasion.QUERY:
            return [call for call in calls if call.verb in _READS]
        case Occasion.WRITE:
            return [call for call in calls if call.verb not in _READS and call.succeeded and not is_dry_run(call)]
        case Occasion.TOOL_CALL:
            return calls
        case _:
            return calls if timing is None else []


def follows(call: AuditEntry, stimulus: int, bound: BoundScenario, evidence: Evidence) -> bool:
    """Whether the call already met what a stimulus changed; False where the evidence gives no time.

    A call of the same moment is the one that set the change off: it meets a change that comes on it, not one that
    comes after it.
    """
    applied = next((one.applied for one in evidence.stimuli if one.index == stimulus), None)
    when, then = _time(call.at), _time(applied or "")
    if when is None or then is None:
        return False
    timing = _timing(bound.scenario, stimulus)
    return when > then or (when == then and timing is not None and not timing.afterwards)


def _awaited(scenario: Scenario) -> list[int]:
    """Stimuli that wait for their time; a timing that only the provider knows is one."""
    timings = ((index, _timing(scenario, index)) for index, one in enumerate(scenario.stimuli) if not one.is_said)
    return [index for index, timing in timings if timing is None or not timing.is_immediate]


def _timing(scenario: Scenario, stimulus: int) -> Timing | None:
    try:
        return Timing.parse(scenario.stimuli[stimulus].timing)
    except ValueError:
        return None


def _time(text: str) -> tuple[int, int] | None:
    """A time with its zone as minutes since the year 0 and nanoseconds in the minute; None when it is none."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[part]) for part in range(1, 7))
    # Years begin in March here, so that a leap day is the last one of its year.
    years, months = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day
    minutes = (days * 24 + hour) * 60 + minute - _offset(found["zone"])
    return minutes, second * 10**9 + int((found["fraction"] or "").ljust(9, "0")[:9])


def _offset(zone: str) -> int:
    """How many minutes a zone is ahead."""
    if zone in "Zz":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes
