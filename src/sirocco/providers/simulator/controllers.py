"""The controllers of a cluster as one pure step: `settle` brings what is there in line with what objects ask for.

Deployments keep a replica set per revision, replica sets and stateful sets keep pods, owners take their dependents with
them, a terminating namespace takes its content, a claim in use outlives its deletion. Pods fare as their workload was
declared to. Every write goes through the store, so the step ends when nothing changes any more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.resource import BY_KIND, BY_NOUN, ResourceType
from sirocco.providers.simulator.kubernetes.cluster import (
    FOREGROUND_FINALIZER,
    ORPHAN_FINALIZER,
    Cluster,
    Declaration,
    Health,
    Key,
    controller_of,
    is_being_deleted,
    key_of,
    owner_reference,
    template_hash,
)
from sirocco.providers.simulator.kubernetes.kinds import PVC_PROTECTION, admitted, container_names, defaulted
from sirocco.providers.simulator.kubernetes.selectors import match_labels
from sirocco.providers.simulator.kubernetes.status import Json

MATERIALISED_PODS = 50
"""Pods that exist as objects per workload; status counts tell how many there would be."""

REVISION = "deployment.kubernetes.io/revision"
TEMPLATE_HASH = "pod-template-hash"
_PASSES = 40
_ENDPOINTS_MARK = "endpoints.kubernetes.io/last-change-trigger-time"
_DEPLOYMENT, _REPLICA_SET, _STATEFUL_SET, _DAEMON_SET = (
    BY_NOUN[noun] for noun in ("deployment", "replicaset", "statefulset", "daemonset")
)
_POD, _EVENT, _CLAIM, _SERVICE, _ENDPOINTS, _NODE, _NAMESPACE, _ACCOUNT = (
    BY_NOUN[noun] for noun in ("pod", "event", "pvc", "service", "endpoints", "node", "namespace", "serviceaccount")
)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step happens, and when trouble that comes back again and again was last seen.

    A step into the past is silent: the events of an old rollout have expired.
    """

    now: str
    last_seen: str
    silent: bool = False


def settle(cluster: Cluster, moment: Moment) -> None:
    """Run the controllers until the cluster is at rest."""
    for _ in range(_PASSES):
        changed = cluster.take_unsettled()
        if not changed:
            return
        if "" in changed:
            _settle_cluster_scope(cluster)
        for namespace in filter(None, changed):
            _settle_namespace(cluster, namespace, moment)


def pods_of(cluster: Cluster, namespace: str, name: str) -> list[Json]:
    """The pod of that name, or the pods of the workload of that name."""
    pod = cluster.get("pod", namespace, name)
    if pod is not None:
        return [pod]
    return [pod for pod in cluster.items("pod", namespace) if workload_of(cluster, pod).name == name]


def workload_of(cluster: Cluster, obj: Mapping[str, Any]) -> Key:
    """The topmost controller of an object, by name; the object itself when nothing controls it."""
    current: Mapping[str, Any] = obj
    seen: set[str] = set()  # a client may write owner references that go round in a circle
    while True:
        seen.add(current["metadata"]["uid"])
        owner = controller_of(current)
        found = cluster.by_uid(owner.get("uid", "")) if owner else None
        if found is None or found["metadata"]["uid"] in seen:
            return key_of(BY_KIND[current["kind"]], current)
        current = found


def record_event(
    cluster: Cluster, about: Mapping[str, Any], reason: str, message: str, moment: Moment, *, kind: str = "Normal",
    component: str = "kubelet", count: int = 1,
) -> Json:  # fmt: skip
    """An event about an object, in its namespace."""
    metadata = about["metadata"]
    namespace = metadata.get("namespace") or "default"
    began = moment.now if count > 1 else moment.last_seen
    reference = {
        "kind": about["kind"], "name": metadata["name"], "apiVersion": about["apiVersion"],
        **{key: metadata[key] for key in ("namespace", "uid", "resourceVersion") if key in metadata},
    }  # fmt: skip
    manifest = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{metadata['name']}.{cluster.ids.number():032x}"[: len(metadata["name"]) + 17],
                     "namespace": namespace},
        "involvedObject": reference,
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "firstTimestamp": began,
        "lastTimestamp": moment.last_seen,
        "count": count,
        "type": kind,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    }  # fmt: skip
    return cluster.create(_EVENT, manifest, began)


