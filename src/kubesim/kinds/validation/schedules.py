"""Schedules of cron jobs: what is wrong with one, in the words of the library with which the server parses them."""

import re

from kubesim.kinds.validation.durations import duration_problem

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = "@every "
_INT_MAX = 2**63 - 1


class _ScheduleError(ValueError):
    """What is wrong with a schedule."""


def schedule_problem(schedule: str) -> str | None:
    """Why `schedule` cannot be parsed; None when it can."""
    try:
        _check(schedule)
    except _ScheduleError as problem:
        return str(problem)
    return None


def _check(schedule: str) -> None:
    if schedule.startswith("@"):
        _check_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise _ScheduleError(f"Expected exactly {len(_FIELDS)} fields, found {len(fields)}: {schedule}")
    for text, (least, most, names) in zip(fields, _FIELDS, strict=True):
        for part in filter(None, text.split(",")):
            _check_range(part, least, most, names)


def _check_descriptor(schedule: str) -> None:
    if schedule in _DESCRIPTORS:
        return
    if not schedule.startswith(_EVERY):
        raise _ScheduleError(f"Unrecognized descriptor: {schedule}")
    if problem := duration_problem(schedule.removeprefix(_EVERY)):
        raise _ScheduleError(f"Failed to parse duration {schedule}: {problem}")


def _check_range(text: str, least: int, most: int, names: dict[str, int]) -> None:
    bounds, *steps = text.split("/")
    low, *highs = bounds.split("-")
    if low in {"*", "?"}:
        start, end = least, most
    else:
        start = end = _number(low, names)
        if highs:
            end = _number(highs[0], names) if len(highs) == 1 else _refuse(f"Too many hyphens: {text}")
    step = 1
    if steps:
        step = _number(steps[0], {}) if len(steps) == 1 else _refuse(f"Too many slashes: {text}")
        end = end if highs else most
    if start < least:
        _refuse(f"Beginning of range ({start}) below minimum ({least}): {text}")
    if end > most:
        _refuse(f"End of range ({end}) above maximum ({most}): {text}")
    if start > end:
        _refuse(f"Beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        _refuse(f"Step of range should be a positive number: {text}")


def _refuse(words: str) -> int:
    raise _ScheduleError(words)


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        return _refuse(f'Failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text) if len(text) < 25 else _INT_MAX + 1
    if not -_INT_MAX <= number <= _INT_MAX:
        return _refuse(f'Failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    return _refuse(f"Negative number ({number}) not allowed: {text}") if number < 0 else number
