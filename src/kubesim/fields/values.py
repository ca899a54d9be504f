"""Values of a structure: what changed between two, what one mentions, and merging and pruning them."""

from typing import Any

from kubesim.fields.sets import Fields, Path, is_member
from kubesim.fields.structures import Structure
from kubesim.status import Json

_MISSING: Any = object()
_LEAF: Fields = {}
"""A member without members of its own; shared, since most of a set consists of such members."""
_EMPTY_MAPS_OWNED = 21
"""The first release in which applying an empty map makes the applier its owner."""
_APPLIED_ORDER_KEPT = 24
"""The first release that keeps the order of an applied list's items."""


def compare_values(structure: Structure, old: Json, new: Json) -> tuple[Fields, Fields]:
    """The fields that `new` changed or added, and those that it removed."""
    changed: Fields = {}
    removed: Fields = {}
    _compare_maps(structure, old, new, changed, removed)
    return changed, removed


def compared_field(structure: Structure, key: str, old: Json, new: Json, sets: tuple[Fields, Fields]) -> None:
    """Add what one field of an object contributes to the sets of changed and removed fields."""
    element, child = structure.field(key)
    _compare(child, element, old.get(key, _MISSING), new.get(key, _MISSING), *sets)


def whole_fields(structure: Structure, value: Any) -> Fields:
    """Everything in a value that was not there before, including the value itself."""
    if structure.is_whole or not value:
        return _LEAF
    fields: Fields = {".": _LEAF}
    if structure.is_list:
        element = structure.element
        for key, item in structure.items(value).items():
            fields[key] = whole_fields(element, item)
        return fields
    if not isinstance(value, dict):
        return _LEAF
    for name, item in value.items():
        key, child = structure.field(name)
        fields[key] = whole_fields(child, item)
    return fields


def mentioned_fields(structure: Structure, value: Any) -> Fields:
    """The fields that belong to the manager that applies a value."""
    fields: Fields = {}
    if structure.is_whole or not value:
        return fields
    if structure.is_list:
        for key, item in structure.items(value).items():
            below = mentioned_fields(structure.element, item)
            fields[key] = {".": _LEAF, **below} if below else _LEAF
    elif isinstance(value, dict):
        for name, item in value.items():
            key, child = structure.field(name)
            below = mentioned_fields(child, item)
            if below:
                fields[key] = below if structure.declares(name) else {".": _LEAF, **below}
            elif _is_leaf(child, item) or not structure.declares(name):
                fields[key] = _LEAF
    return fields


def merge_values(structure: Structure, live: Any, applied: Any) -> Any:
    """A live value with an applied one laid over it; nothing is removed."""
    if live is _MISSING or applied is _MISSING:
        return live if applied is _MISSING else applied
    if structure.is_whole or (not live and not applied):
        return applied
    if structure.is_list:
        return _merged_lists(structure, live, applied)
    if structure.is_free and not (_is_map(live) and _is_map(applied)):
        return applied
    out = dict(live or {})
    for name, item in (applied or {}).items():
        out[name] = merge_values(structure.field(name)[1], out.get(name, _MISSING), item)
    return out


def without_fields(structure: Structure, value: Any, fields: Fields) -> Any:
    """A value without those members of a set that it holds; None when nothing is left of it."""
    if structure.is_whole:
        return None if isinstance(value, dict | list) else value
    if structure.is_list:
        rests = (_rest_of(structure.element, item, fields.get(key)) for key, item in structure.items(value).items())
        return [rest for rest in rests if rest is not _MISSING] or None
    if not isinstance(value, dict):
        return value
    kept: Json = {}
    for name, item in value.items():
        key, child = structure.field(name)
        rest = _rest_of(child, item, fields.get(key))
        if rest is not _MISSING:
            kept[name] = rest
    return kept or None


def _rest_of(structure: Structure, value: Any, node: Fields | None) -> Any:
    if node is None:
        return value
    return _MISSING if is_member(node) else without_fields(structure, value, node)