def _settle_cluster_scope(cluster: Cluster) -> None:
    """Finish the namespaces that are going away."""
    for namespace in cluster.items("namespace"):
        if is_being_deleted(namespace):
            content = list(cluster.objects(namespace["metadata"]["name"]))
            for row, obj in content:
                cluster.remove(row, obj)
            cluster.remove(_NAMESPACE, namespace)


def _settle_namespace(cluster: Cluster, namespace: str, moment: Moment) -> None:
    if cluster.get("namespace", "", namespace) is None:
        return
    _collect_garbage(cluster, namespace, moment)
    _keep_default_account(cluster, namespace, moment)
    for deployment in cluster.items("deployment", namespace):
        _roll_out(cluster, deployment, moment)
    _finish_deleted_pods(cluster, namespace)
    pods = _by_controller(cluster.items("pod", namespace))
    for replica_set in cluster.items("replicaset", namespace):
        _keep_replicas(cluster, _REPLICA_SET, replica_set, pods, moment)
    for stateful_set in cluster.items("statefulset", namespace):
        _keep_replicas(cluster, _STATEFUL_SET, stateful_set, pods, moment)
    for daemon_set in cluster.items("daemonset", namespace):
        _keep_on_every_node(cluster, daemon_set, pods, moment)
    _start_bare_pods(cluster, namespace, moment)
    for deployment in cluster.items("deployment", namespace):
        _report_deployment(cluster, deployment, moment)
    _keep_claims(cluster, namespace)
    _keep_endpoints(cluster, namespace, moment)


def _collect_garbage(cluster: Cluster, namespace: str, moment: Moment) -> None:
    """Delete what lost its owners; finish foreground and orphaning deletions."""
    for row, listed in list(cluster.objects(namespace)):
        obj = cluster.by_uid(listed["metadata"]["uid"])
        if obj is None:
            continue
        owners = obj["metadata"].get("ownerReferences") or ()
        finalizers = obj["metadata"].get("finalizers") or ()
        if is_being_deleted(obj):
            if {FOREGROUND_FINALIZER, ORPHAN_FINALIZER} & set(finalizers):
                _release_dependents(cluster, row, obj, moment)
        elif owners and all(cluster.by_uid(owner.get("uid", "")) is None for owner in owners):
            cluster.delete(row, obj, moment.now)


def _release_dependents(cluster: Cluster, row: ResourceType, owner: Json, moment: Moment) -> None:
    """Delete or orphan what a deleted owner holds, then let the owner go."""
    uid = owner["metadata"]["uid"]
    orphan = ORPHAN_FINALIZER in owner["metadata"]["finalizers"]
    for kind, obj in list(cluster.objects(owner["metadata"].get("namespace", ""))):
        owners = obj["metadata"].get("ownerReferences") or []
        rest = [reference for reference in owners if reference.get("uid") != uid]
        if len(rest) == len(owners):
            continue
        if orphan:
            cluster.update(kind, obj, {**obj, "metadata": {**obj["metadata"], "ownerReferences": rest}})
        elif kind.noun == "pod":
            cluster.remove(kind, obj)
        else:
            cluster.delete(kind, obj, moment.now)
    kept = [name for name in owner["metadata"]["finalizers"] if name not in {FOREGROUND_FINALIZER, ORPHAN_FINALIZER}]
    cluster.put(row, {**owner, "metadata": {**owner["metadata"], "finalizers": kept}})


