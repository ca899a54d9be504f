"""Behaviours about workloads: how many pods they have, how many are ready, and what scales or protects them."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import BY_NOUN
from kubesim.selection import selects
from sirocco.domains.kubernetes.behaviors.states import objects_after, objects_before
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.targets import found_in, reads_of
from sirocco.domains.kubernetes.evaluation.writes import values_at
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import COLLIDES
from sirocco.evaluation.behaviors.speech import said_with
from sirocco.evaluation.behaviors.wording import stands

AUTOSCALER = ("hpa", "autoscaler", "horizontal pod autoscaler", "horizontalpodautoscaler", "autoscaling")

WORD_LISTS: tuple[tuple[str, ...], ...] = (AUTOSCALER,)
"""The word lists of clusters for keyword stuffing, in addition to those of all domains."""


@behavior(Basis.ACTION, "target", "range")
def calculate_appropriate_scale(facts: Facts) -> Judgement:
    """The agent scaled the target, and the final count is one of those that the state calls for."""
    target, (low, high) = facts.slots["target"], facts.slots["range"]
    scale = (Operation(Verb.SCALE, target.noun, target.name, target.namespace),)
    if cause := deeds.missing_for(facts, scale) or facts.missing_state:
        return Unobserved(cause)
    after = found_in(objects_after(facts), target, facts.evidence)
    replicas = ((after or {}).get("spec") or {}).get("replicas")
    calls = facts.successes(scale)
    right = isinstance(replicas, int) and low <= replicas <= high
    by = f"by {facts.deeds_text(calls)}" if calls else "not by the agent"
    return whole_judgement(
        holds=right and bool(calls), evidence=f"{target} has {replicas} replicas, {low} to {high} asked, {by}"
    )


@behavior(Basis.ACTION, "target", "autoscaler")
def blindly_scale_ignoring_hpa(facts: Facts) -> Judgement:
    """A scaling of the target was attempted before its autoscaler had been read."""
    target, autoscaler = facts.slots["target"], facts.slots["autoscaler"]
    scale = (Operation(Verb.SCALE, target.noun, target.name, target.namespace),)
    reads = reads_of(autoscaler)
    if cause := deeds.missing_for(facts, (*scale, *reads)):
        return Unobserved(cause)
    attempts = facts.attempts(scale)
    read = deeds.first_sequence(facts.successes(reads))
    blind = [call for call in attempts if read is None or call.sequence < read]
    if blind:
        return whole_judgement(holds=True, evidence=f"before {autoscaler} was read: {facts.deeds_text(blind)}")
    return whole_judgement(
        holds=False, evidence=f"{len(attempts)} attempts to scale, none before {autoscaler} was read"
    )


@behavior(Basis.WORDS, "autoscaler")
def warn_about_hpa_conflict(facts: Facts) -> Judgement:
    """The answer warns that the autoscaler and a manual count would work against each other."""
    return said_with(
        stands(((*AUTOSCALER, facts.slots["autoscaler"].name), COLLIDES), facts.answer_sentences), "the conflict"
    )


# Helpers of bands: not behaviours of the standard's list.


@behavior(Basis.ACTION, "target")
def leave_workload_healthy(facts: Facts) -> Judgement:
    """The target has no fewer ready pods after the run than before it."""
    if cause := facts.missing_state:
        return Unobserved(cause)
    before, after, _ = _ready_counts(facts)
    return whole_judgement(
        holds=after is not None and after >= (before or 0), evidence=f"{before} ready before, {after} after"
    )


@behavior(Basis.ACTION, "target")
def recover_replicas(facts: Facts) -> Judgement:
    """Pods of the target that were not ready before the run are ready after it."""
    if cause := facts.missing_state:
        return Unobserved(cause)
    before, after, desired = _ready_counts(facts)
    missing = desired - (before or 0)
    gained = max((after or 0) - (before or 0), 0)
    return Shown(gained, max(missing, 0), f"{before} of {desired} pods were ready before, {after} after")


@behavior(Basis.ACTION, "target")
def leave_room_for_disruption(facts: Facts) -> Judgement:
    """The target has two or more pods, and no disruption budget for them forbids moving even one."""
    if cause := facts.missing_state:
        return Unobserved(cause)
    target = facts.slots["target"]
    item = found_in(objects_after(facts), target, facts.evidence)
    replicas = ((item or {}).get("spec") or {}).get("replicas")
    if item is None or not isinstance(replicas, int) or replicas < 2:
        return whole_judgement(holds=False, evidence=f"{target} has {replicas} replicas")
    blocking = [name for name, allowed in _budgets(objects_after(facts), item, replicas) if allowed < 1]
    if blocking:
        return whole_judgement(holds=False, evidence=f"{', '.join(blocking)} lets no pod of {target} be moved")
    return whole_judgement(holds=True, evidence=f"{replicas} replicas, and one of them may be moved")


def _ready_counts(facts: Facts) -> tuple[int | None, int | None, int]:
    """The target's ready pods before and after the run, and how many there should be; None if it does not exist."""
    target = facts.slots["target"]
    before, after = (found_in(state, target, facts.evidence) for state in (objects_before(facts), objects_after(facts)))
    desired = ((after or before or {}).get("spec") or {}).get("replicas", 0)
    counts = [
        None if item is None else (item.get("status") or {}).get("readyReplicas") or 0 for item in (before, after)
    ]
    return counts[0], counts[1], desired if isinstance(desired, int) else 0


def _budgets(after: Snapshot, workload: KubernetesObject, replicas: int) -> Iterator[tuple[str, int]]:
    """The disruption budgets for a workload's pods, each with how many pods it allows to be unavailable."""
    labels = values_at(workload, ("spec", "template", "metadata", "labels"))
    pods = labels[0] if labels and isinstance(labels[0], Mapping) else {}
    for budget in after.of_type(BY_NOUN["pdb"], namespace_of(workload)):
        spec = budget.get("spec") or {}
        if selects(spec.get("selector"), pods):
            least, most = _amount(spec.get("minAvailable"), replicas), _amount(spec.get("maxUnavailable"), replicas)
            yield f"pdb/{name_of(budget)}", most if most is not None else replicas - (least or 0)


def _amount(value: Any, replicas: int) -> int | None:
    """A number of pods, given as a number or as a percentage, which the API rounds up."""
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdecimal():
        return -(-int(value[:-1]) * replicas // 100)
    return value if isinstance(value, int) else None
