"""Horizontal pod autoscalers in their versions; the hub is v2, and annotations carry what v1 has no field for."""

import json
from typing import Any

from kubesim.kinds.conversion.metrics import (
    flat_source,
    flat_status,
    nested_source,
    nested_status,
)
from kubesim.status import Json

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, STATUSES, CONDITIONS, BEHAVIOR = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "conditions", "behavior")
)
CARRIED = frozenset({METRICS, STATUSES, CONDITIONS, BEHAVIOR})
_NULL_IN_BETA: Json = {"currentMetrics": None, "conditions": None}
DEFAULT_CPU_UTILIZATION = 80


def to_hub(autoscaler: Json, given: str) -> Json:
    """The autoscaler in v2's form."""
    carried = _annotations(autoscaler)
    kept = _without_carried(autoscaler)
    spec, status = dict(autoscaler.get("spec") or {}), _status(autoscaler)
    version = given.rpartition("/")[2]
    if version == "v1":
        spec, status = _spec_from_v1(spec, carried), _status_from_v1(status, carried)
    elif version == "v2beta1":
        for part, name, nested in ((spec, "metrics", nested_source), (status, "currentMetrics", nested_status)):
            if part.get(name):
                part[name] = [nested(metric) for metric in part[name]]
    if version in {"v1", "v2beta1"} and (behavior := _behavior(carried.get(BEHAVIOR))):
        spec["behavior"] = behavior
    status = {name: value for name, value in status.items() if value is not None}
    return {**kept, "spec": spec, "status": status}


def from_hub(autoscaler: Json, wanted: str) -> Json:
    """The autoscaler in the form of the version `wanted`."""
    kept = _without_carried(autoscaler)
    spec, status = dict(autoscaler.get("spec") or {}), _status(autoscaler)
    version = wanted.rpartition("/")[2]
    carried: dict[str, str] = {}
    if version in {"v1", "v2beta1"} and spec.get("behavior"):
        carried[BEHAVIOR] = _encode_json(_go_behavior(spec.pop("behavior")))
    if version == "v1":
        carried |= _carried_by_v1(spec, status)
        spec, status = _spec_to_v1(spec), _status_to_v1(status)
    elif version == "v2beta1":
        if spec.get("metrics"):
            spec["metrics"] = [flat_source(metric) for metric in spec["metrics"]]
        if status.get("currentMetrics"):
            status["currentMetrics"] = [flat_status(metric) for metric in status["currentMetrics"]]
    if version in {"v2beta1", "v2beta2"}:
        status = {**_NULL_IN_BETA, **status}
    changed = {**kept, "spec": spec, "status": status}
    if carried:
        changed["metadata"] = {**changed["metadata"], "annotations": {**_annotations(changed), **carried}}
    return changed


def _annotations(autoscaler: Json) -> Json:
    return (autoscaler.get("metadata") or {}).get("annotations") or {}


def _without_carried(autoscaler: Json) -> Json:
    annotations = _annotations(autoscaler)
    if not CARRIED & annotations.keys():
        return autoscaler
    kept = {name: value for name, value in annotations.items() if name not in CARRIED}
    metadata = {name: value for name, value in autoscaler["metadata"].items() if name != "annotations"}
    return {**autoscaler, "metadata": {**metadata, "annotations": kept} if kept else metadata}


def _status(autoscaler: Json) -> Json:
    return {"currentReplicas": 0, "desiredReplicas": 0, **(autoscaler.get("status") or {})}


