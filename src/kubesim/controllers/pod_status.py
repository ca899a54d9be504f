"""The status of a pod: its phase, conditions and container statuses for each state."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kubesim.controllers.dynamics import Declaration, Fate, Health, Moment, Run, Stage
from kubesim.images import image_id
from kubesim.status import Json

_SOON = frozenset({"Initialized", "PodScheduled"})
"""The conditions that hold at once; for the rest, the pod's containers must have started."""
_BACK_OFFS = ("10s", "20s", "40s", "1m20s", "2m40s", "5m0s")


class Addresses(NamedTuple):
    """The addresses of a pod's node and of the pod itself."""

    host: str
    own: str


def pod_status(pod: Json, fate: Fate, addresses: Addresses, waits: str, declared: Declaration, moment: Moment) -> Json:
    """What the scheduler or the kubelet reports about a pod; times change only with what they are about.

    `waits` is why a pod without a node has none.
    """
    spec, reason = pod["spec"], declared.reason
    quality = {"qosClass": (pod.get("status") or {}).get("qosClass") or quality_of_service(spec)}
    if fate.health is Health.PENDING:
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": waits}
        return {"phase": "Pending", "conditions": _dated_conditions(pod, [unscheduled], moment), **quality}
    creating, up = fate.stage is Stage.CREATING, replace(moment, now=moment.start_of(pod))
    containers = [
        _with_ids(_container(item, _fate_of(item, fate, declared), up, reason), pod)
        for item in spec.get("containers") or ()
    ]
    inits = [_with_ids(_init_container(item, fate, moment), pod) for item in spec.get("initContainers") or ()]
    initialized = not inits or not (creating or fate.health is Health.INIT_FAILING)
    ready = bool(containers) and all(item["ready"] for item in containers)
    names = " ".join(item["name"] for item in containers if not item["ready"])
    unready = {"reason": "ContainersNotReady", "message": f"containers with unready status: [{names}]"}
    waiting = " ".join(item["name"] for item in inits)
    uninitialized = {
        "reason": "ContainersNotInitialized", "message": f"containers with incomplete status: [{waiting}]",
    }  # fmt: skip
    conditions = [
        _condition("PodReadyToStartContainers", {}, holds=not creating),
        _condition("Initialized", uninitialized, holds=initialized),
        _condition("Ready", unready, holds=ready),
        _condition("ContainersReady", unready, holds=ready),
        _condition("PodScheduled", {}, holds=True),
    ]
    runs = initialized and not creating and fate.health is not Health.IMAGEPULLBACKOFF
    began = (pod.get("status") or {}).get("startTime", moment.now)
    guests = (pod.get("status") or {}).get("ephemeralContainerStatuses")
    return {
        "phase": "Running" if runs else "Pending", "conditions": _dated_conditions(pod, conditions, moment),
        **({"hostIP": addresses.host, "hostIPs": [{"ip": addresses.host}]} if addresses.host else {}),
        **({} if creating else {"podIP": addresses.own, "podIPs": [{"ip": addresses.own}]}), "startTime": began,
        **({"initContainerStatuses": inits} if inits else {}), "containerStatuses": containers, **quality,
        **({"ephemeralContainerStatuses": guests} if guests else {}),
    }  # fmt: skip


def ephemeral_statuses(pod: Json, runs: Mapping[str, Run | None], moment: Moment) -> list[Json]:
    """The kubelet's report on ephemeral containers, by their runs; None for those that keep running."""
    known = {one["name"]: one for one in (pod.get("status") or {}).get("ephemeralContainerStatuses") or ()}
    found = []
    for item in pod["spec"]["ephemeralContainers"]:
        before = known.get(item["name"])
        if before is not None and "terminated" in before["state"]:
            found.append(before)
            continue
        run, fields = runs.get(item["name"]), _common_fields(item)
        began = before["state"]["running"]["startedAt"] if before is not None else moment.now
        state: Json = {"running": {"startedAt": began}}
        if run is not None and run.ended <= moment.seconds:
            reason = "Error" if run.exit_code else "Completed"
            ended = {"exitCode": run.exit_code, "reason": reason, "startedAt": began, "finishedAt": moment.now}
            state = {"terminated": ended}
        bare = {**fields, "state": state, "lastState": {}, "ready": False, "restartCount": 0}
        found.append(_with_ids(bare, pod))
    return found


def completed_status(pod: Json, codes: Mapping[str, int], moment: Moment) -> Json:
    """What the kubelet reports about a pod whose processes have ended, by the exit codes of its containers."""
    spec, known = pod["spec"], pod.get("status") or {}
    failed = any(codes.values())
    inits = [_exited_status(pod, item, codes, moment) for item in spec.get("initContainers") or ()]
    containers = [_exited_status(pod, item, codes, moment) for item in spec.get("containers") or ()]
    why = {"reason": "PodFailed" if failed else "PodCompleted"}
    conditions = [
        {"type": "PodReadyToStartContainers", "status": "False"},
        {"type": "Initialized", "status": "True", **({} if failed else why)},
        *({"type": kind, "status": "False", **why} for kind in ("Ready", "ContainersReady")),
        {"type": "PodScheduled", "status": "True"},
    ]
    return {
        **known, "phase": "Failed" if failed else "Succeeded", "conditions": _dated_conditions(pod, conditions, moment),
        **({"initContainerStatuses": inits} if inits else {}), "containerStatuses": containers,
    }  # fmt: skip


