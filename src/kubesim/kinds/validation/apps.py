"""What the server refuses in the workloads of the apps group."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import (
    IMMUTABLE_WORDS,
    forbidden,
    immutable,
    invalid,
    nonnegative,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import (
    annotation_causes,
    label_causes,
    metadata_causes,
    metadata_update_causes,
    selector_causes,
)
from kubesim.kinds.validation.pods import pod_annotation_causes, pod_template_causes
from kubesim.kinds.validation.quotients import (
    int_or_string,
    int_value,
    percent_causes,
    positive_causes,
)
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.selection import is_empty, is_selector, selects
from kubesim.status import Cause, Json

_SELECTOR, _TEMPLATE = "spec.selector", "spec.template"
_MISMATCH_WORDS = "`selector` does not match template `labels`"
_READ_ONLY_WORDS = (
    "must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only"
)
_STATEFUL_WORDS = (
    "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden"
)
_NO = GoValue("bool", value=False)
_TOO_MANY_WORDS = "cannot be greater than status.replicas"
_MUTABLE_IN_STATEFUL_SETS = frozenset({"replicas", "template", "updateStrategy"})


def selector_value(selector: Json | None) -> GoValue:
    """A selector as the server prints it."""
    return GoValue("*v1.LabelSelector", selector)


def mismatch_causes(spec: Json) -> list[Cause]:
    """A selector that does not select the workload's own pods."""
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    if selects(spec.get("selector"), labels or {}):
        return []
    return [invalid(f"{_TEMPLATE}.metadata.labels", GoValue("map[string]string", labels), _MISMATCH_WORDS)]


def _deployment_spec(spec: Json) -> list[Cause]:
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds", 0)
    causes = [
        *nonnegative("spec.replicas", spec.get("replicas")),
        *_replicated_causes(spec),
        *_deployment_strategy(spec.get("strategy") or {}),
        *nonnegative("spec.minReadySeconds", ready),
        *nonnegative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit")),
        *nonnegative("spec.progressDeadlineSeconds", deadline),
    ]
    if deadline is not None and deadline <= ready:
        causes.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return causes


def _replica_set_spec(spec: Json) -> list[Cause]:
    return [
        *nonnegative("spec.replicas", spec.get("replicas")),
        *nonnegative("spec.minReadySeconds", spec.get("minReadySeconds")),
        *_replicated_causes(spec),
    ]


def _replicated_causes(spec: Json) -> list[Cause]:
    """The selector and the template of a deployment or replica set; the messages call both a deployment."""
    selector = spec.get("selector")
    causes = _given_selector_causes(selector, "deployment")
    if selector is not None and not is_selector(selector):
        return [*causes, invalid(_SELECTOR, selector_value(selector), "invalid label selector")]
    if selector is None or not is_empty(selector):
        causes += mismatch_causes(spec)
    template = spec.get("template") or {}
    causes += pod_template_causes(template, _TEMPLATE)
    if spec.get("replicas", 0) > 1:
        causes += _disk_causes(template)
    return [*causes, *_pod_life_causes(template, "ReplicaSet")]


def _given_selector_causes(selector: Json | None, kind: str) -> list[Cause]:
    if selector is None:
        return [required(_SELECTOR)]
    causes = selector_causes(selector, _SELECTOR)
    if is_empty(selector):
        causes.append(invalid(_SELECTOR, selector_value(selector), f"empty selector is invalid for {kind}"))
    return causes


def _disk_causes(template: Json) -> list[Cause]:
    return [
        invalid(f"{_TEMPLATE}.spec.volumes[{index}].gcePersistentDisk.readOnly", _NO, _READ_ONLY_WORDS)
        for index, volume in enumerate((template.get("spec") or {}).get("volumes") or ())
        if volume.get("gcePersistentDisk") is not None and not volume["gcePersistentDisk"].get("readOnly")
    ]


def _pod_life_causes(template: Json, kind: str) -> list[Cause]:
    """Pods of a workload run until they are deleted."""
    spec = template.get("spec") or {}
    causes = []
    if spec.get("restartPolicy", "") != "Always":
        causes.append(not_supported(f"{_TEMPLATE}.spec.restartPolicy", spec.get("restartPolicy", ""), ["Always"]))
    if spec.get("activeDeadlineSeconds") is not None:
        words = f"activeDeadlineSeconds in {kind} is not Supported"
        causes.append(forbidden(f"{_TEMPLATE}.spec.activeDeadlineSeconds", words))
    return causes


