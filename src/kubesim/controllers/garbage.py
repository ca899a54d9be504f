"""What goes away with something else: dependents with their owners, content with its namespace."""

from kubesim.controllers.dynamics import Moment
from kubesim.controllers.rows import NAMESPACE
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import (
    FOREGROUND_FINALIZER,
    ORPHAN_FINALIZER,
    Store,
    is_being_deleted,
)


def finish_namespaces(store: Store, moment: Moment) -> None:
    """Delete the content of namespaces that are going away, and then themselves; what finalizers hold holds both."""
    for namespace in store.items("namespace"):
        if is_being_deleted(namespace):
            content = list(store.objects(namespace["metadata"]["name"]))
            held = [obj for row, obj in content if store.delete(row, obj, moment.now) is not None]
            if not held:
                store.remove(NAMESPACE, namespace)


def collect_garbage(store: Store, namespace: str, moment: Moment) -> None:
    """Delete what lost its owners; finish foreground and orphaning deletions."""
    for row, listed in list(store.objects(namespace)):
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
        elif owners and not any(_is_there(store, owner, namespace) for owner in owners):
            store.delete(row, obj, moment.now)


def _is_there(store: Store, reference: Json, namespace: str) -> bool:
    """Whether an owner exists where a dependent can have one: in its own namespace, or in none."""
    owner = store.by_uid(reference.get("uid", ""))
    return owner is not None and owner["metadata"].get("namespace", "") in {namespace, ""}


def _release_dependents(store: Store, row: ResourceType, owner: Json, moment: Moment) -> None:
    """Delete or orphan what a deleted owner holds, then let the owner go."""
    uid = owner["metadata"]["uid"]
    orphan = ORPHAN_FINALIZER in owner["metadata"]["finalizers"]
    for kind, obj in list(store.objects(owner["metadata"].get("namespace", ""))):
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
