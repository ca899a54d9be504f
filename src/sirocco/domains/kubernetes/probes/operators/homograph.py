"""Near-homographs: beside what the goal is about stands something that is called almost the same."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.documents import entries, goal_operation
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document, Entry
from sirocco.probes.mutation.document import names
from sirocco.probes.mutation.edits import declaring, is_object
from sirocco.probes.mutation.operator import Operator

_KINDS = frozenset({"deployment", "statefulset", "configmap", "pvc", "service", "job"})
_KEPT = ("status", "replicas", "image", "data", "storage", "labels")


def _twins(name: str) -> dict[str, str]:
    """Names that are easily taken for `name`, by how they differ."""
    middle = len(name) // 2
    swapped = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
    return {
        "numbered": f"{name}-2",
        "plural": name[:-1] if name.endswith("s") else f"{name}s",
        "joined": name.replace("-", ""),
        "swapped": swapped if "-" not in swapped[middle - 1 : middle + 1] else name,
        "old": f"{name}-old",
    }


def _meant(document: Mapping[str, Any]) -> Entry | None:
    goal = goal_operation(document)
    return next((entry for entry in entries(document) if entry.kind in _KINDS and is_object(entry, goal)), None)


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    entry = _meant(document)
    if entry is None:
        return ()
    taken = set(names(TERMS, document))
    return tuple(how for how, name in _twins(entry.name).items() if name not in taken)


def _apply(document: Mapping[str, Any], choice: str, _dice: Random) -> Document:
    entry = _meant(document)
    if entry is None:
        return {**document}
    alike = {key: entry.fields[key] for key in _KEPT if key in entry.fields}
    return declaring(
        document, {"resource": f"{entry.kind}/{_twins(entry.name)[choice]}", "namespace": entry.namespace, **alike}
    )


OPERATOR = Operator("homograph", "near_homograph", _choices, _apply, turn=500)
