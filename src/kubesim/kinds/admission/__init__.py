"""The server's admission plugins, in three steps: what they add, what they allocate to services, and what they forbid.

`admit_object` runs before an object is prepared and validated, `allocate_addresses` and `charged_quotas` after it.
"""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.admission.accounts import with_account
from kubesim.kinds.admission.addresses import with_addresses
from kubesim.kinds.admission.classes import (
    require_growth,
    with_ingress_class,
    with_runtime_class,
    with_storage_class,
)
from kubesim.kinds.admission.limits import limit_problems, with_limits
from kubesim.kinds.admission.priorities import (
    second_default,
    with_old_priority,
    with_patience,
    with_priority,
)
from kubesim.kinds.admission.quotas import charge_quotas
from kubesim.kinds.admission.refusal import admission_refusal, join_problems
from kubesim.priority_classes import PRIORITY_CLASSES
from kubesim.status import Json
from kubesim.store import Store

PROTECTION = {"pvc": "kubernetes.io/pvc-protection", "pv": "kubernetes.io/pv-protection"}
"""The finalizers that protect storage in use from deletion."""
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def admit_object(
    store: Store,
    resource: Resource,
    obj: Json,
    old: Json | None,
    subresource: str = "",
    *,
    namespace: str = "",
) -> Json:
    """`obj` with what the plugins add to a new object, or to a new state of an old one; raise 403 if they refuse."""
    if subresource:
        return obj
    if resource.noun == "pod":
        if old is not None:
            return with_patience(with_old_priority(obj, old))
        limited = with_limits(store, with_account(store, obj, namespace), namespace)
        return with_runtime_class(store, resource, with_patience(with_priority(store, resource, limited)))
    if old is not None:
        return obj
    if resource.noun in PROTECTION:
        classed = with_storage_class(store, obj) if resource.noun == "pvc" else obj
        return _with_finalizer(classed, PROTECTION[resource.noun])
    if resource.noun == "node":
        return _not_ready(obj)
    if resource.noun == "ingress":
        return with_ingress_class(store, resource, obj)
    return obj


def allocate_addresses(
    store: Store,
    resource: Resource,
    obj: Json,
    old: Json | None,
    *,
    dry_run: bool = False,
    subresource: str = "",
) -> Json:
    """A valid object with what the server allocates: addresses and node ports of services."""
    if resource.noun != "service" or subresource:
        return obj
    return with_addresses(store, resource, obj, old, dry_run=dry_run)


def charged_quotas(
    store: Store,
    resource: Resource,
    obj: Json,
    old: Json | None,
    subresource: str = "",
) -> list[tuple[Json, Json]]:
    """The quotas that a valid object uses, before and after; raise 403 when a plugin forbids it."""
    if subresource:
        return []
    if resource.noun in {"pod", "pvc"} and (old is None or (resource.noun == "pvc" and not _is_going(old))):
        problems = limit_problems(store, resource.noun, obj)
        if problems:
            raise admission_refusal(resource, obj, join_problems(problems))
    if resource.noun == "pvc" and old is not None:
        require_growth(store, resource, obj, old)
    if resource.noun == PRIORITY_CLASSES and (problem := second_default(store, obj, old)):
        raise admission_refusal(resource, obj, problem)
    return charge_quotas(store, resource, obj, old) if resource.namespaced else []


def _with_finalizer(obj: Json, finalizer: str) -> Json:
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "finalizers": [*finalizers, finalizer]}}


def _not_ready(node: Json) -> Json:
    """A new node accepts no pods until its kubelet reports that it is ready."""
    spec = node.get("spec") or {}
    taints = spec.get("taints") or []
    if any(row.get("key") == _NOT_READY["key"] and row.get("effect") == _NOT_READY["effect"] for row in taints):
        return node
    return {**node, "spec": {**spec, "taints": [*taints, dict(_NOT_READY)]}}


def _is_going(obj: Json) -> bool:
    return "deletionTimestamp" in obj["metadata"]
