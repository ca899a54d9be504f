"""Recovery: a workload is healthy again, and its metrics return to their usual values."""

from kubesim.controllers.dynamics import Declaration, Dynamics, Health, Moment, pods_of
from kubesim.controllers.pods import affected_pods, brought_on
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import Key, Store

_METRICS = BY_NOUN["metrics"]


def heal(dynamics: Dynamics, key: Key, moment: Moment) -> None:
    """Make a workload healthy, with those of its parts that have a declaration by name."""
    dynamics.declare(key, Declaration())
    for part in [item for item in dynamics.declarations if _is_part(item, key)]:
        dynamics.declare(part, Declaration())
    dynamics.store.touch(key.namespace)
    for record in dynamics.store.items("metrics"):
        subject = record["spec"].get("subject") or {}
        if (subject.get("kind"), subject.get("namespace"), subject.get("name")) == _kind_and_name(key):
            dynamics.store.update(_METRICS, record, _calm_metrics(record, moment))


def fail(dynamics: Dynamics, key: Key, health: Health, reason: str, moment: Moment) -> None:
    """Make a workload unhealthy from now on; running pods are spared what only keeps pods from starting."""
    dynamics.declare(key, Declaration(health, reason=reason))
    dynamics.store.touch(key.namespace)
    if health is Health.DEGRADED:
        # It affects existing pods, and none that are made later.
        pods = pods_of(dynamics.store, key.namespace, key.name)
        for pod in pods[: affected_pods(health, len(pods))]:
            brought_on(dynamics, pod, health, moment)


def heal_completed(dynamics: Dynamics, namespace: str, moment: Moment) -> None:
    """Let workloads that failed for missing keys recover once all of those keys exist."""
    store = dynamics.store
    waiting = [(key, known) for key, known in dynamics.declarations.items() if known.missing]
    for key, known in waiting:
        if key.namespace == namespace and all(item.key in _data(store, item.place) for item in known.missing):
            heal(dynamics, key, moment)


def _data(store: Store, place: Key) -> Json:
    found = store.get(*place) or {}
    return found.get("data") or {}


def _kind_and_name(key: Key) -> tuple[str, str, str]:
    return (BY_NOUN[key.noun].kind if key.noun in BY_NOUN else "", key.namespace, key.name)


def _is_part(item: Key, workload: Key) -> bool:
    """Whether something is a pod or replica set of a workload, judging by the names that controllers give."""
    is_kept = item.noun in {"pod", "replicaset"} and item != workload
    return is_kept and item.namespace == workload.namespace and item.name.startswith(f"{workload.name}-")


def _calm_metrics(record: Json, moment: Moment) -> Json:
    """A record of metrics in which every series with a usual value has returned to it."""
    series = [
        {**item, "samples": [*item["samples"], [moment.epoch, item["baseline"]]]} if "baseline" in item else item
        for item in record["spec"]["series"]
    ]
    return {**record, "spec": {**record["spec"], "series": series}}
