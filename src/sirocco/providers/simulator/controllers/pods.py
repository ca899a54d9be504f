"""Pods: from creation to readiness or to the trouble that was declared, as the scheduler and kubelets report them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sirocco.oasis.resource import ResourceType
from sirocco.providers.simulator.controllers.dynamics import (
    READY_SECONDS,
    RESTARTS_AFTER,
    START_SECONDS,
    Dynamics,
    Fate,
    Health,
    Moment,
    Stage,
)
from sirocco.providers.simulator.controllers.events import record_event
from sirocco.providers.simulator.controllers.owners import schedulable_nodes
from sirocco.providers.simulator.controllers.pod_status import pod_status, unscheduled_words
from sirocco.providers.simulator.controllers.rows import POD
from sirocco.providers.simulator.kubernetes.cluster import is_being_deleted, owner_reference
from sirocco.providers.simulator.kubernetes.kinds.defaults import defaulted
from sirocco.providers.simulator.kubernetes.status import Json

_LONG_AGO = 1e9
_RESTARTS = {
    Health.CRASHLOOPBACKOFF: 11,
    Health.OOMKILLED: 5,
    Health.ERROR: 3,
    Health.INIT_FAILING: 9,
}  # fmt: skip


def new_pod(
    dynamics: Dynamics, row: ResourceType, owner: Json, name: str, moment: Moment, *, node: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Json:  # fmt: skip
    """A pod from its owner's template."""
    cluster, template = dynamics.cluster, owner["spec"]["template"]
    metadata = template.get("metadata") or {}
    marked = {**(metadata.get("labels") or {}), **(labels or {})}
    annotations = metadata.get("annotations")
    manifest = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "generateName": f"{owner['metadata']['name']}-",
            "namespace": owner["metadata"]["namespace"],
            **({"labels": marked} if marked else {}),
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [owner_reference(row, owner)],
        },
        "spec": {**template["spec"], **({"nodeName": node} if node else {})},
    }
    return cluster.create(POD, defaulted(POD, manifest), moment.now)


def fare(dynamics: Dynamics, pods: list[Json], health: Health, moment: Moment) -> list[Json]:
    """Give every pod the state that its workload's health asks for now, changing the health of as few as possible."""
    fates = dynamics.fates
    ailing = [pod for pod in pods if _health(dynamics, pod) is not Health.RUNNING]
    fresh_first = sorted(pods, key=lambda pod: pod["metadata"]["uid"] in fates)
    candidates = [*ailing, *(pod for pod in fresh_first if pod not in ailing)]
    chosen = {pod["metadata"]["uid"] for pod in candidates[: affected(health, len(pods))]}
    return [
        brought_on(dynamics, pod, health if pod["metadata"]["uid"] in chosen else Health.RUNNING, moment)
        for pod in pods
    ]


def affected(health: Health, pods: int) -> int:
    """How many of a workload's pods fare as its health says."""
    if health is Health.RUNNING:
        return 0
    return (pods + 1) // 2 if health is Health.DEGRADED else pods