def _keep_default_account(cluster: Cluster, namespace: str, moment: Moment) -> None:
    if cluster.get("serviceaccount", namespace, "default") is None:
        manifest = {"kind": "ServiceAccount", "apiVersion": "v1",
                    "metadata": {"name": "default", "namespace": namespace}}  # fmt: skip
        cluster.create(_ACCOUNT, manifest, moment.now)


def _roll_out(cluster: Cluster, deployment: Json, moment: Moment) -> None:
    """Keep one replica set per revision: the current one at the wanted size, the earlier ones at none."""
    if is_being_deleted(deployment):
        return
    metadata, spec = deployment["metadata"], deployment["spec"]
    owned = _owned(cluster, "replicaset", deployment)
    name = f"{metadata['name']}-{template_hash(spec['template'])}"
    current = next((item for item in owned if item["metadata"]["name"] == name), None)
    newest = max(owned, key=_revision, default=None)
    if current is None and spec.get("paused") and newest is not None:
        current = newest
    elif current is None:
        current = _adopted(cluster, deployment, name) or _new_replica_set(cluster, deployment, name, moment)
    revision = max(
        (_revision(item) for item in owned if item["metadata"]["uid"] != current["metadata"]["uid"]), default=0
    )
    if _revision(current) <= revision and not spec.get("paused"):
        current = _annotated(cluster, _REPLICA_SET, current, {REVISION: str(revision + 1)})
    for item in owned:
        if item["metadata"]["uid"] != current["metadata"]["uid"]:
            _scale(cluster, deployment, item, 0, moment)
    _scale(cluster, deployment, current, spec.get("replicas", 1), moment)
    _forget_old_revisions(cluster, deployment, current, moment)
    _annotated(cluster, _DEPLOYMENT, deployment, {REVISION: str(_revision(current))})


def _new_replica_set(cluster: Cluster, deployment: Json, name: str, moment: Moment) -> Json:
    metadata, spec = deployment["metadata"], deployment["spec"]
    labels = {TEMPLATE_HASH: name.rpartition("-")[2]}
    template = spec["template"]
    template_metadata = {**template["metadata"], "labels": {**(template["metadata"].get("labels") or {}), **labels}}
    selector = {**spec["selector"], "matchLabels": {**(spec["selector"].get("matchLabels") or {}), **labels}}
    manifest = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": template_metadata["labels"],
            "ownerReferences": [owner_reference(_DEPLOYMENT, deployment)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": {**template, "metadata": template_metadata}},
        "status": {"replicas": 0},
    }
    return cluster.create(_REPLICA_SET, manifest, moment.now)


def _adopted(cluster: Cluster, deployment: Json, name: str) -> Json | None:
    """A replica set of the right name that nothing controls, claimed for the deployment."""
    found = cluster.get("replicaset", deployment["metadata"]["namespace"], name)
    if found is None or controller_of(found) is not None:
        return None
    owners = [*(found["metadata"].get("ownerReferences") or ()), owner_reference(_DEPLOYMENT, deployment)]
    return cluster.update(_REPLICA_SET, found, {**found, "metadata": {**found["metadata"], "ownerReferences": owners}})


def _scale(cluster: Cluster, deployment: Json, replica_set: Json, replicas: int, moment: Moment) -> None:
    before = replica_set["spec"].get("replicas", 0)
    if before == replicas:
        return
    cluster.update(_REPLICA_SET, replica_set, {**replica_set, "spec": {**replica_set["spec"], "replicas": replicas}})
    if not moment.silent:
        direction = "up" if replicas > before else "down"
        message = f"Scaled {direction} replica set {replica_set['metadata']['name']} from {before} to {replicas}"
        record_event(cluster, deployment, "ScalingReplicaSet", message, moment, component="deployment-controller")


def _forget_old_revisions(cluster: Cluster, deployment: Json, current: Json, moment: Moment) -> None:
    limit = deployment["spec"].get("revisionHistoryLimit", 10)
    old = [item for item in _owned(cluster, "replicaset", deployment)
           if item["metadata"]["uid"] != current["metadata"]["uid"]]  # fmt: skip
    if isinstance(limit, int) and len(old) > limit >= 0:
        for item in sorted(old, key=_revision)[: len(old) - limit]:
            cluster.delete(_REPLICA_SET, item, moment.now)


