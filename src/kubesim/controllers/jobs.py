"""Jobs: pods that run to completion, and what the job reports about them."""

from calendar import timegm

from kubesim.controllers.completion import RUN_SECONDS, end_pod, run_pod
from kubesim.controllers.dynamics import Dynamics, Health, Moment, Run
from kubesim.controllers.events import record_event
from kubesim.controllers.owners import put_status
from kubesim.controllers.pods import brought_on, is_finished, new_pod
from kubesim.controllers.rows import JOB
from kubesim.status import Json
from kubesim.store import controller_of, is_being_deleted

MOST_PODS = 200
"""The most pods that a job makes in all; one that wants more does without them."""


def keep_job(dynamics: Dynamics, job: Json, moment: Moment) -> None:
    """Run the job's pods until enough succeeded or too many failed; then delete the job when it expires, if ever."""
    if is_being_deleted(job) or job["spec"].get("suspend"):
        return
    if (ended := _end(job)) is not None:
        _expire(dynamics, job, ended, moment)
        return
    spec = job["spec"]
    health = dynamics.declaration(job).health
    pods = [pod for pod in dynamics.store.present("pod", job["metadata"]["namespace"]) if _is_of(pod, job)]
    if health is not Health.STARTING:
        pods = [run_task(dynamics, pod, moment, fails=not health.serves) for pod in pods]
    phases = [(pod.get("status") or {}).get("phase") for pod in pods]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    active = [pod for pod in pods if not is_finished(pod)]
    wanted, limit = spec.get("completions") or 1, spec.get("backoffLimit", 6)
    if failed <= limit:
        missing = min(spec.get("parallelism", 1), wanted - succeeded) - len(active)
        for _ in range(min(missing, MOST_PODS - len(pods))):
            name = f"{job['metadata']['name']}-{dynamics.store.ids.suffix()}"
            pod = new_pod(dynamics, JOB, job, name, moment)
            active.append(brought_on(dynamics, pod, Health.RUNNING, moment))
            dynamics.wake_at(moment.seconds + RUN_SECONDS, job["metadata"]["namespace"])
            if not moment.silent:
                record_event(dynamics.store, job, "SuccessfulCreate", f"Created pod: {name}", moment,
                             component="job-controller")  # fmt: skip
    put_status(dynamics.store, JOB, job, _status(job, len(active), succeeded, failed, wanted, limit, moment))


def run_task(dynamics: Dynamics, pod: Json, moment: Moment, *, fails: bool) -> Json:
    """End a pod that has run long enough; one that predates the first client has ended already."""
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    if not fails or is_finished(pod) or is_being_deleted(pod):
        return run_pod(dynamics, pod, Health.RUNNING, moment, is_task=True)
    if fate is None or (not moment.silent and moment.seconds - fate.since < RUN_SECONDS):
        return brought_on(dynamics, pod, Health.RUNNING, moment)
    moment = moment.moment_of(pod)
    codes = {item["name"]: Run(fate.since, moment.seconds, 1, None) for item in pod["spec"].get("containers") or ()}
    return end_pod(dynamics, pod, codes, moment)


def _status(job: Json, active: int, succeeded: int, failed: int, wanted: int, limit: int, moment: Moment) -> Json:
    known, moment = job.get("status") or {}, moment.moment_of(job)
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


def _end(job: Json) -> str | None:
    """When the job was over; None while it is not, empty if its status does not say."""
    for item in (job.get("status") or {}).get("conditions") or ():
        if item.get("type") in {"Complete", "Failed"} and item.get("status") == "True":
            return str(item.get("lastTransitionTime") or "")
    return None


def _epoch(timestamp: str) -> int | None:
    """A time in the API's form, such as 2026-01-05T09:00:00Z, in seconds since 1970; None for anything else."""
    try:
        return timegm(tuple(int(part) for part in timestamp[:19].replace("T", "-").replace(":", "-").split("-")))
    except (ValueError, OverflowError):
        return None


def _expire(dynamics: Dynamics, job: Json, ended: str, moment: Moment) -> None:
    """Delete a job that has been over for as long as its spec lets it stay."""
    stays = job["spec"].get("ttlSecondsAfterFinished")
    if stays is None or moment.silent:
        return
    began = _epoch(ended)
    due = moment.seconds if began is None else began - moment.start + stays
    if moment.seconds >= due:
        dynamics.store.delete(JOB, job, moment.now)
    else:
        dynamics.wake_at(due, job["metadata"]["namespace"])


def _is_of(pod: Json, job: Json) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.get("uid") == job["metadata"]["uid"]
