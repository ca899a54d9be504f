"""A query evaluated at one moment over the series, within a budget of points."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kubesim.services.prometheus.aggregation import aggregate_vector
from kubesim.services.prometheus.errors import ExecutionError
from kubesim.services.prometheus.matching import combine_vectors
from kubesim.services.prometheus.over_time import OVER_TIME, Window
from kubesim.services.prometheus.patterns import pattern
from kubesim.services.prometheus.series import NAME, SCRAPE, Labels, Run, Series
from kubesim.services.prometheus.syntax import (
    Aggregation,
    Function,
    Kind,
    Negation,
    Node,
    Number,
    Operator,
    Selector,
    Subquery,
    Text,
)
from kubesim.services.prometheus.values import (
    ARITHMETIC,
    COMPARED,
    MATHEMATICS,
    bucket_quantile,
    rounded_to,
)
from kubesim.services.prometheus.vectors import Sample, without_name

POINTS = 400_000
"""How many points one query may read."""
_KEEPS_NAME = frozenset({"last_over_time"})
_POINT_BY_POINT = frozenset({"deriv", "predict_linear", "quantile_over_time", "stddev_over_time", "stdvar_over_time"})
Vector = list[Sample]
Matrix = list[tuple[Labels, Window]]


class Budget:
    """How many points a query may still read."""

    def __init__(self, points: int = POINTS) -> None:
        self._left = points

    def spend(self, points: int) -> None:
        """Use up this many points; raise ExecutionError when that is too much."""
        self._left -= points
        if self._left < 0:
            text = "query processing would load too many samples into memory in query execution"
            raise ExecutionError(text)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A query over series that were selected beforehand, once for every selector."""

    selected: Mapping[Selector, Sequence[Series]]
    budget: Budget

    def scalar(self, node: Node, time: float) -> float:
        """The value of a scalar part at a time."""
        match node:
            case Number():
                return node.value
            case Negation():
                return -self.scalar(node.expression, time)
            case Operator():
                left, right = self.scalar(node.left, time), self.scalar(node.right, time)
                if node.name in COMPARED:
                    return float(COMPARED[node.name](left, right))
                return ARITHMETIC[node.name](left, right)
            case Function(name="time"):
                return time
            case Function(name="scalar"):
                found = self.vector(node.arguments[0], time)
                return found[0].value if len(found) == 1 else math.nan
        raise ExecutionError(f"not a scalar: {node.kind}")

    def vector(self, node: Node, time: float) -> Vector:
        """The elements of a vector part at a time."""
        self.budget.spend(1)
        match node:
            case Selector():
                return self._instant(node, time)
            case Negation():
                return [Sample(without_name(one.labels), -one.value) for one in self.vector(node.expression, time)]
            case Function():
                return self._function(node, time)
            case Aggregation():
                parameter: float | str = 0.0
                if isinstance(node.parameter, Text):
                    parameter = node.parameter.value
                elif node.parameter is not None:
                    parameter = self.scalar(node.parameter, time)
                return aggregate_vector(node, self.vector(node.expression, time), parameter)
            case Operator():
                return self._operator(node, time)
        if node.kind is Kind.SCALAR:
            return [Sample({}, self.scalar(node, time))]
        raise ExecutionError(f"not an instant vector: {node.kind}")

    def matrix(self, node: Node, time: float) -> Matrix:
        """The points of a matrix part up to a time."""
        if isinstance(node, Selector) and node.range is not None:
            end = time - node.offset
            start = end - node.range
            found = []
            for series in self.selected[node]:
                runs = tuple(series.runs(start, end))
                self.budget.spend(1 + len(runs))
                if runs:
                    found.append((series.labels, Window(start, end, runs)))
            return found
        if isinstance(node, Subquery):
            return self._subquery(node, time)
        raise ExecutionError(f"not a range vector: {node.kind}")

    def _instant(self, node: Selector, time: float) -> Vector:
        series = self.selected[node]
        self.budget.spend(len(series))
        values = ((one.labels, one.value_at(time - node.offset)) for one in series)
        return [Sample(labels, value) for labels, value in values if value is not None]

    def _subquery(self, node: Subquery, time: float) -> Matrix:
        end, step = time - node.offset, node.step or 4 * SCRAPE
        start = end - node.range
        first, last = math.floor(start / step) + 1, math.floor(end / step)
        self.budget.spend(max(last - first, 0))
        runs: dict[tuple[tuple[str, str], ...], list[Run]] = {}
        for number in range(first, last + 1):
            at = number * step
            for one in self.vector(node.expression, at):
                runs.setdefault(tuple(sorted(one.labels.items())), []).append(Run(at, at, 1, one.value, one.value))
        return [(dict(labels), Window(start, end, tuple(points))) for labels, points in runs.items()]

    def _function(self, node: Function, time: float) -> Vector:
        name, arguments = node.name, node.arguments
        if name == "absent_over_time":
            return [] if self.matrix(arguments[0], time) else [Sample(_pinned_labels(arguments[0]), 1.0)]
        if name in OVER_TIME:
            position = 1 if name == "quantile_over_time" else 0
            others = [self.scalar(other, time) for index, other in enumerate(arguments) if index != position]
            return self._over_time(name, self.matrix(arguments[position], time), others, time)
        if name == "vector":
            return [Sample({}, self.scalar(arguments[0], time))]
        if name == "histogram_quantile":
            return _histogram(self.scalar(arguments[0], time), self.vector(arguments[1], time))
        found = self.vector(arguments[0], time)
        if name in MATHEMATICS:
            return _map_samples(found, MATHEMATICS[name])
        numbers = [self.scalar(other, time) for other in arguments[1:] if other.kind is Kind.SCALAR]
        match name:
            case "absent":
                return [] if found else [Sample(_pinned_labels(arguments[0]), 1.0)]
            case "sort":
                return sorted(found, key=lambda one: one.value)
            case "sort_desc":
                return sorted(found, key=lambda one: -one.value)
            case "timestamp":
                return _map_samples(found, lambda _: time)
            case "round":
                return _map_samples(found, lambda value: rounded_to(value, numbers[0] if numbers else 1.0))
            case "clamp":
                low, high = numbers
                return _map_samples(found, lambda value: max(low, min(high, value))) if low <= high else []
            case "clamp_min":
                return _map_samples(found, lambda value: max(numbers[0], value))
            case "clamp_max":
                return _map_samples(found, lambda value: min(numbers[0], value))
            case "label_replace":
                return _relabel_samples(found, [part.value for part in arguments[1:] if isinstance(part, Text)])
        raise ExecutionError(f"unknown function: {name}")

    def _over_time(self, name: str, matrix: Matrix, others: Sequence[float], time: float) -> Vector:
        found = []
        for labels, window in matrix:
            if name in _POINT_BY_POINT:
                self.budget.spend(window.count)
            value = OVER_TIME[name](window, others, time)
            if value is not None:
                found.append(Sample(labels if name in _KEEPS_NAME else without_name(labels), value))
        return found

    def _operator(self, node: Operator, time: float) -> Vector:
        left_is_number, right_is_number = (part.kind is Kind.SCALAR for part in (node.left, node.right))
        if not left_is_number and not right_is_number:
            left, right = self.vector(node.left, time), self.vector(node.right, time)
            self.budget.spend(len(left) + len(right))
            return combine_vectors(node, left, right)
        vector = self.vector(node.right if left_is_number else node.left, time)
        number = self.scalar(node.left if left_is_number else node.right, time)

        def pair(value: float) -> tuple[float, float]:
            return (number, value) if left_is_number else (value, number)

        if node.name in COMPARED:
            holds = COMPARED[node.name]
            if node.returns_bool:
                return _map_samples(vector, lambda value: float(holds(*pair(value))))
            return [one for one in vector if holds(*pair(one.value))]
        compute = ARITHMETIC[node.name]
        return _map_samples(vector, lambda value: compute(*pair(value)))


