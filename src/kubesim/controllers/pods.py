"""Pods: from creation to readiness or to the declared trouble, as the scheduler and kubelets report them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubesim.controllers.dynamics import (
    LONG_AGO,
    READY_SECONDS,
    RESTARTS_AFTER,
    START_SECONDS,
    Dynamics,
    Fate,
    Health,
    Moment,
    Stage,
)
from kubesim.controllers.events import record_event
from kubesim.controllers.owners import nodes_for
from kubesim.controllers.pod_status import Addresses, pod_status
from kubesim.controllers.rows import POD
from kubesim.kinds.admission.accounts import with_account
from kubesim.kinds.admission.priorities import with_patience, with_priority
from kubesim.kinds.defaults import fill_defaults
from kubesim.placement import internal_address, pod_address, refusal, refusals
from kubesim.resource import ResourceType
from kubesim.status import ApiError, Json
from kubesim.store import Store, is_being_deleted, key_of, owner_reference

_DEFAULT_RESTARTS = {
    Health.CRASHLOOPBACKOFF: 11,
    Health.OOMKILLED: 5,
    Health.ERROR: 3,
    Health.INIT_FAILING: 9,
}  # fmt: skip


_STARTING = frozenset({"Pulled", "Created", "Started"})
_RESTART_PACE, _BACK_OFFS = 300, 4
"""Seconds between two starts of a container that keeps failing, and how often it is reported as waiting in between."""


def new_pod(
    dynamics: Dynamics, row: ResourceType, owner: Json, name: str, moment: Moment, *, node: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Json:  # fmt: skip
    """A pod from its owner's template."""
    store, template = dynamics.store, owner["spec"]["template"]
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
        "spec": {**_defaulted_spec(template["spec"]), **({"nodeName": node} if node else {})},
        "status": {},
    }
    return store.create(POD, admitted_pod(store, manifest), moment.now)


_SPECS: dict[int, tuple[Json, Json]] = {}
_MOST_SPECS = 1024


def _defaulted_spec(spec: Json) -> Json:
    """A template's spec with the server's defaults for pods, cached by identity because clusters share templates."""
    known = _SPECS.get(id(spec))
    if known is None or known[0] is not spec:
        if len(_SPECS) >= _MOST_SPECS:
            _SPECS.clear()
        pod = fill_defaults(POD, {"kind": "Pod", "apiVersion": "v1", "metadata": {}, "spec": spec})
        known = _SPECS[id(spec)] = (spec, pod["spec"])
    return known[1]


def admitted_pod(store: Store, pod: Json) -> Json:
    """The pod with what admission adds; refusals are up to the author of the owner's declaration."""
    granted = with_patience(with_account(store, pod))
    try:
        return with_priority(store, POD, granted)
    except ApiError:
        return granted


def fare(dynamics: Dynamics, pods: list[Json], health: Health, moment: Moment) -> list[Json]:
    """Give every pod the state that its workload's health requires now, changing the health of as few as possible.

    A pod with a declaration by name follows that instead.
    """
    own = {
        pod["metadata"]["uid"]: declared.health for pod in pods
        if (declared := dynamics.declarations.get(key_of(POD, pod))) is not None
    } if dynamics.declarations else {}  # fmt: skip
    common = [pod for pod in pods if pod["metadata"]["uid"] not in own]
    count = affected_pods(health, len(common))
    chosen = (
        {pod["metadata"]["uid"]: health for pod in _befallen(dynamics, common, health, moment)[:count]} if count else {}
    )
    fates = {**chosen, **own}
    return [brought_on(dynamics, pod, fates.get(pod["metadata"]["uid"], Health.RUNNING), moment) for pod in pods]


def _befallen(dynamics: Dynamics, common: list[Json], health: Health, moment: Moment) -> list[Json]:
    """The pods that a health can affect, in the order in which it does: those already unhealthy, then the new ones."""
    ailing = [pod for pod in common if _health(dynamics, pod) is not Health.RUNNING]
    fresh_first = sorted(common, key=lambda pod: pod["metadata"]["uid"] in dynamics.fates)
    candidates = [*ailing, *(pod for pod in fresh_first if pod not in ailing)]
    return [pod for pod in candidates if _is_exposed(dynamics, pod, health, moment)]