def _cpu_metric(utilization: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _spec_from_v1(spec: Json, carried: Json) -> Json:
    metrics = [nested_source(metric) for metric in _decoded_list(carried.get(METRICS))]
    if "targetCPUUtilizationPercentage" in spec:
        metrics.append(_cpu_metric(spec["targetCPUUtilizationPercentage"]))
    rest = {name: value for name, value in spec.items() if name != "targetCPUUtilizationPercentage"}
    return {**rest, "metrics": metrics or [_cpu_metric(DEFAULT_CPU_UTILIZATION)]}


def _spec_to_v1(spec: Json) -> Json:
    rest = {name: value for name, value in spec.items() if name != "metrics"}
    cpu = next((metric for metric in spec.get("metrics") or () if _is_cpu(metric)), None)
    utilization = None if cpu is None else (cpu["resource"].get("target") or {}).get("averageUtilization")
    return rest if utilization is None else {**rest, "targetCPUUtilizationPercentage": utilization}


def _status_from_v1(status: Json, carried: Json) -> Json:
    rest = {name: value for name, value in status.items() if name != "currentCPUUtilizationPercentage"}
    if "currentCPUUtilizationPercentage" in status:
        current = {"averageUtilization": status["currentCPUUtilizationPercentage"]}
        rest["currentMetrics"] = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    if statuses := _decoded_list(carried.get(STATUSES)):
        rest["currentMetrics"] = [nested_status(metric) for metric in statuses]
    if conditions := _decoded_list(carried.get(CONDITIONS)):
        rest["conditions"] = conditions
    return rest


def _status_to_v1(status: Json) -> Json:
    rest = {name: value for name, value in status.items() if name not in {"currentMetrics", "conditions"}}
    for metric in status.get("currentMetrics") or ():
        utilization = ((metric.get("resource") or {}).get("current") or {}).get("averageUtilization")
        if _is_cpu(metric) and utilization is not None:
            rest["currentCPUUtilizationPercentage"] = utilization
    return rest


def _is_cpu(metric: Json) -> bool:
    return metric.get("type") == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"


def _carried_by_v1(spec: Json, status: Json) -> dict[str, str]:
    """What v1 keeps in annotations; CPU utilization has a field of its own."""
    others = [
        flat_source(metric)
        for metric in spec.get("metrics") or ()
        if not (_is_cpu(metric) and "averageUtilization" in (metric["resource"].get("target") or {}))
    ]
    statuses = [flat_status(metric) for metric in status.get("currentMetrics") or ()]
    conditions = [
        {name: condition.get(name) for name in ("type", "status", "lastTransitionTime")}
        | {name: condition[name] for name in ("reason", "message") if condition.get(name)}
        for condition in status.get("conditions") or ()
    ]
    parts = {METRICS: others, STATUSES: statuses, CONDITIONS: conditions}
    return {name: _encode_json(value) for name, value in parts.items() if value}


def _go_behavior(behavior: Json) -> Json:
    """The annotation holds Go's field names, because the server's internal type has no JSON names."""

    def rules(given: Json | None) -> Json | None:
        if given is None:
            return None
        policies = given.get("policies")
        return {
            "StabilizationWindowSeconds": given.get("stabilizationWindowSeconds"),
            "SelectPolicy": given.get("selectPolicy"),
            "Policies": None if policies is None else [
                {"Type": policy.get("type", ""), "Value": policy.get("value", 0),
                 "PeriodSeconds": policy.get("periodSeconds", 0)}
                for policy in policies
            ],
        }  # fmt: skip

    return {"ScaleUp": rules(behavior.get("scaleUp")), "ScaleDown": rules(behavior.get("scaleDown"))}


def _behavior(text: Any) -> Json | None:
    found = _lower_camel(_decode_json(text))
    return {name: rules for name, rules in found.items() if rules is not None} if isinstance(found, dict) else None


def _lower_camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {name[:1].lower() + name[1:]: _lower_camel(item) for name, item in value.items() if item is not None}
    return [_lower_camel(item) for item in value] if isinstance(value, list) else value


def _decode_json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _decoded_list(text: Any) -> list[Json]:
    found = _decode_json(text)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _encode_json(value: Any) -> str:
    """JSON as Go's encoder writes it: no spaces, and characters special in HTML escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
