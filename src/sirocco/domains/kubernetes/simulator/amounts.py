"""Times and amounts as scenarios write them: `25_minutes_ago`, `-30m`, `now`; `8%`, `450ms`, `1.6Gi`, `4000m`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?([a-z]+)")
_NUMBER = re.compile(r"(-?[0-9]{1,18}(?:\.[0-9]{1,18})?)(?![0-9.])\s*(.*)", re.DOTALL)
_MOST = 1e18
_ONE, _THOUSANDTH = Decimal(1), Decimal("0.001")
_BYTES = {
    f"{prefix}{end}": ("bytes", Decimal(base) ** power)
    for power, prefix in enumerate("KMGTP", start=1)
    for base, ends in ((1000, ("", "B")), (1024, ("i", "iB")))
    for end in ends
}
_UNITS = {
    "": ("", _ONE),
    "%": ("percent", _ONE),
    "us": ("seconds", _THOUSANDTH**2),
    "ms": ("seconds", _THOUSANDTH),
    "s": ("seconds", _ONE),
    "m": ("cores", _THOUSANDTH),
    "B": ("bytes", _ONE),
    **_BYTES,
}
"""Units by their spelling: the base unit, and the factor to it."""
_IN_MILLISECONDS = "_ms"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and its base unit: seconds, bytes, cores."""

    number: float
    unit: str = ""


def seconds_ago(value: Any) -> float | None:
    """How long before the start of the environment a relative time lies; None for anything else.

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


def timestamp_text(epoch: float) -> str:
    """A time in seconds since 1970, as Kubernetes writes it."""
    return datetime.fromtimestamp(int(epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def amount(value: Any) -> Amount | None:
    """The amount in a number, or in a text that begins with one; None for anything else."""
    if isinstance(value, int | float):
        return Amount(float(value)) if abs(value) < _MOST else None
    found = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    number, unit = found.groups()
    name, factor = _UNITS.get(unit, (unit, _ONE))
    # In decimal, because 35 ms times a thousandth is not 0.035 s in binary, and agents are shown every digit.
    return Amount(float(Decimal(number) * factor), name)


def named_amount(name: str, value: Any) -> Amount | None:
    """The amount under a name; a name that ends in `_ms` counts milliseconds, whatever the unit of the value."""
    told = amount(value)
    if told is None or told.unit != "seconds" or not name.endswith(_IN_MILLISECONDS):
        return told
    return Amount(round(told.number * 1000, 9), "milliseconds")


def _is_unit(word: str) -> bool:
    """Whether a word is a unit of time: `m`, `min`, `minutes`; scenarios do not look back by milliseconds."""
    return (
        any(name.startswith(word.removesuffix("s") or "s") for name in ("second", "minute", "hour", "day", "week"))
        and word != "ms"
    )
