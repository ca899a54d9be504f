"""Managed fields after a create, update or patch: the writer of a field becomes its only owner."""

from typing import Any

from kubesim.fields.creation import (
    ESTABLISHED_SINCE,
    changes,
    empty_object,
    established_owners,
)
from kubesim.fields.entries import (
    APPLY,
    UPDATE,
    Holding,
    Managed,
    Owner,
    managed_by,
    with_entries,
    with_managed,
)
from kubesim.fields.sets import union
from kubesim.fields.structures import InconsistentError, structure_of
from kubesim.fields.versions import InVersion, Versions, handed_over
from kubesim.status import Json
from kubesim.types.definitions import Type

SUBRESOURCES_APART = 22
"""The first release in which writes to a subresource are entries of their own, and own only what they may change."""
_MOST_UPDATERS = 10
_ANCIENT = "ancient-changes"
_UNKNOWN = "unknown"
_EMPTY: Json = {}
_ABSENT: tuple[Json, ...] = ()


def update_owners(
    type_: Type | None,
    old: Json | None,
    new: Json,
    *,
    manager: str,
    api_version: str,
    now: str,
    minor: int,
    subresource: str = "",
    status_apart: bool = True,
    in_version: InVersion | None = None,
) -> Json:
    """`new` with its managed fields brought up to date; `old` is None when it is created.

    It expects the object as decoded and defaulted, before strategy and admission change it: what they write has no
    owner. `status_apart` says that the status is written through a subresource only.
    """
    managed = _known_owners(old, new, subresource)
    if old is not None and minor >= ESTABLISHED_SINCE and not managed and _entries(old) == []:
        return marked_as_unowned(new)
    was_there = minor >= ESTABLISHED_SINCE and not managed and _entries(old) is _ABSENT and _entries(new) is _ABSENT
    if old is not None and ((not managed and not was_there) or (subresource == "scale" and minor < SUBRESOURCES_APART)):
        # an object without owners gets some only by its creation or by an apply
        return with_managed(new, managed)
    structure = structure_of(type_, minor)
    if subresource == "status" and old is not None and new.get("kind") == "Deployment" and minor >= SUBRESOURCES_APART:
        new = _with_labels_of(new, old)
    owner = Owner(manager or _UNKNOWN, UPDATE, api_version, subresource if minor >= SUBRESOURCES_APART else "")
    live = empty_object(type_) if old is None else old
    try:
        own = changes(structure, live, new, _ignored_fields(subresource, minor, status_apart=status_apart))
        if old is not None and was_there:
            managed = established_owners(type_, old, api_version, minor) if any(own) else {}
        versions = Versions(structure, api_version, in_version)
        after = versions.fitting_owners(managed, live)
        after = handed_over(after, versions.touched_by_version(after, live, new, own))
    except (InconsistentError, RecursionError):
        return with_entries(new, [])
    if changed := own[0]:
        former = managed.get(owner)
        fields = union(changed, after[owner].fields) if owner in after else changed
        time = now if former is None or former.fields != fields else former.time
        after[owner] = Holding(fields, api_version, time)
    return with_managed(new, _cap_updaters(after))


def marked_as_unowned(obj: Json) -> Json:
    """An object that its maker gave nothing ownable: it stays without owners until somebody applies it.

    The empty list distinguishes it from objects that no request made; clients do not see it.
    """
    return {**obj, "metadata": {**obj["metadata"], "managedFields": []}}


def _with_labels_of(new: Json, old: Json) -> Json:
    """A deployment whose status is written, with the labels that such a write cannot change."""
    metadata = {key: value for key, value in new["metadata"].items() if key != "labels"}
    labels = old["metadata"].get("labels")
    return {**new, "metadata": {**metadata, "labels": labels} if labels else metadata}


def _known_owners(old: Json | None, new: Json, subresource: str) -> Managed:
    """The owners so far: those in the request if it may set them, else those of the stored object."""
    former = _entries(old)
    given = former if subresource else _entries(new)
    if given is _ABSENT or given is former or given == former:
        return managed_by(former or ())
    if not given or given == [{}]:
        return {}
    try:
        return managed_by(given, trusted=False) or managed_by(former or ())
    except (ValueError, AttributeError, TypeError, RecursionError):
        return managed_by(former or ())


def _entries(obj: Json | None) -> Any:
    metadata = (obj or _EMPTY).get("metadata")
    return metadata.get("managedFields", _ABSENT) if isinstance(metadata, dict) else _ABSENT


def _ignored_fields(subresource: str, minor: int, *, status_apart: bool) -> frozenset[str]:
    if minor < SUBRESOURCES_APART or not status_apart:
        return frozenset()
    return frozenset({"spec"}) if subresource == "status" else frozenset({"status"})


def _cap_updaters(managed: Managed) -> Managed:
    """Keep at most ten owners that update: the oldest ones are merged, for each version of the type."""
    updaters = [owner for owner in managed if owner.operation != APPLY]
    if len(updaters) <= _MOST_UPDATERS:
        return managed
    updaters.sort(key=lambda owner: (managed[owner].time or "", owner.identifier))
    left, first = dict(managed), dict[str, Owner]()
    surplus = len(updaters) - _MOST_UPDATERS
    for owner in updaters:
        if not surplus:
            break
        holding = managed[owner]
        version = holding.api_version
        if version not in first:
            first[version] = owner
            continue
        bucket = Owner(_ANCIENT, UPDATE, version)
        if bucket not in left:
            left[bucket] = left.pop(first[version])
        left[bucket] = Holding(union(holding.fields, left[bucket].fields), version, holding.time)
        left.pop(owner)
        surplus -= 1
    return left
