"""Instant and range queries as a whole: parsed, restricted to what the account may see, answered in the API's form."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from kubesim.resource import BY_NOUN, ResourceType
from kubesim.services.prometheus.cluster_series import alert_series, cluster_series
from kubesim.services.prometheus.errors import ExecutionError, QueryError
from kubesim.services.prometheus.evaluation import Budget, Evaluation
from kubesim.services.prometheus.parser import parse, selectors
from kubesim.services.prometheus.series import NAME, Series, recorded_series
from kubesim.services.prometheus.syntax import Kind, Node, Selector, Text
from kubesim.services.prometheus.tokens import duration
from kubesim.services.prometheus.values import text_of
from kubesim.services.prometheus.vectors import LabelKey, Sample
from kubesim.services.visit import NOWHERE, ServiceError, Subject, Visit
from kubesim.status import Json
from kubesim.store import Store

METRICS, ALERT = BY_NOUN["metrics"], BY_NOUN["alert"]
_MOST_STEPS = 11_000
_LATEST = 2.0**53 / 1000
_NAMES = re.compile(r"[a-z0-9-]+(\|[a-z0-9-]+)*")
"""A pattern that only lists alternative names."""


def all_series(store: Store, places: tuple[str, ...] | None = None) -> list[Series]:
    """Every series of an environment: declared, of the cluster, of its alerts; kept until an object changes.

    With places given, series of objects in other namespaces are left out: hardly any query needs more.
    """
    known: dict[tuple[int, tuple[str, ...] | None], list[Series]] = store.known_results(all_series)
    key = (store.version, places)
    if key not in known:
        if any(version != store.version for version, _ in known):
            known.clear()
        recorded = store.derive_cached(_recorded_list, "metrics")
        known[key] = [*recorded, *cluster_series(store, places), *alert_series(store)]
    return known[key]


def _recorded_list(records: list[Json]) -> list[Series]:
    return list(recorded_series(records))


def instant(visit: Visit) -> Json:
    """The answer to a query at one time."""
    node = read(visit, "query")
    time = _time(visit, "time", visit.seconds)
    evaluation = _evaluation(visit, node)
    return _guard_answer(lambda: _answer(evaluation, node, time))


def range_answer(visit: Visit) -> Json:
    """The answer to a query at equal steps over a time range."""
    node = read(visit, "query")
    start, end = _time(visit, "start"), _time(visit, "end")
    if end < start:
        raise _bad_parameter("end", "end timestamp must not be before start time")
    step = _step(visit.parameter("step") or "")
    if (end - start) / step > _MOST_STEPS:
        text = "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution"
        raise ServiceError(400, f"{text} (?step=XX)", "bad_data")
    if node.kind not in {Kind.SCALAR, Kind.VECTOR}:
        text = f'invalid expression type "{node.kind}" for range query, must be Scalar or instant Vector'
        raise _bad_parameter("query", text)
    evaluation = _evaluation(visit, node)
    times = [start + number * step for number in range(int((end - start) / step) + 1)]
    return _guard_answer(lambda: _matrix_over(evaluation, node, times))


def read(visit: Visit, name: str) -> Node:
    """The query in a parameter; raise 400 in Prometheus' words when it cannot be read."""
    return _parse_query(visit.parameter(name) or "", name)


def matched_series(visit: Visit, series: Sequence[Series]) -> list[Series]:
    """The series that the `match[]` parameters select and the account may see; all of them when there are none."""
    found: dict[int, Series] = {}
    sought = NOWHERE
    texts = visit.values("match[]")
    for text in texts:
        node = _parse_query(text, "match[]")
        if not isinstance(node, Selector) or node.range is not None:
            raise _bad_parameter("match[]", "expected a vector selector")
        sought = _sought_subject(node)
        found |= {id(one): one for one in series if _is_selected(one, node)}
    candidates = list(found.values()) if texts else list(series)
    visible = visit.see(_row(candidates), (one.subject for one in candidates), sought)
    return [one for one in candidates if one.subject in visible]


def _parse_query(text: str, parameter: str) -> Node:
    try:
        return parse(text)
    except QueryError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - (text.rfind("\n", 0, error.position) + 1) + 1
        raise _bad_parameter(parameter, f"{line}:{column}: parse error: {error}") from error


def _evaluation(visit: Visit, node: Node) -> Evaluation:
    """The query over the series that it selects, restricted to those that the account may see."""
    wanted = {selector: _selected_series(visit.store, selector) for selector in selectors(node)}
    touched = [one for found in wanted.values() for one in found]
    pinned = [_sought_subject(selector) for selector in wanted]
    sought = next((one for one in pinned if one != NOWHERE), NOWHERE)
    visible = visit.see(_row(touched), (one.subject for one in touched), sought)
    selected = {selector: [one for one in found if one.subject in visible] for selector, found in wanted.items()}
    return Evaluation(selected, Budget())


