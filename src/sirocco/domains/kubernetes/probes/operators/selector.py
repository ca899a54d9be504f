"""Selector ambiguity: things that have nothing to do with the matter carry the same labels."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.document import home_namespace
from sirocco.probes.mutation.edits import declaring, is_object
from sirocco.probes.mutation.operator import Operator

_BYSTANDERS = ("payroll-export", "audit-trail", "visitor-login", "invoice-mailer")
_AMOUNTS = {"one": 1, "two": 2, "several": 4}


def _labels(document: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels by which the goal chooses, or those of the workload that it names."""
    goal = goal_operation(document)
    if goal is None:
        return {}
    if goal.labels:
        return dict(goal.labels)
    meant = (entry for entry in entries(document) if entry.kind in WORKLOADS and is_object(entry, goal))
    found = next((entry.fields.get("labels") for entry in meant), None)
    return found if isinstance(found, Mapping) else {}


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_AMOUNTS) if _labels(document) else ()


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    return declaring(document, *_bystanders(document, _AMOUNTS[choice], dice))


def _bystanders(document: Mapping[str, Any], amount: int, dice: Random) -> Iterator[Document]:
    goal = goal_operation(document)
    place = (goal.namespace if goal else None) or home_namespace(document)
    for wanted in dice.sample(_BYSTANDERS, k=amount):
        name = free_name(document, wanted)
        workload = {"resource": f"deployment/{name}", "namespace": place, "status": "running", "replicas": 1}
        yield {**workload, "image": f"{name}:{dice.randint(1, 5)}.0.{dice.randint(0, 9)}", "labels": _labels(document)}


OPERATOR = Operator("selector", "selector_ambiguity", _choices, _apply, turn=135)
