"""Metrics of autoscalers: the nested form of v2beta2 and v2, and the flat form that v1 and v2beta1 write."""

from typing import Any

from kubesim.status import Json

_KINDS = ("object", "pods", "resource", "containerResource", "external")
_ZERO = "0"


def nested_source(metric: Json) -> Json:
    """What to scale on, from its flat form."""
    return _change_parts(metric, _nested_source)


def flat_source(metric: Json) -> Json:
    """What to scale on, in its flat form."""
    return _change_parts(metric, _flat_source)


def nested_status(metric: Json) -> Json:
    """What was measured, from its flat form."""
    return _change_parts(metric, _nested_status)


def flat_status(metric: Json) -> Json:
    """What was measured, in its flat form."""
    return _change_parts(metric, _flat_status)


def _change_parts(metric: Json, change: Any) -> Json:
    parts = {kind: change(kind, metric[kind]) for kind in _KINDS if isinstance(metric.get(kind), dict)}
    return {"type": metric.get("type", ""), **parts}


def _drop_none(**values: Any) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def _identifier(flat: Json, selector: str) -> Json:
    return _drop_none(name=flat.get("metricName", ""), selector=flat.get(selector))


def _nested_source(kind: str, flat: Json) -> Json:
    if kind == "object":
        average = flat.get("averageValue")
        target = _drop_none(type="Value" if average is None else "AverageValue", value=flat.get("targetValue", _ZERO),
                            averageValue=average)  # fmt: skip
        return {"describedObject": flat.get("target") or {"kind": "", "name": ""}, "target": target,
                "metric": _identifier(flat, "selector")}  # fmt: skip
    if kind == "pods":
        target = {"type": "AverageValue", "averageValue": flat.get("targetAverageValue", _ZERO)}
        return {"metric": _identifier(flat, "selector"), "target": target}
    if kind == "external":
        value = flat.get("targetValue")
        target = _drop_none(type="AverageValue" if value is None else "Value", value=value,
                            averageValue=flat.get("targetAverageValue"))  # fmt: skip
        return {"metric": _identifier(flat, "metricSelector"), "target": target}
    utilization = flat.get("targetAverageUtilization")
    target = _drop_none(type="AverageValue" if utilization is None else "Utilization",
                        averageValue=flat.get("targetAverageValue"), averageUtilization=utilization)  # fmt: skip
    return {"name": flat.get("name", ""), "target": target, **_container(kind, flat)}


def _flat_source(kind: str, nested: Json) -> Json:
    target, metric = nested.get("target") or {}, nested.get("metric") or {}
    name, selector = metric.get("name", ""), _ordered_selector(metric.get("selector"))
    value, average = target.get("value"), target.get("averageValue")
    if kind == "object":
        reference = _ordered_reference(nested.get("describedObject"))
        return _drop_none(target=reference, metricName=name, targetValue=_ZERO if value is None else value,
                          selector=selector, averageValue=average)  # fmt: skip
    if kind == "pods":
        return _drop_none(metricName=name, targetAverageValue=_ZERO if average is None else average, selector=selector)
    if kind == "external":
        return _drop_none(metricName=name, metricSelector=selector, targetValue=value, targetAverageValue=average)
    flat = _drop_none(name=nested.get("name", ""), targetAverageUtilization=target.get("averageUtilization"),
                      targetAverageValue=average)  # fmt: skip
    return {**flat, **_container(kind, nested)}


def _nested_status(kind: str, flat: Json) -> Json:
    if kind == "object":
        current = _drop_none(value=flat.get("currentValue", _ZERO), averageValue=flat.get("averageValue"))
        return {"metric": _identifier(flat, "selector"), "current": current,
                "describedObject": flat.get("target") or {"kind": "", "name": ""}}  # fmt: skip
    if kind == "pods":
        return {"metric": _identifier(flat, "selector"),
                "current": {"averageValue": flat.get("currentAverageValue", _ZERO)}}  # fmt: skip
    if kind == "external":
        current = _drop_none(value=flat.get("currentValue", _ZERO), averageValue=flat.get("currentAverageValue"))
        return {"metric": _identifier(flat, "metricSelector"), "current": current}
    current = _drop_none(averageValue=flat.get("currentAverageValue", _ZERO),
                         averageUtilization=flat.get("currentAverageUtilization"))  # fmt: skip
    return {"name": flat.get("name", ""), "current": current, **_container(kind, flat)}


def _flat_status(kind: str, nested: Json) -> Json:
    current, metric = nested.get("current") or {}, nested.get("metric") or {}
    name, selector = metric.get("name", ""), _ordered_selector(metric.get("selector"))
    value, average = current.get("value"), current.get("averageValue")
    value_or_zero, average_or_zero = (_ZERO if found is None else found for found in (value, average))
    if kind == "object":
        return _drop_none(target=_ordered_reference(nested.get("describedObject")), metricName=name,
                          currentValue=value_or_zero, selector=selector, averageValue=average)  # fmt: skip
    if kind == "pods":
        return _drop_none(metricName=name, currentAverageValue=average_or_zero, selector=selector)
    if kind == "external":
        return _drop_none(metricName=name, metricSelector=selector, currentValue=value_or_zero,
                          currentAverageValue=average)  # fmt: skip
    flat = _drop_none(name=nested.get("name", ""), currentAverageUtilization=current.get("averageUtilization"),
                      currentAverageValue=average_or_zero)  # fmt: skip
    return {**flat, **_container(kind, nested)}


def _container(kind: str, part: Json) -> Json:
    return {"container": part.get("container", "")} if kind == "containerResource" else {}


def _ordered_reference(reference: Json | None) -> Json:
    """In the order of Go's fields, because the text of an annotation shows it."""
    given = reference or {}
    return _drop_none(kind=given.get("kind", ""), name=given.get("name", ""), apiVersion=given.get("apiVersion"))


def _ordered_selector(selector: Json | None) -> Json | None:
    if selector is None:
        return None
    labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
    return _drop_none(
        matchLabels=dict(sorted(labels.items())) if labels else None,
        matchExpressions=[
            _drop_none(key=item.get("key", ""), operator=item.get("operator", ""), values=item.get("values"))
            for item in expressions
        ] if expressions else None,
    )  # fmt: skip
