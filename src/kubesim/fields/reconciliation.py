"""Owners whose sets no longer fit the structure: whole values are split into their parts, or the reverse."""

from typing import Any

from kubesim.fields.entries import Holding, Managed
from kubesim.fields.sets import Fields, Path
from kubesim.fields.structures import Structure
from kubesim.fields.values import mentioned_fields, value_at
from kubesim.status import Json


def reconcile_owners(structure: Structure, managed: Managed, live: Json) -> Managed:
    """Owners of an empty map or list own what others have put there since; owners of parts of an atom own all of it."""
    if structure.type is None:
        return managed
    fitting = Fitting(structure, live)
    return {
        owner: holding if (fields := fitting.fields(structure, holding.fields, ())) is holding.fields
        else Holding(fields, holding.api_version, holding.time)
        for owner, holding in managed.items()
    }  # fmt: skip


class Fitting:
    """Fits sets to the structure of one live object."""

    def __init__(self, root: Structure, live: Json) -> None:
        self._root = root
        self._live = live

    def fields(self, structure: Structure, fields: Fields, path: Path) -> Fields:
        """The set of a node; the same dict if it fits already."""
        fitting, below = fields, structure.below
        for key, node in fields.items():
            if key == ".":
                continue
            child = below.get(key) or structure.child(key)
            if child.is_whole:
                if not node:
                    continue
                rest: Any = {} if child.is_container else node
            elif node:
                rest = self.fields(child, node, (*path, key))
            else:
                owned = mentioned_fields(child, value_at(self._root, self._live, (*path, key)))
                rest = {".": {}, **owned} if owned else node
            if rest is not node:
                fitting = {**fitting, key: rest}
        return fitting