def _keep_replicas(
    cluster: Cluster, row: ResourceType, owner: Json, pods: Mapping[str, list[Json]], moment: Moment
) -> None:
    """Keep as many pods as the owner asks for, up to what is materialised, and report them."""
    wanted = 0 if is_being_deleted(owner) else min(owner["spec"].get("replicas", 1), MATERIALISED_PODS)
    kept = pods.get(owner["metadata"]["uid"], [])
    if row is _REPLICA_SET:
        kept = _sized(cluster, owner, kept, wanted, moment)
    else:
        names = [f"{owner['metadata']['name']}-{ordinal}" for ordinal in range(wanted)]
        kept = _named(cluster, row, owner, kept, names, moment)
    health = _declaration(cluster, owner).health
    kept = _fare(cluster, kept, health, moment)
    total = 0 if is_being_deleted(owner) else owner["spec"].get("replicas", 1)
    ready = sum(_is_ready(pod) for pod in kept) if total <= len(kept) else total - _unready(health, total)
    _report(cluster, row, owner, _counts(total, ready, row))


def _keep_on_every_node(cluster: Cluster, owner: Json, pods: Mapping[str, list[Json]], moment: Moment) -> None:
    nodes = [] if is_being_deleted(owner) else _schedulable_nodes(cluster)
    kept = {pod["spec"].get("nodeName"): pod for pod in pods.get(owner["metadata"]["uid"], [])}
    stamp = template_hash(owner["spec"]["template"])
    for node, pod in kept.items():
        if node not in nodes or _stamp(pod) != stamp:
            cluster.remove(_POD, pod)
    present = {node: pod for node, pod in kept.items() if node in nodes and _stamp(pod) == stamp}
    for node in nodes:
        if node not in present:
            name = f"{owner['metadata']['name']}-{cluster.ids.suffix()}"
            present[node] = _new_pod(cluster, _DAEMON_SET, owner, name, moment, node=node, stamp=stamp)
    fared = _fare(cluster, list(present.values()), _declaration(cluster, owner).health, moment)
    ready = sum(_is_ready(pod) for pod in fared)
    counts = {
        "currentNumberScheduled": len(fared), "desiredNumberScheduled": len(nodes), "numberReady": ready,
        "numberAvailable": ready, "updatedNumberScheduled": len(fared), "numberMisscheduled": 0,
    }  # fmt: skip
    _report(cluster, _DAEMON_SET, owner, counts)


def _sized(cluster: Cluster, owner: Json, pods: list[Json], wanted: int, moment: Moment) -> list[Json]:
    """The replica set's pods, made or deleted until there are `wanted`; those that are not ready go first."""
    if len(pods) > wanted:
        ranked = sorted(pods, key=_is_ready, reverse=True)
        for pod in ranked[wanted:]:
            cluster.remove(_POD, pod)
        return ranked[:wanted]
    made = []
    for _ in range(wanted - len(pods)):
        name = f"{owner['metadata']['name']}-{cluster.ids.suffix()}"
        made.append(_new_pod(cluster, _REPLICA_SET, owner, name, moment))
    return [*pods, *made]


def _named(
    cluster: Cluster, row: ResourceType, owner: Json, pods: list[Json], names: list[str], moment: Moment
) -> list[Json]:
    """The stateful set's pods by ordinal; those of an older template or beyond the size are replaced or removed."""
    stamp = template_hash(owner["spec"]["template"])
    kept = {}
    for pod in pods:
        if pod["metadata"]["name"] in names and _stamp(pod) == stamp:
            kept[pod["metadata"]["name"]] = pod
        else:
            cluster.remove(_POD, pod)
    return [kept.get(name) or _new_pod(cluster, row, owner, name, moment, stamp=stamp) for name in names]


