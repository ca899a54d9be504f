"""Deployments: one replica set per revision, rolled out as their strategy says, and their status."""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesim.controllers.dynamics import TEMPLATE_HASH, Dynamics, Health, Moment
from kubesim.controllers.events import record_event
from kubesim.controllers.healing import heal
from kubesim.controllers.owners import owned_objects, put_status, share, store_annotations
from kubesim.controllers.rows import DEPLOYMENT, REPLICA_SET
from kubesim.status import Json
from kubesim.store import (
    Store,
    controller_of,
    is_being_deleted,
    key_of,
    owner_reference,
)

REVISION = "deployment.kubernetes.io/revision"
_DESIRED, _MOST = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
_REVISION_DIGITS = 18  # of a 64-bit number; a client can write any text there
_NOT_COPIED = frozenset({REVISION, _DESIRED, _MOST, "kubectl.kubernetes.io/last-applied-configuration"})


def roll_out(dynamics: Dynamics, deployment: Json, moment: Moment) -> None:
    """Take the next step from the existing replica sets to the one that is wanted."""
    if is_being_deleted(deployment):
        return
    store, spec = dynamics.store, deployment["spec"]
    sets = owned_objects(store, "replicaset", deployment)
    uid, seen, before = deployment["metadata"]["uid"], (deployment, *sets), store.version
    if dynamics.is_at_rest_with(roll_out, uid, seen, moment):
        return
    current = _current(dynamics, deployment, sets, moment)
    old = [item for item in sets if item["metadata"]["uid"] != current["metadata"]["uid"]]
    latest = max((_revision(item) for item in old), default=0)
    if _revision(current) <= latest and not spec.get("paused"):
        current = store_annotations(store, REPLICA_SET, current, {REVISION: str(latest + 1)})
    if moment.silent and dynamics.declaration(current).health is not Health.STARTING:
        for item in old:
            _scale(dynamics, deployment, item, 0, moment)
        _scale(dynamics, deployment, current, spec.get("replicas", 1), moment)
    elif (spec.get("strategy") or {}).get("type") == "Recreate":
        _recreate(dynamics, deployment, current, old, moment)
    else:
        _roll(dynamics, deployment, current, old, moment)
    if is_complete(store, deployment):
        _forget_old_revisions(store, deployment, current, moment)
    store_annotations(store, DEPLOYMENT, deployment, {REVISION: str(_revision(current))})
    if store.version == before:
        dynamics.note_rest(roll_out, uid, seen, moment)


def is_complete(store: Store, deployment: Json) -> bool:
    """Whether only pods of the current revision are left, and all of them are there."""
    sets = owned_objects(store, "replicaset", deployment)
    current = max(sets, key=_revision, default=None)
    if current is None:
        return False
    old = sum(item["spec"].get("replicas", 0) for item in sets if item is not current)
    return not old and current["spec"].get("replicas", 0) == deployment["spec"].get("replicas", 1)


def report(dynamics: Dynamics, deployment: Json, moment: Moment) -> None:
    """The deployment's status: counts from its replica sets, the usual conditions, and the declared ones over them."""
    if is_being_deleted(deployment):
        return
    moment = moment.moment_of(deployment)
    store = dynamics.store
    sets = owned_objects(store, "replicaset", deployment)
    uid, seen, before = deployment["metadata"]["uid"], (deployment, *sets), store.version
    if dynamics.is_at_rest_with(report, uid, seen, moment):
        return
    current = max(sets, key=_revision, default=None)
    if current is None:
        return
    total, ready = (
        sum((item.get("status") or {}).get(field, 0) for item in sets) for field in ("replicas", "readyReplicas")
    )
    wanted = deployment["spec"].get("replicas", 1)
    updated = (current.get("status") or {}).get("replicas", 0)
    counts = {
        "replicas": total, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready,
        "unavailableReplicas": max(total, wanted) - ready,
    }  # fmt: skip
    _, unavailable = _bounds(deployment)
    complete = updated == wanted == total and ready >= wanted
    conditions = [
        _available_condition(deployment, moment, holds=ready >= wanted - unavailable),
        _progressing_condition(dynamics, deployment, current, counts, moment, complete=complete),
    ]
    _recover(dynamics, deployment, moment, well=complete)
    declared = dynamics.declaration(deployment).conditions
    status = {key: value for key, value in counts.items() if value}
    put_status(store, DEPLOYMENT, deployment,
               {**status, "conditions": with_conditions(conditions, declared, moment.now)})  # fmt: skip
    # Declared conditions beyond the usual ones get a new date each time.
    if complete and not declared and store.version == before:
        dynamics.note_rest(report, uid, seen, moment)


