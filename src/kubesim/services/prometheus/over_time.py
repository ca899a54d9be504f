"""Functions of a series over a time range."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kubesim.services.prometheus.series import Run
from kubesim.services.prometheus.values import counter_growth, deviation, extrapolate_change, line, quantile


@dataclass(frozen=True, slots=True)
class Window:
    """The points of one series between two times, as one or more runs."""

    start: float
    end: float
    runs: tuple[Run, ...]

    @property
    def count(self) -> int:
        """How many points there are."""
        return sum(run.size for run in self.runs)

    @property
    def total(self) -> float:
        """The sum of their values."""
        return sum(run.size * (run.first + run.last) / 2 for run in self.runs)

    @property
    def values(self) -> list[float]:
        """Every single value."""
        return [value for run in self.runs for _, value in run.points()]

    @property
    def ends(self) -> list[float]:
        """The values at both ends of every run: no value between them is lower or higher."""
        return [value for run in self.runs for value in (run.first, run.last)]

    def last_two(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The last point and the one before it."""
        points = [point for run in self.runs[-2:] for point in (_tail(run))]
        return points[-2], points[-1]


Function = Callable[[Window, Sequence[float], float], float | None]


def _tail(run: Run) -> list[tuple[float, float]]:
    if run.size == 1:
        return [(run.end, run.last)]
    step = (run.end - run.start) / (run.size - 1)
    return [(run.end - step, run.last - (run.last - run.first) / (run.size - 1)), (run.end, run.last)]


def _of_several(function: Callable[[Window], float]) -> Function:
    """A function that needs at least two points."""
    return lambda window, _others, _time: function(window) if window.count > 1 else None


def _of_any(function: Callable[[Window], float]) -> Function:
    return lambda window, _others, _time: function(window)


def _increase(window: Window) -> float:
    return extrapolate_change(counter_growth(window.runs), window.runs, window.start, window.end, counter=True)


def _rate(window: Window) -> float:
    return _increase(window) / (window.end - window.start)


def _delta(window: Window) -> float:
    change = window.runs[-1].last - window.runs[0].first
    return extrapolate_change(change, window.runs, window.start, window.end, counter=False)


def _instant_change(window: Window) -> float:
    (_, before), (_, last) = window.last_two()
    return last - before


def _instant_rate(window: Window) -> float:
    (earlier, before), (later, last) = window.last_two()
    return (last - before if last >= before else last) / (later - earlier)


def _points(window: Window) -> list[tuple[float, float]]:
    return [point for run in window.runs for point in run.points()]


def _changes(window: Window) -> float:
    inside = sum(run.size - 1 for run in window.runs if run.first != run.last)
    pairs = zip(window.runs, window.runs[1:], strict=False)
    return float(inside + sum(before.last != after.first for before, after in pairs))


def _resets(window: Window) -> float:
    return float(sum(after < before for before, after in zip(window.ends, window.ends[1:], strict=False)))


def _variance(window: Window) -> float:
    flat = all(run.first == run.last for run in window.runs)
    if flat:
        return deviation([run.first for run in window.runs], [run.size for run in window.runs])
    values = window.values
    return deviation(values, [1] * len(values))


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _predict_value(window: Window, others: Sequence[float], time: float) -> float | None:
    return line(_points(window), time + others[0])[1] if window.count > 1 else None


def _quantile(window: Window, others: Sequence[float], _time: float) -> float:
    return quantile(others[0], window.values)


OVER_TIME: Mapping[str, Function] = {
    "rate": _of_several(_rate),
    "irate": _of_several(_instant_rate),
    "increase": _of_several(_increase),
    "delta": _of_several(_delta),
    "idelta": _of_several(_instant_change),
    "deriv": _of_several(lambda window: line(_points(window), 0.0)[0]),
    "predict_linear": _predict_value,
    "changes": _of_any(_changes),
    "resets": _of_any(_resets),
    "avg_over_time": _of_any(lambda window: window.total / window.count),
    "min_over_time": _of_any(lambda window: min(window.ends)),
    "max_over_time": _of_any(lambda window: max(window.ends)),
    "sum_over_time": _of_any(lambda window: window.total),
    "count_over_time": _of_any(lambda window: float(window.count)),
    "last_over_time": _of_any(lambda window: window.runs[-1].last),
    "present_over_time": _of_any(lambda _: 1.0),
    "stdvar_over_time": _of_any(_variance),
    "stddev_over_time": _of_any(lambda window: _root(_variance(window))),
    "quantile_over_time": _quantile,
}
