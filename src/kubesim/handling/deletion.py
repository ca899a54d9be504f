"""Deleting objects: options, preconditions, grace periods, finalizers, collections and namespaces."""

from datetime import datetime, timedelta

from kubesim.custom_definitions import marked_for_deletion
from kubesim.discovery.catalogue import CUSTOM_DEFINITIONS
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.lists import list_options, select_objects
from kubesim.handling.options import (
    deletion_options,
    mapping,
    recorded_options,
    require_deletion_options,
    require_preconditions,
)
from kubesim.handling.presentation import form, list_response, object_response, plain_response
from kubesim.handling.writing import require_review
from kubesim.kinds.conversion import convert_object
from kubesim.priority_classes import require_removable
from kubesim.resource import noun_of
from kubesim.status import ApiError, Json, conflict, success
from kubesim.store import FOREGROUND, FOREGROUND_FINALIZER, ORPHAN, ORPHAN_FINALIZER

_RETURNED = frozenset(map(noun_of, (
    "pod", "serviceaccount", "pvc", "pv", "resourcequota", "namespace", "podtemplates", "podsecuritypolicies.policy",
    "storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
)))  # fmt: skip
"""Types whose deletion is answered with the object and not with a Status."""
_SERVICE_RETURNED_SINCE = 34
"""The first release known to answer the deletion of a service with the dated service."""
_ORPHANING = frozenset({"job", noun_of("replicationcontrollers")})
"""Types whose dependents are orphaned unless the client says otherwise."""
_PROTECTED_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_DEPENDENTS = (FOREGROUND_FINALIZER, ORPHAN_FINALIZER)


def delete(exchange: Exchange) -> Response:
    """Answer a DELETE of one object."""
    form(exchange)
    row = exchange.row
    options = _options(exchange)
    found = exchange.require_object()
    left, is_gone = delete_object(exchange, found, options)
    status = 202 if not is_gone and options.get("orphanDependents") is False else 200
    is_returned = row.noun in _RETURNED or (row.noun == "service" and row.minor >= _SERVICE_RETURNED_SINCE)
    if is_gone and not is_returned:
        metadata = found["metadata"]
        return plain_response(exchange, success(row, metadata["name"], metadata["uid"]), status)
    if is_gone and row.minor >= _SERVICE_RETURNED_SINCE:
        left = {**left, "metadata": {**left["metadata"], "resourceVersion": str(exchange.store.version)}}
    return object_response(exchange, left, status)


def delete_collection(exchange: Exchange) -> Response:
    """Answer a DELETE of a collection with the objects as they were."""
    form(exchange)
    asked = list_options(exchange)
    options = _options(exchange)
    chosen, metadata = select_objects(exchange, asked)
    for item in chosen:
        delete_object(exchange, item, options)
    return list_response(exchange, chosen, metadata)


def _options(exchange: Exchange) -> Json:
    options, in_body = deletion_options(exchange.request, exchange.types)
    if in_body:
        exchange.recorded = recorded_options(exchange.row, options)
    require_deletion_options(options, exchange.row.minor)
    return options


def delete_object(exchange: Exchange, obj: Json, options: Json) -> tuple[Json, bool]:
    """Delete an object, or mark it while something holds it; the object, and whether it is gone."""
    store, row = exchange.store, exchange.row
    dry_run = bool(options.get("dryRun"))
    require_review(exchange, obj["metadata"]["name"])
    if row.noun == "namespace":
        return _delete_namespace(exchange, obj, options, dry_run=dry_run)
    require_preconditions(row, convert_object(obj, row), options)
    require_removable(row, obj["metadata"]["name"])
    if row.noun == CUSTOM_DEFINITIONS:
        doomed = marked_for_deletion(obj, exchange.now)
        return (doomed if dry_run else store.write(row, doomed)), False
    marked, pending = _set_grace_period(exchange, obj, options) if row.noun == "pod" else (None, False)
    if pending:
        return obj, row.noun not in _RETURNED
    current = marked or obj
    finalizers = _finalizers(exchange, current["metadata"], options)
    if finalizers != (current["metadata"].get("finalizers") or []):
        current = {**current, "metadata": {**current["metadata"], "finalizers": finalizers}}
        if not finalizers:
            del current["metadata"]["finalizers"]
    if marked is None and finalizers:
        current = _mark_deleted(current, exchange.now)
    if current is not obj and current != obj and not dry_run:
        current = store.write(row, current)
    grace = current["metadata"].get("deletionGracePeriodSeconds") or 0
    if finalizers or (marked is not None and grace > 0):
        return current, False
    if not dry_run:
        store.remove(row, current)
    return current, True


