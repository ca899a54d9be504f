"""Aggregation of a vector's elements by their labels."""

import math
from collections.abc import Callable, Mapping, Sequence

from kubesim.services.prometheus.errors import ExecutionError
from kubesim.services.prometheus.syntax import Aggregation
from kubesim.services.prometheus.values import deviation, quantile, text_of
from kubesim.services.prometheus.vectors import LabelKey, Sample, key_of

Group = Sequence[float]


def _least_value(values: Group) -> float:
    return min(values, key=lambda value: (math.isnan(value), value))


def _greatest_value(values: Group) -> float:
    return max(values, key=lambda value: (not math.isnan(value), value))


def _variance(values: Group) -> float:
    return deviation(values, [1] * len(values))


_SIMPLE: Mapping[str, Callable[[Group], float]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "min": _least_value,
    "max": _greatest_value,
    "count": lambda values: float(len(values)),
    "group": lambda _: 1.0,
    "stdvar": _variance,
    "stddev": lambda values: math.sqrt(variance) if (variance := _variance(values)) >= 0 else math.nan,
}


def aggregate_vector(node: Aggregation, vector: Sequence[Sample], parameter: float | str) -> list[Sample]:
    """The vector after an aggregation; the parameter is a number, or for `count_values` a label."""
    groups: dict[LabelKey, list[Sample]] = {}
    for one in vector:
        key = key_of(one.labels, without=node.labels) if node.without else key_of(one.labels, only=node.labels)
        groups.setdefault(key, []).append(one)
    if node.name in {"topk", "bottomk"}:
        count = _count(parameter)
        sign = -1.0 if node.name == "topk" else 1.0
        return [one for group in groups.values() for one in sorted(group, key=lambda one: _rank(one, sign))[:count]]
    if node.name == "count_values":
        return _count_values(groups, str(parameter))
    if node.name == "quantile":
        share = float(parameter)
        return [Sample(dict(key), quantile(share, [one.value for one in group])) for key, group in groups.items()]
    simple = _SIMPLE[node.name]
    return [Sample(dict(key), float(simple([one.value for one in group]))) for key, group in groups.items()]


def _rank(one: Sample, sign: float) -> tuple[bool, float]:
    return math.isnan(one.value), sign * one.value


def _count(parameter: float | str) -> int:
    number = float(parameter)
    if not math.isfinite(number) or abs(number) > 2**63:
        raise ExecutionError(f"Scalar value {text_of(number)} overflows int64")
    return max(int(number), 0)


def _count_values(groups: Mapping[LabelKey, Sequence[Sample]], label: str) -> list[Sample]:
    if not label.isidentifier() or not label.isascii():
        raise ExecutionError(f'invalid label name "{label}"')
    counts: dict[LabelKey, int] = {}
    for key, group in groups.items():
        for one in group:
            labelled = tuple(sorted({**dict(key), label: text_of(one.value)}.items()))
            counts[labelled] = counts.get(labelled, 0) + 1
    return [Sample(dict(key), float(count)) for key, count in counts.items()]
