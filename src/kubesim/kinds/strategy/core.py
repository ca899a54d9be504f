"""What a write may change in objects of the core group."""

from collections.abc import Callable

from kubesim.kinds.strategy.services import new_service, updated_service
from kubesim.kinds.strategy.steps import creation_step, only_status, update_step, with_status_of
from kubesim.kinds.validation.quality import qos_class
from kubesim.status import Json


def _new_pod(obj: Json) -> Json:
    return {**obj, "status": {"phase": "Pending", "qosClass": qos_class(obj.get("spec") or {})}}


def _pod_status(new: Json, old: Json) -> Json:
    kept = {key: value for key, value in new["metadata"].items() if key not in {"deletionTimestamp", "ownerReferences"}}
    owners = {"ownerReferences": value} if (value := old["metadata"].get("ownerReferences")) else {}
    return only_status({**new, "metadata": {**kept, **owners}}, old)


def _ephemeral(new: Json, old: Json) -> Json:
    """Take only the debug containers from the request."""
    given = (new.get("spec") or {}).get("ephemeralContainers")
    rest = {key: value for key, value in (old.get("spec") or {}).items() if key != "ephemeralContainers"}
    return {
        **new,
        "spec": {**rest, **({"ephemeralContainers": given} if given else {})},
        "status": old.get("status", {}),
    }


def _new_namespace(obj: Json) -> Json:
    finalizers = (obj.get("spec") or {}).get("finalizers") or []
    if "kubernetes" not in finalizers:
        finalizers = [*finalizers, "kubernetes"]
    return {**obj, "spec": {"finalizers": finalizers}, "status": {"phase": "Active"}}


def _namespace(new: Json, old: Json) -> Json:
    return with_status_of(only_status(new, old), old)


def _with_drawn_name(obj: Json) -> Json:
    """A limit range without a name gets an id as its name, here derived from its uid."""
    metadata = obj["metadata"]
    if metadata.get("name") or not metadata.get("uid"):
        return obj
    parts = metadata["uid"].split("-")
    name = "-".join((parts[-1][:8], *parts[1:-1], f"{parts[0]}{parts[-1][8:]}"))
    return {**obj, "metadata": {**metadata, "name": name}}


def _clean_account(obj: Json) -> Json:
    """Only the names are kept of the secrets that an account refers to."""
    if not obj.get("secrets"):
        return obj
    return {**obj, "secrets": [{"name": row["name"]} if row.get("name") else {} for row in obj["secrets"]]}


CREATION: dict[str, Callable[[Json], Json]] = {
    "pod": _new_pod,
    "namespace": _new_namespace,
    "pvc": creation_step(status={"phase": "Pending"}, counted=False),
    "pv": creation_step(status={"phase": "Pending"}, counted=False),
    "resourcequota": creation_step(status={}, counted=False),
    "limitrange": _with_drawn_name,
    "service": new_service,
    "serviceaccount": _clean_account,
    "replicationcontrollers": creation_step(status={"replicas": 0}),
}
UPDATE: dict[str, Callable[[Json, Json], Json]] = {
    "pod": with_status_of,
    "pod/status": _pod_status,
    "pod/ephemeralcontainers": _ephemeral,
    "namespace": _namespace,
    "namespace/status": only_status,
    "namespace/finalize": with_status_of,
    "node": with_status_of,
    "node/status": only_status,
    "pvc": with_status_of,
    "pvc/status": only_status,
    "pv": with_status_of,
    "pv/status": only_status,
    "resourcequota": with_status_of,
    "resourcequota/status": only_status,
    "service": updated_service,
    "service/status": only_status,
    "serviceaccount": lambda new, _: _clean_account(new),
    "replicationcontrollers": update_step(),
    "replicationcontrollers/status": only_status,
}