def _deployment_strategy(strategy: Json) -> list[Cause]:
    path, kind, rolling = "spec.strategy", strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        words = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(f"{path}.rollingUpdate", words)]
    if kind != "RollingUpdate":
        return [not_supported(path, GoValue("*apps.DeploymentStrategy", strategy), ["Recreate", "RollingUpdate"])]
    if rolling is None:
        return [required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")]
    place = f"{path}.rollingUpdate.maxUnavailable"
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    causes = [*positive_causes(unavailable, place), *positive_causes(surge, f"{path}.rollingUpdate.maxSurge")]
    if int_value(unavailable) == 0 and int_value(surge) == 0:
        causes.append(invalid(place, int_or_string(unavailable), "may not be 0 when `maxSurge` is 0"))
    return [*causes, *percent_causes(unavailable, place)]


def _daemon_set_spec(spec: Json) -> list[Cause]:
    selector, template = spec.get("selector"), spec.get("template") or {}
    causes = selector_causes(selector, _SELECTOR)
    if selector is None or is_selector(selector):
        causes += mismatch_causes(spec)
    if selector is not None and is_empty(selector):
        causes.append(invalid(_SELECTOR, selector_value(selector), "empty selector is invalid for daemonset"))
    return [
        *causes,
        *pod_template_causes(template, _TEMPLATE),
        *_disk_causes(template),
        *_pod_life_causes(template, "DaemonSet"),
        *nonnegative("spec.minReadySeconds", spec.get("minReadySeconds")),
        *_daemon_set_strategy(spec.get("updateStrategy") or {}),
        *nonnegative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit")),
    ]


def _daemon_set_strategy(strategy: Json) -> list[Cause]:
    path, kind, rolling = "spec.updateStrategy", strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        value = GoValue("*apps.DaemonSetUpdateStrategy", strategy)
        return [not_supported(path, value, ["RollingUpdate", "OnDelete"])]
    if rolling is None:
        return [required(f"{path}.rollingUpdate")]
    place, unavailable = f"{path}.rollingUpdate.maxUnavailable", rolling.get("maxUnavailable", 0)
    causes = positive_causes(unavailable, place)
    if int_value(unavailable) == 0:
        causes.append(invalid(place, int_or_string(unavailable), "cannot be 0"))
    return [*causes, *percent_causes(unavailable, place)]


def _stateful_set_spec(spec: Json) -> list[Cause]:
    causes = []
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        causes.append(required("spec.podManagementPolicy"))
    elif policy not in {"OrderedReady", "Parallel"}:
        causes.append(invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    causes += _stateful_set_strategy(spec.get("updateStrategy") or {})
    causes += nonnegative("spec.replicas", spec.get("replicas"))
    selector, template = spec.get("selector"), spec.get("template") or {}
    causes += _given_selector_causes(selector, "statefulset")
    if selector is not None and not is_selector(selector):
        causes.append(invalid(_SELECTOR, selector_value(selector), ""))
    else:
        if selector is None or not is_empty(selector):
            causes += mismatch_causes(spec)
        metadata = template.get("metadata") or {}
        causes += label_causes(metadata.get("labels"), f"{_TEMPLATE}.labels")
        annotations = metadata.get("annotations") or {}
        causes += annotation_causes(annotations, f"{_TEMPLATE}.annotations")
        causes += pod_annotation_causes(annotations, template.get("spec") or {}, f"{_TEMPLATE}.annotations")
    return [*causes, *_pod_life_causes(template, "StatefulSet")]


def _stateful_set_strategy(strategy: Json) -> list[Cause]:
    path, kind, rolling = "spec.updateStrategy", strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        return [required(path)]
    if kind == "OnDelete":
        value = GoValue("*apps.RollingUpdateStatefulSetStrategy", rolling)
        words = "only allowed for updateStrategy 'RollingUpdate'"
        return [] if rolling is None else [invalid(f"{path}.rollingUpdate", value, words)]
    if kind == "RollingUpdate":
        return nonnegative(f"{path}.rollingUpdate.partition", (rolling or {}).get("partition"))
    value = GoValue("apps.StatefulSetUpdateStrategy", strategy)
    return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")]


def _deployment(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_deployment_spec(obj.get("spec") or {})]


def _replica_set(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_replica_set_spec(obj.get("spec") or {})]


def _daemon_set(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_daemon_set_spec(obj.get("spec") or {})]


def _stateful_set(row: Resource, obj: Json) -> list[Cause]:
    return [*metadata_causes(row, obj["metadata"]), *_stateful_set_spec(obj.get("spec") or {})]


def _controller_revision(row: Resource, obj: Json) -> list[Cause]:
    missing = [] if obj.get("data") is not None else [required("data", "data is mandatory")]
    return [*metadata_causes(row, obj["metadata"]), *missing, *nonnegative("revision", obj.get("revision"))]


def _selector_change(new: Json, old: Json) -> list[Cause]:
    if new.get("spec") is old.get("spec"):
        return []
    changed, given = (selector_value((obj.get("spec") or {}).get("selector")) for obj in (new, old))
    return immutable(_SELECTOR, changed, given)


def _deployment_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_status_counts(new, ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas",
                              "availableReplicas", "unavailableReplicas", "collisionCount")),
        *_replica_causes(new, ("updatedReplicas", "readyReplicas", "availableReplicas")),
        *_collision_causes(new, old),
    ]  # fmt: skip


