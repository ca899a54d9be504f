"""The past of workloads: earlier revisions with their times, rollouts under way, and pods with given names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubesim.controllers.dynamics import Declaration, Dynamics, Health, Moment
from kubesim.controllers.events import record_event
from kubesim.controllers.owners import owned_objects
from kubesim.controllers.rows import DEPLOYMENT, POD, REPLICA_SET
from kubesim.controllers.settling import settle
from kubesim.kinds.declared import declare_object, establish_object
from kubesim.resource import BY_NOUN, WORKLOADS
from kubesim.status import Json
from kubesim.store import Key, Store, owner_reference
from sirocco.domains.kubernetes.profiles.declared import EVENTS
from sirocco.domains.kubernetes.simulator.amounts import seconds_ago, timestamp_text
from sirocco.domains.kubernetes.simulator.declarations import declare
from sirocco.domains.kubernetes.simulator.health import is_rolling
from sirocco.domains.kubernetes.simulator.layout import entry_key, state_of
from sirocco.domains.kubernetes.simulator.manifests import manifest_of, sketch_of
from sirocco.domains.kubernetes.simulator.vocabulary import entry_noun
from sirocco.oasis.scenario import Preconditions, StateEntry

_RESTARTED = "kubectl.kubernetes.io/restartedAt"
_USUAL_AGE = 86400.0
"""The age of a rollout when the scenario says only that there was another image before."""
_EVENTS_LAST = 3600.0
_UNDER_WAY = 60.0
"""How long ago a rollout under way began."""


def has_past(entry: StateEntry) -> bool:
    """Whether an entry declares a revision before the present one."""
    keys = {"previous_image", "last_deploy"} & set(entry.fields)
    return entry_noun(entry) == "deployment" and (bool(keys) or is_rolling(entry.fields.get("status")))


def former_entry(entry: StateEntry) -> StateEntry:
    """The workload of an entry as it was before its last rollout."""
    left_out = {"previous_image", "current_image", "last_deploy", "status", "reason", "restarts", "conditions"}
    kept = {key: value for key, value in entry.fields.items() if key not in left_out}
    image = entry.fields.get("previous_image", entry.fields.get("current_image", kept.get("image")))
    more = {"image": image} if image else {}
    return StateEntry.model_validate({"resource": entry.resource, "namespace": entry.namespace, **kept, **more})


def roll_out_now(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    """Bring a deployment in its earlier state to what its entry says, at the time that it says."""
    rolling = is_rolling(entry.fields.get("status"))
    told = seconds_ago(entry.fields.get("last_deploy"))
    ago = told if told is not None else _UNDER_WAY if rolling else _USUAL_AGE
    when = timestamp_text(moment.start - ago)
    key = entry_key(entry, preconditions)
    found = dynamics.store.get(*key)
    if found is None:
        return
    template = manifest_of(DEPLOYMENT, entry, preconditions)["spec"]["template"]
    if template == found["spec"]["template"]:
        template = {**template, "metadata": {**template["metadata"], "annotations": {_RESTARTED: when}}}
    then = replace(moment, now=when, last_seen=max(when, moment.last_seen))
    if rolling:
        name = f"{entry.name}-{dynamics.stamp(found, template)}"
        dynamics.declare(Key("replicaset", key.namespace, name), Declaration(Health.STARTING))
        then = replace(then, last_seen=when, seconds=-ago, silent=False)
    declare(dynamics, key, entry, preconditions)
    dynamics.store.update(DEPLOYMENT, found, {**found, "spec": {**found["spec"], "template": template}})
    dynamics.store.touch(key.namespace)
    settle(dynamics, then)
    if rolling:
        settle(
            dynamics,
            replace(then, now=timestamp_text(moment.start), last_seen=timestamp_text(moment.start), seconds=0.0),
        )
    elif ago < _EVENTS_LAST and not _is_told(entry, preconditions):
        _say(dynamics.store, key, replace(then, last_seen=when))


def _is_told(entry: StateEntry, preconditions: Preconditions) -> bool:
    """Whether declared events already mention the workload."""
    listed = [item for other in state_of(preconditions) if entry_noun(other) == EVENTS
              for item in other.fields.get("recent", ())]  # fmt: skip
    return any(str(item["object"]).partition("/")[2] == entry.name for item in listed)


def _say(store: Store, key: Key, moment: Moment) -> None:
    deployment = store.get(*key)
    newest = _newest_replica_set(store, deployment) if deployment else None
    if deployment is None or newest is None:
        return
    text = f"Scaled up replica set {newest['metadata']['name']} from 0 to {newest['spec'].get('replicas', 1)}"
    record_event(store, deployment, "ScalingReplicaSet", text, moment, component="deployment-controller")


def _newest_replica_set(store: Store, deployment: Json) -> Json | None:
    sets = owned_objects(store, "replicaset", deployment)
    return max(sets, key=lambda item: (item["spec"].get("replicas", 0), item["metadata"]["creationTimestamp"]),
               default=None)  # fmt: skip


def establish_pod(dynamics: Dynamics, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> None:
    """A pod with a given name: one of the workload with which its name begins, or the one of a replica set.

    A name that ends like a controller's random suffix belongs to a pod that a controller keeps; any other pod is bare.
    """
    key = entry_key(entry, preconditions)
    store = dynamics.store
    owner = _owner(store, key, preconditions)
    if owner is None and _is_drawn(entry.name):
        owner = (REPLICA_SET, _replica_set(store, entry, preconditions, moment))
    sketch = sketch_of(POD, entry, preconditions)
    if owner is not None:
        row, found = owner
        sketch["metadata"] = _owned_metadata(sketch["metadata"], entry, row, found)
        others = [pod for pod in owned_objects(store, "pod", found) if pod["metadata"]["name"] != entry.name]
        same = store.get(*key)
        leaving = [same] if same else others[: max(len(others) + 1 - found["spec"].get("replicas", 1), 0)]
        for pod in leaving:
            dynamics.fates.pop(pod["metadata"]["uid"], None)
            store.remove(POD, pod)
    declare(dynamics, key, entry, preconditions)
    store.create(POD, establish_object(store, POD, declare_object(POD, sketch)), moment.now)


def _owner(store: Store, key: Key, preconditions: Preconditions) -> tuple[Any, Json] | None:
    """The declared workload with whose name the pod's name begins; for a deployment, its replica set."""
    keys = (entry_key(entry, preconditions) for entry in state_of(preconditions) if entry_noun(entry) in WORKLOADS)
    found = [other for other in keys if other.namespace == key.namespace and key.name.startswith(f"{other.name}-")]
    if not found:
        return None
    closest = max(found, key=lambda other: len(other.name))
    workload = store.get(*closest)
    if workload is None or closest.noun != "deployment":
        return (BY_NOUN[closest.noun], workload) if workload else None
    newest = _newest_replica_set(store, workload)
    return (REPLICA_SET, newest) if newest else None