def _new_pod(
    cluster: Cluster, row: ResourceType, owner: Json, name: str, moment: Moment, *, node: str | None = None,
    stamp: str | None = None,
) -> Json:  # fmt: skip
    template = owner["spec"]["template"]
    labels = {**(template["metadata"].get("labels") or {}), **({"controller-revision-hash": stamp} if stamp else {})}
    annotations = template["metadata"].get("annotations")
    manifest = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "generateName": f"{owner['metadata']['name']}-",
            "namespace": owner["metadata"]["namespace"],
            **({"labels": labels} if labels else {}),
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [owner_reference(row, owner)],
        },
        "spec": {**template["spec"], **({"nodeName": node} if node else {})},
    }
    return cluster.create(_POD, admitted(_POD, defaulted(_POD, manifest)), moment.now)


def _fare(cluster: Cluster, pods: list[Json], health: Health, moment: Moment) -> list[Json]:
    """Give every pod the state that its workload's health asks for, changing as few as possible."""
    ailing = [
        pod for pod in pods if cluster.pod_health.get(pod["metadata"]["uid"], Health.RUNNING) is not Health.RUNNING
    ]
    fresh_first = sorted(pods, key=lambda pod: pod["metadata"]["uid"] in cluster.pod_health)
    wanted = _unready(health, len(pods))
    chosen = [pod["metadata"]["uid"] for pod in [*ailing, *(pod for pod in fresh_first if pod not in ailing)][:wanted]]
    result = []
    for pod in pods:
        uid = pod["metadata"]["uid"]
        due = health if uid in chosen else Health.RUNNING
        result.append(pod if cluster.pod_health.get(uid) is due else _with_health(cluster, pod, due, moment))
    return result


def _unready(health: Health, pods: int) -> int:
    """How many of a workload's pods are not ready."""
    if health is Health.RUNNING:
        return 0
    return (pods + 1) // 2 if health is Health.DEGRADED else pods


def _start_bare_pods(cluster: Cluster, namespace: str, moment: Moment) -> None:
    for pod in cluster.items("pod", namespace):
        if pod["metadata"]["uid"] not in cluster.pod_health and not is_being_deleted(pod):
            _with_health(cluster, pod, _declaration(cluster, pod).health, moment)


def _finish_deleted_pods(cluster: Cluster, namespace: str) -> None:
    """The node stops a deleted pod; only finalizers can hold it longer."""
    for pod in cluster.items("pod", namespace):
        if is_being_deleted(pod) and not pod["metadata"].get("finalizers"):
            cluster.remove(_POD, pod)


def _with_health(cluster: Cluster, pod: Json, health: Health, moment: Moment) -> Json:
    """The pod as its node or the scheduler would report it, with the event that a failing one keeps producing."""
    nodes = _schedulable_nodes(cluster)
    uid = pod["metadata"]["uid"]
    place = int(uid[:8], 16)
    spec = pod["spec"]
    if health is not Health.PENDING and nodes and not spec.get("nodeName"):
        spec = {**spec, "nodeName": nodes[place % len(nodes)]}
    cluster.pod_health[uid] = health
    if not spec.get("nodeName"):
        health = Health.PENDING
    address = f"10.244.{place % 3 + 1}.{place // 3 % 250 + 2}"
    status = _pod_status({**pod, "spec": spec}, health, address, len(nodes), moment)
    stored = cluster.update(_POD, pod, {**pod, "spec": spec, "status": status})
    trouble = _TROUBLE.get(health)
    if trouble:
        reason, text, component, count = trouble
        message = text.format(container=(container_names(pod) or ["main"])[-1], pod=pod["metadata"]["name"],
                              namespace=pod["metadata"]["namespace"], uid=uid, nodes=len(nodes))  # fmt: skip
        record_event(cluster, stored, reason, message, moment, kind="Warning", component=component,
                     count=count if moment.silent else 1)  # fmt: skip
    return stored