def _is_exposed(dynamics: Dynamics, pod: Json, health: Health, moment: Moment) -> bool:
    """Whether a health can affect a pod.

    Trouble that keeps pods from starting spares running ones; where only some pods are unhealthy, replacements are
    healthy.
    """
    if moment.silent:
        return True
    known = dynamics.fates.get(pod["metadata"]["uid"])
    if health is Health.DEGRADED:
        return known is not None and known.health is health
    is_up = known is not None and known.stage is Stage.SETTLED and known.health.serves
    return not (health.befalls_new_pods_only and is_up)


def affected_pods(health: Health, pods: int) -> int:
    """How many of a workload's pods its declared health affects."""
    if health is Health.RUNNING:
        return 0
    return (pods + 1) // 2 if health is Health.DEGRADED else pods


def finish_deleted_pods(dynamics: Dynamics, namespace: str) -> None:
    """Stop deleted pods, as the node does; only finalizers can hold them longer."""
    for pod in dynamics.store.present("pod", namespace):
        if is_being_deleted(pod) and not pod["metadata"].get("finalizers"):
            dynamics.fates.pop(pod["metadata"]["uid"], None)
            dynamics.store.remove(POD, pod)


def is_finished(pod: Json) -> bool:
    """Whether a pod ran to completion."""
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


def brought_on(dynamics: Dynamics, pod: Json, health: Health, moment: Moment) -> Json:
    """The pod as its node or the scheduler reports it at this moment, stored if that changed."""
    uid = pod["metadata"]["uid"]
    known = dynamics.fates.get(uid)
    if known is not None and known.health is health is not Health.PENDING and not pod["spec"].get("nodeName"):
        if not nodes_for(dynamics.store, pod, moment):
            return pod
        known = None
    if known is None or known.health is not health:
        fate = _begin_fate(dynamics, pod, health, moment, known)
    else:
        fate = known.at_time(moment.seconds)
        if fate == known:
            return pod
    dynamics.fates[uid] = fate
    return _report_status(dynamics, pod, fate, moment, known)


def _begin_fate(dynamics: Dynamics, pod: Json, health: Health, moment: Moment, known: Fate | None) -> Fate:
    declared = dynamics.declaration(pod)
    if moment.silent:
        count = _DEFAULT_RESTARTS.get(health, 0) if declared.restarts is None else declared.restarts
        return Fate(health, moment.seconds - LONG_AGO, Stage.SETTLED, count)
    if known is not None and known.stage is Stage.SETTLED:
        return replace(known, health=health, since=moment.seconds - READY_SECONDS)
    namespace = pod["metadata"]["namespace"]
    waits = (START_SECONDS, READY_SECONDS) if health.serves or health is Health.DEGRADED else (START_SECONDS,)
    restarts = RESTARTS_AFTER if health in _DEFAULT_RESTARTS else ()
    for wait in (*waits, *restarts):
        dynamics.wake_at(moment.seconds + wait, namespace)
    return Fate(health, moment.seconds, Stage.CREATING)


