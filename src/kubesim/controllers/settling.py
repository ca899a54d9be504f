"""One step of all controllers: look at every namespace that changed until nothing changes any more."""

from functools import partial

from kubesim.controllers.autoscaling import keep_in_bounds
from kubesim.controllers.completion import start_bare_pods
from kubesim.controllers.deployments import report, roll_out
from kubesim.controllers.disruption import keep_budget
from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.garbage import collect_garbage, finish_namespaces
from kubesim.controllers.gitops import keep_applications
from kubesim.controllers.guests import keep_guests
from kubesim.controllers.healing import heal_completed
from kubesim.controllers.jobs import keep_job
from kubesim.controllers.networking import keep_endpoints
from kubesim.controllers.owners import controlled_objects
from kubesim.controllers.pods import finish_deleted_pods
from kubesim.controllers.quotas import keep_quotas
from kubesim.controllers.replicas import keep_daemon_set, keep_replica_set, keep_stateful_set
from kubesim.controllers.rows import ACCOUNT
from kubesim.controllers.storage import keep_claims, release_volumes
from kubesim.status import Json
from kubesim.store import (
    DELETION,
    EVERYTHING,
    Store,
    is_being_deleted,
    status_of,
)

_PASSES = 60
_REPLICA_SET_STATUS = status_of("replicaset")
_OF_CONTROLLERS = frozenset(
    {"hpa", "deployment", "replicaset", _REPLICA_SET_STATUS, "pod", "statefulset", "daemonset", "job", "pdb",
     "configmap", "secret", "pvc", "service", "endpoints", DELETION}
)  # fmt: skip
"""The types that the controllers of workloads look at; in most namespaces none of them has changed."""


def settle(dynamics: Dynamics, moment: Moment) -> None:
    """Run the controllers until the cluster is at rest for now; whatever must wait is due later."""
    if dynamics.settle_elsewhere is not None:
        dynamics.settle_elsewhere(moment)
        return
    dynamics.wake(moment.seconds)
    for _ in range(_PASSES):
        changed = dynamics.store.take_unsettled()
        if not changed:
            return
        if any(DELETION in parts for parts in changed.values()):
            finish_namespaces(dynamics.store, moment)
        if "namespace" in changed.get("", ()):
            for item in dynamics.store.items("namespace"):
                _keep_default_account(dynamics.store, item, moment)
                _keep_published(dynamics, item, moment)
        if "node" in changed.get("", ()):
            _look_for_places(dynamics.store)
        if DELETION in changed.get("", ()):
            collect_garbage(dynamics.store, "", moment)
        for namespace in sorted(changed):
            if namespace:
                _settle_namespace(dynamics, namespace, changed[namespace], moment)


def _look_for_places(store: Store) -> None:
    """Try again to place waiting pods when nodes change."""
    for pod in store.contents("pod"):
        if not pod["spec"].get("nodeName"):
            store.touch(pod["metadata"]["namespace"])


def _settle_namespace(dynamics: Dynamics, namespace: str, changed: set[str], moment: Moment) -> None:
    """Have the controllers that care about the changes look at a namespace."""
    store = dynamics.store
    found = store.get("namespace", "", namespace)
    if found is None:
        return
    concerns = partial(_concerns, changed)
    if concerns(DELETION):
        collect_garbage(store, namespace, moment)
    if concerns("serviceaccount"):
        _keep_default_account(store, found, moment)
    if concerns("configmap"):
        _keep_published(dynamics, found, moment)
    if concerns(*_OF_CONTROLLERS):
        _run_controllers(dynamics, namespace, changed, moment)
    if store.present("gitops-application"):
        keep_applications(dynamics, namespace, moment)
    if store.items("resourcequota", namespace):
        keep_quotas(store, namespace)


def _concerns(changed: set[str], *nouns: str) -> bool:
    return EVERYTHING in changed or not changed.isdisjoint(nouns)


def _run_controllers(dynamics: Dynamics, namespace: str, changed: set[str], moment: Moment) -> None:
    store = dynamics.store
    concerns = partial(_concerns, changed)
    before = store.version
    if concerns("hpa", "deployment", "replicaset", "statefulset"):
        for autoscaler in store.present("hpa", namespace):
            keep_in_bounds(dynamics, autoscaler, moment)
    if concerns("deployment", "replicaset", _REPLICA_SET_STATUS):
        for deployment in store.present("deployment", namespace):
            roll_out(dynamics, deployment, moment)
    if concerns("pod", "replicaset", "statefulset", "daemonset", "job") or store.version != before:
        _keep_pods(dynamics, namespace, moment)
    if concerns("deployment", "replicaset", _REPLICA_SET_STATUS, "pod") or store.version != before:
        for deployment in store.present("deployment", namespace):
            report(dynamics, deployment, moment)
    if concerns("pdb", "pod"):
        for budget in store.present("pdb", namespace):
            keep_budget(dynamics, budget, moment)
    if concerns("configmap", "secret"):
        heal_completed(dynamics, namespace, moment)
    if concerns("pvc", "pod"):
        keep_claims(dynamics, namespace, moment)
    if concerns(DELETION) and "pvc" in changed:
        release_volumes(store, moment)
    if concerns("service", "endpoints", "pod"):
        keep_endpoints(store, namespace, moment)
        dynamics.follow_endpoints()


def _keep_pods(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    store = dynamics.store
    finish_deleted_pods(dynamics, namespace)
    pods = controlled_objects(store, "pod", namespace)
    for replica_set in store.present("replicaset", namespace):
        keep_replica_set(dynamics, replica_set, pods, moment)
    for stateful_set in store.present("statefulset", namespace):
        keep_stateful_set(dynamics, stateful_set, pods, moment)
    for daemon_set in store.present("daemonset", namespace):
        keep_daemon_set(dynamics, daemon_set, pods, moment)
    for job in store.present("job", namespace):
        keep_job(dynamics, job, moment)
    start_bare_pods(dynamics, namespace, moment)
    keep_guests(dynamics, namespace, moment)


def _keep_default_account(store: Store, namespace: Json, moment: Moment) -> None:
    name = namespace["metadata"]["name"]
    if store.get("serviceaccount", name, "default") is None and not is_being_deleted(namespace):
        store.create(ACCOUNT, default_account(name), moment.now)


def _keep_published(dynamics: Dynamics, namespace: Json, moment: Moment) -> None:
    if not moment.silent and not is_being_deleted(namespace):
        dynamics.publish(namespace["metadata"]["name"], moment.now)


def default_account(namespace: str) -> Json:
    """The account that every namespace has."""
    metadata = {"name": "default", "namespace": namespace}
    return {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": metadata}