_TROUBLE = {
    Health.CRASHLOOPBACKOFF: (
        "BackOff", "Back-off restarting failed container {container} in pod {pod}_{namespace}({uid})", "kubelet", 47,
    ),
    # Kubelets say "probe" here; that word is one of ours, and no byte that an agent receives may hold it (SI-02).
    Health.DEGRADED: ("Unhealthy", "Readiness check failed: HTTP GET returned statuscode: 503", "kubelet", 31),
    Health.PENDING: (
        "FailedScheduling", "0/{nodes} nodes are available: {nodes} Insufficient cpu.", "default-scheduler", 12,
    ),
}  # fmt: skip


def _pod_status(pod: Json, health: Health, address: str, nodes: int, moment: Moment) -> Json:
    if health is Health.PENDING:
        message = f"0/{nodes} nodes are available: {nodes} Insufficient cpu."
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
                       "lastTransitionTime": moment.now}  # fmt: skip
        return {"phase": "Pending", "conditions": [unscheduled], "qosClass": "BestEffort"}
    ready = health is Health.RUNNING
    containers = [_container_status(item, health, moment) for item in pod["spec"].get("containers") or ()]
    unready = {} if ready else {
        "reason": "ContainersNotReady",
        "message": f"containers with unready status: [{' '.join(item['name'] for item in containers)}]",
    }  # fmt: skip
    conditions = [
        {
            "type": kind,
            "status": "True" if good else "False",
            "lastTransitionTime": moment.now,
            **({} if good else unready),
        }
        for kind, good in (("Initialized", True), ("Ready", ready), ("ContainersReady", ready), ("PodScheduled", True))
    ]
    return {
        "phase": "Running", "conditions": conditions, "hostIP": "10.0.0.10", "podIP": address,
        "podIPs": [{"ip": address}], "startTime": moment.now, "containerStatuses": containers, "qosClass": "BestEffort",
    }  # fmt: skip


def _container_status(item: Mapping[str, Any], health: Health, moment: Moment) -> Json:
    image = str(item.get("image", ""))
    common = {
        "name": item.get("name", ""),
        "image": image,
        "imageID": "",
        "started": health is not Health.CRASHLOOPBACKOFF,
    }
    if health is not Health.CRASHLOOPBACKOFF:
        state = {"running": {"startedAt": moment.now}}
        return {**common, "state": state, "lastState": {}, "ready": health is Health.RUNNING, "restartCount": 0}
    ended = {"exitCode": 1, "reason": "Error", "startedAt": moment.last_seen, "finishedAt": moment.last_seen}
    message = f"back-off 5m0s restarting failed container={common['name']}"
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    return {**common, "state": waiting, "lastState": {"terminated": ended}, "ready": False, "restartCount": 11}


def _report_deployment(cluster: Cluster, deployment: Json, moment: Moment) -> None:
    """The deployment's status: counts from its replica sets, the usual conditions, and the declared ones over them."""
    if is_being_deleted(deployment):
        return
    sets = _owned(cluster, "replicaset", deployment)
    current = max(sets, key=_revision, default=None)
    if current is None:
        return
    total, ready = (sum(item["status"].get(field, 0) for item in sets) for field in ("replicas", "readyReplicas"))
    wanted = deployment["spec"].get("replicas", 1)
    counts = {
        "replicas": total, "updatedReplicas": current["status"].get("replicas", 0), "readyReplicas": ready,
        "availableReplicas": ready, "unavailableReplicas": max(wanted - ready, 0),
    }  # fmt: skip
    available = ready >= wanted - wanted // 4
    name = current["metadata"]["name"]
    conditions = [
        _condition(deployment, "Available", name, moment, holds=available),
        _condition(deployment, "Progressing", name, moment, holds=ready >= wanted),
    ]
    declared = _declaration(cluster, deployment).conditions
    conditions = with_conditions(conditions, declared, moment.now)
    status = {key: value for key, value in counts.items() if value}
    _put_status(cluster, _DEPLOYMENT, deployment, {**status, "conditions": conditions})


