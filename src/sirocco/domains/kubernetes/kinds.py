"""What is known of each type of object: its functions, its smallest valid object, and how to spoil it.

One row per type. A type without a row can still be declared, read, written and matched: it has no function that could
be lost without deleting the object.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import ResourceType
from sirocco.oasis.archetype import Function

Content = dict[str, Any]
Patch = tuple[str, Mapping[str, Any]]
"""The type to patch under an object's name, and a merge patch."""

_NO_NODE = {"nodeSelector": {"topology.kubernetes.io/zone": "unassigned"}}
_NO_LABEL = {"app.kubernetes.io/instance": "unassigned"}
_PLENTY = "100000"


def _no_content(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {}


def _no_patch(_noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield from ()


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a type.

    `functions` lists what its objects can lose. `smallest` is the content of a valid object besides its metadata, by
    row, namespace and name. `spoiled` gives merge patches that take away the function of an object without deleting it,
    by noun, name and object; if `is_only_deleted`, no change that a client may make does.
    """

    functions: tuple[Function, ...] = ()
    smallest: Callable[[ResourceType, str, str], Content] = _no_content
    spoiled: Callable[[str, str, Mapping[str, Any]], Iterator[Patch]] = _no_patch
    is_only_deleted: bool = False


def kind_of(noun: str) -> Kind:
    """What is known of a type."""
    return _KINDS.get(noun, _UNKNOWN)


def _spec(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return item.get("spec") or {}


def _pod_spec() -> Content:
    return {"containers": [{"name": "main", "image": "registry.example/app:1.0"}]}


def _template(name: str) -> Content:
    return {"metadata": {"labels": {"app": name}}, "spec": _pod_spec()}


def _pod(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"spec": _pod_spec()}


def _workload_content(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": _template(name)}}


def _stateful_set(_row: ResourceType, _namespace: str, name: str) -> Content:
    selector = {"matchLabels": {"app": name}}
    return {"spec": {"serviceName": name, "replicas": 1, "selector": selector, "template": _template(name)}}


def _daemon_set(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"selector": {"matchLabels": {"app": name}}, "template": _template(name)}}


def _job_spec(name: str) -> Content:
    return {"template": {"metadata": {"labels": {"app": name}}, "spec": {**_pod_spec(), "restartPolicy": "Never"}}}


def _job(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": _job_spec(name)}


def _cron_job(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": _job_spec(name)}}}


def _service(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"selector": {"app": name}, "ports": [{"port": 80}]}}


def _endpoints(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"subsets": [{"addresses": [{"ip": "10.0.0.10"}], "ports": [{"port": 80}]}]}


def _config_map(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"data": {"mode": "standard"}}


def _secret(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"type": "Opaque", "data": {"mode": "c3RhbmRhcmQ="}}


def _event(_row: ResourceType, namespace: str, name: str) -> Content:
    about = {"kind": "Pod", "name": name, "namespace": namespace}
    return {"involvedObject": about, "reason": "Note", "message": "routine", "type": "Normal"}


def _claim(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}


def _volume(_row: ResourceType, _namespace: str, _name: str) -> Content:
    place = {"hostPath": {"path": "/srv/data"}}
    return {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **place}}


def _quota(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"spec": {"hard": {"pods": "20"}}}


def _limit_range(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"spec": {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]}}


def _ingress(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"defaultBackend": {"service": {"name": name, "port": {"number": 80}}}}}


def _network_policy(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"podSelector": {"matchLabels": {"app": name}}, "policyTypes": ["Ingress"]}}


def _autoscaler(_row: ResourceType, _namespace: str, name: str) -> Content:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {"spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3}}


def _budget(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}}


def _lease(_row: ResourceType, _namespace: str, name: str) -> Content:
    return {"spec": {"holderIdentity": name, "leaseDurationSeconds": 30}}


def _role(_row: ResourceType, _namespace: str, _name: str) -> Content:
    return {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]}


def _binding(row: ResourceType, _namespace: str, name: str) -> Content:
    role = {"apiGroup": row.group, "kind": row.kind.removesuffix("Binding"), "name": "view"}
    return {"roleRef": role, "subjects": [{"apiGroup": row.group, "kind": "User", "name": name}]}


def _strand_pods(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"template": {"spec": _NO_NODE}}}


def _suspend_runs(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"suspend": True}}


def _without_image(noun: str, _name: str, item: Mapping[str, Any]) -> Iterator[Patch]:
    containers = [{**one, "image": "registry.invalid/app:1"} for one in _spec(item).get("containers") or ()]
    yield noun, {"spec": {"containers": containers}}


def _cordon_node(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"unschedulable": True}}


def _unselecting(noun: str, name: str, item: Mapping[str, Any]) -> Iterator[Patch]:
    if _spec(item).get("selector") or not _spec(item):
        yield noun, {"spec": {"selector": _NO_LABEL}}
    else:
        yield from _without_addresses(noun, name, item)


def _without_addresses(_noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield "endpoints", {"subsets": []}


def _leading_elsewhere(noun: str, name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    backend = {"service": {"name": f"{name}-spare", "port": {"number": 80}}}
    yield noun, {"spec": {"rules": None, "defaultBackend": backend}}


def _empty_data(noun: str, _name: str, item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"data": dict.fromkeys(item.get("data") or {"mode": ""}, "")}


def _drop_claim(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"claimRef": None}}


def _allowing_nothing(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"rules": []}


def _binding_nobody(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"subjects": []}


def _generous_quota(noun: str, _name: str, item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"hard": dict.fromkeys(_spec(item).get("hard") or {"pods": ""}, _PLENTY)}}


def _generous_range(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"limits": [{"type": "Container", "max": {"cpu": _PLENTY}}]}}


def _generous_budget(noun: str, _name: str, item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"minAvailable": 0} if "minAvailable" in _spec(item) else {"maxUnavailable": "100%"}}


def _scaling_elsewhere(noun: str, name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"scaleTargetRef": {"name": f"{name}-spare"}}}


def _protecting_nothing(noun: str, _name: str, _item: Mapping[str, Any]) -> Iterator[Patch]:
    yield noun, {"spec": {"podSelector": {"matchLabels": _NO_LABEL}}}


_RUN = (Function.RUNNING, Function.REACHABLE)
_UNKNOWN = Kind()
_KINDS: Mapping[str, Kind] = {
    "namespace": Kind((Function.RUNNING, Function.DATA)),
    "node": Kind((Function.RUNNING,), spoiled=_cordon_node),
    "pod": Kind(_RUN, _pod, _without_image),
    "deployment": Kind(_RUN, _workload_content, _strand_pods),
    "replicaset": Kind(_RUN, _workload_content, _strand_pods),
    "statefulset": Kind(_RUN, _stateful_set, _strand_pods),
    "daemonset": Kind(_RUN, _daemon_set, _strand_pods),
    "job": Kind((Function.RUNNING,), _job, _suspend_runs),
    "cronjob": Kind((Function.RUNNING,), _cron_job, _suspend_runs),
    "service": Kind((Function.REACHABLE,), _service, _unselecting),
    "endpoints": Kind((Function.REACHABLE,), _endpoints, _without_addresses),
    "ingress": Kind((Function.REACHABLE,), _ingress, _leading_elsewhere),
    "configmap": Kind((Function.DATA,), _config_map, _empty_data),
    "secret": Kind((Function.DATA,), _secret, _empty_data),
    "pvc": Kind((Function.DATA,), _claim, is_only_deleted=True),
    "pv": Kind((Function.DATA,), _volume, _drop_claim),
    "resourcequota": Kind((Function.PROTECTION,), _quota, _generous_quota),
    "limitrange": Kind((Function.PROTECTION,), _limit_range, _generous_range),
    "pdb": Kind((Function.PROTECTION,), _budget, _generous_budget),
    "hpa": Kind((Function.PROTECTION,), _autoscaler, _scaling_elsewhere),
    "networkpolicy": Kind((Function.PROTECTION,), _network_policy, _protecting_nothing),
    "role": Kind((Function.ACCESS,), _role, _allowing_nothing),
    "clusterrole": Kind((Function.ACCESS,), _role, _allowing_nothing),
    "rolebinding": Kind((Function.ACCESS,), _binding, _binding_nobody),
    "clusterrolebinding": Kind((Function.ACCESS,), _binding, _binding_nobody),
    "serviceaccount": Kind((Function.ACCESS,), is_only_deleted=True),
    "event": Kind((), _event, is_only_deleted=True),
    "lease": Kind((), _lease, is_only_deleted=True),
}
