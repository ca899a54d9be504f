"""The GitOps controller: how an application's declaration and the cluster's content drift apart and are reconciled.

An application's `spec.desired` is the content of its repository. Additional fields of an object are not drift, unless
the repository says otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kubesim.resource import BY_KIND, BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Store, is_being_deleted

SYNCED, OUT_OF_SYNC = "Synced", "OutOfSync"
_APPLICATION = BY_NOUN["gitops-application"]
_DONE = "successfully synced (all tasks run)"
_TRIED = "successfully synced (dry run)"
_BY_ITSELF = {"initiatedBy": {"automated": True}, "sync": {"selfHeal": True}}


def reconcile(store: Store, application: Json, now: str) -> Json:
    """Carry out a sync that was requested, or that self-healing requires, and report; the application as stored."""
    asked = (application.get("operation") or {}).get("sync")
    drifted = _drifted_objects(store, application)
    policy = (application.get("spec") or {}).get("syncPolicy") or {}
    heals = bool(drifted) and bool((policy.get("automated") or {}).get("selfHeal"))
    operation = None
    if asked is not None or heals:
        is_trial = isinstance(asked, Mapping) and bool(asked.get("dryRun"))
        if not is_trial:
            for wanted in drifted:
                _apply(store, wanted, now)
            drifted = _drifted_objects(store, application)
        operation = {
            "phase": "Succeeded", "message": _TRIED if is_trial else _DONE, "startedAt": now, "finishedAt": now,
            "operation": application.get("operation") or _BY_ITSELF,
        }  # fmt: skip
    return _report(store, application, drifted, operation)


def desired_objects(application: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The content of the application's repository."""
    return (application.get("spec") or {}).get("desired") or ()


def live_object(store: Store, wanted: Mapping[str, Any]) -> Json | None:
    """The object in the cluster that the repository means; None when there is none."""
    row = BY_KIND.get(str(wanted.get("kind")))
    found = store.get(row.noun, _place(row, wanted), str(wanted.get("name"))) if row else None
    return None if found is None or is_being_deleted(found) else found


def health(wanted: Mapping[str, Any], found: Json | None) -> str:
    """The health of an object, in Argo CD's words."""
    if found is None:
        return "Missing"
    if wanted.get("kind") not in {"Deployment", "StatefulSet"}:
        return "Healthy"
    status, replicas = found.get("status") or {}, (found.get("spec") or {}).get("replicas", 1)
    ready = status.get("availableReplicas", status.get("readyReplicas", 0))
    if ready >= replicas and status.get("updatedReplicas", replicas) >= replicas:
        return "Healthy"
    conditions = {item.get("type"): item for item in status.get("conditions") or ()}
    failed = (conditions.get("Available") or {}).get("status") == "False"
    return "Degraded" if failed else "Progressing"


def covers(found: Any, wanted: Any) -> bool:
    """Whether an actual value contains everything that is desired; maps may hold more."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and covers(found[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(covers(one, other) for one, other in zip(found, wanted, strict=True))
        )
    return bool(found == wanted)


def _drifted_objects(store: Store, application: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [wanted for wanted in desired_objects(application) if not _is_in_sync(store, wanted)]


def _is_in_sync(store: Store, wanted: Mapping[str, Any]) -> bool:
    found = live_object(store, wanted)
    return found is not None and covers(found.get("spec") or {}, wanted.get("spec") or {})


def _apply(store: Store, wanted: Mapping[str, Any], now: str) -> None:
    row, found = BY_KIND.get(str(wanted.get("kind"))), live_object(store, wanted)
    if row is None:
        return
    if found is not None:
        store.update(row, found, {**found, "spec": _merge_values(found.get("spec"), wanted.get("spec") or {})})
    elif store.get(row.noun, _place(row, wanted), str(wanted.get("name"))) is None:
        metadata = {"name": wanted["name"], "namespace": _place(row, wanted), **(wanted.get("metadata") or {})}
        manifest = {"apiVersion": row.api_version, "kind": row.kind, "metadata": metadata, "spec": wanted.get("spec")}
        store.create(row, manifest, now)


def _merge_values(found: Any, wanted: Any) -> Any:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return {**found, **{key: _merge_values(found.get(key), value) for key, value in wanted.items()}}
    if isinstance(wanted, list | tuple) and isinstance(found, list | tuple) and len(found) == len(wanted):
        return [_merge_values(one, other) for one, other in zip(found, wanted, strict=True)]
    return wanted


def _report(store: Store, application: Json, drifted: Sequence[Mapping[str, Any]], operation: Json | None) -> Json:
    status = application.get("status") or {}
    found = [(wanted, live_object(store, wanted)) for wanted in desired_objects(application)]
    resources: list[Json] = [
        {
            "kind": wanted.get("kind"), "namespace": wanted.get("namespace"), "name": wanted.get("name"),
            "status": OUT_OF_SYNC if wanted in drifted else SYNCED, "health": {"status": health(wanted, item)},
        }
        for wanted, item in found
    ]  # fmt: skip
    states = [resource["health"]["status"] for resource in resources]
    worst = next((state for state in ("Degraded", "Missing", "Progressing") if state in states), "Healthy")
    declared = (status.get("sync") or {}).get("status")
    # An application that manages nothing here keeps its declared state.
    sync = declared if not found else OUT_OF_SYNC if drifted else SYNCED
    changed = {
        **status,
        "sync": {**(status.get("sync") or {}), "status": sync or "Unknown"},
        **({"health": {"status": worst}, "resources": resources} if found else {}),
        **({"operationState": operation} if operation else {}),
    }
    kept = {key: value for key, value in application.items() if key != "operation"}
    return store.update(_APPLICATION, application, {**kept, "status": changed})


def _place(row: ResourceType, wanted: Mapping[str, Any]) -> str:
    return str(wanted.get("namespace") or "") if row.namespaced else ""