def _changed_spec_causes(rule: Callable[[Json], list[Cause]], new: Json, old: Json) -> list[Cause]:
    """What is wrong with a spec; the stored one was checked when it was written."""
    return [] if new.get("spec") is old.get("spec") else rule(new.get("spec") or {})


def _deployment_update(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_changed_spec_causes(_deployment_spec, new, old),
        *_selector_change(new, old),
    ]


def _replica_set_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_status_counts(new, ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                              "observedGeneration")),
        *_replica_causes(new, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")),
    ]  # fmt: skip


def _replica_set_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    spec = _changed_spec_causes(_replica_set_spec, new, old)
    return [
        *metadata_causes(row, new["metadata"]),
        *spec,
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *spec,
        *_selector_change(new, old),
    ]


def _daemon_set_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    counts = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
              "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
              "collisionCount")  # fmt: skip
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_status_counts(new, counts),
        *_collision_causes(new, old),
    ]


def _daemon_set_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    spec = _changed_spec_causes(_daemon_set_spec, new, old)
    return [
        *metadata_causes(row, new["metadata"]),
        *spec,
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *spec,
        *_selector_change(new, old),
    ]


def _stateful_set_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    return [
        *_status_counts(new, ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
                              "observedGeneration", "collisionCount")),
        *_replica_causes(new, ("readyReplicas", "currentReplicas", "updatedReplicas")),
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_collision_causes(new, old),
    ]  # fmt: skip


def _stateful_set_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    spec, given = new.get("spec") or {}, old.get("spec") or {}
    causes = [*_stateful_set(row, new), *metadata_update_causes(new["metadata"], old["metadata"])]
    fixed, before = (
        {name: value for name, value in part.items() if name not in _MUTABLE_IN_STATEFUL_SETS} for part in (spec, given)
    )
    if fixed != before:
        causes.append(forbidden("spec", _STATEFUL_WORDS))
    return [*causes, *nonnegative("spec.replicas", spec.get("replicas"))]


def _controller_revision_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    causes = [*metadata_update_causes(new["metadata"], old["metadata"]), *_controller_revision(row, new)]
    if new.get("data") == old.get("data"):
        return causes
    return [
        *causes,
        Cause("FieldValueInvalid", f"Invalid value: {_data_text(new.get('data'))}: {IMMUTABLE_WORDS}", "data"),
    ]


def _data_text(data: Any) -> str:
    """Data of any type is kept as the bytes in which it came."""
    if data is None:
        return '"null"'
    listed = ", ".join(f"0x{byte:x}" for byte in json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode())
    return (
        f'runtime.Unknown{{TypeMeta:runtime.TypeMeta{{APIVersion:"", Kind:""}}, Raw:[]uint8{{{listed}}}, '
        'ContentEncoding:"", ContentType:"application/json"}'
    )


def _status_counts(obj: Json, names: Iterable[str]) -> list[Cause]:
    status = obj.get("status") or {}
    return [cause for name in names for cause in nonnegative(f"status.{name}", status.get(name))]


def _replica_causes(obj: Json, names: Iterable[str]) -> list[Cause]:
    """No kind of replica may outnumber the total."""
    status = obj.get("status") or {}
    causes = [
        invalid(f"status.{name}", status.get(name, 0), _TOO_MANY_WORDS)
        for name in names
        if status.get(name, 0) > status.get("replicas", 0)
    ]
    available = status.get("availableReplicas", 0)
    if "availableReplicas" in names and available > status.get("readyReplicas", 0):
        causes.append(invalid("status.availableReplicas", available, "cannot be greater than readyReplicas"))
    return causes


def _collision_causes(new: Json, old: Json) -> list[Cause]:
    counts = [(obj.get("status") or {}).get("collisionCount") for obj in (new, old)]
    if counts[1] is None or (counts[0] is not None and counts[0] >= counts[1]):
        return []
    return [invalid("status.collisionCount", counts[0] or 0, "cannot be decremented")]


CREATION: dict[str, CreationRule] = {
    "deployment": _deployment,
    "replicaset": _replica_set,
    "daemonset": _daemon_set,
    "statefulset": _stateful_set,
    "controllerrevisions.apps": _controller_revision,
}
UPDATE: dict[str, UpdateRule] = {
    "deployment": _deployment_update,
    "deployment/status": _deployment_status,
    "replicaset": _replica_set_update,
    "replicaset/status": _replica_set_status,
    "daemonset": _daemon_set_update,
    "daemonset/status": _daemon_set_status,
    "statefulset": _stateful_set_update,
    "statefulset/status": _stateful_set_status,
    "controllerrevisions.apps": _controller_revision_update,
}
