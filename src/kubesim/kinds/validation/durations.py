"""Durations as Go writes them."""

import re

_UNITS = frozenset({"ns", "us", "µs", "μs", "ms", "s", "m", "h"})


def duration_problem(text: str) -> str | None:
    """Why Go cannot parse `text` as a duration; None when it can."""
    shown = f'"{text}"'
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return None
    if not rest:
        return f"time: invalid duration {shown}"
    while rest:
        number = re.match(r"[0-9]*(\.[0-9]*)?", rest)
        if number is None or number.group() in {"", "."}:
            return f"time: invalid duration {shown}"
        rest = rest[number.end() :]
        unit = re.match(r"[^.0-9]*", rest)
        if unit is None or not unit.group():
            return f"time: missing unit in duration {shown}"
        if unit.group() not in _UNITS:
            return f'time: unknown unit "{unit.group()}" in duration {shown}'
        rest = rest[unit.end() :]
    return None