def _report_status(dynamics: Dynamics, pod: Json, fate: Fate, moment: Moment, known: Fate | None) -> Json:
    store, uid = dynamics.store, pod["metadata"]["uid"]
    place = int(uid[:8], 16)
    spec = pod["spec"]
    declared = dynamics.declaration(pod)
    waits = ""
    if fate.health is Health.PENDING or not spec.get("nodeName"):
        nodes = store.items("node")
        takers = nodes_for(store, pod, moment)
        if fate.health is not Health.PENDING and takers:
            spec = {**spec, "nodeName": takers[place % len(takers)]}
        else:
            waits = _refusal(fate.health, declared.reason, pod, nodes)
            fate = replace(fate, health=Health.PENDING)
    placed = {**pod, "spec": spec}
    reason = declared.reason
    node = store.content("node", "", spec.get("nodeName") or "") or {}
    host = internal_address(node)
    addresses = Addresses(host, host if spec.get("hostNetwork") else pod_address(node, place // 3))
    status = pod_status(placed, fate, addresses, waits, declared, moment.moment_of(pod))
    stored = store.update(POD, pod, {**placed, "status": status})
    for event in _events(stored, fate, known, waits, reason):
        kind, about, message, component, count = event
        record_event(store, stored, about, message, moment, kind=kind, component=component,
                     count=count if moment.silent else 1,
                     pace=_RESTART_PACE if about in _STARTING else 60)  # fmt: skip
    return stored


def _refusal(health: Health, reason: str, pod: Json, nodes: list[Json]) -> str:
    """Why a pod has no node, in the scheduler's words: as declared, or as follows from the nodes themselves."""
    if health is not Health.PENDING and nodes:
        return refusals(pod["spec"], nodes)
    ready = [node for node in nodes if refusal({}, node) is None]
    return f"0/{len(ready)} nodes are available: {len(ready)} {reason or 'Insufficient cpu'}."


_Event = tuple[str, str, str, str, int]


def _events(pod: Json, fate: Fate, known: Fate | None, waits: str, reason: str) -> list[_Event]:
    """The events about a pod whose state went from `known` to `fate`; an old pod's start is long forgotten."""
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
        said += [event for container in containers for event in start_events(container, 1)]
    elif fate.restarts > (known.restarts if known is not None else 0):
        failing = (spec.get("initContainers") if fate.health is Health.INIT_FAILING else None) or containers
        said += start_events(failing[-1], fate.restarts - (known.restarts if known is not None else 0))
    if fate.stage is Stage.CREATING and fate.health is not Health.PENDING:
        return said
    uid = pod["metadata"]["uid"]
    failing = ((spec.get("initContainers") if fate.health is Health.INIT_FAILING else None) or containers)[-1]
    back_off = f"Back-off restarting failed container {failing.get('name', '')} in pod {name}_{namespace}({uid})"
    match fate.health:
        case Health.CRASHLOOPBACKOFF | Health.OOMKILLED | Health.ERROR | Health.INIT_FAILING:
            if reason:
                said.append(("Warning", "Failed", f"Error: {reason}", "kubelet", 3))
            said.append(("Warning", "BackOff", back_off, "kubelet", _BACK_OFFS * fate.restarts + 3))
        case Health.DEGRADED:
            # Kubelets say "probe" here, but no byte that an agent receives may contain that word of ours (SI-02).
            text = reason or "Readiness check failed: HTTP GET returned statuscode: 503"
            said.append(("Warning", "Unhealthy", text, "kubelet", 31))
        case Health.IMAGEPULLBACKOFF:
            why = f'Failed to pull image "{image}": rpc error: code = NotFound desc = failed to pull and unpack image'
            said += [
                ("Normal", "Pulling", f'Pulling image "{image}"', "kubelet", 4),
                ("Warning", "Failed", reason or why, "kubelet", 4),
                ("Warning", "Failed", "Error: ErrImagePull", "kubelet", 4),
                ("Normal", "BackOff", f'Back-off pulling image "{image}"', "kubelet", 19),
            ]
        case Health.PENDING:
            said.append(("Warning", "FailedScheduling", waits, "default-scheduler", 12))
        case _:
            pass
    return said


def start_events(container: Mapping[str, Any], count: int) -> list[_Event]:
    """A kubelet's events about starting a container this many times."""
    name, image = container.get("name", ""), container.get("image", "")
    texts = {
        "Pulled": f'Container image "{image}" already present on machine', "Created": f"Created container: {name}",
        "Started": f"Started container {name}",
    }  # fmt: skip
    return [("Normal", reason, text, "kubelet", count) for reason, text in texts.items()]


def _health(dynamics: Dynamics, pod: Mapping[str, Any]) -> Health:
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    return fate.health if fate else Health.RUNNING
