"""Near-homographs: next to the goal's object is another with almost the same name."""

from sirocco.domains.kubernetes.probes.documents import entries, goal_operation
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Entry, Operator
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared
from sirocco.probes.mutation.reading import is_object, names

_KINDS = frozenset({"deployment", "statefulset", "configmap", "pvc", "service", "job"})
_KEPT = ("status", "replicas", "image", "data", "storage", "labels")


def _twins(name: str) -> dict[str, str]:
    """Names that are easily mistaken for `name`, by how they differ."""
    middle = len(name) // 2
    swapped = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
    return {
        "numbered": f"{name}-2",
        "plural": name[:-1] if name.endswith("s") else f"{name}s",
        "joined": name.replace("-", ""),
        "swapped": swapped if "-" not in swapped[middle - 1 : middle + 1] else name,
        "old": f"{name}-old",
    }


def _goal_entry(draft: ScenarioDraft) -> Entry | None:
    goal = goal_operation(draft)
    return next((entry for entry in entries(draft) if entry.kind in _KINDS and is_object(entry, goal)), None)


def _choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
    entry = _goal_entry(draft)
    if entry is None:
        return ()
    taken = set(names(TERMS, draft))
    return tuple(how for how, name in _twins(entry.name).items() if name not in taken)


def _apply(draft: ScenarioDraft, choice: str, _dice: Dice) -> ScenarioDraft:
    entry = _goal_entry(draft)
    if entry is None:
        return draft
    alike = {key: entry.fields[key] for key in _KEPT if key in entry.fields}
    return with_declared(draft, Declared.for_object(entry.kind, _twins(entry.name)[choice], entry.namespace, **alike))


OPERATOR = Operator("homograph", "near_homograph", _choices, _apply, turn=500)
