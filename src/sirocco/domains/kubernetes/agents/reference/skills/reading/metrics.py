"""Reading metrics: series over several hours, which of them left their usual range and when, and which only grow."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

from sirocco.domains.kubernetes.agents.reference.skills.skill import Situation

_HOURS = 12
_STEP = 300
_MINUTE, _HOUR = 60.0, 3600.0
_LEAST_POINTS = 3
_LEAST_GROWTH = 0.2
_FACTOR = 2.0
_FULL = 85.0
_DERIVED = "kube_.*|up|ALERTS.*|scrape_.*"
_BASELINE = "normal_"
_SUBJECTS = ("service", "pod", "node", "ingress", "deployment")
_KIB, _MIB, _GIB = 1024.0, 1024.0**2, 1024.0**3


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one thing over time, oldest first; `usual` is what it is said to be in ordinary times."""

    name: str
    subject: str
    unit: str
    points: tuple[tuple[float, float], ...]
    usual: float | None = None

    @property
    def now(self) -> float:
        """The last value."""
        return self.points[-1][1]

    @property
    def before(self) -> float:
        """What it was in ordinary times: as declared, or else at the beginning of the span."""
        return self.usual if self.usual is not None else self.points[0][1]

    @property
    def is_growing(self) -> bool:
        """Whether it rises over the whole span, smoothly or not: each part of the span lies above the one before.

        What rose at one moment and stayed there has a step, and no growth.
        """
        values = [value for value, _ in _changes(self.points)]
        if len(values) <= _LEAST_POINTS or values[-1] <= values[0] * (1 + _LEAST_GROWTH):
            return False
        parts = [values[number * len(values) // 3 : (number + 1) * len(values) // 3] for number in range(3)]
        return all(max(one) < max(other) and min(one) < min(other) for one, other in pairwise(parts))

    @property
    def has_left_its_range(self) -> bool:
        """Whether it is at twice or half of what it was, or close to full."""
        if self.unit == "percent" and self.now >= _FULL:
            return True
        low, high = sorted((abs(self.before), abs(self.now)))
        return high > 0 and high >= _FACTOR * low and self.before != self.now

    @property
    def onset(self) -> float | None:
        """When it left its range, in seconds since 1970: from then on it was nearer to now than to before."""
        if not self.has_left_its_range or self.before == self.now:
            return None
        middle = (self.before + self.now) / 2
        rises = self.now > self.before
        away = [when for when, value in self.points if (value >= middle) == rises]
        return away[0] if away and away[0] > self.points[0][0] else None

    def told(self) -> str:
        """What it shows, as part of a sentence."""
        before = f", usually {self.amount(self.before)}" if self.before != self.now else ""
        return f"{self.name} of {self.subject} is {self.amount(self.now)}{before}"

    def amount(self, value: float) -> str:
        """A value of it as people write it."""
        return amount(value, self.unit)


def _changes(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The values with their times, without those that only repeat the one before."""
    kept: list[tuple[float, float]] = []
    for when, value in points:
        if not kept or kept[-1][0] != value:
            kept.append((value, when))
    return kept


async def read_series(situation: Situation) -> tuple[Series, ...]:
    """Everything that is measured in the namespaces, over the last hours; nothing where nobody measures."""
    root = situation.services.get("metrics")
    moment = present_moment(situation)
    if root is None or moment is None:
        return ()
    places = json.dumps("|".join(sorted(situation.namespaces)))
    query = {
        "query": f'{{namespace=~{places},__name__!~"{_DERIVED}"}}',
        "start": str(moment - _HOURS * _HOUR),
        "end": str(moment),
        "step": str(_STEP),
    }
    reply = await situation.client.request("GET", f"{root}/api/v1/query_range", query=query)
    body = reply.body if reply.succeeded and isinstance(reply.body, Mapping) else {}
    return series_in((body.get("data") or {}).get("result") or ())


def series_in(result: Iterable[Any]) -> tuple[Series, ...]:
    """The series of a range query's result; what is said to be usual goes with what it is usual for."""
    found: dict[tuple[str, str], Series] = {}
    for one in result:
        labels = dict(one.get("metric") or {})
        read = ((float(when), float(value)) for when, value in one.get("values") or ())
        points = tuple((when, value) for when, value in read if isfinite(value))
        subject = next((labels[label] for label in _SUBJECTS if labels.get(label)), "")
        if points and "value" not in labels:  # a label of that name holds a word, and the number only stands for it
            name = str(labels.get("__name__", ""))
            found[name, subject] = Series(name, subject, str(labels.get("unit", "")), points)
    return tuple(
        Series(
            one.name,
            one.subject,
            one.unit,
            one.points,
            usual.now if (usual := found.get((_BASELINE + name, subject))) else None,
        )
        for (name, subject), one in found.items()
        if not name.startswith(_BASELINE)
    )


def present_moment(situation: Situation) -> float | None:
    """What time it is in the environment: that of the latest reading."""
    times = [
        float(value[0])
        for signal in situation.known.signals
        if signal.subject.kind == "metrics" and isinstance(value := signal.content.get("value"), list)
    ]
    return max(times, default=None)


def amount(value: float, unit: str) -> str:
    """A number with its unit; bytes as Kubernetes writes them, the rest with as many digits as matter."""
    if unit == "bytes":
        size, suffix = next(
            ((size, suffix) for size, suffix in ((_GIB, "Gi"), (_MIB, "Mi"), (_KIB, "Ki")) if value >= size), (1.0, "")
        )
        return f"{value / size:.1f}".removesuffix(".0") + suffix
    number = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2g}"
    return number + {"percent": "%", "ms": " ms", "seconds": " s"}.get(unit, "")


def ago(seconds: float) -> str:
    """A span of time as people say it."""
    minutes = round(seconds / _MINUTE)
    if minutes < 120:
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    hours = round(seconds / _HOUR)
    return f"{hours} hours" if hours < 72 else f"{round(hours / 24)} days"
