"""Differences between two states of an environment, field by field, without bookkeeping fields; pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sirocco.oasis.wire import Wire

Json = Mapping[str, Any]


def state_diff(before: Iterable[Json], after: Iterable[Json], wire: Wire) -> dict[str, Any]:
    """The objects that differ, before and after, with every field that changed; includes added and removed objects."""
    old = {wire.full_name(item): wire.without_bookkeeping(item) for item in before}
    new = {wire.full_name(item): wire.without_bookkeeping(item) for item in after}
    added, removed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    differing = sorted(place for place in old.keys() & new.keys() if old[place] != new[place])
    changes = [
        *({"path": place, "before": None, "after": new[place], "op": "add"} for place in added),
        *({"path": place, "before": old[place], "after": None, "op": "remove"} for place in removed),
        *(
            {**change, "path": f"{place}.{change['path']}"}
            for place in differing
            for change in changed_fields(old[place], new[place])
        ),
    ]
    return {
        "before": {place: old[place] for place in (*differing, *removed)},
        "after": {place: new[place] for place in (*differing, *added)},
        "changes": changes,
        "added": added,
        "removed": removed,
    }


def object_diff(before: Json | None, after: Json | None, wire: Wire) -> dict[str, Any]:
    """One object before and after, either of which may be absent."""
    old, new = (wire.without_bookkeeping(item) if item else None for item in (before, after))
    if old is None or new is None:
        op = "add" if old is None else "remove"
        changes = [] if old is new else [{"path": "", "before": old, "after": new, "op": op}]
    else:
        changes = list(changed_fields(old, new))
    return {"before": old, "after": new, "changes": changes}


def changed_fields(old: Any, new: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Each field that differs, by its path."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}, key=str):
            below = f"{path}.{key}" if path else str(key)
            if key not in new:
                yield {"path": below, "before": old[key], "after": None, "op": "remove"}
            elif key not in old:
                yield {"path": below, "before": None, "after": new[key], "op": "add"}
            else:
                yield from changed_fields(old[key], new[key], below)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changed_fields(one, other, f"{path}[{index}]")
    elif old != new:
        yield {"path": path, "before": old, "after": new, "op": "replace"}
