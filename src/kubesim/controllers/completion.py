"""Pods that run to completion: their containers' processes start, take their time and exit, and the pod reports how."""

from kubesim.controllers.dynamics import LONG_AGO, START_SECONDS, Dynamics, Health, Moment, Run, Stage
from kubesim.controllers.pod_status import completed_status
from kubesim.controllers.pods import brought_on, is_finished
from kubesim.controllers.rows import POD
from kubesim.programs import Process, main_process
from kubesim.status import Json
from kubesim.store import is_being_deleted

RUN_SECONDS = 20.0
"""How long a job's pod takes if its processes are unknown."""
_LONGEST_WAIT = 600.0
"""The longest wait for a process: one that sleeps for a day must not make the day pass."""
_UNKNOWN = Process(RUN_SECONDS - START_SECONDS, lines=None)


def run_pod(dynamics: Dynamics, pod: Json, health: Health, moment: Moment, *, is_task: bool = False) -> Json:
    """The pod as it is at this moment: it ends when its processes have, unless they are restarted again and again.

    Every process of a task ends, even an unknown one. A declared pod stays as it is, unless it is a task: then it ended
    long ago.
    """
    if is_finished(pod) or is_being_deleted(pod):
        return pod
    may_end = health is Health.RUNNING and pod["spec"].get("restartPolicy") in {"Never", "OnFailure"}
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    is_old = moment.silent or (fate is not None and moment.seconds - fate.since >= LONG_AGO / 2)
    if may_end and not is_old and _keeps_failing(dynamics, pod):
        health = Health.CRASHLOOPBACKOFF
    pod = brought_on(dynamics, pod, health, moment)
    if not may_end or dynamics.fates[pod["metadata"]["uid"]].health is Health.PENDING:
        return pod
    if is_old:
        return end_pod(dynamics, pod, _long_since(pod), moment) if is_task and fate is not None else pod
    return _ended_if_due(dynamics, pod, moment, is_task=is_task)


def _ended_if_due(dynamics: Dynamics, pod: Json, moment: Moment, *, is_task: bool) -> Json:
    uid = pod["metadata"]["uid"]
    fate, runs = dynamics.fates[uid], dynamics.runs.get(uid)
    if fate.stage is Stage.CREATING:
        return pod
    if runs is None:
        runs = dynamics.runs[uid] = start_containers(dynamics, pod, fate.since + START_SECONDS, moment, is_task=is_task)
    if not runs or fate.health is not Health.RUNNING or moment.seconds < max(run.ended for run in runs.values()):
        return pod
    return end_pod(dynamics, pod, runs, moment)


def _long_since(pod: Json) -> dict[str, Run]:
    return {item["name"]: Run(0, 0, 0, None) for item in pod["spec"].get("containers") or ()}


def start_bare_pods(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Start pods that no controller of ours keeps."""
    for pod in dynamics.store.present("pod", namespace):
        if not pod["metadata"].get("ownerReferences"):
            run_pod(dynamics, pod, dynamics.declaration(pod).health, moment)


def end_pod(dynamics: Dynamics, pod: Json, runs: dict[str, Run], moment: Moment) -> Json:
    """The pod after the last of its processes."""
    codes = {name: run.exit_code for name, run in runs.items()}
    return dynamics.store.update(POD, pod, {**pod, "status": completed_status(pod, codes, moment)})


def start_containers(
    dynamics: Dynamics, pod: Json, began: float, moment: Moment, *, is_task: bool = False
) -> dict[str, Run]:
    """What the containers of a pod do, init containers one after the other; nothing when one of them never ends."""
    runs: dict[str, Run] = {}
    for item in pod["spec"].get("initContainers") or ():
        process = main_process(dynamics.store, pod, item["name"]) or _UNKNOWN
        runs[item["name"]] = run = run_of_process(process, began)
        began = run.ended
        if run.exit_code:
            return runs
    for item in pod["spec"].get("containers") or ():
        known = main_process(dynamics.store, pod, item["name"])
        if known is None and not is_task:
            return {}
        runs[item["name"]] = run_of_process(known or _UNKNOWN, began)
    end = max(run.ended for run in runs.values())
    if end - moment.seconds <= _LONGEST_WAIT:
        dynamics.wake_at(end, pod["metadata"]["namespace"])
    return runs


def converse(dynamics: Dynamics, pod: Json, container: str, text: str, moment: Moment) -> None:
    """Give the waiting process of a container all of its input; it then runs to completion."""
    process = main_process(dynamics.store, pod, container, text) or _UNKNOWN
    uid, run = pod["metadata"]["uid"], run_of_process(process, moment.seconds)
    if container in dynamics.guest_runs.get(uid, {}):
        dynamics.guest_runs[uid][container] = run
    else:
        dynamics.runs[uid] = {container: run}
    dynamics.wake_at(moment.seconds + process.seconds, pod["metadata"]["namespace"])


def run_of_process(process: Process, began: float) -> Run:
    """The course of a process that began at a time."""
    lines = process.lines and tuple((began + after, text) for after, text in process.lines)
    return Run(began, began + process.seconds, process.exit_code, lines)


def _keeps_failing(dynamics: Dynamics, pod: Json) -> bool:
    """Whether a process of the pod fails, and is restarted each time."""
    if pod["spec"].get("restartPolicy") != "OnFailure":
        return False
    items = (*(pod["spec"].get("initContainers") or ()), *(pod["spec"].get("containers") or ()))
    processes = (main_process(dynamics.store, pod, item["name"]) for item in items)
    return any(process is not None and process.exit_code for process in processes)