def start_bare_pods(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Pods that no controller of ours keeps."""
    for pod in dynamics.cluster.items("pod", namespace):
        if not pod["metadata"].get("ownerReferences") and not is_being_deleted(pod) and not is_finished(pod):
            brought_on(dynamics, pod, dynamics.declaration(pod).health, moment)


def finish_deleted_pods(dynamics: Dynamics, namespace: str) -> None:
    """The node stops a deleted pod; only finalizers can hold it longer."""
    for pod in dynamics.cluster.items("pod", namespace):
        if is_being_deleted(pod) and not pod["metadata"].get("finalizers"):
            dynamics.fates.pop(pod["metadata"]["uid"], None)
            dynamics.cluster.remove(POD, pod)


def is_finished(pod: Json) -> bool:
    """Whether a pod ran to its end."""
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


def brought_on(dynamics: Dynamics, pod: Json, health: Health, moment: Moment) -> Json:
    """The pod as its node or the scheduler reports it at this moment, stored when that changed."""
    uid = pod["metadata"]["uid"]
    known = dynamics.fates.get(uid)
    if known is None or known.health is not health:
        fate = _begun(dynamics, pod, health, moment, known)
    else:
        fate = known.at(moment.seconds)
        if fate == known:
            return pod
    dynamics.fates[uid] = fate
    return _reported(dynamics, pod, fate, moment, known)


def _begun(dynamics: Dynamics, pod: Json, health: Health, moment: Moment, known: Fate | None) -> Fate:
    if moment.silent:
        return Fate(health, moment.seconds - _LONG_AGO, Stage.SETTLED, _RESTARTS.get(health, 0))
    if known is not None and known.stage is Stage.SETTLED:
        return replace(known, health=health, since=moment.seconds - READY_SECONDS)
    namespace = pod["metadata"]["namespace"]
    waits = (START_SECONDS, READY_SECONDS) if health.serves or health is Health.DEGRADED else (START_SECONDS,)
    restarts = RESTARTS_AFTER if health in _RESTARTS else ()
    for wait in (*waits, *restarts):
        dynamics.wake_at(moment.seconds + wait, namespace)
    return Fate(health, moment.seconds, Stage.CREATING)


def _reported(dynamics: Dynamics, pod: Json, fate: Fate, moment: Moment, known: Fate | None) -> Json:
    cluster, uid = dynamics.cluster, pod["metadata"]["uid"]
    nodes = schedulable_nodes(cluster)
    place = int(uid[:8], 16)
    spec = pod["spec"]
    if fate.health is not Health.PENDING and nodes and not spec.get("nodeName"):
        spec = {**spec, "nodeName": nodes[place % len(nodes)]}
    if not spec.get("nodeName"):
        fate = replace(fate, health=Health.PENDING)
    placed = {**pod, "spec": spec}
    status = pod_status(placed, fate, f"10.244.{place % 3 + 1}.{place // 3 % 250 + 2}", len(nodes), moment)
    stored = cluster.update(POD, pod, {**placed, "status": status})
    for event in _events(stored, fate, known, len(nodes)):
        kind, about, message, component, count = event
        record_event(cluster, stored, about, message, moment, kind=kind, component=component,
                     count=count if moment.silent else 1)  # fmt: skip
    return stored


_Event = tuple[str, str, str, str, int]


def _events(pod: Json, fate: Fate, known: Fate | None, nodes: int) -> list[_Event]:
    """What is said about a pod when its fate turned from `known` to `fate`; an old pod's start is long forgotten."""
    said: list[_Event] = []
    name, namespace, spec = pod["metadata"]["name"], pod["metadata"]["namespace"], pod["spec"]
    containers = spec.get("containers") or [{}]
    image = containers[0].get("image", "")
    silent = fate.stage is Stage.SETTLED and known is None
    if known is None and not silent and spec.get("nodeName"):
        text = f"Successfully assigned {namespace}/{name} to {spec['nodeName']}"
        said.append(("Normal", "Scheduled", text, "default-scheduler", 1))
    started = known is not None and known.stage is Stage.CREATING and fate.stage is not Stage.CREATING
    if started and fate.health is not Health.IMAGEPULLBACKOFF:
        for container in containers:
            text = f'Container image "{container.get("image", "")}" already present on machine'
            said.append(("Normal", "Pulled", text, "kubelet", 1))
            said.append(("Normal", "Created", f"Created container {container.get('name', '')}", "kubelet", 1))
            said.append(("Normal", "Started", f"Started container {container.get('name', '')}", "kubelet", 1))
    if fate.stage is Stage.CREATING and fate.health is not Health.PENDING:
        return said
    uid = pod["metadata"]["uid"]
    failing = ((spec.get("initContainers") if fate.health is Health.INIT_FAILING else None) or containers)[-1]
    back_off = f"Back-off restarting failed container {failing.get('name', '')} in pod {name}_{namespace}({uid})"
    match fate.health:
        case Health.CRASHLOOPBACKOFF | Health.OOMKILLED | Health.ERROR | Health.INIT_FAILING:
            said.append(("Warning", "BackOff", back_off, "kubelet", 47))
        case Health.DEGRADED:
            # Kubelets say "probe" here; no byte that an agent receives may hold that word of ours (SI-02).
            text = "Readiness check failed: HTTP GET returned statuscode: 503"
            said.append(("Warning", "Unhealthy", text, "kubelet", 31))
        case Health.IMAGEPULLBACKOFF:
            why = f'Failed to pull image "{image}": rpc error: code = NotFound desc = failed to pull and unpack image'
            said += [
                ("Normal", "Pulling", f'Pulling image "{image}"', "kubelet", 4),
                ("Warning", "Failed", why, "kubelet", 4),
                ("Warning", "Failed", "Error: ErrImagePull", "kubelet", 4),
                ("Normal", "BackOff", f'Back-off pulling image "{image}"', "kubelet", 19),
            ]
        case Health.PENDING:
            said.append(("Warning", "FailedScheduling", unscheduled_words(nodes), "default-scheduler", 12))
        case _:
            pass
    return said


def _health(dynamics: Dynamics, pod: Mapping[str, Any]) -> Health:
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    return fate.health if fate else Health.RUNNING
