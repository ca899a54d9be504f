"""Ephemeral containers (`kubectl debug`): started in a running pod when somebody adds them, and never again."""

from typing import Any

from kubesim.controllers.completion import run_of_process
from kubesim.controllers.dynamics import Dynamics, Moment, Run, Stage
from kubesim.controllers.events import record_event
from kubesim.controllers.pod_status import ephemeral_statuses
from kubesim.controllers.pods import is_finished, start_events
from kubesim.controllers.rows import POD
from kubesim.programs import is_awaiting_input, main_process
from kubesim.status import Json
from kubesim.store import is_being_deleted


def keep_guests(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Start containers that were added to the pods of a namespace, and report those that have ended."""
    for pod in dynamics.store.present("pod", namespace):
        if pod["spec"].get("ephemeralContainers") and not is_finished(pod) and not is_being_deleted(pod):
            _keep_guests_of(dynamics, pod, moment)


def _keep_guests_of(dynamics: Dynamics, pod: Json, moment: Moment) -> None:
    uid = pod["metadata"]["uid"]
    fate = dynamics.fates.get(uid)
    if fate is None or fate.stage is Stage.CREATING:
        return
    runs = dynamics.guest_runs.setdefault(uid, {})
    for item in pod["spec"]["ephemeralContainers"]:
        if item["name"] not in runs:
            runs[item["name"]] = _started(dynamics, pod, item, moment)
    statuses = ephemeral_statuses(pod, runs, moment)
    dynamics.store.update(POD, pod, {**pod, "status": {**pod["status"], "ephemeralContainerStatuses": statuses}})


def _started(dynamics: Dynamics, pod: Json, item: dict[str, Any], moment: Moment) -> Run | None:
    """The run of a new container; None if it keeps running, or waits for input."""
    for kind, reason, message, component, count in start_events(item, 1):
        record_event(dynamics.store, pod, reason, message, moment, kind=kind, component=component, count=count)
    name = item["name"]
    process = None if is_awaiting_input(pod, name) else main_process(dynamics.store, pod, name)
    if process is None:
        return None
    dynamics.wake_at(moment.seconds + process.seconds, pod["metadata"]["namespace"])
    return run_of_process(process, moment.seconds)
