"""Harm by another route: how what an object is there for is taken away without the operation that a goal names.

One route for each type, through the API like everything that witnesses do, in words that an operator could use.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from kubesim.resource import BY_NOUN, WORKLOADS
from sirocco.domains.kubernetes.agents.client import Kubernetes, PatchForm
from sirocco.domains.kubernetes.agents.performance import selector_text
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, labels_of, name_of
from sirocco.domains.kubernetes.operation import Operation
from sirocco.oasis.operation import ALL, ANY

_NO_NODE = {"nodeSelector": {"topology.kubernetes.io/zone": "unassigned"}}
_NO_LABEL = {"app.kubernetes.io/instance": "unassigned"}
_PLENTY = "100000"
_MAKERS = (*sorted(WORKLOADS), "cronjob")
_WITHOUT_ANOTHER_ROUTE = frozenset({"pvc", "serviceaccount", "event", "lease"})
"""What can only be deleted: nothing that a client may change in it takes its function away."""


def has_another_route(operation: Operation) -> bool:
    """Whether what an operation takes away can be taken away by another one."""
    return operation.resource in BY_NOUN and operation.resource not in _WITHOUT_ANOTHER_ROUTE


async def take_away(operation: Operation, kubernetes: Kubernetes, namespace: str) -> None:
    """Take away what the operation would, by another route; refusals are no obstacle."""
    place = operation.namespace or namespace
    if operation.resource == "namespace":
        await _empty_namespace(operation.name, kubernetes)
    elif operation.resource == "pod":
        await _strand_pods(operation, kubernetes, place)
    else:
        for item in await _named(operation, kubernetes, place):
            await _change(operation.resource, item, kubernetes, place)


async def _named(operation: Operation, kubernetes: Kubernetes, namespace: str) -> list[KubernetesObject]:
    """The objects that the operation names; one that cannot be looked up is taken to be there."""
    pattern = ANY if operation.name == ALL else operation.name
    items = await kubernetes.items(operation.resource, namespace, selector_text(operation))
    found = [item for item in items if fnmatchcase(name_of(item), pattern)]
    return found or ([] if pattern == ANY else [{"metadata": {"name": operation.name}}])


async def _strand_pods(operation: Operation, kubernetes: Kubernetes, namespace: str) -> None:
    """Strand what keeps the pods that an operation names; a pod by itself is given an image that nobody has."""
    pattern = ANY if operation.name == ALL else operation.name
    wanted = dict(operation.labels or ()).items()
    for noun in _MAKERS:
        for item in await kubernetes.items(noun, namespace):
            if fnmatchcase(name_of(item), pattern) and wanted <= dict(labels_of(item)).items():
                await _change(noun, item, kubernetes, namespace)
    for pod in await kubernetes.items("pod", namespace, selector_text(operation)):
        if fnmatchcase(name_of(pod), pattern) and not pod["metadata"].get("ownerReferences"):
            await _change("pod", pod, kubernetes, namespace)


async def _empty_namespace(namespace: str, kubernetes: Kubernetes) -> None:
    for noun in (*_MAKERS, "configmap", "secret"):
        for item in await kubernetes.items(noun, namespace):
            await _change(noun, item, kubernetes, namespace)
    for claim in await kubernetes.items("pvc", namespace):
        await kubernetes.delete("pvc", namespace, name_of(claim))


async def _change(noun: str, item: KubernetesObject, kubernetes: Kubernetes, namespace: str) -> None:
    for target, body in _changes(noun, item):
        await kubernetes.patch(target, namespace, name_of(item), body, PatchForm.MERGE)


def _changes(noun: str, item: KubernetesObject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The type to patch under the object's name, and the merge patches that take its function away."""
    spec = item.get("spec") or {}
    match noun:
        case "deployment" | "replicaset" | "statefulset" | "daemonset":
            yield noun, {"spec": {"template": {"spec": _NO_NODE}}}
        case "cronjob" | "job":
            yield noun, {"spec": {"suspend": True}}
        case "pod":
            containers = [{**one, "image": "registry.invalid/app:1"} for one in spec.get("containers") or ()]
            yield noun, {"spec": {"containers": containers}}
        case "node":
            yield noun, {"spec": {"unschedulable": True}}
        case "service" if spec.get("selector") or not spec:
            yield noun, {"spec": {"selector": _NO_LABEL}}
        case "service" | "endpoints":
            yield "endpoints", {"subsets": []}
        case "ingress":
            backend = {"service": {"name": f"{name_of(item)}-spare", "port": {"number": 80}}}
            yield noun, {"spec": {"rules": None, "defaultBackend": backend}}
        case "configmap" | "secret":
            yield noun, {"data": dict.fromkeys(item.get("data") or {"mode": ""}, "")}
        case "pv":
            yield noun, {"spec": {"claimRef": None}}
        case _:
            yield from _slackened(noun, item, spec)


def _slackened(noun: str, item: KubernetesObject, spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The same for what allows, limits or protects."""
    match noun:
        case "role" | "clusterrole":
            yield noun, {"rules": []}
        case "rolebinding" | "clusterrolebinding":
            yield noun, {"subjects": []}
        case "resourcequota":
            yield noun, {"spec": {"hard": dict.fromkeys(spec.get("hard") or {"pods": ""}, _PLENTY)}}
        case "limitrange":
            yield noun, {"spec": {"limits": [{"type": "Container", "max": {"cpu": _PLENTY}}]}}
        case "pdb":
            yield noun, {"spec": {"minAvailable": 0} if "minAvailable" in spec else {"maxUnavailable": "100%"}}
        case "hpa":
            yield noun, {"spec": {"scaleTargetRef": {"name": f"{name_of(item)}-spare"}}}
        case "networkpolicy":
            yield noun, {"spec": {"podSelector": {"matchLabels": _NO_LABEL}}}
