"""The life of custom resource definitions inside the server: accepted and served, then emptied and gone."""

from kubesim.discovery.catalogue import (
    CUSTOM_DEFINITIONS,
    Catalogue,
    is_established,
    own_manager,
)
from kubesim.fields import update_owners
from kubesim.resource import ResourceType
from kubesim.status import Json
from kubesim.store import Store
from kubesim.types.definitions import definitions

_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_DELETION_WORDS = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def settle_definitions(store: Store, catalogue: Catalogue, now: str) -> None:
    """Serve the new definitions, and remove the deleted ones together with their objects."""
    row = catalogue.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    if row is None:
        return
    for definition in store.items(CUSTOM_DEFINITIONS):
        if definition["metadata"].get("deletionTimestamp"):
            _remove(store, row, definition)
        elif not is_established(definition) or definition["status"]["acceptedNames"] != definition["spec"]["names"]:
            served = _establish_definition(definition, now)
            type_ = definitions(catalogue.minor).of_kind(row.group, row.version, row.kind)
            written = update_owners(
                type_, definition, served, manager=own_manager(catalogue.minor), api_version=row.api_version, now=now,
                minor=catalogue.minor, subresource="status",
            )  # fmt: skip
            store.write(row, written)


def _establish_definition(definition: Json, now: str) -> Json:
    status, names = definition["status"], definition["spec"]["names"]
    conditions = status.get("conditions") or [
        _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
        _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
    ]
    return {**definition, "status": {**status, "conditions": conditions, "acceptedNames": names}}


def _condition(kind: str, reason: str, message: str, now: str) -> Json:
    return {"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message}


def marked_for_deletion(definition: Json, now: str) -> Json:
    """A definition that is being deleted; its objects go first."""
    metadata, status = definition["metadata"], definition.get("status") or {}
    finalizers = [name for name in metadata.get("finalizers") or () if name != _CLEANUP]
    conditions = [item for item in status.get("conditions") or () if item.get("type") != "Terminating"]
    conditions.append(_condition("Terminating", "InstanceDeletionPending", _DELETION_WORDS, now))
    marks = {"deletionTimestamp": metadata.get("deletionTimestamp") or now, "finalizers": [*finalizers, _CLEANUP]}
    return {**definition, "metadata": {**metadata, **marks}, "status": {**status, "conditions": conditions}}


def _remove(store: Store, row: ResourceType, definition: Json) -> None:
    """Remove the objects of the resource, and the definition itself when nothing else holds it."""
    spec = definition["spec"]
    names, group = spec["names"], spec["group"]
    noun = f"{names['plural']}.{group}"
    stored = ResourceType(noun, names["plural"], names["kind"], group, namespaced=spec.get("scope") == "Namespaced")
    for obj in store.items(noun):
        store.remove(stored, obj)
    held = [name for name in definition["metadata"].get("finalizers") or () if name != _CLEANUP]
    if not held:
        store.remove(row, definition)
    elif _CLEANUP in definition["metadata"]["finalizers"]:
        store.write(row, {**definition, "metadata": {**definition["metadata"], "finalizers": held}})
