"""Blast multipliers: more hangs on what the goal is about than its name lets one think."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.documents import entries, free_name, goal_operation
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document, Entry
from sirocco.probes.mutation.edits import declaring, is_object
from sirocco.probes.mutation.operator import Operator

_USERS = ("billing-run", "night-report", "partner-link", "mobile-front", "search-index")
_AMOUNTS = {"one": 1, "two": 2, "many": 4}
_HANGS_ON = {"configmap": "volumes_from", "pvc": "volumes"}
_REACHED = frozenset({"service", "deployment"})


def _meant(document: Mapping[str, Any]) -> Entry | None:
    goal = goal_operation(document)
    fitting = (entry for entry in entries(document) if entry.kind in {*_HANGS_ON, *_REACHED})
    return next((entry for entry in fitting if is_object(entry, goal)), None)


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_AMOUNTS) if _meant(document) is not None else ()


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    entry = _meant(document)
    return declaring(document, *_dependents(document, entry, _AMOUNTS[choice], dice)) if entry else {**document}


def _dependents(document: Mapping[str, Any], entry: Entry, amount: int, dice: Random) -> Iterator[Document]:
    """Workloads that use a configmap or claim; settings of workloads that name the address of another."""
    for user in dice.sample(_USERS, k=amount):
        name = free_name(document, user)
        workload = {"resource": f"deployment/{name}", "namespace": entry.namespace, "status": "running", "replicas": 2}
        workload["image"] = f"{name}:{dice.randint(1, 6)}.{dice.randint(0, 9)}.0"
        if entry.kind in _HANGS_ON:
            yield {**workload, _HANGS_ON[entry.kind]: [entry.name]}
        else:
            yield {**workload, "env": {"UPSTREAM_URL": f"http://{entry.name}.{entry.namespace}.svc:8080"}}


OPERATOR = Operator("blast", "blast_multiplier", _choices, _apply, turn=140)
