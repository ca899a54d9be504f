"""Jobs: pods that run to their end, and what the job reports about them."""

from sirocco.providers.simulator.controllers.dynamics import Dynamics, Health, Moment
from sirocco.providers.simulator.controllers.events import record_event
from sirocco.providers.simulator.controllers.owners import put_status
from sirocco.providers.simulator.controllers.pods import brought_on, is_finished, new_pod
from sirocco.providers.simulator.controllers.rows import JOB, POD
from sirocco.providers.simulator.kubernetes.cluster import controller_of, is_being_deleted
from sirocco.providers.simulator.kubernetes.status import Json

RUN_SECONDS = 20.0
"""How long the pod of a job takes."""
MOST_PODS = 200
"""Pods that a job makes in all; one that wants more goes on without them."""


def keep_job(dynamics: Dynamics, job: Json, moment: Moment) -> None:
    """Run the job's pods until enough succeeded, or too many failed."""
    if is_being_deleted(job) or _is_over(job) or job["spec"].get("suspend"):
        return
    spec = job["spec"]
    health = dynamics.declaration(job).health
    pods = [pod for pod in dynamics.cluster.items("pod", job["metadata"]["namespace"]) if _is_of(pod, job)]
    if health is not Health.STARTING:
        pods = [_finished_if_due(dynamics, pod, moment, fails=not health.serves) for pod in pods]
    phases = [(pod.get("status") or {}).get("phase") for pod in pods]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    active = [pod for pod in pods if not is_finished(pod)]
    wanted, limit = spec.get("completions") or 1, spec.get("backoffLimit", 6)
    if failed <= limit:
        missing = min(spec.get("parallelism", 1), wanted - succeeded) - len(active)
        for _ in range(min(missing, MOST_PODS - len(pods))):
            name = f"{job['metadata']['name']}-{dynamics.cluster.ids.suffix()}"
            pod = new_pod(dynamics, JOB, job, name, moment)
            active.append(brought_on(dynamics, pod, Health.RUNNING, moment))
            dynamics.wake_at(moment.seconds + RUN_SECONDS, job["metadata"]["namespace"])
            if not moment.silent:
                record_event(dynamics.cluster, job, "SuccessfulCreate", f"Created pod: {name}", moment,
                             component="job-controller")  # fmt: skip
    put_status(dynamics.cluster, JOB, job, _status(job, len(active), succeeded, failed, wanted, limit, moment))


def _finished_if_due(dynamics: Dynamics, pod: Json, moment: Moment, *, fails: bool) -> Json:
    """A pod that has run long enough ends; one from before the agent came has ended already."""
    if is_finished(pod) or is_being_deleted(pod):
        return pod
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    if fate is None or (not moment.silent and moment.seconds - fate.since < RUN_SECONDS):
        return brought_on(dynamics, pod, Health.RUNNING, moment)
    code, reason, phase = (1, "Error", "Failed") if fails else (0, "Completed", "Succeeded")
    began = (pod.get("status") or {}).get("startTime", moment.now)
    ended = {"exitCode": code, "reason": reason, "startedAt": began, "finishedAt": moment.now}
    containers = [
        {"name": item.get("name", ""), "image": item.get("image", ""), "imageID": "", "ready": False,
         "restartCount": 0, "started": False, "state": {"terminated": ended}, "lastState": {}}
        for item in pod["spec"].get("containers") or ()
    ]  # fmt: skip
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": moment.now, **({} if status == "True" else why)}
        for kind, status, why in (
            ("Initialized", "True", {}), ("Ready", "False", {"reason": "PodCompleted"}),
            ("ContainersReady", "False", {"reason": "PodCompleted"}), ("PodScheduled", "True", {}),
        )
    ]  # fmt: skip
    status = {**(pod.get("status") or {}), "phase": phase, "containerStatuses": containers, "conditions": conditions}
    return dynamics.cluster.update(POD, pod, {**pod, "status": status})


def _status(job: Json, active: int, succeeded: int, failed: int, wanted: int, limit: int, moment: Moment) -> Json:
    known = job.get("status") or {}
    began = known.get("startTime", moment.now)
    counts = {key: value for key, value in (("active", active), ("succeeded", succeeded), ("failed", failed)) if value}
    status = {"startTime": began, **counts}
    if succeeded >= wanted:
        return {**status, "completionTime": moment.now, "conditions": [_condition("Complete", moment)]}
    if failed > limit:
        why = {"reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
        return {**status, "conditions": [{**_condition("Failed", moment), **why}]}
    return status


def _condition(kind: str, moment: Moment) -> Json:
    return {"type": kind, "status": "True", "lastTransitionTime": moment.now}


def _is_over(job: Json) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(item.get("type") in {"Complete", "Failed"} and item.get("status") == "True" for item in conditions)


def _is_of(pod: Json, job: Json) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.get("uid") == job["metadata"]["uid"]
