"""What the server refuses in horizontal pod autoscalers, whichever version they came in."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.conversion import autoscaling
from kubesim.kinds.validation.fields import (
    all_invalid,
    forbidden,
    invalid,
    nonnegative,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.kinds.validation.resources import amount, container_resource_name_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.names import dns_label_problems, path_segment_problems
from kubesim.status import Cause, Json

_LONGEST_PERIOD = 1800
_LONGEST_WINDOW = 3600
_SOURCES = {
    "Object": "object", "Pods": "pods", "Resource": "resource", "External": "external",
    "ContainerResource": "containerResource",
}  # fmt: skip
_SOURCE_TYPES = sorted(_SOURCES)
_CHECKED_FIRST = ("object", "external", "pods", "resource", "containerResource")
_TARGET_TYPES = frozenset({"Utilization", "Value", "AverageValue"})
_MISSING_SOURCE = "must populate information for the given metric source"
_GATED_SOURCE = f"{_MISSING_SOURCE} (only allowed when HPAContainerMetrics feature is enabled)"


def _spec(row: Resource, obj: Json) -> Json:
    hub: Json = autoscaling.to_hub(obj, row.api_version)
    found: Json = hub.get("spec") or {}
    return found


def _autoscaler(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_spec_causes(_spec(row, obj), 1)]


def _autoscaler_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    least = 0 if _spec(row, old).get("minReplicas") == 0 else 1
    return [*metadata_update_causes(new["metadata"], old["metadata"]), *_spec_causes(_spec(row, new), least)]


def _autoscaler_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    status = new.get("status") or {}
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *nonnegative("status.currentReplicas", status.get("currentReplicas")),
        *nonnegative("status.desiredReplicas", status.get("desiredReplicas")),
    ]


def _spec_causes(spec: Json, least: int) -> list[Cause]:
    low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    causes = []
    if low is not None and low < least:
        causes.append(invalid("spec.minReplicas", low, f"must be greater than or equal to {least}"))
    if high < 1:
        causes.append(invalid("spec.maxReplicas", high, "must be greater than 0"))
    if low is not None and high < low:
        causes.append(invalid("spec.maxReplicas", high, "must be greater than or equal to `minReplicas`"))
    behavior = spec.get("behavior") or {}
    return [
        *causes,
        *_reference_causes(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef"),
        *_metrics_causes(spec.get("metrics") or [], low),
        *_rules_causes(behavior.get("scaleUp"), "spec.behavior.scaleUp"),
        *_rules_causes(behavior.get("scaleDown"), "spec.behavior.scaleDown"),
    ]


def _reference_causes(reference: Json, path: str) -> list[Cause]:
    return [
        cause
        for field in ("kind", "name")
        for cause in _segment_causes(reference.get(field, ""), f"{path}.{field}")
    ]  # fmt: skip


def _segment_causes(value: str, path: str, missing: str = "") -> list[Cause]:
    return all_invalid(path, value, path_segment_problems(value)) if value else [required(path, missing)]


def _metrics_causes(metrics: list[Json], low: int | None) -> list[Cause]:
    causes = [
        cause for index, metric in enumerate(metrics) for cause in _metric_causes(metric, f"spec.metrics[{index}]")
    ]
    if low == 0 and not any(metric.get("type") in {"Object", "External"} for metric in metrics):
        words = "must specify at least one Object or External metric to support scaling to zero replicas"
        causes.append(forbidden("spec.metrics", words))
    return causes


def _metric_causes(metric: Json, path: str) -> list[Cause]:
    kind = metric.get("type", "")
    causes = [] if kind else [required(f"{path}.type", "must specify a metric source type")]
    unknown = [] if kind in _SOURCES else [not_supported(f"{path}.type", kind, _SOURCE_TYPES)]
    causes += unknown
    present = [name for name in _CHECKED_FIRST if metric.get(name) is not None]
    if present:
        causes += _source_causes(present[0], metric[present[0]], f"{path}.{present[0]}")
    wanted = _SOURCES.get(kind, "")
    if unknown:
        causes += unknown
    elif metric.get(wanted) is None:
        words = _GATED_SOURCE if wanted == "containerResource" else _MISSING_SOURCE
        causes.append(required(f"{path}.{wanted}", words))
    if len(present) != 1:
        causes += [
            forbidden(f"{path}.{name}", "must populate the given metric source only")
            for name in present
            if name != wanted
        ]
    return causes


def _source_causes(kind: str, source: Json, path: str) -> list[Cause]:
    target, place = source.get("target") or {}, f"{path}.target"
    value, average, utilization = (target.get(name) for name in ("value", "averageValue", "averageUtilization"))
    causes: list[Cause] = []
    if kind == "object":
        causes += _reference_causes(source.get("describedObject") or {}, f"{path}.describedObject")
    if kind in {"object", "external", "pods"}:
        name = (source.get("metric") or {}).get("name", "")
        causes += _segment_causes(name, f"{path}.metric.name", "must specify a metric name")
    elif not source.get("name"):
        causes.append(required(f"{path}.name", "must specify a resource name"))
    elif kind == "containerResource":
        causes += container_resource_name_causes(source["name"], f"{path}.name")
    if kind == "containerResource":
        container = source.get("container", "")
        problems = all_invalid(f"{path}.container", container, dns_label_problems(container))
        causes += problems if container else [required(f"{path}.container", "must specify a container")]
    causes += _target_causes(target, place)
    if kind == "object" and value is None and average is None:
        causes.append(required(f"{place}.averageValue", "must set either a target value or averageValue"))
    if kind == "pods" and average is None:
        causes.append(required(f"{place}.averageValue", "must specify a positive target averageValue"))
    if kind == "external":
        if value is None and average is None:
            words = "must set either a target value for metric or a per-pod target"
            causes.append(required(f"{place}.averageValue", words))
        if value is not None and average is not None:
            words = "may not set both a target value for metric and a per-pod target"
            causes.append(forbidden(f"{place}.value", words))
    if kind in {"resource", "containerResource"}:
        if utilization is None and average is None:
            words = "must set either a target raw value or a target utilization"
            causes.append(required(f"{place}.averageUtilization", words))
        if utilization is not None and average is not None:
            words = "may not set both a target raw value and a target utilization"
            causes.append(forbidden(f"{place}.averageValue", words))
    return causes


def _target_causes(target: Json, path: str) -> list[Cause]:
    kind = target.get("type", "")
    causes = [] if kind else [required(f"{path}.type", "must specify a metric target type")]
    if kind not in _TARGET_TYPES:
        causes.append(invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    causes += [
        invalid(f"{path}.{field}", GoValue("resource.Quantity", target[field]), "must be positive")
        for field in ("value", "averageValue")
        if target.get(field) is not None and amount(target[field]) <= 0
    ]
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        causes.append(invalid(f"{path}.averageUtilization", utilization, "must be greater than 0"))
    return causes


def _rules_causes(rules: Json | None, path: str) -> list[Cause]:
    if rules is None:
        return []
    causes: list[Cause] = []
    window, place = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        causes.append(invalid(place, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW:
        causes.append(invalid(place, window, f"must be less than or equal to {_LONGEST_WINDOW}"))
    select = rules.get("selectPolicy")
    if select is not None and select not in {"Max", "Min", "Disabled"}:
        causes.append(not_supported(f"{path}.selectPolicy", select, ["Disabled", "Max", "Min"]))
    policies = rules.get("policies") or ()
    if not policies:
        causes.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        causes += _policy_causes(policy, f"{path}.policies[{index}]")
    return causes


def _policy_causes(policy: Json, path: str) -> list[Cause]:
    causes = []
    kind, value, period = policy.get("type", ""), policy.get("value", 0), policy.get("periodSeconds", 0)
    if kind not in {"Pods", "Percent"}:
        causes.append(not_supported(f"{path}.type", kind, ["Percent", "Pods"]))
    if value <= 0:
        causes.append(invalid(f"{path}.value", value, "must be greater than zero"))
    if period <= 0:
        causes.append(invalid(f"{path}.periodSeconds", period, "must be greater than zero"))
    if period > _LONGEST_PERIOD:
        words = f"must be less than or equal to {_LONGEST_PERIOD}"
        causes.append(invalid(f"{path}.periodSeconds", period, words))
    return causes


CREATION: dict[str, CreationRule] = {"hpa": _autoscaler}
UPDATE: dict[str, UpdateRule] = {"hpa": _autoscaler_update, "hpa/status": _autoscaler_status}
