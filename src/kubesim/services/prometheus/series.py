"""Time series: the recorded samples, and values at a time and over a range.

A series holds each sample until the next, and its last for ever, as scraped gauges do. A counter is recognized by its
name, following Prometheus' conventions. It grows evenly between two samples and continues at the rate of the last two:
a standstill would look like a recovery that nobody brought about.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, isfinite
from typing import NamedTuple

from kubesim.services.visit import Subject, subject_of
from kubesim.status import Json

SCRAPE = 15.0
"""Seconds between two points of a series."""
NAME = "__name__"
_COUNTERS = ("_total", "_count", "_sum", "_bucket")
_SUBJECTS = frozenset({"service", "pod", "node", "ingress"})
"""Labels one of which says what a series is about."""
Labels = Mapping[str, str]


class Run(NamedTuple):
    """Consecutive points of a series whose values lie on a line."""

    start: float
    end: float
    size: int
    first: float
    last: float

    def points(self) -> Iterator[tuple[float, float]]:
        """Every single point."""
        slope = (self.last - self.first) / (self.size - 1) if self.size > 1 else 0.0
        for number in range(self.size):
            yield self.start + number * SCRAPE, self.first + number * slope


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its labels including the name, its samples in order, and its subject."""

    labels: Labels
    samples: tuple[tuple[float, float], ...]
    subject: Subject
    alert: bool = False

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.labels.get(NAME, "")

    def value_at(self, time: float) -> float | None:
        """The value at a time; None before the first sample."""
        place = bisect_right(self.samples, time, key=_time)
        if not place:
            return None
        before, value = self.samples[place - 1]
        if len(self.samples) == 1 or not self.name.endswith(_COUNTERS):
            return value
        start, low = self.samples[min(place, len(self.samples) - 1) - 1]
        end, high = self.samples[min(place, len(self.samples) - 1)]
        return value + (high - low) * (time - before) / (end - start) if high > low and end > start else value

    def runs(self, start: float, end: float) -> Iterator[Run]:
        """The points after `start` up to `end`, as lines between the samples."""
        if not self.samples:
            return
        first = max(floor(start / SCRAPE) + 1, ceil(self.samples[0][0] / SCRAPE))
        last = floor(end / SCRAPE)
        place = bisect_right(self.samples, first * SCRAPE, key=_time)
        while first <= last:
            until = self.samples[place][0] if place < len(self.samples) else float("inf")
            stop = min(last, ceil(until / SCRAPE) - 1) if isfinite(until) else last
            if stop >= first:
                begin, finish = first * SCRAPE, stop * SCRAPE
                yield Run(begin, finish, stop - first + 1, self._value(begin), self._value(finish))
                first = stop + 1
            place += 1

    def _value(self, time: float) -> float:
        value = self.value_at(time)
        return value if value is not None else self.samples[0][1]


def _time(sample: tuple[float, float]) -> float:
    return sample[0]


def recorded_series(records: Iterable[Json]) -> Iterator[Series]:
    """The series of metric records: what is declared about a service, under its name and namespace."""
    for record in records:
        spec, subject = record.get("spec") or {}, subject_of(record)
        about = spec.get("subject") or {}
        place = {"namespace": about.get("namespace") or subject.namespace}
        for one in spec.get("series") or ():
            unit = {"unit": str(one["unit"])} if one.get("unit") else {}
            own = {str(key): str(value) for key, value in (one.get("labels") or {}).items()}
            service = {} if own.keys() & _SUBJECTS else {"service": about.get("name") or subject.name}
            labels = {NAME: str(one.get("name", "")), **place, **service, **unit, **own}
            samples = sorted((float(time), float(value)) for time, value in one.get("samples") or ())
            yield Series({key: value for key, value in labels.items() if value}, tuple(samples), subject)
