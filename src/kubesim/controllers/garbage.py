"""Cascading deletion: dependents go with their owners, content with its namespace."""

from kubesim.controllers.dynamics import Moment
from kubesim.controllers.rows import NAMESPACE
from kubesim.discovery.catalogue import CUSTOM_DEFINITIONS, catalogue
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import (
    FOREGROUND_FINALIZER,
    ORPHAN_FINALIZER,
    Store,
    is_being_deleted,
)


def finish_namespaces(store: Store, moment: Moment) -> None:
    """Delete the content of terminating namespaces, and then the namespaces; finalizers in the content hold both."""
    for namespace in store.items("namespace"):
        if is_being_deleted(namespace):
            content = list(store.all_objects(namespace["metadata"]["name"]))
            held = [obj for row, obj in content if store.delete(row, obj, moment.now) is not None]
            if not held:
                store.remove(NAMESPACE, namespace)


def collect_garbage(store: Store, namespace: str, moment: Moment) -> None:
    """Delete what lost its owners; finish foreground and orphaning deletions."""
    for row, listed in list(store.all_objects(namespace)):
        metadata = listed["metadata"]
        if "ownerReferences" not in metadata and "deletionTimestamp" not in metadata:
            continue
        obj = store.by_uid(metadata["uid"])
        if obj is None:
            continue
        owners = obj["metadata"].get("ownerReferences") or ()
        finalizers = obj["metadata"].get("finalizers") or ()
        if is_being_deleted(obj):
            if {FOREGROUND_FINALIZER, ORPHAN_FINALIZER} & set(finalizers):
                _release_dependents(store, row, obj, moment)
        elif owners:
            _collect(store, row, obj, [owner for owner in owners if _may_exist(store, owner, namespace)], moment)


def _collect(store: Store, row: ResourceType, obj: Json, owners: list[Json], moment: Moment) -> None:
    """Delete an object none of whose owners is left; drop the missing owners of an object that still has some."""
    metadata = obj["metadata"]
    if not owners:
        store.delete(row, obj, moment.now)
    elif len(owners) < len(metadata["ownerReferences"]):
        store.update(row, obj, {**obj, "metadata": {**metadata, "ownerReferences": owners}})


def _may_exist(store: Store, reference: Json, namespace: str) -> bool:
    """Whether an owner exists where a dependent can have one: under that name in its own namespace, or cluster-wide.

    Nothing can be known about owners of a kind that is not served, or about a namespaced owner of a cluster-wide
    dependent; the collector leaves such dependents alone.
    """
    found = store.known_results(_may_exist, CUSTOM_DEFINITIONS)
    kind = (str(reference.get("apiVersion", "")).rpartition("/")[0], str(reference.get("kind", "")))
    if kind not in found:
        found[kind] = _place_of(store, *kind)
    place: tuple[str, bool] | None = found[kind]
    if place is None or (place[1] and not namespace):
        return True
    owner = store.get(place[0], namespace if place[1] else "", str(reference.get("name", "")))
    return owner is not None and owner["metadata"]["uid"] == reference.get("uid")


def _place_of(store: Store, group: str, kind: str) -> tuple[str, bool] | None:
    """The noun of a kind, and whether it is namespaced; None when it is not served."""
    for row in catalogue().resources:
        if (row.group, row.kind) == (group, kind) and "list" in row.verbs:
            return row.noun, row.namespaced
    for spec in (item["spec"] for item in store.items(CUSTOM_DEFINITIONS)):
        if (spec["group"], spec["names"]["kind"]) == (group, kind):
            return f"{spec['names']['plural']}.{group}", spec.get("scope") == "Namespaced"
    return None


def _release_dependents(store: Store, row: ResourceType, owner: Json, moment: Moment) -> None:
    """Delete or orphan what a deleted owner holds, then let the owner go."""
    uid = owner["metadata"]["uid"]
    orphan = ORPHAN_FINALIZER in owner["metadata"]["finalizers"]
    for kind, obj in list(store.all_objects(owner["metadata"].get("namespace", ""))):
        owners = obj["metadata"].get("ownerReferences") or []
        rest = [reference for reference in owners if reference.get("uid") != uid]
        if len(rest) == len(owners):
            continue
        if orphan:
            store.update(kind, obj, {**obj, "metadata": {**obj["metadata"], "ownerReferences": rest}})
        elif kind.noun == "pod":
            store.remove(kind, obj)
        else:
            store.delete(kind, obj, moment.now)
    kept = [name for name in owner["metadata"]["finalizers"] if name not in {FOREGROUND_FINALIZER, ORPHAN_FINALIZER}]
    store.put(row, {**owner, "metadata": {**owner["metadata"], "finalizers": kept}})
