"""What pods and nodes use, as a metrics server reports it: steady figures near what containers request."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kubesim.status import Json
from kubesim.store import Store
from kubesim.types.quantity import amount_of

GROUP = "metrics.k8s.io"
_WINDOW = 15
"""Seconds over which usage is measured; within them the figures stay the same."""
_KIBI = 1024
_USUAL = {"cpu": 0.02, "memory": 64.0 * 1024 * 1024}
"""The usage, in cores and bytes, of a container that requests nothing."""
_OF_THE_NODE = {"cpu": 0.12, "memory": 900.0 * 1024 * 1024}
"""The usage of a node's processes outside its pods."""


class Used(NamedTuple):
    """Processor time in cores and memory in bytes."""

    cpu: float
    memory: float

    def document(self) -> Json:
        """In the API's form: billionths of a core, and binary kilobytes."""
        return {"cpu": f"{round(self.cpu * 1e9)}n", "memory": f"{round(self.memory / _KIBI)}Ki"}


def pod_usage(store: Store, namespace: str | None, now: str) -> Iterator[Json]:
    """The usage of each pod that runs, container by container."""
    for pod in store.items("pod", namespace):
        if (pod.get("status") or {}).get("phase") == "Running":
            names = _running_containers(pod)
            containers = [
                {"name": item["name"], "usage": _used_amounts(pod, item, now).document()}
                for item in pod["spec"].get("containers") or () if item.get("name") in names
            ]  # fmt: skip
            if containers:
                yield {**_usage_document("PodMetrics", pod, now), "containers": containers}


def node_usage(store: Store, now: str) -> Iterator[Json]:
    """The usage of each ready node: its pods, and what else runs there."""
    pods = store.items("pod")
    for node in store.items("node"):
        conditions = (node.get("status") or {}).get("conditions") or ()
        if any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions):
            name = node["metadata"]["name"]
            own = [pod for pod in pods if pod["spec"].get("nodeName") == name]
            yield {**_usage_document("NodeMetrics", node, now), "usage": _used_on(node, own, now).document()}


def _used_on(node: Json, pods: Iterable[Json], now: str) -> Used:
    parts = [
        _used_amounts(pod, item, now) for pod in pods if (pod.get("status") or {}).get("phase") == "Running"
        for item in pod["spec"].get("containers") or () if item.get("name") in _running_containers(pod)
    ]  # fmt: skip
    most = (node.get("status") or {}).get("capacity") or {}
    beside = Used(*(_OF_THE_NODE[kind] * _share(node, kind, now) for kind in Used._fields))
    return Used(*(
        min(sum(getattr(part, kind) for part in (beside, *parts)), _amount(most, kind) or float("inf"))
        for kind in Used._fields
    ))  # fmt: skip


def _used_amounts(pod: Json, container: Mapping[str, Any], now: str) -> Used:
    """About half of what the container requests, and never more than its limit."""
    asked = container.get("resources") or {}
    figures = []
    for kind in Used._fields:
        request, limit = _amount(asked.get("requests"), kind), _amount(asked.get("limits"), kind)
        share = _share(pod, f"{container.get('name')} {kind}", now)
        figures.append(min((request or limit or _USUAL[kind]) * share, limit or float("inf")))
    return Used(*figures)


def _share(obj: Json, what: str, now: str) -> float:
    """A share from 0.35 to 0.75, particular to the object, that varies a little from window to window."""
    uid = obj["metadata"].get("uid", "")
    own = hashlib.sha256(f"{uid} {what}".encode()).digest()[0] / 255
    window = f"{now[:17]}{int(now[17:19]) // _WINDOW}"
    present = hashlib.sha256(f"{uid} {what} {window}".encode()).digest()[0] / 255
    return 0.35 + 0.35 * own + 0.05 * present


def _amount(quantities: Any, kind: str) -> float:
    text = quantities.get(kind) if isinstance(quantities, dict) else None
    return amount_of(str(text)) if text is not None else 0.0


def _running_containers(pod: Json) -> set[str]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return {item.get("name", "") for item in statuses if "running" in (item.get("state") or {})}


def _usage_document(kind: str, obj: Json, now: str) -> Json:
    metadata = obj["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata}
    return {
        "kind": kind, "apiVersion": f"{GROUP}/v1beta1", "metadata": {**kept, "creationTimestamp": now},
        "timestamp": now, "window": f"{_WINDOW}s",
    }  # fmt: skip
