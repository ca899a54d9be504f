"""Placement: whether a Kubernetes pod can be put on a node, and why not, in the scheduler's words.

The simulated scheduler and the comparison of worlds both ask here, so that one never places a pod that the other calls
lost.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubesim.selection import meets
from kubesim.types.quantity import amount_of

_MAPPING = (dict, Mapping)  # in this order because nearly all are dicts, and a dict is quick to recognize
_KEEPS_AWAY = frozenset({"NoSchedule", "NoExecute"})
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_ON_NODE_CONDITIONS = {
    "Ready": "not-ready", "MemoryPressure": "memory-pressure", "DiskPressure": "disk-pressure",
    "PIDPressure": "pid-pressure",
}  # fmt: skip
USUAL_TOLERATIONS: list[dict[str, Any]] = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
]
"""The tolerations that every pod gets: how long it stays on a node that fails."""


def fitting_nodes(spec: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the nodes that accept a pod of this spec."""
    return [_name(node) for node in nodes if refusal(spec, node) is None]


def demands_nothing(spec: Mapping[str, Any]) -> bool:
    """Whether all nodes are the same to a pod of this spec, except those that keep every pod away."""
    if spec.get("nodeSelector") or spec.get("affinity"):
        return False
    if (tolerations := spec.get("tolerations")) and tolerations != USUAL_TOLERATIONS:
        return False
    containers = (*_as_sequence(spec.get("containers")), *_as_sequence(spec.get("initContainers")))
    return not any(_mapping(item).get("resources") for item in containers)


def internal_address(node: Mapping[str, Any]) -> str:
    """The address of a node within the cluster; empty if it declares none."""
    addresses = (node.get("status") or {}).get("addresses") or ()
    return next((str(one.get("address", "")) for one in addresses if one.get("type") == "InternalIP"), "")


def pod_address(node: Mapping[str, Any], draw: int) -> str:
    """An address from the range that a node gives to its pods."""
    first, _, _ = str((node.get("spec") or {}).get("podCIDR") or "10.244.0.0/24").rpartition(".")
    return f"{first}.{draw % 250 + 2}"


def refusals(spec: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> str:
    """Why no node accepts a pod, in the scheduler's words."""
    counts = Counter(reason for node in nodes if (reason := refusal(spec, node)) is not None)
    told = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/{len(nodes)} nodes are available" + (f": {told}." if told else ".")


def refusal(spec: Mapping[str, Any], node: Mapping[str, Any]) -> str | None:
    """Why a node does not accept a pod of this spec; None when it does."""
    if taint := _untolerated_taint(spec, node):
        if taint == _CORDONED:
            return "node(s) were unschedulable"
        value = taint.get("value") or ""
        return f"node(s) had untolerated taint {{{taint.get('key', '')}: {value}}}"
    if not _is_chosen(spec, node):
        return "node(s) didn't match Pod's node affinity/selector"
    return _lack(spec, node)


def _untolerated_taint(spec: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first taint of a node that keeps the pod away."""
    tolerations = [one for one in _as_sequence(spec.get("tolerations")) if isinstance(one, Mapping)]
    return next((taint for taint in _taints(node) if not any(_tolerates(one, taint) for one in tolerations)), None)


def _taints(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A node's taints: the declared ones, and those that follow from a cordon or from its own trouble."""
    spec, status = _mapping(node.get("spec")), _mapping(node.get("status"))
    declared = [one for one in _as_sequence(spec.get("taints")) if _mapping(one).get("effect") in _KEEPS_AWAY]
    troubled = [
        {"key": f"node.kubernetes.io/{_ON_NODE_CONDITIONS[kind]}", "effect": "NoSchedule"}
        for condition in _as_sequence(status.get("conditions"))
        if (kind := str(_mapping(condition).get("type"))) in _ON_NODE_CONDITIONS
        and (_mapping(condition).get("status") == "True") is not (kind == "Ready")
    ]
    return [*([_CORDONED] if spec.get("unschedulable") is True else ()), *declared, *troubled]


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    key, effect = toleration.get("key") or "", toleration.get("effect") or ""
    if (effect and effect != taint.get("effect")) or (key and key != taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def _is_chosen(spec: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether the pod's own choice of nodes includes this one."""
    metadata = _mapping(node.get("metadata"))
    labels = _mapping(metadata.get("labels"))
    if any(labels.get(key) != value for key, value in _mapping(spec.get("nodeSelector")).items()):
        return False
    affinity = _mapping(_mapping(spec.get("affinity")).get("nodeAffinity"))
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not isinstance(required, Mapping):
        return True
    fields = {"metadata.name": metadata.get("name")}
    return any(_fits_term(_mapping(term), labels, fields) for term in _as_sequence(required.get("nodeSelectorTerms")))


def _fits_term(term: Mapping[str, Any], labels: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether a node meets a term; a term without requirements matches no node."""
    marks, names = _as_sequence(term.get("matchExpressions")), _as_sequence(term.get("matchFields"))
    return (
        bool(marks or names) and all(meets(one, labels) for one in marks) and all(meets(one, fields) for one in names)
    )


def _lack(spec: Mapping[str, Any], node: Mapping[str, Any]) -> str | None:
    """The first resource of which an empty node has too little for the pod; other pods on it are ignored."""
    offered = _mapping(_mapping(node.get("status")).get("allocatable"))
    if not offered:
        return None
    for resource, wanted in requests(spec).items():
        # A node that lists no cpu, memory or storage may still have some; anything else it lists or lacks.
        known = offered.get(resource, None if resource in _ALWAYS_THERE else "0")
        if known is not None and wanted > amount_of(str(known)):
            return f"Insufficient {resource}"
    return None


_ALWAYS_THERE = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def requests(spec: Mapping[str, Any]) -> dict[str, float]:
    """What a pod requests: its containers together, or more if one init container needs more."""
    total: dict[str, float] = {}
    for container in _as_sequence(spec.get("containers")):
        for resource, wanted in _requested_amounts(container).items():
            total[resource] = total.get(resource, 0.0) + wanted
    for container in _as_sequence(spec.get("initContainers")):
        for resource, wanted in _requested_amounts(container).items():
            total[resource] = max(total.get(resource, 0.0), wanted)
    return total


def _requested_amounts(container: Any) -> dict[str, float]:
    """What a container requests; its limit counts as its request if it has none."""
    resources = _mapping(_mapping(container).get("resources"))
    asked = {**_mapping(resources.get("limits")), **_mapping(resources.get("requests"))}
    return {str(resource): amount_of(str(value)) for resource, value in asked.items()}


def _name(node: Mapping[str, Any]) -> str:
    return str(_mapping(node.get("metadata")).get("name") or "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, _MAPPING) else {}


def _as_sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