def _exited_status(pod: Json, item: Mapping[str, Any], codes: Mapping[str, int], moment: Moment) -> Json:
    """The status of one container whose process has ended; one that never began waits for those before it."""
    common = {**_common_fields(item), "lastState": {}, "ready": False, "restartCount": 0, "started": False}
    code = codes.get(common["name"])
    if code is None:
        return {**common, "state": {"waiting": {"reason": "PodInitializing"}}}
    began = (pod.get("status") or {}).get("startTime", moment.now)
    reason = "Error" if code else "Completed"
    ended = {"exitCode": code, "reason": reason, "startedAt": began, "finishedAt": moment.now}
    return {**common, "state": {"terminated": ended}}


def _fate_of(item: Mapping[str, Any], fate: Fate, declared: Declaration) -> Fate:
    """The state of one container: the pod's, unless single containers were declared to fail; then only those do."""
    if not declared.containers or fate.health.serves:
        return fate
    own = declared.containers.get(str(item.get("name", "")))
    return fate if own is None and fate.health is Health.INIT_FAILING else replace(
        fate, health=own or Health.RUNNING, restarts=fate.restarts if own else 0
    )  # fmt: skip


def quality_of_service(spec: Mapping[str, Any]) -> str:
    """The quality of service, which says how readily the node would evict the pod."""
    asked = [item.get("resources") or {} for item in spec.get("containers") or ()]
    if not any(item.get("requests") or item.get("limits") for item in asked):
        return "BestEffort"
    full = all(
        {"cpu", "memory"} <= set(item.get("limits") or {})
        and all((item.get("requests") or {}).get(key, value) == value for key, value in item["limits"].items())
        for item in asked
    )
    return "Guaranteed" if full else "Burstable"


def _condition(kind: str, why_not: Mapping[str, str], *, holds: bool) -> Json:
    return {"type": kind, "status": "True" if holds else "False", **({} if holds else why_not)}


def _dated_conditions(pod: Json, conditions: list[Json], moment: Moment) -> list[Json]:
    known = {item.get("type"): item for item in (pod.get("status") or {}).get("conditions") or ()}
    dated = []
    for condition in conditions:
        before = known.get(condition["type"], {})
        same = before.get("status") == condition["status"]
        now = moment.now if condition["type"] in _SOON else moment.start_of(pod)
        since = before.get("lastTransitionTime", now) if same else now
        dated.append({**condition, "lastProbeTime": None, "lastTransitionTime": since})
    return dated


def _container(item: Mapping[str, Any], fate: Fate, moment: Moment, reason: str) -> Json:
    common = _common_fields(item)
    if fate.health is Health.INIT_FAILING:
        return {**common, "state": {"waiting": {"reason": "PodInitializing"}}, **_NOT_STARTED}
    if fate.stage is Stage.CREATING:
        return {**common, "state": {"waiting": {"reason": "ContainerCreating"}}, **_NOT_STARTED}
    match fate.health:
        case Health.IMAGEPULLBACKOFF:
            message = f'Back-off pulling image "{item.get("image", "")}"'
            state = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
            return {**common, "state": state, **_NOT_STARTED}
        case Health.CRASHLOOPBACKOFF:
            ended = _ended_state(1, "Error", moment, reason)
            return _failed(common, _waiting_state(common["name"], fate), ended, fate)
        case Health.OOMKILLED:
            ended = _ended_state(137, "OOMKilled", moment, "")
            return _failed(common, {"terminated": ended}, ended, fate)
        case Health.ERROR:
            ended = _ended_state(1, "Error", moment, reason)
            return _failed(common, {"terminated": ended}, ended, fate)
        case _:
            serves = fate.health.serves and fate.stage is Stage.SETTLED
            state = {"running": {"startedAt": moment.now}}
            restarts = fate.restarts
            return {
                **common,
                "state": state,
                "lastState": {},
                "ready": serves,
                "restartCount": restarts,
                "started": True,
            }


_NOT_STARTED: Json = {"lastState": {}, "ready": False, "restartCount": 0, "started": False}


def _init_container(item: Mapping[str, Any], fate: Fate, moment: Moment) -> Json:
    common = _common_fields(item)
    if fate.stage is Stage.CREATING:
        return {**common, "state": {"waiting": {"reason": "PodInitializing"}}, **_NOT_STARTED}
    if fate.health is Health.INIT_FAILING:
        return _failed(common, _waiting_state(common["name"], fate), _ended_state(1, "Error", moment, ""), fate)
    ended = {"terminated": _ended_state(0, "Completed", moment, "")}
    return {**common, "state": ended, "lastState": {}, "ready": True, "restartCount": 0, "started": False}


def _with_ids(status: Json, pod: Json) -> Json:
    """The status of a started container, with the ids that its runtime gave to it and its image."""
    if "waiting" in status["state"] and not status["lastState"]:
        return status
    what = f"{pod['metadata']['uid']}/{status['name']}/{status['restartCount']}"
    own = f"containerd://{hashlib.sha256(what.encode()).hexdigest()}"
    return {**status, "imageID": image_id(status["image"]), "containerID": own}


def _common_fields(item: Mapping[str, Any]) -> Json:
    return {"name": item.get("name", ""), "image": str(item.get("image", "")), "imageID": ""}


def _failed(common: Json, state: Json, ended: Json, fate: Fate) -> Json:
    last = {"lastState": {"terminated": ended} if fate.restarts else {}}
    return {**common, "state": state, **last, "ready": False, "restartCount": fate.restarts, "started": False}


def _waiting_state(name: str, fate: Fate) -> Json:
    delay = _BACK_OFFS[min(fate.restarts, len(_BACK_OFFS) - 1)]
    message = f"back-off {delay} restarting failed container={name}"
    return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}


def _ended_state(code: int, reason: str, moment: Moment, message: str) -> Json:
    said = {"message": message} if message else {}
    return {"exitCode": code, "reason": reason, **said, "startedAt": moment.last_seen, "finishedAt": moment.last_seen}
