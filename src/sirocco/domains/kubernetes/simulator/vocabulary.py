"""The vocabulary of state entries: the kinds, the keys that each may declare, and what is wrong with an entry."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, ResourceType, closest_noun, resource_type
from sirocco.domains.kubernetes.profiles.declared import EVENTS, LOGS
from sirocco.domains.kubernetes.simulator import checks
from sirocco.domains.kubernetes.simulator.checks import Checker, any_of, is_list, one_of, or_none
from sirocco.domains.kubernetes.simulator.health import is_rolling
from sirocco.domains.kubernetes.targets import RUNBOOK
from sirocco.oasis.scenario import StateEntry

METRICS = "metrics"
BASELINE = "normal_"
"""The prefix of the name of a metric that gives another one's usual value."""
CLUSTER_WIDE = frozenset({"namespace", "node", EVENTS})
MEASURES: Mapping[str, Checker] = {
    "cpu_usage": checks.unit_amount, "memory_usage": checks.unit_amount, "disk_usage": checks.unit_amount,
    "error_rate": checks.metric, "current_utilization": checks.unit_amount,
}  # fmt: skip
"""What an object other than a metric may say about its load, which then appears among the metrics."""


def entry_noun(entry: StateEntry) -> str | None:
    """The kind of entry under the vocabulary's own name; None if there is none."""
    if entry.kind in _VOCABULARY:
        return entry.kind
    row = resource_type(entry.kind)
    return row.noun if row and row.noun in _VOCABULARY else None


def declared_value(entry: StateEntry, key: str) -> Any:
    """What an entry declares under a key; None if it says nothing, or says that there is none."""
    value = entry.fields.get(key)
    return None if value == checks.NONE else value


def child_type(key: str) -> ResourceType | None:
    """The type of the objects that a namespace lists under a key, such as `deployments` or `resource_quotas`."""
    row = resource_type(key.replace("_", ""))
    is_plural = row is not None and key.replace("_", "") == row.plural
    return row if row and is_plural and row.namespaced and row.noun in _VOCABULARY else None


def stored_row(entry: StateEntry) -> ResourceType | None:
    """The type of the object that an entry describes; a runbook is a config map, logs and events are not objects."""
    noun = entry_noun(entry)
    return BY_NOUN.get("configmap" if noun == RUNBOOK else str(noun))


def entry_problems(entry: StateEntry) -> Iterator[str]:
    """What an entry says that the vocabulary does not have."""
    noun = entry_noun(entry)
    if noun is None:
        closest = closest_noun(entry.kind)
        hint = f"; did you mean {closest!r}?" if closest in _VOCABULARY else ""
        yield f"kind {entry.kind!r} cannot be established{hint}"
        return
    if not entry.name and noun != "node":
        yield "names no object; write kind/name"
        return
    keys = _ALL_NODES if noun == "node" and not entry.name else _VOCABULARY[noun]
    for key, value in entry.fields.items():
        problem = _key_problem(noun, keys, key, value)
        if problem:
            yield f"{key} {problem}"
    yield from _missing_fields(noun, entry)
    if entry.namespace not in {None, entry.name} and noun in CLUSTER_WIDE:
        yield f"cannot be in namespace {entry.namespace!r}"
    for one, other in _EITHER.get(noun, ()):
        if {one, other} <= set(entry.fields):
            yield f"has {one} and {other}; leave one of them out"
    if is_rolling(entry.fields.get("status")) and noun != "deployment":
        yield f"status is {entry.fields['status']!r}, which only a deployment can be in"


def _key_problem(noun: str, keys: Mapping[str, Checker], key: str, value: Any) -> str | None:
    if check := keys.get(key):
        return check(value)
    if noun == METRICS:
        return checks.metric_name(key) or checks.metric(value)
    if noun == "namespace" and child_type(key):
        return _children(value)
    return "cannot be established for this kind"


def _children(value: Any) -> str | None:
    good = is_list(value) and all(
        (isinstance(item, str) and item)
        or (isinstance(item, Mapping) and isinstance(item.get("name"), str) and all(map(_is_key, item)))
        for item in value
    )
    return None if good else "is not a list of names, or of maps with a name"


def _is_key(key: Any) -> bool:
    return isinstance(key, str)


def _missing_fields(noun: str, entry: StateEntry) -> Iterator[str]:
    """What an entry of a kind must have and lacks."""
    for wanted in _NEEDED.get(noun, ()):
        if not set(wanted) & set(entry.fields):
            yield f"needs {' or '.join(wanted)}" if len(wanted) > 1 else f"needs a {wanted[0]}"
    if noun == METRICS and not set(entry.fields) - {"labels", "target"}:
        yield "needs at least one metric"
    if noun == "node" and not entry.name and "count" not in entry.fields:
        yield "needs a count, or names no object; write kind/name"


_NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    RUNBOOK: (("content", "steps"),),
    "hpa": (("target",),),
    "cronjob": (("schedule",),),
    "traces": (("root_span", "spans"),),
    "dashboard": (("panels", "title"),),
    "database-migration": (("last_migration",),),
}

_EITHER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "deployment": (("image", "current_image"),),
    "service": (("port", "ports"),),
    "rolebinding": (("role", "role_ref"), ("spec", "role"), ("spec", "role_ref"), ("spec", "subjects")),
    "clusterrolebinding": (("role", "role_ref"), ("spec", "role"), ("spec", "role_ref"), ("spec", "subjects")),
    **dict.fromkeys(("role", "clusterrole"), (("spec", "rules"),)),
    "ingress": (("spec", "host"), ("spec", "backend"), ("spec", "path")),
    "pdb": tuple(("spec", key) for key in ("target", "selector", "min_available", "max_unavailable")),
    "pv": tuple(("spec", key) for key in ("storage", "storage_class", "access_modes", "reclaim_policy", "claim")),
    "resourcequota": (("spec", "hard"),),
    "limitrange": (("spec", "limits"),),
    "pvc": (("bound", "status"),),
}
"""Pairs of keys of which the second adds nothing to the first."""

_AMOUNT_OF_PODS = any_of(checks.count, checks.scalar)
_COMMON: Mapping[str, Checker] = {
    "labels": or_none(checks.labels), "annotations": or_none(checks.annotations), "owner_team": checks.label_value,
}  # fmt: skip
_TEMPLATE: Mapping[str, Checker] = {
    "env": or_none(checks.environment), "image": checks.text, "containers": checks.containers,
    "init_containers": or_none(checks.containers), "volumes": or_none(checks.names),
    "volumes_from": or_none(checks.names), "affinity": or_none(checks.mapping), "port": checks.port,
    "service_account": checks.text, "resource_limits": or_none(checks.scalars),
    "resource_requests": or_none(checks.scalars), "resources": or_none(checks.resources), "memory_limit": checks.scalar,
    "cpu_limit": checks.scalar, "memory_request": checks.scalar, "cpu_request": checks.scalar,
}  # fmt: skip
_PODS: Mapping[str, Checker] = {
    **_COMMON, **_TEMPLATE, **MEASURES, "status": checks.status, "reason": checks.text, "restarts": checks.count,
    "last_log": checks.output, "logs": checks.output, "zone": checks.label_value, "managed_by": checks.label_value,
}  # fmt: skip
_WORKLOAD: Mapping[str, Checker] = {
    **_PODS, "replicas": checks.count, "update_strategy": any_of(one_of("RollingUpdate", "Recreate", "OnDelete"),
                                                                 checks.mapping),
    "pdb": or_none(checks.mapping), "hpa": or_none(checks.mapping), "traffic_weight": checks.unit_amount,
}  # fmt: skip
_NODE: Mapping[str, Checker] = {
    **_COMMON, **MEASURES, "spec": checks.mapping, "conditions": checks.conditions, "zone": checks.label_value,
    "status": one_of("Ready", "NotReady", "healthy"), "memory_pressure": checks.flag, "disk_pressure": checks.flag,
    "pid_pressure": checks.flag, "unschedulable": checks.flag, "cordoned": checks.flag, "taints": checks.any_list,
    "allocatable_cpu": checks.scalar, "allocatable_memory": checks.scalar, "allocatable": checks.scalars,
    "capacity": checks.scalars,
}  # fmt: skip
_ALL_NODES: Mapping[str, Checker] = {
    **_NODE, "count": checks.small_count, "allocatable_cpu_per_node": checks.scalar,
    "allocatable_memory_per_node": checks.scalar,
}  # fmt: skip
_SPEC: Mapping[str, Checker] = {**_COMMON, "spec": checks.mapping}
_RULES: Mapping[str, Checker] = {**_SPEC, "rules": checks.any_list}
_BINDING: Mapping[str, Checker] = {
    **_SPEC, "subjects": checks.any_list, "role_ref": checks.mapping, "role": checks.reference,
}  # fmt: skip
_SIGNAL: Mapping[str, Checker] = {"target": checks.reference}
_VOCABULARY: Mapping[str, Mapping[str, Checker]] = {
    "namespace": {**_COMMON, "zone": checks.label_value},
    "deployment": {
        **_WORKLOAD, "conditions": checks.conditions, "current_image": checks.text, "previous_image": checks.text,
        "last_deploy": checks.time, "injected_failure": checks.failure,
    },
    "statefulset": _WORKLOAD,
    "replicaset": {key: check for key, check in _WORKLOAD.items() if key != "update_strategy"},
    "daemonset": {key: check for key, check in _WORKLOAD.items() if key not in {"replicas", "hpa"}},
    "pod": {**_PODS, "node": checks.text},
    "job": {
        **_COMMON, **_TEMPLATE, "status": one_of("running", "complete", "completed", "succeeded", "failed",
                                                 "suspended"),
        "completions": checks.count, "parallelism": checks.count, "backoff_limit": checks.count, "logs": checks.output,
    },
    "cronjob": {
        **_COMMON, **_TEMPLATE, "schedule": checks.text, "suspend": checks.flag, "last_run": checks.time,
        "concurrency_policy": one_of("Allow", "Forbid", "Replace"),
    },
    "configmap": {**_COMMON, "data": or_none(checks.scalars), "immutable": checks.flag},
    "secret": {
        **_COMMON, "data": or_none(checks.base64_values), "stringData": checks.scalars, "type": checks.text,
        "immutable": checks.flag,
    },
    "service": {
        **_COMMON, "selector": or_none(checks.labels), "port": checks.port, "ports": checks.any_list,
        "endpoints": or_none(checks.any_list),
        "type": one_of("ClusterIP", "NodePort", "LoadBalancer"),
    },
    "hpa": {
        **_COMMON, "target": checks.scale_target, "min_replicas": checks.count, "max_replicas": checks.count,
        "current_status": one_of("scaling_in_progress", "scaling", "stable", "idle"), "target_replicas": checks.count,
        "target_cpu": checks.unit_amount,
    },
    "pdb": {
        **_SPEC, "target": checks.scale_target, "selector": checks.labels, "min_available": _AMOUNT_OF_PODS,
        "max_unavailable": _AMOUNT_OF_PODS,
    },
    "pvc": {
        **_COMMON, "storage": checks.text, "bound": checks.flag, "status": one_of("bound", "pending"),
        "storage_class": checks.text, "access_modes": checks.names,
    },
    "pv": {
        **_SPEC, "storage": checks.text, "storage_class": checks.text, "access_modes": checks.names,
        "reclaim_policy": one_of("Retain", "Delete", "Recycle"), "claim": checks.text,
    },
    "resourcequota": {**_SPEC, "hard": checks.scalars},
    "limitrange": {**_SPEC, "limits": checks.any_list},
    "ingress": {
        **_SPEC, "host": checks.text, "backend": checks.text, "path": checks.text,
        "status": one_of("returning_503", "running", "healthy", "active"), "error_rate": checks.metric,
    },
    "node": _NODE,
    "role": _RULES,
    "clusterrole": _RULES,
    "rolebinding": _BINDING,
    "clusterrolebinding": _BINDING,
    "serviceaccount": _SPEC,
    "networkpolicy": _SPEC,
    "lease": _SPEC,
    LOGS: {"entries": checks.lines},
    EVENTS: {"recent": checks.event_list},
    RUNBOOK: {**_COMMON, "content": checks.text, "steps": checks.lines, "title": checks.text},
    METRICS: {**_SIGNAL, "series": checks.series, "labels": checks.scalars},
    "alert": {
        **_SIGNAL, "status": one_of("inactive", "pending", "firing", "resolved"), "severity": checks.text,
        "expr": checks.text, "summary": checks.text, "description": checks.text, "since": checks.time,
        "labels": checks.scalars, "annotations": checks.scalars,
    },
    "traces": {**_SIGNAL, "root_span": checks.span, "spans": checks.spans, "age": checks.time},
    "dashboard": {"title": checks.text, "panels": checks.panels, "tags": checks.names},
    "gitops-application": {
        **_SIGNAL, "sync_status": one_of("synced", "out_of_sync", "unknown"),
        "health": one_of("healthy", "degraded", "progressing", "missing", "unknown"), "source_repo": checks.text,
        "source_path": checks.text, "revision": checks.text, "self_heal": checks.flag, "auto_sync": checks.flag,
        "last_sync": checks.time, "message": checks.text,
    },
    "pipeline": {
        **_SIGNAL, "status": one_of("success", "succeeded", "failed", "running", "pending"), "ref": checks.text,
        "commit": checks.text, "stages": checks.stages, "logs": checks.lines, "last_run": checks.time,
        "triggered_by": checks.text,
    },
    "database-migration": {
        **_SIGNAL, "last_migration": checks.text, "applied": any_of(checks.time, checks.flag),
        "records_created_since": checks.count, "status": one_of("applied", "pending", "failed", "rolled_back"),
    },
}  # fmt: skip


def is_record(noun: str | None) -> bool:
    """Whether entries of a kind describe records of a service rather than objects of the Kubernetes API."""
    return noun in SERVICE_NOUNS
