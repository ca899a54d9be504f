"""Horizontal pod autoscalers: they keep their target within bounds, under a constant load."""

from zlib import crc32

from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.events import record_event
from kubesim.controllers.owners import put_status
from kubesim.controllers.rows import AUTOSCALER
from kubesim.resource import BY_KIND, REPLICATED
from kubesim.status import Json
from kubesim.store import is_being_deleted
from kubesim.types.quantity import amount_of

SYNC_SECONDS = 15.0
"""How long an autoscaler takes to notice that its target has another size."""
_ABLE = ("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
_SCALING = ("AbleToScale", "True", "SucceededRescale", "the HPA controller was able to update the target scale")
_CALCULATED = "the HPA was able to successfully calculate a replica count from"
_WITHIN = ("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range")
_DISABLED = (
    "ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero",
)  # fmt: skip
_LOST = ("AbleToScale", "False", "FailedGetScale", "the HPA controller was unable to get the target's current scale")
_LEAST_LOAD, _MOST_LOAD = 91, 100
"""The load in percent of its target value; the default tolerance is a tenth."""
_SMALL = {"cpu": 0.1, "memory": 128.0 * 1024 * 1024}
_Condition = tuple[str, str, str, str]


def keep_in_bounds(dynamics: Dynamics, autoscaler: Json, moment: Moment) -> None:
    """Bring the target back within the bounds, and report; a target with zero replicas is left alone."""
    if is_being_deleted(autoscaler):
        return
    store, metadata, spec = dynamics.store, autoscaler["metadata"], autoscaler["spec"]
    reference = spec.get("scaleTargetRef") or {}
    row = BY_KIND.get(reference.get("kind", ""))
    target = store.get(row.noun, metadata["namespace"], reference.get("name", "")) if row else None
    if row is None or target is None or row.noun not in REPLICATED:
        _report(dynamics, autoscaler, 0, 0, (_LOST,), moment)
        return
    size, least, most = target["spec"].get("replicas", 1), spec.get("minReplicas", 1), spec.get("maxReplicas", 1)
    if size == 0:
        _report(dynamics, autoscaler, 0, 0, (_DISABLED,), moment)
        return
    going = dynamics.declaration(autoscaler).scaling_to
    if going is not None and size < going:
        _report(dynamics, autoscaler, size, going, (_SCALING, _active(spec), _WITHIN), moment)
        return
    wanted = max(least, min(most, size))
    limited = _WITHIN
    if wanted != size and _has_noticed(dynamics, autoscaler, size, moment):
        limited, reason = _outside_conditions(most, size)
        store.update(row, target, {**target, "spec": {**target["spec"], "replicas": wanted}})
        if not moment.silent:
            text = f"New size: {wanted}; reason: {reason}"
            record_event(store, autoscaler, "SuccessfulRescale", text, moment, component="horizontal-pod-autoscaler")
    _report(dynamics, autoscaler, size, wanted, (_ABLE, _active(spec), limited), moment)


def _active(spec: Json) -> _Condition:
    """The condition about the first metric, from which the size was calculated."""
    resource: Json = next((one["resource"] for one in spec.get("metrics") or () if one.get("resource")), {})
    name, target = resource.get("name", "cpu"), (resource.get("target") or {}).get("type", "Utilization")
    by = "utilization (percentage of request)" if target == "Utilization" else "value"
    return "ScalingActive", "True", "ValidMetricFound", f"{_CALCULATED} {name} resource {by}"


def _outside_conditions(most: int, size: int) -> tuple[_Condition, str]:
    """The conditions of a target that is too large or too small."""
    if size > most:
        text = "the desired replica count is more than the maximum replica count"
        return ("ScalingLimited", "True", "TooManyReplicas", text), "Current number of replicas above Spec.MaxReplicas"
    text = "the desired replica count is less than the minimum replica count"
    return ("ScalingLimited", "True", "TooFewReplicas", text), "Current number of replicas below Spec.MinReplicas"


def _has_noticed(dynamics: Dynamics, autoscaler: Json, size: int, moment: Moment) -> bool:
    """Whether the autoscaler has had time to notice a size; it looks only at intervals."""
    if moment.silent:
        return True
    uid = autoscaler["metadata"]["uid"]
    seen = dynamics.progress.get(uid)
    if seen is None or seen[0] != size:
        dynamics.progress[uid] = (size, moment.seconds)
        dynamics.wake_at(moment.seconds + SYNC_SECONDS, autoscaler["metadata"]["namespace"])
        return False
    return moment.seconds - seen[1] >= SYNC_SECONDS


def _report(
    dynamics: Dynamics, autoscaler: Json, size: int, wanted: int, conditions: tuple[_Condition, ...], moment: Moment
) -> None:
    known = {item.get("type"): item for item in (autoscaler.get("status") or {}).get("conditions") or ()}
    dated, moment = [], moment.moment_of(autoscaler)
    for kind, holds, reason, message in conditions:
        before = known.get(kind, {})
        since = before.get("lastTransitionTime", moment.now) if before.get("status") == holds else moment.now
        dated.append({"type": kind, "status": holds, "lastTransitionTime": since, "reason": reason, "message": message})
    metrics = [
        _current_metric(dynamics, autoscaler, item)
        for item in autoscaler["spec"].get("metrics") or ()
        if item.get("type") == "Resource"
    ]
    status = {
        "currentReplicas": size, "desiredReplicas": wanted, "conditions": dated,
        "currentMetrics": metrics if size else None,
    }  # fmt: skip
    put_status(dynamics.store, AUTOSCALER, autoscaler, status)


def _current_metric(dynamics: Dynamics, autoscaler: Json, metric: Json) -> Json:
    """The current load, close enough to the target value that the autoscaler does nothing."""
    resource = metric.get("resource") or {}
    name, target = resource.get("name", "cpu"), resource.get("target") or {}
    place = "/".join(autoscaler["metadata"][key] for key in ("namespace", "name"))
    percent = _LEAST_LOAD + crc32(place.encode()) % (_MOST_LOAD - _LEAST_LOAD)
    if "averageUtilization" in target:
        utilization = max(1, target["averageUtilization"] * percent // 100)
        requested = _requested(dynamics, autoscaler, name)
        used = requested * utilization / 100
        average = f"{round(used * 1000)}m" if name == "cpu" else str(round(used))
        current: Json = {"averageUtilization": utilization, "averageValue": average}
    else:
        current = {key: value for key, value in target.items() if key != "type"}
    return {"type": "Resource", "resource": {"name": name, "current": current}}


def _requested(dynamics: Dynamics, autoscaler: Json, name: str) -> float:
    """What a pod of the target requests of a resource; a small amount if it requests none."""
    reference = autoscaler["spec"].get("scaleTargetRef") or {}
    row, place = BY_KIND.get(reference.get("kind", "")), autoscaler["metadata"]["namespace"]
    target = dynamics.store.get(row.noun, place, reference.get("name", "")) if row else None
    containers = target["spec"]["template"]["spec"]["containers"] if target else ()
    asked = (((one.get("resources") or {}).get("requests") or {}).get(name) for one in containers)
    return sum(amount_of(str(one)) for one in asked if one) or _SMALL.get(name, 1.0)
