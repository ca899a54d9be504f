"""Series that follow from the cluster itself, as kube-state-metrics and scrapes of its pods would produce them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from kubesim.services.prometheus.series import NAME, Series
from kubesim.services.visit import Subject, subject_of
from kubesim.status import Json
from kubesim.store import Store, controller_of
from kubesim.types.quantity import QuantityError, quantity

_PORT = 8080
_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_UNITS = {"cpu": "core", "memory": "byte"}
_WORKLOADS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "deployment": {
        "kube_deployment_spec_replicas": ("spec", "replicas"),
        "kube_deployment_status_replicas": ("status", "replicas"),
        "kube_deployment_status_replicas_ready": ("status", "readyReplicas"),
        "kube_deployment_status_replicas_available": ("status", "availableReplicas"),
        "kube_deployment_status_replicas_unavailable": ("status", "unavailableReplicas"),
        "kube_deployment_status_replicas_updated": ("status", "updatedReplicas"),
        "kube_deployment_metadata_generation": ("metadata", "generation"),
        "kube_deployment_status_observed_generation": ("status", "observedGeneration"),
    },
    "statefulset": {
        "kube_statefulset_replicas": ("spec", "replicas"),
        "kube_statefulset_status_replicas": ("status", "replicas"),
        "kube_statefulset_status_replicas_ready": ("status", "readyReplicas"),
    },
    "daemonset": {
        "kube_daemonset_status_desired_number_scheduled": ("status", "desiredNumberScheduled"),
        "kube_daemonset_status_number_ready": ("status", "numberReady"),
    },
    "hpa": {
        "kube_horizontalpodautoscaler_spec_min_replicas": ("spec", "minReplicas"),
        "kube_horizontalpodautoscaler_spec_max_replicas": ("spec", "maxReplicas"),
        "kube_horizontalpodautoscaler_status_current_replicas": ("status", "currentReplicas"),
        "kube_horizontalpodautoscaler_status_desired_replicas": ("status", "desiredReplicas"),
    },
}
_LABEL = {"hpa": "horizontalpodautoscaler"}


def cluster_series(store: Store, places: tuple[str, ...] | None = None) -> Iterator[Series]:
    """The metrics of objects in these namespaces, or in all; their state has held since they were made."""
    for noun, fields in _WORKLOADS.items():
        for item in _items(store, noun, places):
            labels = {_LABEL.get(noun, noun): item["metadata"]["name"]}
            for name, path in fields.items():
                yield _single_series(item, name, _number(item, path), subject_of(item), **labels)
    for item in _items(store, "deployment", places):
        yield from _conditions(item, "kube_deployment_status_condition", subject_of(item), deployment=_name(item))
    for pod in _items(store, "pod", places):
        yield from _pod_series(store, pod)
    for node in store.items("node") if places is None else ():
        subject = Subject("", _name(node))
        yield _single_series(node, "kube_node_info", 1, subject, node=_name(node))
        unschedulable = bool((node.get("spec") or {}).get("unschedulable"))
        yield _single_series(node, "kube_node_spec_unschedulable", unschedulable, subject, node=_name(node))
        yield from _conditions(node, "kube_node_status_condition", subject, node=_name(node))
        for part in ("allocatable", "capacity"):
            for resource, amount in ((node.get("status") or {}).get(part) or {}).items():
                labels = {"node": _name(node), "resource": resource, "unit": _UNITS.get(resource, "integer")}
                yield _single_series(node, f"kube_node_status_{part}", _amount(amount), subject, **labels)


def _items(store: Store, noun: str, places: tuple[str, ...] | None) -> list[Json]:
    if places is None:
        return store.items(noun)
    return [item for place in places for item in store.items(noun, place)]


def alert_series(store: Store) -> Iterator[Series]:
    """Pending and firing alerts, as Prometheus itself keeps them."""
    for alert in store.items("alert"):
        status, spec = alert.get("status") or {}, alert.get("spec") or {}
        if status.get("state") not in {"pending", "firing"}:
            continue
        since = epoch(status.get("activeAt")) or epoch(alert["metadata"].get("creationTimestamp")) or 0.0
        labels = {"alertname": _name(alert), **{str(k): str(v) for k, v in (spec.get("labels") or {}).items()}}
        shown = {NAME: "ALERTS", "alertstate": str(status["state"]), **labels}
        yield Series(shown, ((since, 1.0),), subject_of(alert), alert=True)
        yield Series({NAME: "ALERTS_FOR_STATE", **labels}, ((since, since),), subject_of(alert), alert=True)


def scraped_pods(store: Store) -> Iterator[tuple[Subject, Json, bool]]:
    """Every scraped pod, its workload, and whether it answers."""
    for pod in store.items("pod"):
        conditions = (pod.get("status") or {}).get("conditions") or ()
        ready = any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)
        yield _workload(store, pod), pod, ready


def scrape_labels(subject: Subject, pod: Json) -> dict[str, str]:
    """The labels of a scraped pod."""
    address = (pod.get("status") or {}).get("podIP") or "0.0.0.0"  # noqa: S104 - a pod that has no address yet
    return {
        "job": subject.name, "namespace": subject.namespace, "service": subject.name, "pod": _name(pod),
        "instance": f"{address}:{_PORT}",
    }  # fmt: skip


def epoch(text: Any) -> float | None:
    """A time that an object carries, in seconds since 1970; None if it is invalid."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _pod_series(store: Store, pod: Json) -> Iterator[Series]:
    subject, labels, status = _workload(store, pod), {"pod": _name(pod)}, pod.get("status") or {}
    conditions = status.get("conditions") or ()
    ready = any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)
    created = _creation_epoch(pod)
    yield Series({NAME: "up", **scrape_labels(subject, pod)}, ((created, float(ready)),), subject)
    for condition in ("true", "false"):
        yield _single_series(
            pod, "kube_pod_status_ready", ready is (condition == "true"), subject, condition=condition, **labels
        )
    for phase in _PHASES:
        yield _single_series(pod, "kube_pod_status_phase", status.get("phase") == phase, subject, phase=phase, **labels)
    node = (pod.get("spec") or {}).get("nodeName", "")
    yield _single_series(pod, "kube_pod_info", 1, subject, node=node, pod_ip=status.get("podIP", ""), **labels)
    for container in status.get("containerStatuses") or ():
        own = {"container": str(container.get("name", "")), **labels}
        yield _single_series(
            pod, "kube_pod_container_status_restarts_total", container.get("restartCount", 0), subject, **own
        )
        yield _single_series(pod, "kube_pod_container_status_ready", bool(container.get("ready")), subject, **own)
        for key, name, part in (
            ("state", "kube_pod_container_status_waiting_reason", "waiting"),
            ("state", "kube_pod_container_status_terminated_reason", "terminated"),
            ("lastState", "kube_pod_container_status_last_terminated_reason", "terminated"),
        ):
            if reason := ((container.get(key) or {}).get(part) or {}).get("reason"):
                yield _single_series(pod, name, 1, subject, reason=str(reason), **own)
    for container in (pod.get("spec") or {}).get("containers") or ():
        for part in ("limits", "requests"):
            for resource, amount in ((container.get("resources") or {}).get(part) or {}).items():
                own = {"container": str(container.get("name", "")), "resource": resource,
                       "unit": _UNITS.get(resource, "integer"), **labels}  # fmt: skip
                yield _single_series(pod, f"kube_pod_container_resource_{part}", _amount(amount), subject, **own)