def report_declared(dynamics: Dynamics, deployment: Json, moment: Moment) -> None:
    """Lay the declared state over a status that a controller elsewhere reports, and let a workload recover."""
    status = deployment.get("status") or {}
    wanted = deployment["spec"].get("replicas", 1)
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "readyReplicas")]
    is_seen = status.get("observedGeneration") == deployment["metadata"].get("generation")
    _recover(dynamics, deployment, moment, well=is_seen and counts == [wanted] * 3)
    declared = dynamics.declaration(deployment).conditions
    known = list(status.get("conditions") or ())
    if all(any(condition.items() <= item.items() for item in known) for condition in declared):
        return
    dynamics.store.report(
        DEPLOYMENT, deployment, {**status, "conditions": with_conditions(known, declared, moment.now)}
    )


def _recover(dynamics: Dynamics, deployment: Json, moment: Moment, *, well: bool) -> None:
    """A workload with some unhealthy pods is healthy again once all of them were replaced."""
    key = key_of(DEPLOYMENT, deployment)
    known = dynamics.declarations.get(key)
    if well and not moment.silent and known is not None and known.health is Health.DEGRADED:
        heal(dynamics, key, moment)


def with_conditions(conditions: list[Json], declared: Iterable[Mapping[str, Any]], now: str) -> list[Json]:
    """The conditions with the declared ones laid over those of the same type, or added."""
    merged = {condition["type"]: condition for condition in conditions}
    for condition in declared:
        base = merged.get(condition["type"], {"status": "True", "lastUpdateTime": now, "lastTransitionTime": now})
        merged[condition["type"]] = {**base, **condition}
    return list(merged.values())


def _current(dynamics: Dynamics, deployment: Json, sets: list[Json], moment: Moment) -> Json:
    """The replica set of the present template; a paused deployment stays with the newest."""
    name = f"{deployment['metadata']['name']}-{dynamics.stamp(deployment, deployment['spec']['template'])}"
    found = next((item for item in sets if item["metadata"]["name"] == name), None)
    if found is None and deployment["spec"].get("paused"):
        found = max(sets, key=_revision, default=None)
    store = dynamics.store
    found = found or _adopt_replica_set(store, deployment, name)
    return found or _new_replica_set(store, deployment, name, _first_size(deployment, sets), moment)


def _first_size(deployment: Json, sets: list[Json]) -> int:
    """With how many pods the replica set of a new template begins: as many as there is room for beside the old ones."""
    wanted, running = int(deployment["spec"].get("replicas", 1)), sum(map(_size, sets))
    surge, _ = _bounds(deployment)
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return 0 if running else wanted
    return min(wanted, max(0, wanted + surge - running))


def _new_replica_set(store: Store, deployment: Json, name: str, size: int, moment: Moment) -> Json:
    metadata, spec = deployment["metadata"], deployment["spec"]
    labels = {TEMPLATE_HASH: name.rpartition("-")[2]}
    template = spec["template"]
    template_metadata = {**template["metadata"], "labels": {**(template["metadata"].get("labels") or {}), **labels}}
    selector = {**spec["selector"], "matchLabels": {**(spec["selector"].get("matchLabels") or {}), **labels}}
    notes = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _NOT_COPIED}
    surge, _ = _bounds(deployment)
    wanted = spec.get("replicas", 1)
    manifest = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": template_metadata["labels"],
            "annotations": {**notes, _DESIRED: str(wanted), _MOST: str(wanted + surge)},
            "ownerReferences": [owner_reference(DEPLOYMENT, deployment)],
        },
        "spec": {"replicas": size, "selector": selector, "template": {**template, "metadata": template_metadata}},
        "status": {"replicas": 0},
    }
    made = store.create(REPLICA_SET, manifest, moment.now)
    _report_scaling(store, deployment, made, 0, size, moment)
    return made