def with_conditions(conditions: list[Json], declared: Iterable[Mapping[str, Any]], now: str) -> list[Json]:
    """The conditions with the declared ones laid over those of the same type, or added."""
    merged = {condition["type"]: condition for condition in conditions}
    for condition in declared:
        base = merged.get(condition["type"], {"status": "True", "lastUpdateTime": now, "lastTransitionTime": now})
        merged[condition["type"]] = {**base, **condition}
    return list(merged.values())


_CONDITION_TEXTS = {
    ("Available", True): ("MinimumReplicasAvailable", "Deployment has minimum availability."),
    ("Available", False): ("MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
    ("Progressing", True): ("NewReplicaSetAvailable", 'ReplicaSet "{name}" has successfully progressed.'),
    ("Progressing", False): ("ProgressDeadlineExceeded", 'ReplicaSet "{name}" has timed out progressing.'),
}


def _condition(deployment: Json, kind: str, replica_set: str, moment: Moment, *, holds: bool) -> Json:
    """One of the usual conditions; its times change only with what it says."""
    status = "True" if holds else "False"
    reason, message = _CONDITION_TEXTS[kind, holds]
    known: Json = next(
        (item for item in (deployment.get("status") or {}).get("conditions") or () if item.get("type") == kind), {}
    )
    same = known.get("status") == status
    since = known.get("lastTransitionTime", moment.now) if same else moment.now
    updated = known.get("lastUpdateTime", moment.now) if same and known.get("reason") == reason else moment.now
    return {
        "type": kind, "status": status, "lastUpdateTime": updated, "lastTransitionTime": since, "reason": reason,
        "message": message.format(name=replica_set),
    }  # fmt: skip


def _counts(total: int, ready: int, row: ResourceType) -> Json:
    counts = {"readyReplicas": ready, "availableReplicas": ready}
    if row is _REPLICA_SET:
        counts["fullyLabeledReplicas"] = total
    else:
        counts |= {"currentReplicas": total, "updatedReplicas": total}
    return {"replicas": total, **{key: value for key, value in counts.items() if value}}


def _report(cluster: Cluster, row: ResourceType, owner: Json, counts: Json) -> None:
    latest = cluster.by_uid(owner["metadata"]["uid"])
    if latest is not None:
        _put_status(cluster, row, latest, counts)


def _put_status(cluster: Cluster, row: ResourceType, obj: Json, status: Json) -> None:
    observed = {"observedGeneration": obj["metadata"].get("generation", 1), **status}
    if obj.get("status") != observed:
        cluster.update(row, obj, {**obj, "status": observed})


def _keep_claims(cluster: Cluster, namespace: str) -> None:
    """Bind new claims; let a deleted one go when no pod mounts it any more."""
    for claim in cluster.items("pvc", namespace):
        metadata = claim["metadata"]
        if is_being_deleted(claim):
            finalizers = metadata.get("finalizers") or []
            if PVC_PROTECTION in finalizers and not _is_mounted(cluster, namespace, metadata["name"]):
                rest = [name for name in finalizers if name != PVC_PROTECTION]
                cluster.put(_CLAIM, {**claim, "metadata": {**metadata, "finalizers": rest}})
        elif claim["status"].get("phase") == "Pending":
            capacity = ((claim["spec"].get("resources") or {}).get("requests")) or {}
            status = {"phase": "Bound", "accessModes": claim["spec"].get("accessModes", []), "capacity": capacity}
            spec = {"storageClassName": "standard", **claim["spec"], "volumeName": f"pvc-{metadata['uid']}"}
            cluster.update(_CLAIM, claim, {**claim, "spec": spec, "status": status})


def _is_mounted(cluster: Cluster, namespace: str, claim: str) -> bool:
    return any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim
        for pod in cluster.items("pod", namespace)
        for volume in pod["spec"].get("volumes") or ()
    )


