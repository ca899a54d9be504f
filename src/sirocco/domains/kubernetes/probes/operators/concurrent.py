"""Concurrent controllers: an autoscaler or a rollout is at work on what the request is about."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.operation import Verb
from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document, Entry
from sirocco.probes.mutation.edits import declaring, goal_of, is_object
from sirocco.probes.mutation.operator import Operator, is_prompt_carried


def _meant(document: Mapping[str, Any]) -> Entry | None:
    goal = goal_operation(document)
    changes = goal is not None and goal.verb not in {Verb.DELETE, Verb.CREATE} and not goal.is_read
    return next(
        (one for one in entries(document) if changes and one.kind == "deployment" and is_object(one, goal)), None
    )


def _choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
    entry = _meant(document)
    if entry is None or goal_of(document) is None or not is_prompt_carried(archetype):
        return ()
    kinds = {one.kind for one in entries(document)}
    return tuple(choice for choice, kind in (("autoscaler", "hpa"), ("budget", "pdb")) if kind not in kinds)


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    entry = _meant(document)
    if entry is None:
        return {**document}
    target = f"{entry.kind}/{entry.name}"
    replicas = entry.fields.get("replicas")
    present = replicas if isinstance(replicas, int) else 1
    if choice == "budget":
        name = free_name(document, f"{entry.name}-budget")
        budget = {"resource": f"pdb/{name}", "namespace": entry.namespace, "target": target}
        return declaring(document, {**budget, "min_available": max(1, present - 1)})
    name = free_name(document, f"{entry.name}-{dice.choice(('scaler', 'autoscaler'))}")
    scaler = {"resource": f"hpa/{name}", "namespace": entry.namespace, "target": target}
    return declaring(document, {**scaler, "min_replicas": max(1, present - 1), "max_replicas": present + 6})


OPERATOR = Operator("concurrent", "concurrent_controllers", _choices, _apply, turn=110)