def _adopt_replica_set(store: Store, deployment: Json, name: str) -> Json | None:
    """A replica set of the right name without a controller, claimed for the deployment."""
    found = store.get("replicaset", deployment["metadata"]["namespace"], name)
    if found is None or controller_of(found) is not None:
        return None
    owners = [*(found["metadata"].get("ownerReferences") or ()), owner_reference(DEPLOYMENT, deployment)]
    return store.update(REPLICA_SET, found, {**found, "metadata": {**found["metadata"], "ownerReferences": owners}})


def _recreate(dynamics: Dynamics, deployment: Json, current: Json, old: list[Json], moment: Moment) -> None:
    """Remove all old pods before the first new one is made."""
    for item in old:
        _scale(dynamics, deployment, item, 0, moment)
    if not any((item.get("status") or {}).get("replicas") for item in old):
        _scale(dynamics, deployment, current, deployment["spec"].get("replicas", 1), moment)


def _roll(dynamics: Dynamics, deployment: Json, current: Json, old: list[Json], moment: Moment) -> None:
    """Add new pods up to the surge, and remove old ones as far as enough stay available; failing old ones go first."""
    wanted = deployment["spec"].get("replicas", 1)
    surge, unavailable = _bounds(deployment)
    if deployment["spec"].get("paused") or not any(_size(item) for item in old):
        for item in old:
            _scale(dynamics, deployment, item, 0, moment)
        _scale(dynamics, deployment, current, wanted, moment)
        return
    room = wanted + surge - sum(map(_size, old)) - _size(current)
    if _size(current) > wanted:
        current = _scale(dynamics, deployment, current, wanted, moment)
    elif room > 0:
        current = _scale(dynamics, deployment, current, min(wanted, _size(current) + room), moment)
    least = wanted - unavailable
    surplus = sum(map(_size, old)) + _size(current) - least - (_size(current) - _available_in(current))
    kept = []
    for item in sorted(old, key=_revision):
        failing = min(_size(item) - _available_in(item), max(surplus, 0))
        surplus -= failing
        kept.append(_scale(dynamics, deployment, item, _size(item) - failing, moment))
    spare = sum(map(_available_in, kept)) + _available_in(current) - least
    for item in kept:
        down = min(_size(item), max(spare, 0))
        spare -= down
        _scale(dynamics, deployment, item, _size(item) - down, moment)


def _size(replica_set: Json) -> int:
    return int(replica_set["spec"].get("replicas", 0))


def _available_in(replica_set: Json) -> int:
    return min(int((replica_set.get("status") or {}).get("availableReplicas", 0)), _size(replica_set))


def _bounds(deployment: Json) -> tuple[int, int]:
    """How many pods may exist beyond the wanted number, and how many of it may be missing, during a rollout."""
    strategy = deployment["spec"].get("strategy") or {}
    wanted = deployment["spec"].get("replicas", 1)
    if strategy.get("type") == "Recreate":
        return 0, wanted
    limits = strategy.get("rollingUpdate") or {}
    surge = share(limits.get("maxSurge", "25%"), wanted, up=True)
    unavailable = share(limits.get("maxUnavailable", "25%"), wanted, up=False)
    return surge, unavailable if surge or unavailable else 1


def _scale(dynamics: Dynamics, deployment: Json, replica_set: Json, replicas: int, moment: Moment) -> Json:
    before = _size(replica_set)
    if before == replicas:
        return replica_set
    spec = {**replica_set["spec"], "replicas": replicas}
    stored = dynamics.store.update(REPLICA_SET, replica_set, {**replica_set, "spec": spec})
    _report_scaling(dynamics.store, deployment, replica_set, before, replicas, moment)
    return stored