def _set_grace_period(exchange: Exchange, pod: Json, options: Json) -> tuple[Json | None, bool]:
    """A pod with its grace period set, or None where it must go at once; and whether it is already being deleted."""
    metadata = pod["metadata"]
    asked = options.get("gracePeriodSeconds")
    if metadata.get("deletionTimestamp"):
        current = metadata.get("deletionGracePeriodSeconds") or 0
        if not current:
            return None, False
        if asked is None or asked >= current:
            return None, True
        due = _later_timestamp(metadata["deletionTimestamp"], asked - current)
        return {**pod, "metadata": {**metadata, "deletionTimestamp": due, "deletionGracePeriodSeconds": asked}}, False
    grace = asked if asked is not None else pod["spec"].get("terminationGracePeriodSeconds") or 0
    phase = mapping(pod.get("status")).get("phase")
    if not pod["spec"].get("nodeName") or phase in {"Failed", "Succeeded"}:
        grace = 0
    marks = {"deletionTimestamp": _later_timestamp(exchange.now, grace), "deletionGracePeriodSeconds": grace}
    if metadata.get("generation"):
        marks["generation"] = metadata["generation"] + 1
    return {**pod, "metadata": {**metadata, **marks}}, False


def _mark_deleted(obj: Json, now: str) -> Json:
    """An object that finalizers hold, marked as being deleted."""
    metadata = obj["metadata"]
    marks: Json = {"deletionGracePeriodSeconds": 0}
    if not metadata.get("deletionTimestamp"):
        marks["deletionTimestamp"] = now
        if metadata.get("generation"):
            marks["generation"] = metadata["generation"] + 1
    return {**obj, "metadata": {**metadata, **marks}}


def _finalizers(exchange: Exchange, metadata: Json, options: Json) -> list[str]:
    """The finalizers of an object to be deleted: one of them says what becomes of its dependents."""
    present = list(metadata.get("finalizers") or ())
    row = exchange.row
    if row.noun == "event":
        return present
    policy = options.get("propagationPolicy")
    if options.get("orphanDependents") is not None:
        policy = ORPHAN if options["orphanDependents"] else ""
    elif policy is None:
        held = next((name for name in present if name in _DEPENDENTS), "")
        orphans = row.noun in _ORPHANING or (row.noun == "cronjob" and row.version == "v1beta1")
        policy = {FOREGROUND_FINALIZER: FOREGROUND, ORPHAN_FINALIZER: ORPHAN}.get(held, ORPHAN if orphans else "")
    added = {ORPHAN: [ORPHAN_FINALIZER], FOREGROUND: [FOREGROUND_FINALIZER]}.get(policy, [])
    wanted = [name for name in present if name not in _DEPENDENTS] + added
    return present if set(wanted) == set(present) else wanted


def _delete_namespace(exchange: Exchange, obj: Json, options: Json, *, dry_run: bool) -> tuple[Json, bool]:
    store, row = exchange.store, exchange.row
    metadata, name = obj["metadata"], obj["metadata"]["name"]
    wanted = mapping(options.get("preconditions"))
    for key, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(key) is not None and wanted[key] != metadata[key]:
            why = (
                f"Precondition failed: {label} in precondition: {wanted[key]}, {label} in object meta: {metadata[key]}"
            )
            raise conflict(row, name, why)
    if not metadata.get("deletionTimestamp"):
        if name in _PROTECTED_NAMESPACES:
            text = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
            raise ApiError(403, "Forbidden", text, {"name": name, "kind": "namespaces"})
        finalizers = _finalizers(exchange, metadata, options)
        marks = {"deletionTimestamp": exchange.now, **({"finalizers": finalizers} if finalizers else {})}
        status = {**mapping(obj.get("status")), "phase": "Terminating"}
        marked = {**obj, "metadata": {**metadata, **marks}, "status": status}
        return (marked if dry_run else store.write(row, marked)), False
    if mapping(obj.get("spec")).get("finalizers") or metadata.get("finalizers"):
        return obj, False
    if not dry_run:
        store.remove(row, obj)
    return obj, True


def _later_timestamp(timestamp: str, seconds: int) -> str:
    bounded = max(-(10**9), min(seconds, 10**9))
    try:
        moment = datetime.fromisoformat(timestamp) + timedelta(seconds=bounded)
    except OverflowError:
        # A client got here in many steps; there is no year that far away.
        return timestamp
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