def _is_drawn(name: str) -> bool:
    """Whether the end of a name looks random: letters and digits mixed."""
    base, _, end = name.rpartition("-")
    return bool(base) and end.isalnum() and any(map(str.isdecimal, end)) and not end.isdecimal()


def _replica_set(store: Store, entry: StateEntry, preconditions: Preconditions, moment: Moment) -> Json:
    """A replica set for a pod that nothing else keeps, of which it is the only one."""
    name, namespace = entry.name.rpartition("-")[0], entry_key(entry, preconditions).namespace
    known = store.get("replicaset", namespace, name)
    if known is not None:
        grown = {**known["spec"], "replicas": known["spec"].get("replicas", 1) + 1}
        return store.update(REPLICA_SET, known, {**known, "spec": grown})
    sketch = sketch_of(POD, entry, preconditions)
    labels = {**sketch["metadata"]["labels"], "app": name}
    spec = {part: value for part, value in sketch["spec"].items() if part != "nodeName"}
    manifest = {
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": labels}, "spec": spec}},
    }  # fmt: skip
    return store.create(
        REPLICA_SET, establish_object(store, REPLICA_SET, declare_object(REPLICA_SET, manifest)), moment.now
    )


def _owned_metadata(metadata: Json, entry: StateEntry, row: Any, owner: Mapping[str, Any]) -> Json:
    """The metadata of a pod that an owner keeps."""
    own = {str(label): str(value) for label, value in (entry.fields.get("labels") or {}).items()}
    inherited = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    return {
        **metadata,
        "labels": {**metadata["labels"], **inherited, **own, **_selector_labels(inherited, owner)},
        "ownerReferences": [owner_reference(row, owner)],
    }


def _selector_labels(inherited: Mapping[str, str], owner: Mapping[str, Any]) -> dict[str, str]:
    """The labels by which the owner knows its pods."""
    wanted = (owner["spec"].get("selector") or {}).get("matchLabels") or {}
    return {key: value for key, value in inherited.items() if key in wanted}
