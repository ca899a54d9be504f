"""Times and amounts as scenarios write them: `25_minutes_ago`, `-30m`, `now`; `8%`, `450ms`, `1.6Gi`, `4000m`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?([a-z]+)")
_NUMBER = re.compile(r"(-?[0-9]{1,18}(?:\.[0-9]{1,18})?)(?![0-9.])\s*(.*)", re.DOTALL)
_MOST = 1e18
_UNITS = {
    "": ("", 1.0),
    "%": ("percent", 1.0),
    "us": ("milliseconds", 1e-3),
    "ms": ("milliseconds", 1.0),
    "s": ("seconds", 1.0),
    "m": ("cores", 1e-3),
    **{f"{prefix}i": ("bytes", 1024.0**power) for power, prefix in enumerate("KMGTP", start=1)},
    **{prefix: ("bytes", 1000.0**power) for power, prefix in enumerate("KMGTP", start=1)},
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and what it counts."""

    number: float
    unit: str = ""


def seconds_ago(value: Any) -> float | None:
    """How long before the start of the environment a time lies that is told in relation to it; None for anything else.

    `now`, `25_minutes_ago`, `25m`, `-30m` and `1h30m` all look back.
    """
    if not isinstance(value, str):
        return None
    text = value.strip().lower().replace("_", " ").removeprefix("-").removesuffix("ago").strip()
    if text == "now":
        return 0.0
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip() or not all(_is_unit(unit) for _, unit in parts):
        return None
    return sum(float(number) * _SECONDS[unit[0]] for number, unit in parts)


def stamped(epoch: float) -> str:
    """A time in seconds since 1970, as Kubernetes writes it."""
    return datetime.fromtimestamp(int(epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def amount(value: Any) -> Amount | None:
    """The amount that a number or a text with a number at its beginning tells; None for anything else."""
    if isinstance(value, int | float):
        return Amount(float(value)) if abs(value) < _MOST else None
    found = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    number, unit = found.groups()
    name, factor = _UNITS.get(unit, (unit, 1.0))
    return Amount(float(number) * factor, name)


def _is_unit(word: str) -> bool:
    """Whether a word is a unit of time: `m`, `min`, `minutes`; a millisecond is none that a scenario looks back by."""
    return (
        any(name.startswith(word.removesuffix("s") or "s") for name in ("second", "minute", "hour", "day", "week"))
        and word != "ms"
    )
