"""The priority classes that every API server starts with, and refuses to delete."""

from collections.abc import Callable

from kubesim.discovery.catalogue import catalogue, own_manager
from kubesim.resource import ResourceType, noun_of
from kubesim.status import ApiError, Json
from kubesim.store import Layer

_FULL_NAME = "priorityclasses.scheduling.k8s.io"
PRIORITY_CLASSES = noun_of(_FULL_NAME)
_API_VERSION = "scheduling.k8s.io/v1"
_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
}
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def system_priority_classes(minor: int, created: str, uid: Callable[[], str]) -> Layer:
    """The system's own classes as a server makes them at startup."""
    row = catalogue(minor).find("scheduling.k8s.io", "v1", "priorityclasses")
    if row is None:
        return {}
    return {row: {"": {name: _class(name, created, uid(), own_manager(minor)) for name in SYSTEM_PRIORITIES}}}


def _class(name: str, created: str, uid: str, manager: str) -> Json:
    entry = {
        "manager": manager, "operation": "Update", "apiVersion": _API_VERSION, "time": created,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:description": {}, "f:preemptionPolicy": {}, "f:value": {}},
    }  # fmt: skip
    metadata = {
        "name": name, "uid": uid, "resourceVersion": "2", "generation": 1, "creationTimestamp": created,
        "managedFields": [entry],
    }  # fmt: skip
    return {
        "kind": "PriorityClass", "apiVersion": _API_VERSION, "metadata": metadata, "value": SYSTEM_PRIORITIES[name],
        "description": _DESCRIPTIONS[name], "preemptionPolicy": "PreemptLowerPriority",
    }  # fmt: skip


def require_removable(row: ResourceType, name: str) -> None:
    """Raise 403 for a class of the system."""
    if row.noun == PRIORITY_CLASSES and name in SYSTEM_PRIORITIES:
        text = f'{_FULL_NAME} "{name}" is forbidden: this is a system priority class and cannot be deleted'
        details = {"name": name, "group": row.group, "kind": row.plural}
        raise ApiError(403, "Forbidden", text, details)