def with_named_parents(structure: Structure, fields: Fields) -> Fields:
    """A set in which fields with only members below them are members themselves."""
    out: Fields = {}
    for key, node in fields.items():
        if node and key != ".":
            below = with_named_parents(structure.child(key), node)
            out[key] = {".": _LEAF, **below} if key[0] == "f" and structure.declares(key[2:]) else below
        else:
            out[key] = node
    return out


def value_at(structure: Structure, value: Any, path: Path) -> Any:
    """The value at a path; None when there is none."""
    for key in path:
        if key[0] == "f":
            value = value.get(key[2:]) if isinstance(value, dict) else None
        else:
            value = structure.items(value).get(key) if isinstance(value, list) else None
        structure = structure.child(key)
    return value


def _compare(structure: Structure, key: str, old: Any, new: Any, changed: Fields, removed: Fields) -> None:
    if new is _MISSING:
        if old is not _MISSING:
            removed[key] = whole_fields(structure, old)
        return
    if old is _MISSING:
        changed[key] = whole_fields(structure, new)
        return
    if old is new or old == new:
        return
    if structure.is_whole or (not old and not new):
        changed[key] = _LEAF
        return
    below: tuple[Fields, Fields] = {}, {}
    if structure.is_list:
        _compare_lists(structure, old, new, *below)
    else:
        _compare_maps(structure, old, new, *below)
        if structure.is_free and not (_is_map(old) and _is_map(new)):
            changed[key] = {".": _LEAF, **below[0]} if below[0] else _LEAF
            if below[1]:
                removed[key] = below[1]
            return
    if below[0]:
        changed[key] = below[0]
    if below[1]:
        removed[key] = below[1]


def _compare_maps(structure: Structure, old: Any, new: Any, changed: Fields, removed: Fields) -> None:
    before = old if isinstance(old, dict) else {}
    after = new if isinstance(new, dict) else {}
    for name, value in after.items():
        key, child = structure.field(name)
        _compare(child, key, before.get(name, _MISSING), value, changed, removed)
    for name, value in before.items():
        if name not in after:
            key, child = structure.field(name)
            removed[key] = whole_fields(child, value)


def _compare_lists(structure: Structure, old: Any, new: Any, changed: Fields, removed: Fields) -> None:
    before = structure.items(old)
    after = structure.items(new)
    element = structure.element
    for key, value in after.items():
        _compare(element, key, before.get(key, _MISSING), value, changed, removed)
    for key, value in before.items():
        if key not in after:
            removed[key] = whole_fields(element, value)


def _merged_lists(structure: Structure, live: Any, applied: Any) -> Any:
    mine, theirs = structure.items(applied), structure.items(live)
    order = _applied_order(list(theirs), list(mine)) if structure.minor >= _APPLIED_ORDER_KEPT else {**theirs, **mine}
    element = structure.element
    return [merge_values(element, theirs.get(key, _MISSING), mine.get(key, _MISSING)) for key in order]


def _applied_order(live: list[str], applied: list[str]) -> list[str]:
    """The applied items in their order; every other item keeps its place relative to them."""
    known, wanted = set(live), set(applied)
    order: list[str] = []
    placed: set[str] = set()
    shared = [key for key in applied if key in known]
    left, right = 0, 0
    while left < len(live) or right < len(applied):
        if left < len(live) and live[left] not in wanted:
            order.append(live[left])
            left += 1
        elif left < len(live) and (live[left] in placed or (shared and shared[0] != live[left])):
            left += 1
        else:
            key = applied[right]
            right += 1
            order.append(key)
            placed.add(key)
            if shared and shared[0] == key:
                shared.pop(0)
    return order


def _is_leaf(structure: Structure, value: Any) -> bool:
    if structure.is_whole or (structure.is_free and not _is_map(value)):
        return True
    return (value is None or (not value and not structure.is_list)) and structure.minor >= _EMPTY_MAPS_OWNED


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) or value is None