def _conditions(item: Json, name: str, subject: Subject, **labels: str) -> Iterator[Series]:
    for condition in (item.get("status") or {}).get("conditions") or ():
        for status in ("true", "false", "unknown"):
            holds = str(condition.get("status", "")).lower() == status
            yield _single_series(
                item, name, holds, subject, condition=str(condition.get("type", "")), status=status, **labels
            )


def _workload(store: Store, pod: Json) -> Subject:
    """The topmost controller of a pod, or the pod itself."""
    current, seen = pod, set[str]()
    while current["metadata"]["uid"] not in seen:
        seen.add(current["metadata"]["uid"])
        owner = controller_of(current)
        current = store.by_uid(str(owner.get("uid", ""))) or current if owner else current
    return Subject(pod["metadata"].get("namespace", ""), _name(current))


def _single_series(item: Json, name: str, value: float, subject: Subject, **labels: str) -> Series:
    place = {"namespace": subject.namespace} if subject.namespace else {}
    shown = {NAME: name, **place, **{key: text for key, text in labels.items() if text}}
    return Series(shown, ((_creation_epoch(item), float(value)),), subject)


def _creation_epoch(item: Json) -> float:
    return epoch(item["metadata"].get("creationTimestamp")) or 0.0


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])


def _number(item: Json, path: tuple[str, ...]) -> float:
    value = (item.get(path[0]) or {}).get(path[1])
    return float(value) if isinstance(value, int | float) else 0.0


def _amount(text: Any) -> float:
    try:
        found = quantity(str(text))
    except QuantityError:
        return 0.0
    return float(found.mantissa) * 10.0**found.exponent
