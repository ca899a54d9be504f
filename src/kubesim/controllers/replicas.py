"""Replica sets, stateful sets and daemon sets: as many pods as they ask for."""

from collections.abc import Mapping

from kubesim.connections import is_ready
from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.events import record_event
from kubesim.controllers.owners import nodes_for, put_status
from kubesim.controllers.pods import affected_pods, fare, new_pod
from kubesim.controllers.revisions import REVISION_HASH, note_template
from kubesim.controllers.rows import DAEMON_SET, POD, REPLICA_SET, STATEFUL_SET
from kubesim.status import Json
from kubesim.store import is_being_deleted

MATERIALISED_PODS = 50
"""The most pods that exist as objects per workload; status counts say how many there would be."""

_OrdinalPods = Mapping[str, list[Json]]


def keep_replica_set(dynamics: Dynamics, owner: Json, pods: _OrdinalPods, moment: Moment) -> None:
    """Make or delete pods until there are as many as requested; unready ones go first."""
    store, uid, before = dynamics.store, owner["metadata"]["uid"], dynamics.store.version
    kept = list(pods.get(uid, []))
    fates = [dynamics.fates.get(pod["metadata"]["uid"]) for pod in kept]
    seen = (owner, *kept, *fates)
    if dynamics.is_at_rest_with(keep_replica_set, uid, seen, moment):
        return
    wanted = _wanted_size(owner)
    for pod in sorted(kept, key=is_ready, reverse=True)[wanted:]:
        kept.remove(pod)
        dynamics.fates.pop(pod["metadata"]["uid"], None)
        store.remove(POD, pod)
        _say(dynamics, owner, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}", moment, "replicaset")
    for _ in range(wanted - len(kept)):
        name = f"{owner['metadata']['name']}-{store.ids.suffix()}"
        kept.append(new_pod(dynamics, REPLICA_SET, owner, name, moment))
        _say(dynamics, owner, "SuccessfulCreate", f"Created pod: {name}", moment, "replicaset")
    total, ready = _pod_counts(dynamics, owner, kept, moment)
    counts = {"fullyLabeledReplicas": total, "readyReplicas": ready, "availableReplicas": ready}
    put_status(store, REPLICA_SET, owner, {"replicas": total, **_without_zeros(counts)})
    is_final = all(fate is not None and fate.is_final for fate in fates)
    if store.version == before and is_final and all(pod["spec"].get("nodeName") for pod in kept):
        dynamics.note_rest(keep_replica_set, uid, seen, moment)


def keep_stateful_set(dynamics: Dynamics, owner: Json, pods: _OrdinalPods, moment: Moment) -> None:
    """Keep pods by ordinal; those of an older template or beyond the size are replaced or removed."""
    stamp = note_template(dynamics, owner, moment.moment_of(owner).now)
    names = [f"{owner['metadata']['name']}-{ordinal}" for ordinal in range(_wanted_size(owner))]
    kept: dict[str, Json] = {}
    for pod in pods.get(owner["metadata"]["uid"], []):
        if pod["metadata"]["name"] in names and _stamp(pod) == stamp:
            kept[pod["metadata"]["name"]] = pod
        else:
            dynamics.fates.pop(pod["metadata"]["uid"], None)
            dynamics.store.remove(POD, pod)
    labels = {REVISION_HASH: stamp}
    for name in names:
        if name not in kept:
            ordinal = name.rpartition("-")[2]
            marked = {**labels, "apps.kubernetes.io/pod-index": ordinal, "statefulset.kubernetes.io/pod-name": name}
            kept[name] = new_pod(dynamics, STATEFUL_SET, owner, name, moment, labels=marked)
            text = f"create Pod {name} in StatefulSet {owner['metadata']['name']} successful"
            _say(dynamics, owner, "SuccessfulCreate", text, moment, "statefulset")
    total, ready = _pod_counts(dynamics, owner, [kept[name] for name in names], moment)
    counts = {"readyReplicas": ready, "availableReplicas": ready, "currentReplicas": total, "updatedReplicas": total}
    revision = f"{owner['metadata']['name']}-{stamp}"
    revisions = {"currentRevision": revision, "updateRevision": revision, "collisionCount": 0}
    put_status(dynamics.store, STATEFUL_SET, owner, {"replicas": total, **_without_zeros(counts), **revisions})


def keep_daemon_set(dynamics: Dynamics, owner: Json, pods: _OrdinalPods, moment: Moment) -> None:
    """Keep one pod on every node that accepts pods; a cordoned node keeps its pod."""
    store, deleted = dynamics.store, is_being_deleted(owner)
    nodes = [] if deleted else [node["metadata"]["name"] for node in store.items("node")]
    fresh = set(nodes_for(store, owner["spec"]["template"], moment))
    stamp = note_template(dynamics, owner, moment.moment_of(owner).now)
    present: dict[str, Json] = {}
    for pod in pods.get(owner["metadata"]["uid"], []):
        node = pod["spec"].get("nodeName")
        if node in nodes and node not in present and _stamp(pod) == stamp:
            present[node] = pod
        else:
            dynamics.fates.pop(pod["metadata"]["uid"], None)
            store.remove(POD, pod)
    for node in nodes:
        if node not in present and node in fresh:
            name = f"{owner['metadata']['name']}-{store.ids.suffix()}"
            present[node] = new_pod(dynamics, DAEMON_SET, owner, name, moment, node=node, labels={REVISION_HASH: stamp})
            _say(dynamics, owner, "SuccessfulCreate", f"Created pod: {name}", moment, "daemonset")
    fared = fare(dynamics, list(present.values()), dynamics.declaration(owner).health, moment)
    ready = sum(map(is_ready, fared))
    counts = {
        "currentNumberScheduled": len(fared), "desiredNumberScheduled": len(nodes), "numberReady": ready,
        "numberMisscheduled": 0, **_without_zeros({"numberAvailable": ready, "updatedNumberScheduled": len(fared)}),
        **_without_zeros({"numberUnavailable": len(nodes) - ready}),
    }  # fmt: skip
    put_status(store, DAEMON_SET, owner, counts)


def _wanted_size(owner: Json) -> int:
    return 0 if is_being_deleted(owner) else min(owner["spec"].get("replicas", 1), MATERIALISED_PODS)


def _pod_counts(dynamics: Dynamics, owner: Json, pods: list[Json], moment: Moment) -> tuple[int, int]:
    """How many pods exist and are ready, scaled to the requested size."""
    health = dynamics.declaration(owner).health
    fared = fare(dynamics, pods, health, moment)
    total = 0 if is_being_deleted(owner) else owner["spec"].get("replicas", 1)
    ready = sum(map(is_ready, fared))
    if total > len(fared):
        # Pods beyond those that exist as objects are assumed to be in the same state.
        ready = total - (0 if health.serves else affected_pods(health, total)) if ready or not health.serves else 0
    return total, ready


def _say(dynamics: Dynamics, owner: Json, reason: str, message: str, moment: Moment, controller: str) -> None:
    if not moment.silent:
        record_event(dynamics.store, owner, reason, message, moment, component=f"{controller}-controller")


def _without_zeros(counts: Mapping[str, int]) -> Json:
    return {key: value for key, value in counts.items() if value}


def _stamp(pod: Json) -> str | None:
    return (pod["metadata"].get("labels") or {}).get(REVISION_HASH)
