"""Conflicts of server-side apply: who owns a field that another manager wants to change, and the refusal."""

from collections.abc import Iterator

from kubesim.fields.entries import Managed, Owner
from kubesim.fields.sets import Fields, Path, elements, intersection, is_member, text_of
from kubesim.fields.versions import Touched
from kubesim.status import ApiError, Cause

Conflict = tuple[Owner, Path]

_PATHS_COPIED = 21
"""The first release in which the paths of conflicts do not share memory."""


def conflicts_with(others: Managed, touched: dict[str, Touched], minor: int) -> list[Conflict]:
    """The owners whose fields a write changes, with those fields."""
    return [
        (owner, path)
        for owner, holding in sorted(others.items(), key=lambda item: item[0].identifier)
        if (shared := intersection(holding.fields, touched[holding.api_version][0]))
        for path in _reported_paths(shared, minor)
    ]


def refusal(conflicts: list[Conflict]) -> ApiError:
    """The 409 that lists conflicts by owner."""
    causes = [Cause("FieldManagerConflict", f"conflict with {owner}", text_of(path)) for owner, path in conflicts]
    if len(causes) == 1:
        text = f"Apply failed with 1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        lines = []
        for owner in dict.fromkeys(owner for owner, _ in conflicts):
            lines.append(f"conflicts with {owner}:")
            lines += [f"- {text_of(path)}" for other, path in conflicts if other == owner]
        text = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
    return ApiError(409, "Conflict", text, {"causes": [cause.document() for cause in causes]})


def _reported_paths(fields: Fields, minor: int) -> list[Path]:
    if minor >= _PATHS_COPIED:
        return [tuple(slots) for slots, _ in _walk_fields(fields, [], 0, capacity=0)]
    # Go appends to a path in place while it has room, so paths returned earlier change with it; rendering them only
    # after the walk shows what the real server shows.
    found = list(_walk_fields(fields, [], 0, capacity=0))
    return [tuple(slots[:length]) for slots, length in found]


def _walk_fields(fields: Fields, slots: list[str], length: int, capacity: int) -> Iterator[tuple[list[str], int]]:
    keys = elements(fields)
    for key in keys:
        if is_member(fields[key]):
            yield _append_key(slots, length, capacity, key), length + 1
    for key in keys:
        if fields[key]:
            below = _append_key(slots, length, capacity, key)
            yield from _walk_fields(
                fields[key], below, length + 1, capacity if length < capacity else max(1, 2 * capacity)
            )


def _append_key(slots: list[str], length: int, capacity: int, key: str) -> list[str]:
    if length == capacity:
        return [*slots[:length], key]
    slots[length:] = [key]
    return slots