def _row(series: Sequence[Series]) -> ResourceType:
    return ALERT if series and all(one.alert for one in series) else METRICS


def _selected_series(store: Store, selector: Selector) -> list[Series]:
    return [one for one in all_series(store, _sought_places(selector)) if _is_selected(one, selector)]


def _sought_places(selector: Selector) -> tuple[str, ...] | None:
    """The namespaces to which a selector restricts itself; None if it does not."""
    for matcher in selector.matchers:
        if matcher.label == "namespace" and (
            (matcher.operator == "=" and matcher.value)
            or (matcher.operator == "=~" and _NAMES.fullmatch(matcher.value))
        ):
            return tuple(sorted(set(matcher.value.split("|")), key=lambda name: f"{name}/"))
    return None


def _is_selected(series: Series, selector: Selector) -> bool:
    return all(matcher.test(series.labels.get(matcher.label, "")) for matcher in selector.matchers)


def _sought_subject(selector: Selector) -> Subject:
    """The subject that a selector names."""
    pinned = {matcher.label: matcher.value for matcher in selector.matchers if matcher.operator == "="}
    return Subject(pinned.get("namespace", ""), pinned.get("service", ""))


def _answer(evaluation: Evaluation, node: Node, time: float) -> Json:
    stamp = _stamp(time)
    match node.kind:
        case Kind.SCALAR:
            return _data("scalar", [stamp, text_of(evaluation.scalar(node, time))])
        case Kind.STRING:
            return _data("string", [stamp, node.value if isinstance(node, Text) else ""])
        case Kind.VECTOR:
            vector = _require_distinct(evaluation.vector(node, time))
            return _data(
                "vector", [{"metric": _shown_labels(one), "value": [stamp, text_of(one.value)]} for one in vector]
            )
    result = []
    for labels, window in evaluation.matrix(node, time):
        evaluation.budget.spend(window.count)
        points = [[_stamp(at), text_of(value)] for run in window.runs for at, value in run.points()]
        result.append({"metric": _sort_labels(labels), "values": points})
    return _data("matrix", result)


def _matrix_over(evaluation: Evaluation, node: Node, times: Sequence[float]) -> Json:
    found: dict[LabelKey, list[list[Any]]] = {}
    for time in times:
        if node.kind is Kind.SCALAR:
            vector: Sequence[Sample] = [Sample({}, evaluation.scalar(node, time))]
        else:
            vector = _require_distinct(evaluation.vector(node, time))
        for one in vector:
            found.setdefault(tuple(sorted(one.labels.items())), []).append([_stamp(time), text_of(one.value)])
    return _data("matrix", [{"metric": dict(key), "values": found[key]} for key in sorted(found)])


def _require_distinct(vector: Sequence[Sample]) -> Sequence[Sample]:
    if len({tuple(sorted(one.labels.items())) for one in vector}) < len(vector):
        raise ExecutionError("vector cannot contain metrics with the same labelset")
    return vector


def _guard_answer(answer: Callable[[], Json]) -> Json:
    try:
        return answer()
    except ExecutionError as error:
        raise ServiceError(422, str(error), "execution") from error


def _shown_labels(one: Sample) -> dict[str, str]:
    return _sort_labels(one.labels)


def _sort_labels(labels: Mapping[str, str]) -> dict[str, str]:
    name = {NAME: labels[NAME]} if NAME in labels else {}
    return {**name, **{label: labels[label] for label in sorted(labels) if label != NAME}}


def _data(kind: str, result: Any) -> Json:
    return {"status": "success", "data": {"resultType": kind, "result": result}}


def _stamp(time: float) -> float:
    rounded = round(time, 3)
    return int(rounded) if rounded.is_integer() else rounded


def _time(visit: Visit, name: str, default: float | None = None) -> float:
    text = visit.parameter(name)
    if not text and default is not None:
        return default
    seconds = _seconds(text or "")
    if seconds is None:
        raise _bad_parameter(name, f'cannot parse "{text or ""}" to a valid timestamp')
    return seconds


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            seconds = moment.timestamp() if moment.tzinfo else math.nan
        except (ValueError, OverflowError):
            return None
    return seconds if abs(seconds) < _LATEST else None


def _step(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        found = duration(text)
        if found is None:
            raise _bad_parameter("step", f'cannot parse "{text}" to a valid duration') from None
        seconds = found
    if not math.isfinite(seconds):
        raise _bad_parameter("step", f'cannot parse "{text}" to a valid duration')
    if seconds <= 0:
        text = "zero or negative query resolution step widths are not accepted. Try a positive integer"
        raise _bad_parameter("step", text)
    return seconds


def _bad_parameter(parameter: str, problem: str) -> ServiceError:
    return ServiceError(400, f'invalid parameter "{parameter}": {problem}', "bad_data")
