"""Who owns what, and the small writes that all controllers share."""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesim.controllers.dynamics import Moment
from kubesim.placement import demands_nothing, fitting_nodes
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import Store, controller_of, is_being_deleted

_PERCENT_DIGITS = 18  # of a 64-bit number, which validation does not check


def owned_objects(store: Store, noun: str, owner: Json) -> list[Json]:
    """The objects of a type that an owner controls and that are not being deleted."""
    metadata = owner["metadata"]
    return controlled_objects(store, noun, metadata["namespace"]).get(metadata["uid"], [])


def controlled_objects(store: Store, noun: str, namespace: str) -> Mapping[str, list[Json]]:
    """The objects of a type in a namespace by the uid of their controller, without those that are being deleted."""
    return store.derive_in(namespace, _by_controller, noun)


def _by_controller(items: Iterable[Json]) -> Mapping[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for item in items:
        owner = controller_of(item)
        if owner is not None and not is_being_deleted(item):
            found.setdefault(owner.get("uid", ""), []).append(item)
    return found


def store_annotations(store: Store, row: ResourceType, obj: Json, annotations: Mapping[str, str]) -> Json:
    """The object with the annotations, stored if it did not have them."""
    latest = store.by_uid(obj["metadata"]["uid"]) or obj
    known = latest["metadata"].get("annotations") or {}
    if all(known.get(key) == value for key, value in annotations.items()):
        return latest
    metadata = {**latest["metadata"], "annotations": {**known, **annotations}}
    return store.update(row, latest, {**latest, "metadata": metadata})


def put_status(store: Store, row: ResourceType, obj: Json, status: Json) -> None:
    """Report a status for the generation that it was made from; an unchanged status is not written."""
    latest = store.by_uid(obj["metadata"]["uid"])
    if latest is None:
        return
    observed = {"observedGeneration": latest["metadata"].get("generation", 1), **status}
    if latest.get("status") != observed:
        store.report(row, latest, observed)


def share(value: Any, whole: int, *, up: bool) -> int:
    """A number of pods, or a percentage of them rounded up or down; anything else counts as none."""
    if isinstance(value, str):
        digits = value.removesuffix("%")
        if digits == value or not digits.isdecimal() or len(digits) > _PERCENT_DIGITS:
            return 0
        part = int(digits) * whole
        return -(-part // 100) if up else part // 100
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def nodes_for(store: Store, template: Json, moment: Moment) -> list[str]:
    """The nodes that accept a pod of a template; what was declared to run does run, though only where it might."""
    spec = template["spec"]
    anywhere = store.derive_cached(_undemanding, "node")
    found = anywhere if demands_nothing(spec) else fitting_nodes(spec, store.items("node"))
    return found or (anywhere if moment.silent else [])


def _undemanding(nodes: list[Json]) -> list[str]:
    """The nodes that accept a pod without requirements."""
    return fitting_nodes({}, nodes)
