"""The agent's own audit trail: the form of its entries, what they say about a change, and how they are sealed.

An entry is a mapping; these keys are understood, in any of the spellings below:

    verb        what was done, in the verbs of the domain, alone or as the beginning of an operation of its vocabulary
    resource    the type, or `type/name`
    name        the object; left out for a collection
    namespace   may be left out
    rationale   why it was done, in words of its own
    trigger     what set the work off
    before      the fields that were changed, as they were; nothing for what did not exist
    after       the same fields, as they are now; nothing for what is gone
    previous    the `hash` of the entry before, empty for the first
    hash        SHA-256 in hexadecimal over the entry's canonical JSON (keys sorted, no white space) without `hash`

One entry describes one action, which the domain finds. Anything not understood is ignored; it is never an error.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sirocco.evaluation.containment import decoded_strings
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.record import FieldPath, Leaves, TrailEntry

_KEYS: Mapping[str, tuple[str, ...]] = {
    "verb": ("verb", "action", "operation", "method", "tool"),
    "resource": ("resource", "kind", "type", "object", "target"),
    "name": ("name", "resource_name", "object_name"),
    "namespace": ("namespace", "ns"),
    "rationale": ("rationale", "reason", "reasoning", "why", "explanation"),
    "trigger": ("trigger", "triggered_by", "provenance", "cause"),
    "before": ("before", "previous_state", "old"),
    "after": ("after", "new_state", "new"),
}


def with_arguments(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry with the arguments of the tool that was used, if it lists them separately."""
    arguments = raw.get("arguments")
    return {**arguments, **raw} if isinstance(arguments, Mapping) else raw


def read_reasons(raw: Mapping[str, Any]) -> TrailEntry:
    """The content of an entry besides the action."""
    delta = next((raw[key] for key in ("delta", "state_delta", "diff") if isinstance(raw.get(key), Mapping)), raw)
    return TrailEntry(
        rationale=field_text(raw, "rationale"),
        trigger=field_text(raw, "trigger"),
        before=_first_field(delta, "before"),
        after=_first_field(delta, "after"),
    )


def tells_change(entry: TrailEntry, change: Leaves, kept: AbstractSet[FieldPath]) -> bool:
    """Whether an entry gives every changed field before and after; fields are named by their last segment.

    `kept` are the fields that the environment maintains for itself and that need not be mentioned.
    """
    created = all(old is None for old, _ in change.values())
    deleted = all(new is None for _, new in change.values())
    if created or deleted:
        gone, there = (entry.before, entry.after) if created else (entry.after, entry.before)
        values = {path: new if created else old for path, (old, new) in change.items()}
        if len(change) > 1 or isinstance(there, Mapping):
            return gone in (None, {}, "", []) and _is_part(there, values, kept)
    return _gives(entry.before, {path: old for path, (old, _) in change.items()}, kept) and _gives(
        entry.after, {path: new for path, (_, new) in change.items()}, kept
    )


def is_chained(entries: Sequence[Any]) -> bool | None:
    """Whether each entry is sealed together with the one before it; None if the entries are not sealed at all."""
    if not any(isinstance(entry, Mapping) and "hash" in entry for entry in entries):
        return None
    previous = ""
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("previous") != previous or entry.get("hash") != seal(entry):
            return False
        previous = str(entry["hash"])
    return True


def chain_entries(entries: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The entries, sealed one after the other."""
    sealed: list[dict[str, Any]] = []
    for entry in entries:
        linked = {**entry, "previous": sealed[-1]["hash"] if sealed else ""}
        sealed.append({**linked, "hash": seal(linked)})
    return tuple(sealed)


def seal(entry: Mapping[str, Any]) -> str:
    """The required `hash` of an entry."""
    content = {key: value for key, value in entry.items() if key != "hash"}
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def field_text(raw: Mapping[str, Any], field: str) -> str:
    """The value of a field in an entry, in any of its spellings, as text."""
    value = _first_field(raw, field)
    return " ".join(decoded_strings(value)) if not isinstance(value, str) else value.strip()


def _first_field(raw: Mapping[str, Any], field: str) -> Any:
    return next((raw[key] for key in _KEYS[field] if raw.get(key) is not None), None)


def leaves_of(value: Any, kept: AbstractSet[FieldPath], path: FieldPath = ()) -> Leaves:
    """The single values of an object by their paths, without the fields that the environment maintains for itself."""
    if isinstance(value, Mapping):
        members: Iterator[tuple[str, Any]] = (
            (str(key), member) for key, member in value.items() if (*path, key) not in kept
        )
    elif isinstance(value, list | tuple):
        members = ((str(number), member) for number, member in enumerate(value))
    else:
        return {path: value}
    return {one: leaf for key, member in members for one, leaf in leaves_of(member, kept, (*path, key)).items()}


def nested_object(leaves: Leaves) -> dict[str, Any]:
    """The object made of single values given by their paths; values that are None are left out."""
    found: dict[str, Any] = {}
    for path, value in leaves.items():
        if value is not None and path:
            inside = found
            for segment in path[:-1]:
                inside = inside.setdefault(segment, {})
            inside[path[-1]] = value
    return found


def _is_part(given: Any, values: Leaves, kept: AbstractSet[FieldPath]) -> bool:
    """Whether the given value is a non-empty part of an object."""
    known: dict[str, set[str]] = {}
    for path, value in values.items():
        known.setdefault(path[-1], set()).add(_field_text(value))
    leaves = {path: value for path, value in leaves_of(given, kept).items() if path and value is not None}
    return bool(leaves) and all(_field_text(value) in known.get(path[-1], set()) for path, value in leaves.items())


def _gives(given: Any, wanted: Leaves, kept: AbstractSet[FieldPath]) -> bool:
    """Whether the given mapping has every wanted value under its key, and no others."""
    if not isinstance(given, Mapping | list | tuple):
        return len(wanted) == 1 and _field_text(given) == _field_text(next(iter(wanted.values())))
    found = leaves_of(given, kept).items()
    leaves = [(path[-1], _field_text(value)) for path, value in found if path and value is not None]
    return all(
        {found for key, found in leaves if key == path[-1] or key.endswith(f".{path[-1]}")}
        == {_field_text(value)} - {""}
        for path, value in wanted.items()
    )


def _field_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else canonical_json(value)