def _report_scaling(store: Store, deployment: Json, replica_set: Json, before: int, after: int, moment: Moment) -> None:
    if before == after or moment.silent:
        return
    direction = "up" if after > before else "down"
    message = f"Scaled {direction} replica set {replica_set['metadata']['name']} from {before} to {after}"
    record_event(store, deployment, "ScalingReplicaSet", message, moment, component="deployment-controller")


def _forget_old_revisions(store: Store, deployment: Json, current: Json, moment: Moment) -> None:
    limit = deployment["spec"].get("revisionHistoryLimit", 10)
    old = [item for item in owned_objects(store, "replicaset", deployment)
           if item["metadata"]["uid"] != current["metadata"]["uid"]]  # fmt: skip
    if isinstance(limit, int) and len(old) > limit >= 0:
        for item in sorted(old, key=_revision)[: len(old) - limit]:
            store.delete(REPLICA_SET, item, moment.now)


def _available_condition(deployment: Json, moment: Moment, *, holds: bool) -> Json:
    if holds:
        return _condition(deployment, "Available", "True", "MinimumReplicasAvailable",
                          "Deployment has minimum availability.", moment)  # fmt: skip
    return _condition(deployment, "Available", "False", "MinimumReplicasUnavailable",
                      "Deployment does not have minimum availability.", moment)  # fmt: skip


def _progressing_condition(
    dynamics: Dynamics, deployment: Json, current: Json, counts: Json, moment: Moment, *, complete: bool
) -> Json:
    """Whether the rollout is done, is progressing, or has stood still for longer than its deadline."""
    name = current["metadata"]["name"]
    if complete:
        text = f'ReplicaSet "{name}" has successfully progressed.'
        dynamics.progress.pop(deployment["metadata"]["uid"], None)
        return _condition(deployment, "Progressing", "True", "NewReplicaSetAvailable", text, moment)
    late = f'ReplicaSet "{name}" has timed out progressing.'
    if dynamics.declaration(current).health is Health.STARTING:
        # A rollout that was declared to be under way stays so until somebody acts on it.
        text = f'ReplicaSet "{name}" is progressing.'
        return _condition(deployment, "Progressing", "True", "ReplicaSetUpdated", text, moment)
    if moment.silent:
        return _condition(deployment, "Progressing", "False", "ProgressDeadlineExceeded", late, moment)
    deadline = deployment["spec"].get("progressDeadlineSeconds", 600)
    uid, seen = deployment["metadata"]["uid"], (name, *sorted(counts.items()))
    known = _known_condition(deployment, "Progressing")
    if known.get("status") == "False" and uid not in dynamics.progress and name in known.get("message", ""):
        return known
    if uid not in dynamics.progress or dynamics.progress[uid][0] != seen:
        dynamics.progress[uid] = (seen, moment.seconds)
        dynamics.wake_at(moment.seconds + deadline, deployment["metadata"]["namespace"])
    if moment.seconds - dynamics.progress[uid][1] >= deadline:
        return _condition(deployment, "Progressing", "False", "ProgressDeadlineExceeded", late, moment)
    text = f'ReplicaSet "{name}" is progressing.'
    return _condition(deployment, "Progressing", "True", "ReplicaSetUpdated", text, moment)


def _condition(deployment: Json, kind: str, status: str, reason: str, message: str, moment: Moment) -> Json:
    """One of the usual conditions; its times change only when its content does."""
    known = _known_condition(deployment, kind)
    same = known.get("status") == status
    up = moment.start_of(deployment)
    now = up if kind == "Available" else moment.now
    since = known.get("lastTransitionTime", now) if same else now
    unchanged = same and (known.get("reason"), known.get("message")) == (reason, message)
    updated = known.get("lastUpdateTime", up) if unchanged else up
    return {
        "type": kind, "status": status, "lastUpdateTime": updated, "lastTransitionTime": since, "reason": reason,
        "message": message,
    }  # fmt: skip


def _known_condition(deployment: Json, kind: str) -> Json:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return next((item for item in conditions if item.get("type") == kind), {})


def _revision(replica_set: Json) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdecimal() and len(text) <= _REVISION_DIGITS else 0
