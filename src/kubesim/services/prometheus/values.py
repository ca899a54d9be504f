"""Numbers in PromQL: no operation fails, and every number has a text."""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from kubesim.services.prometheus.series import Run


def text_of(value: float) -> str:
    """A number as the API writes it: without an exponent, and as short as possible."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _divide_floats(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


def _remainder(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def _power(left: float, right: float) -> float:
    try:
        result = left**right
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.inf
    return math.nan if isinstance(result, complex) else result


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _logarithm(base: Callable[[float], float]) -> Callable[[float], float]:
    def logarithm(value: float) -> float:
        if value == 0:
            return -math.inf
        return math.nan if value < 0 else base(value)

    return logarithm


def _rounding_by(by: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(by(value)) if math.isfinite(value) else value


ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide_floats,
    "%": _remainder,
    "^": _power,
}
COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    ">": lambda left, right: left > right,
    "<": lambda left, right: left < right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
}
MATHEMATICS: Mapping[str, Callable[[float], float]] = {
    "abs": abs,
    "ceil": _rounding_by(math.ceil),
    "floor": _rounding_by(math.floor),
    "exp": _exponential,
    "ln": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "sqrt": lambda value: math.nan if value < 0 else math.sqrt(value),
    "sgn": lambda value: value if math.isnan(value) else float((value > 0) - (value < 0)),
}


def rounded_to(value: float, unit: float) -> float:
    """The nearest multiple of a unit; of two equally near ones, the upper."""
    scaled = _divide_floats(value, unit)
    return math.floor(scaled + 0.5) * unit if math.isfinite(scaled) else scaled * unit


def quantile(share: float, values: Sequence[float]) -> float:
    """The value below which that share of the values lies."""
    if not values or math.isnan(share):
        return math.nan
    if not 0 <= share <= 1:
        return math.copysign(math.inf, share - 0.5)
    ordered = sorted(values, key=lambda value: (not math.isnan(value), value))
    rank = share * (len(ordered) - 1)
    lower = math.floor(rank)
    upper = min(lower + 1, len(ordered) - 1)
    weight = rank - lower
    return ordered[lower] * (1 - weight) + ordered[upper] * weight


def bucket_quantile(share: float, buckets: Sequence[tuple[float, float]]) -> float:
    """A quantile from cumulative buckets by upper bound, evenly spread within a bucket."""
    ordered = sorted(buckets)
    if len(ordered) < 2 or not math.isinf(ordered[-1][0]) or math.isnan(share):
        return math.nan
    if not 0 <= share <= 1:
        return math.copysign(math.inf, share - 0.5)
    counts: list[float] = []
    for _, count in ordered:  # cumulative by definition, so any decrease is rounding error
        counts.append(max(count, counts[-1]) if counts else count)
    if counts[-1] == 0:
        return math.nan
    rank = share * counts[-1]
    place = next(index for index, count in enumerate(counts) if count >= rank)
    if place == len(ordered) - 1:
        return ordered[-2][0]
    upper = ordered[place][0]
    if place == 0 and upper <= 0:
        return upper
    lower, below = (ordered[place - 1][0], counts[place - 1]) if place else (0.0, 0.0)
    return lower + (upper - lower) * _divide_floats(rank - below, counts[place] - below)


def deviation(values: Sequence[float], weights: Sequence[int]) -> float:
    """The variance of values, each counted as often as its weight says."""
    total = sum(weights)
    mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / total
    # Multiplied rather than raised, because a power too large for a float is an error in Python.
    return sum(weight * (value - mean) * (value - mean) for value, weight in zip(values, weights, strict=True)) / total


def counter_growth(runs: Sequence[Run]) -> float:
    """How much a counter grew over runs; a fall is a restart from zero."""
    total, before = 0.0, runs[0].first
    for run in runs:
        for value in (run.first, run.last):
            total += value - before if value >= before else value
            before = value
    return total


def extrapolate_change(change: float, runs: Sequence[Run], start: float, end: float, *, counter: bool) -> float:
    """A change between the first and the last point, extrapolated to the whole range as Prometheus does."""
    count, first, last = sum(run.size for run in runs), runs[0].start, runs[-1].end
    sampled = last - first
    average = sampled / (count - 1)
    before, after, limit = first - start, end - last, average * 1.1
    if counter and change > 0 and runs[0].first >= 0:
        before = min(before, sampled * (runs[0].first / change))
    length = sampled + (before if before < limit else average / 2) + (after if after < limit else average / 2)
    return change * length / sampled


def line(points: Sequence[tuple[float, float]], at: float) -> tuple[float, float]:
    """The slope of the line through points, and its value at a time."""
    count = len(points)
    mean_time = sum(time for time, _ in points) / count
    mean = sum(value for _, value in points) / count
    spread = sum((time - mean_time) * (time - mean_time) for time, _ in points)
    slope = sum((time - mean_time) * (value - mean) for time, value in points) / spread if spread else 0.0
    return slope, mean + slope * (at - mean_time)
