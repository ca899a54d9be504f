"""Nodes and a scheduler for a cluster whose other controllers run elsewhere: pods get a node, start, run, end.

Beside them are the controllers that need what only the declaration of a cluster knows: what keeps pods from starting,
the load that autoscalers see, the repository that GitOps applications follow, and the storage behind claims.
"""

from kubesim.controllers.autoscaling import keep_in_bounds
from kubesim.controllers.completion import run_pod
from kubesim.controllers.deployments import report_declared
from kubesim.controllers.dynamics import Dynamics, Health, Moment
from kubesim.controllers.gitops import keep_applications
from kubesim.controllers.guests import keep_guests
from kubesim.controllers.healing import heal_completed
from kubesim.controllers.jobs import run_task
from kubesim.controllers.owners import controlled_objects
from kubesim.controllers.pods import fare, finish_deleted_pods, is_finished
from kubesim.controllers.rows import POD
from kubesim.controllers.storage import keep_claims, release_volumes
from kubesim.status import Json
from kubesim.store import controller_of, is_being_deleted

_PASSES = 20


def run_node_agents(dynamics: Dynamics, moment: Moment) -> None:
    """Advance pods as far as the moment allows; whatever must wait is due later."""
    dynamics.wake(moment.seconds)
    for _ in range(_PASSES):
        changed = dynamics.store.take_unsettled()
        if not changed:
            return
        namespaces = {item["metadata"]["name"] for item in dynamics.store.contents("namespace")}
        if "node" in changed.get("", ()):
            changed = {name: set() for name in namespaces} | changed
        for namespace in sorted(namespaces.intersection(changed)):
            _look_after(dynamics, namespace, moment)


def _look_after(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    store = dynamics.store
    _stop_held_pods(dynamics, namespace)
    finish_deleted_pods(dynamics, namespace)
    for autoscaler in store.items("hpa", namespace):
        keep_in_bounds(dynamics, autoscaler, moment)
    for uid, pods in controlled_objects(store, "pod", namespace).items():
        living = [pod for pod in pods if not is_finished(pod) and not is_being_deleted(pod)]
        owner = store.by_uid(uid)
        health = dynamics.declaration(owner).health if owner is not None else Health.RUNNING
        if owner is not None and owner["kind"] == "Job":
            for pod in living if health is not Health.STARTING else ():
                run_task(dynamics, pod, moment, fails=not health.serves)
        else:
            fare(dynamics, living, health, moment)
    for pod in store.items("pod", namespace):
        if controller_of(pod) is None:
            run_pod(dynamics, pod, dynamics.declaration(pod).health, moment)
    keep_guests(dynamics, namespace, moment)
    for deployment in store.items("deployment", namespace):
        if not is_being_deleted(deployment):
            report_declared(dynamics, deployment, moment)
    heal_completed(dynamics, namespace, moment)
    keep_claims(dynamics, namespace, moment)
    release_volumes(store, moment)
    if store.items("gitops-application"):
        keep_applications(dynamics, namespace, moment)


def _stop_held_pods(dynamics: Dynamics, namespace: str) -> None:
    """Stop a deleted pod that finalizers hold: its containers have ended, and no grace period is left."""
    for pod in dynamics.store.items("pod", namespace):
        metadata = pod["metadata"]
        if (
            not is_being_deleted(pod)
            or not metadata.get("finalizers")
            or not metadata.get("deletionGracePeriodSeconds")
        ):
            continue
        stopped: Json = {**pod, "metadata": {**metadata, "deletionGracePeriodSeconds": 0}}
        if not is_finished(pod):
            stopped["status"] = {**(pod.get("status") or {}), "phase": "Failed", "reason": "Terminated"}
        dynamics.fates.pop(metadata["uid"], None)
        dynamics.store.write(POD, stopped)