def _keep_endpoints(cluster: Cluster, namespace: str, moment: Moment) -> None:
    """Keep an endpoints object for every service that selects pods."""
    services = {item["metadata"]["name"]: item for item in cluster.items("service", namespace)}
    for endpoints in cluster.items("endpoints", namespace):
        kept = _ENDPOINTS_MARK in (endpoints["metadata"].get("annotations") or {})
        if kept and endpoints["metadata"]["name"] not in services:
            cluster.remove(_ENDPOINTS, endpoints)
    for name, service in services.items():
        selector = service["spec"].get("selector")
        if selector:
            _keep_endpoints_of(cluster, namespace, name, service, selector, moment)


def _keep_endpoints_of(
    cluster: Cluster, namespace: str, name: str, service: Json, selector: Json, moment: Moment
) -> None:
    selected = [pod for pod in cluster.items("pod", namespace) if match_labels({"matchLabels": selector})(pod)]
    subset: Json = {}
    for field, ready in (("addresses", True), ("notReadyAddresses", False)):
        addresses = [
            _address(pod) for pod in selected if _is_ready(pod) is ready and "podIP" in (pod.get("status") or {})
        ]
        if addresses:
            subset[field] = addresses
    ports = [{"port": port.get("targetPort"), "protocol": port.get("protocol", "TCP")}
             for port in service["spec"].get("ports") or ()]  # fmt: skip
    subsets = [{**subset, "ports": ports}] if subset else []
    known = cluster.get("endpoints", namespace, name)
    if known is None:
        manifest = {"kind": "Endpoints", "apiVersion": "v1", "subsets": subsets,
                    "metadata": {"name": name, "namespace": namespace,
                                 "annotations": {_ENDPOINTS_MARK: moment.now}}}  # fmt: skip
        cluster.create(_ENDPOINTS, manifest, moment.now)
    elif known.get("subsets") != subsets:
        cluster.update(_ENDPOINTS, known, {**known, "subsets": subsets})


def _address(pod: Json) -> Json:
    metadata = pod["metadata"]
    target = {"kind": "Pod", "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
    return {"ip": pod["status"]["podIP"], "nodeName": pod["spec"].get("nodeName"), "targetRef": target}


def _declaration(cluster: Cluster, obj: Json) -> Declaration:
    return cluster.declarations.get(workload_of(cluster, obj), Declaration())


def _owned(cluster: Cluster, noun: str, owner: Json) -> list[Json]:
    metadata = owner["metadata"]
    owned = _by_controller(cluster.items(noun, metadata["namespace"]))
    return [item for item in owned.get(metadata["uid"], []) if not is_being_deleted(item)]


def _by_controller(items: Iterable[Json]) -> dict[str, list[Json]]:
    """The objects by the uid of their controller."""
    found: dict[str, list[Json]] = {}
    for item in items:
        owner = controller_of(item)
        if owner is not None and not is_being_deleted(item):
            found.setdefault(owner.get("uid", ""), []).append(item)
    return found


def _annotated(cluster: Cluster, row: ResourceType, obj: Json, annotations: Mapping[str, str]) -> Json:
    latest = cluster.by_uid(obj["metadata"]["uid"]) or obj
    known = latest["metadata"].get("annotations") or {}
    if all(known.get(key) == value for key, value in annotations.items()):
        return latest
    metadata = {**latest["metadata"], "annotations": {**known, **annotations}}
    return cluster.update(row, latest, {**latest, "metadata": metadata})


def _revision(replica_set: Json) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdecimal() else 0


def _stamp(pod: Json) -> str | None:
    return (pod["metadata"].get("labels") or {}).get("controller-revision-hash")


def _is_ready(pod: Json) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def _schedulable_nodes(cluster: Cluster) -> list[str]:
    return [node["metadata"]["name"] for node in cluster.items("node")
            if not (node.get("spec") or {}).get("unschedulable")]  # fmt: skip
