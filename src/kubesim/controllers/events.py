"""Events: what happened to an object, as `kubectl describe` shows it."""

from collections.abc import Mapping
from typing import Any

from kubesim.controllers.dynamics import Moment, pods_of
from kubesim.controllers.rows import EVENT
from kubesim.history import later_time
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import Ids, Store

_REPORTERS: Mapping[str, str] = {
    "deployment": "deployment-controller", "replicaset": "replicaset-controller",
    "statefulset": "statefulset-controller", "daemonset": "daemonset-controller", "job": "job-controller",
    "cronjob": "cronjob-controller", "hpa": "horizontal-pod-autoscaler", "pdb": "controllermanager",
    "pvc": "persistentvolume-controller", "ingress": "nginx-ingress-controller", "service": "service-controller",
    "gitops-application": "argocd-application-controller",
}  # fmt: skip
_REMEMBERED = 3300
"""Seconds; servers keep events for an hour."""


def record_event(
    store: Store, about: Mapping[str, Any], reason: str, message: str, moment: Moment, *, kind: str = "Normal",
    component: str = "kubelet", count: int = 1, pace: int = 60,
) -> Json:  # fmt: skip
    """Record an event about an object in its namespace; an event that exists is counted up.

    Repetitions in the past are `pace` seconds apart.
    """
    metadata = about["metadata"]
    namespace = metadata.get("namespace") or "default"
    # Like the recorders of a real cluster, this recognizes its own events, and not those that others write.
    recorded: dict[tuple[str, ...], str] = store.known_results(record_event)
    what = (namespace, str(metadata.get("uid") or ""), reason, message)
    known = store.get("event", namespace, recorded[what]) if what in recorded else None
    if known is not None:
        again = {"count": known.get("count", 1) + count, "lastTimestamp": moment.last_seen}
        return store.update(EVENT, known, {**known, **again})
    began = _first_seen(moment, count, pace)
    manifest = event_about(
        about, reason, message, store.ids, began, moment.last_seen, kind=kind, component=component, count=count
    )
    stored = store.create(EVENT, manifest, began)
    if "uid" in metadata:
        recorded[what] = stored["metadata"]["name"]
    return stored


def event_about(
    about: Mapping[str, Any], reason: str, message: str, ids: Ids, first: str, last: str, *, kind: str,
    component: str, count: int,
) -> Json:  # fmt: skip
    """An event about an object in the form its recorder gives it."""
    metadata = about["metadata"]
    host = (about.get("spec") or {}).get("nodeName") if component == "kubelet" else None
    reference = {
        "kind": about["kind"], "name": metadata["name"], "apiVersion": about["apiVersion"],
        **{key: metadata[key] for key in ("namespace", "uid", "resourceVersion") if key in metadata},
    }  # fmt: skip
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{metadata['name']}.{ids.number():032x}"[: len(metadata["name"]) + 17],
                     "namespace": metadata.get("namespace") or "default"},
        "involvedObject": reference,
        "reason": reason,
        "message": message,
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": first,
        "lastTimestamp": last,
        "count": count,
        "type": kind,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host or "",
    }  # fmt: skip


def reporter(noun: str) -> str:
    """The usual reporter of events about objects of a type: its controller, or else the kubelet."""
    return _REPORTERS.get(noun, "kubelet")


def _first_seen(moment: Moment, count: int, pace: int) -> str:
    """When an event with this count was first seen; anything more than an hour ago is forgotten."""
    if count < 2:
        return moment.last_seen
    return later_time(moment.last_seen, -min(pace * count, _REMEMBERED)) if moment.silent else moment.now


def object_about(store: Store, row: ResourceType, namespace: str, name: str) -> Mapping[str, Any]:
    """The object that an event is about, or the reference to one that is gone; workloads stand for their pods."""
    pods = pods_of(store, namespace, name) if row.noun == "pod" else []
    found = pods[0] if pods else store.get(row.noun, namespace if row.namespaced else "", name)
    gone = {"kind": row.kind, "apiVersion": row.api_version, "metadata": {"name": name, "namespace": namespace}}
    return found or gone
