"""Pod disruption budgets: how many of the pods they protect may be evicted now."""

from kubesim.connections import is_ready
from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.owners import put_status, share
from kubesim.controllers.pods import is_finished
from kubesim.controllers.rows import BUDGET
from kubesim.resource import BY_KIND
from kubesim.selection import match_labels
from kubesim.status import Json
from kubesim.store import controller_of, is_being_deleted


def keep_budget(dynamics: Dynamics, budget: Json, moment: Moment) -> None:
    """Count the healthy pods of a budget and report how many it can spare."""
    if is_being_deleted(budget):
        return
    spec, namespace = budget["spec"], budget["metadata"]["namespace"]
    selected = match_labels(spec.get("selector") or {})
    pods = [
        pod for pod in dynamics.store.items("pod", namespace)
        if spec.get("selector") is not None and selected(pod) and not is_finished(pod)
    ]  # fmt: skip
    healthy = sum(is_ready(pod) and not is_being_deleted(pod) for pod in pods)
    expected, wanted = _wanted_counts(dynamics, spec, pods)
    allowed = max(healthy - wanted, 0) if expected else 0
    status = {
        "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": wanted, "expectedPods": expected,
        "conditions": [_condition(budget, moment, holds=allowed > 0)],
    }  # fmt: skip
    put_status(dynamics.store, BUDGET, budget, status)


def _wanted_counts(dynamics: Dynamics, spec: Json, pods: list[Json]) -> tuple[int, int]:
    """How many pods there should be, and how many of them must stay healthy."""
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if isinstance(least, int):
        return len(pods), least
    expected = _expected_pods(dynamics, pods)
    if least is not None:
        return expected, share(least, expected, up=True)
    return expected, max(expected - share(1 if most is None else most, expected, up=True), 0)


def _expected_pods(dynamics: Dynamics, pods: list[Json]) -> int:
    owners = {owner["uid"]: owner for pod in pods if (owner := controller_of(pod))}
    sizes = 0
    for uid, reference in owners.items():
        found = dynamics.store.by_uid(uid)
        known = found is not None and reference.get("kind") in BY_KIND
        sizes += int(found["spec"].get("replicas", 1)) if found is not None and known else 0
    return sizes or len(pods)


def _condition(budget: Json, moment: Moment, *, holds: bool) -> Json:
    status, reason = ("True", "SufficientPods") if holds else ("False", "InsufficientPods")
    moment = moment.moment_of(budget)
    known: Json = next(iter((budget.get("status") or {}).get("conditions") or ()), {})
    since = known.get("lastTransitionTime", moment.now) if known.get("status") == status else moment.now
    generation = budget["metadata"].get("generation", 1)
    return {
        "type": "DisruptionAllowed", "status": status, "observedGeneration": generation, "reason": reason,
        "message": "", "lastTransitionTime": since,
    }  # fmt: skip