def _map_samples(vector: Iterable[Sample], function: Callable[[float], float]) -> Vector:
    return [Sample(without_name(one.labels), function(one.value)) for one in vector]


def _pinned_labels(node: Node) -> dict[str, str]:
    """The labels that a missing series would have."""
    matchers = node.matchers if isinstance(node, Selector) else ()
    pinned = {matcher.label: matcher.value for matcher in matchers if matcher.operator == "="}
    return {label: value for label, value in pinned.items() if label != NAME and value}


def _histogram(share: float, vector: Iterable[Sample]) -> Vector:
    groups: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for one in vector:
        try:
            bound = float(one.labels.get("le", ""))
        except ValueError:
            continue
        rest = {label: value for label, value in without_name(one.labels).items() if label != "le"}
        groups.setdefault(tuple(sorted(rest.items())), []).append((bound, one.value))
    return [Sample(dict(labels), bucket_quantile(share, buckets)) for labels, buckets in groups.items()]


def _relabel_samples(vector: Iterable[Sample], texts: Sequence[str]) -> Vector:
    """Set a label to a text where another label matches; the only supported group is the whole pattern."""
    target, replacement, source, regex = texts
    if "$" in replacement.replace("$0", "") and regex not in {"(.*)", "(.+)"}:
        raise ExecutionError(f'label_replace cannot take parts of a label out by "{regex}" here')
    matches = pattern(regex).matches
    found = []
    for one in vector:
        value = one.labels.get(source, "")
        if not matches(value):
            found.append(one)
            continue
        text = replacement.replace("$0", value).replace("$1", value)
        labels = {label: kept for label, kept in one.labels.items() if label != target}
        found.append(Sample({**labels, target: text} if text else labels, one.value))
    return found
