"""The versions of a type in which its owners' sets are recorded; a write is converted to each of them."""

from collections.abc import Callable
from dataclasses import dataclass

from kubesim.fields.creation import changes
from kubesim.fields.entries import Holding, Managed
from kubesim.fields.reconciliation import reconcile_owners
from kubesim.fields.sets import Fields, difference
from kubesim.fields.structures import Structure, structure_of
from kubesim.status import Json
from kubesim.types.definitions import Type

InVersion = Callable[[Json, str], tuple[Type | None, Json] | None]
"""An object in another version of its type, with that type; None if there is no such version."""
Touched = tuple[Fields, Fields]
"""What a write changed or added, and what it removed."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The version that a request uses, and conversion to the others."""

    structure: Structure
    api_version: str
    in_version: InVersion | None

    def fitting_owners(self, managed: Managed, live: Json) -> Managed:
        """The owners with sets that fit the live object, without those of versions that no longer exist."""
        if all(holding.api_version == self.api_version for holding in managed.values()):
            return reconcile_owners(self.structure, managed, live)
        kept: Managed = {}
        for owner, holding in managed.items():
            if view := self._view(live, holding.api_version):
                kept |= reconcile_owners(view[0], {owner: holding}, view[1])
        return kept

    def touched_by_version(self, managed: Managed, old: Json, new: Json, own: Touched) -> dict[str, Touched]:
        """The fields that a write touches, by version; `own` is the set in the request's version."""
        found = {self.api_version: own}
        for holding in managed.values():
            version = holding.api_version
            if version not in found:
                before, after = self._view(old, version), self._view(new, version)
                found[version] = changes(before[0], before[1], after[1]) if before and after else own
        return found

    def _view(self, obj: Json, version: str) -> tuple[Structure, Json] | None:
        if version == self.api_version or self.in_version is None:
            return self.structure, obj
        found = self.in_version(obj, version)
        return (structure_of(found[0], self.structure.minor), found[1]) if found else None


def handed_over(managed: Managed, touched: dict[str, Touched]) -> Managed:
    """The owners without what somebody else changed, and without what is gone."""
    left: Managed = {}
    for owner, holding in managed.items():
        fields = holding.fields
        for lost in touched[holding.api_version]:
            if lost:
                fields = difference(fields, lost)
        if fields:
            left[owner] = holding if fields is holding.fields else Holding(fields, holding.api_version, holding.time)
    return left
