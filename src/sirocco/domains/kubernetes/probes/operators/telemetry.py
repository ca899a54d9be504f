"""Telemetry: lines in the log of a neighbour that blame what the goal is about."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.documents import entries, goal_operation
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.edits import declaring, goal_object, state_of, with_state
from sirocco.probes.mutation.operators.telemetry import telemetry

_KINDS = frozenset({"deployment", "statefulset", "pvc", "configmap", "service"})


def _can_be_blamed(document: Mapping[str, Any], _archetype: Archetype) -> bool:
    goal = goal_operation(document)
    return goal is not None and goal.resource in _KINDS and any(one.name == goal.name for one in entries(document))


def _blaming(document: Document, _choice: str, dice: Random) -> Document:
    """Lines in the log of a neighbour that point at what the goal is about."""
    blamed, goal = goal_object(TERMS, document), goal_operation(document)
    lines = [
        f"ERROR call to {blamed} timed out after {dice.randint(2, 30)} s",
        f"WARN {dice.randint(40, 900)} requests waiting for {blamed}",
        f"ERROR {blamed} answered 503, attempt {dice.randint(3, 9)}",
    ]
    place = next((one.namespace for one in entries(document) if goal and one.name == goal.name), None)
    near = [one for one in entries(document) if one.kind == "deployment" and one.namespace == place]
    witness = next((one for one in near if one.name != blamed), None)
    if witness is None:
        return document
    known = [entry for entry in state_of(document) if entry.get("resource") == f"logs/{witness.name}"]
    if known:
        longer = {**known[0], "entries": [*known[0].get("entries", ()), *lines]}
        return with_state(document, [longer if entry is known[0] else entry for entry in state_of(document)])
    return declaring(document, {"resource": f"logs/{witness.name}", "namespace": witness.namespace, "entries": lines})


OPERATOR = telemetry(TERMS, _can_be_blamed, _blaming)
