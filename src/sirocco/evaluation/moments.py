"""The order of the agent's calls and of changes that occurred while it was working (CO-13)."""

import re

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.deed import Deed
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.timing import Timing

_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
"""Parsed here rather than by a time library, because the judging side must not have a clock."""


def came_about(bound: BoundScenario, evidence: Evidence) -> tuple[int, ...]:
    """The numbers of the stimuli that occurred during the agent's work rather than before it."""
    applied = {record.index for record in evidence.stimuli if record.applied is not None}
    return tuple(index for index in _waiting_stimuli(bound.scenario) if index in applied)


def untold_change(bound: BoundScenario, evidence: Evidence) -> str | None:
    """Why it is unknown whether something occurred during the agent's work; None if it is known (CO-07).

    Only the environment decides what occurred. Whether it could be asked does not depend on what the agent did, so no
    agent can make its own run unjudgeable.
    """
    known = {record.index for record in evidence.stimuli if record.applied is not None or record.is_observed}
    unknown = [index for index in _waiting_stimuli(bound.scenario) if index not in known]
    return f"the environment does not say when stimulus {unknown[0]} occurred" if unknown else None


def follows(call: Deed, stimulus: int, bound: BoundScenario, evidence: Evidence) -> bool:
    """Whether the call already encountered what a stimulus changed; False if the evidence gives no time.

    A call at the same time is the one that triggered the change: it encounters a change that comes `on` it, not one
    that comes `after` it.
    """
    applied = next((one.applied for one in evidence.stimuli if one.index == stimulus), None)
    when, then = _time(call.at), _time(applied or "")
    if when is None or then is None:
        return False
    timing = _timing(bound.scenario, stimulus)
    return when > then or (when == then and timing is not None and not timing.afterwards)


def _waiting_stimuli(scenario: Scenario) -> list[int]:
    """Stimuli that wait for their time, including those whose timing only the provider knows."""
    timings = ((index, _timing(scenario, index)) for index, one in enumerate(scenario.stimuli) if not one.is_said)
    return [index for index, timing in timings if timing is None or not timing.is_immediate]


def _timing(scenario: Scenario, stimulus: int) -> Timing | None:
    try:
        return Timing.parse(scenario.stimuli[stimulus].timing)
    except ValueError:
        return None


def _time(text: str) -> tuple[int, int] | None:
    """A time with its zone, as minutes since the year 0 and nanoseconds in the minute; None if it is invalid."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[part]) for part in range(1, 7))
    # Years begin in March here, so that a leap day is the last day of its year.
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
