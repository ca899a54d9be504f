"""Events: what happened to an object, as `kubectl describe` shows it."""

from collections.abc import Mapping
from typing import Any

from kubesim.controllers.dynamics import Moment, pods_of
from kubesim.controllers.rows import EVENT
from kubesim.history import later_time
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import Store

_REMEMBERED = 3300
"""Seconds; servers keep events for an hour."""


def record_event(
    store: Store, about: Mapping[str, Any], reason: str, message: str, moment: Moment, *, kind: str = "Normal",
    component: str = "kubelet", count: int = 1,
) -> Json:  # fmt: skip
    """An event about an object, in its namespace; one that was there before is counted up."""
    metadata = about["metadata"]
    namespace = metadata.get("namespace") or "default"
    # Like the recorders of a real cluster, this recognizes its own events, and not those that others write.
    recorded: dict[tuple[str, ...], str] = store.known_results(record_event)
    what = (namespace, str(metadata.get("uid") or ""), reason, message)
    known = store.get("event", namespace, recorded[what]) if what in recorded else None
    if known is not None:
        again = {"count": known.get("count", 1) + count, "lastTimestamp": moment.last_seen}
        return store.update(EVENT, known, {**known, **again})
    began = _first_seen(moment, count)
    reference = {
        "kind": about["kind"], "name": metadata["name"], "apiVersion": about["apiVersion"],
        **{key: metadata[key] for key in ("namespace", "uid", "resourceVersion") if key in metadata},
    }  # fmt: skip
    manifest = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{metadata['name']}.{store.ids.number():032x}"[: len(metadata["name"]) + 17],
                     "namespace": namespace},
        "involvedObject": reference,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "firstTimestamp": began,
        "lastTimestamp": moment.last_seen,
        "count": count,
        "type": kind,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": "",
    }  # fmt: skip
    stored = store.create(EVENT, manifest, began)
    if "uid" in metadata:
        recorded[what] = stored["metadata"]["name"]
    return stored


def _first_seen(moment: Moment, count: int) -> str:
    """When something was seen first that has been seen so often; what was longer ago than an hour is forgotten."""
    if count < 2:
        return moment.last_seen
    return later_time(moment.last_seen, -min(60 * count, _REMEMBERED)) if moment.silent else moment.now


def object_about(store: Store, row: ResourceType, namespace: str, name: str) -> Mapping[str, Any]:
    """The object that an event is about, or the reference to one that is gone; workloads stand for their pods."""
    pods = pods_of(store, namespace, name) if row.noun == "pod" else []
    found = pods[0] if pods else store.get(row.noun, namespace if row.namespaced else "", name)
    gone = {"kind": row.kind, "apiVersion": row.api_version, "metadata": {"name": name, "namespace": namespace}}
    return found or gone
