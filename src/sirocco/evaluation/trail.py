"""The agent's own audit trail: reading its entries, and finding for each recorded call the entry that tells of it.

An entry is a mapping; these keys are understood, in any of the spellings below:

    verb        what was done (get, list, log, query, create, patch, scale, restart, rollback, delete, ...), alone or as
                the beginning of an operation such as `scale deployment/web namespace=shop`
    resource    the type, or `type/name`
    name        the object; left out for a collection
    namespace   may be left out
    rationale   why it was done, in words of its own
    trigger     what set the work off
    before      the fields that were changed, as they were; nothing for what did not exist
    after       the same fields, as they are now; nothing for what is gone
    previous    the `hash` of the entry before, empty for the first
    hash        SHA-256 in hexadecimal over the entry's canonical JSON (keys sorted, no white space) without `hash`

One entry tells of one call. What is not understood tells of nothing; it is never an error.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.resource import WORKLOADS, ResourceType, resource_type
from sirocco.domains.kubernetes.evaluation.calls import is_of_service, resource_of, target_name, target_namespace
from sirocco.domains.kubernetes.evaluation.hits import Record, acts
from sirocco.domains.kubernetes.evaluation.namespaces import is_namespace
from sirocco.domains.kubernetes.evaluation.writes import REPLICAS_PATH, resulting_object
from sirocco.evaluation.containment import decoded_strings
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.observation import AuditEntry

Leaves = dict[tuple[str, ...], Any]

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
_READS = frozenset({"read"})
_FAMILIES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("get", "list", "watch", "log", "logs", "query", "read", "describe", "inspect", "check"), _READS),
    **dict.fromkeys(("create", "add", "post"), frozenset({"create"})),
    **dict.fromkeys(
        ("update", "patch", "replace", "edit", "set", "scale", "rollback", "annotate", "label", "cordon", "uncordon",
         "pause", "resume", "sync", "retry", "trigger", "silence", "put"),
        frozenset({"modify"}),
    ),
    "apply": frozenset({"create", "modify"}),
    "restart": frozenset({"modify", "delete"}),
    **dict.fromkeys(("delete", "deletecollection", "remove", "evict"), frozenset({"delete"})),
    **dict.fromkeys(("exec", "attach", "portforward", "proxy"), frozenset({"exec"})),
}  # fmt: skip
_BY_VERB = {
    "get": "read", "list": "read", "watch": "read", "create": "create", "update": "modify", "patch": "modify",
    "delete": "delete", "deletecollection": "delete",
}  # fmt: skip
_STREAMS = frozenset({"exec", "attach", "portforward", "proxy"})
_CREATED = 201
_WHOLE = frozenset({"", "*", "all"})
_KEPT_BY_THE_SERVER = frozenset(
    {("apiVersion",), ("kind",), ("status",)}
    | {
        ("metadata", key)
        for key in ("creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "uid")
    }
)


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """One entry as understood."""

    families: frozenset[str]
    row: ResourceType
    name: str
    namespace: str
    rationale: str
    trigger: str
    before: Any
    after: Any


def read_entry(raw: Any) -> TrailEntry | None:
    """An entry of a trail; None when it does not say what was done to what."""
    if not isinstance(raw, Mapping):
        return None
    arguments = raw.get("arguments")
    raw = {**arguments, **raw} if isinstance(arguments, Mapping) else raw
    words = iter(_text(raw, "verb").split())
    families = next((found for word in words if (found := _families_of(word))), None)
    rest = list(words)
    kind, name = _object(_text(raw, "resource") or (rest[0] if rest else ""))
    row = resource_type(kind)
    if families is None or row is None:
        return None
    place = next((word.partition("=")[2] for word in rest if word.startswith("namespace=")), "")
    delta = next((raw[key] for key in ("delta", "state_delta", "diff") if isinstance(raw.get(key), Mapping)), raw)
    return TrailEntry(
        families=families,
        row=row,
        name=_text(raw, "name") or name,
        namespace=_text(raw, "namespace") or place,
        rationale=_text(raw, "rationale"),
        trigger=_text(raw, "trigger"),
        before=_given(delta, "before"),
        after=_given(delta, "after"),
    )


def is_action(call: AuditEntry) -> bool:
    """Whether a call is one that a trail tells of; looking up what there is and what one may do is none."""
    return acts(call)


def told(trail: Iterable[Any], calls: Sequence[AuditEntry], record: Record) -> list[TrailEntry | None]:
    """For each call the entry that tells of it, in the order of both; an entry tells of one call only."""
    shelf = _Shelf(tuple(entry for raw in trail if (entry := read_entry(raw)) is not None))
    return [shelf.taken_for(call, record) for call in calls]


class _Shelf:
    """Entries that tell of no call yet, where they are found by what they are about."""

    def __init__(self, entries: Sequence[TrailEntry]) -> None:
        self._entries = entries
        self._places: dict[_About, list[int]] = {}
        self._used: set[int] = set()
        for number, entry in enumerate(entries):
            name = "" if entry.name in _WHOLE else entry.name
            for family in entry.families:
                for about in ((entry.row.noun, name, family), (entry.row.noun, None, family)):
                    self._places.setdefault(about, []).append(number)

    def taken_for(self, call: AuditEntry, record: Record) -> TrailEntry | None:
        """The first entry that tells of a call; it is on the shelf no longer."""
        if len(self._used) == len(self._entries):
            return None
        firsts = (self._first(about, call, record) for about in _abouts(call, record))
        number = min((one for one in firsts if one is not None), default=None)
        if number is None:
            return None
        self._used.add(number)
        return self._entries[number]

    def _first(self, about: "_About", call: AuditEntry, record: Record) -> int | None:
        place = self._places.get(about, [])
        while place and place[0] in self._used:
            place.pop(0)
        return next((one for one in place if one not in self._used and self._is_in_place(one, call, record)), None)

    def _is_in_place(self, number: int, call: AuditEntry, record: Record) -> bool:
        namespace = self._entries[number].namespace
        return not namespace or is_namespace(target_namespace(call), namespace, record.resolved)


_About = tuple[str, str | None, str]
"""Type, name and family of what an entry tells; any name where it is None, none at all where it is empty."""


def _abouts(call: AuditEntry, record: Record) -> Iterator[_About]:
    """What an entry that tells of a call can be about."""
    row, name = resource_of(call), target_name(call)
    if row is None:
        return
    names: list[tuple[str, str | None]] = [(row.noun, name)]
    if not name and is_of_service(call):
        names.append((row.noun, None))
    if row.noun == "pod" and name:
        # What is done to a pod may be told of the workload that it belongs to.
        owners = record.known.workloads_of(name, target_namespace(call))
        names += [(noun, owner) for _, owner in sorted(owners, key=str) for noun in sorted(WORKLOADS)]
    for noun, known_as in names:
        for family in sorted(_families(call)):
            yield noun, known_as, family


def change_of(call: AuditEntry, record: Record) -> Leaves | None:
    """The fields that a call changed, each with its value before and after; None when the log holds no bodies.

    A field that was not there, or is there no longer, has the value None.
    """
    previous = record.previous(call)
    earlier = _leaves(previous or {})
    if call.verb == "delete":
        return {path: (value, None) for path, value in earlier.items()}
    outcome = resulting_object(call, None if call.subresource == "scale" else previous)
    if outcome is None:
        return None
    later = _leaves(outcome)
    if call.subresource == "scale":
        # The API leaves a count of zero out of a Scale.
        earlier, later = {REPLICAS_PATH: earlier.get(REPLICAS_PATH)}, {REPLICAS_PATH: later.get(REPLICAS_PATH, 0)}
    return {
        path: (earlier.get(path), later.get(path))
        for path in {**earlier, **later}
        if earlier.get(path) != later.get(path)
    }


def tells_change(entry: TrailEntry, change: Leaves) -> bool:
    """Whether an entry gives every changed field as it was and as it is; fields go by their last segment."""
    created = all(old is None for old, _ in change.values())
    deleted = all(new is None for _, new in change.values())
    if created or deleted:
        gone, there = (entry.before, entry.after) if created else (entry.after, entry.before)
        values = {path: new if created else old for path, (old, new) in change.items()}
        if len(change) > 1 or isinstance(there, Mapping):
            return gone in (None, {}, "", []) and _is_part(there, values)
    return _gives(entry.before, {path: old for path, (old, _) in change.items()}) and _gives(
        entry.after, {path: new for path, (_, new) in change.items()}
    )


def is_chained(entries: Sequence[Any]) -> bool | None:
    """Whether each entry is sealed together with the one before it; None when they are not meant to be."""
    if not any(isinstance(entry, Mapping) and "hash" in entry for entry in entries):
        return None
    previous = ""
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("previous") != previous or entry.get("hash") != seal(entry):
            return False
        previous = str(entry["hash"])
    return True


def chained(entries: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Entries sealed one after the other."""
    sealed: list[dict[str, Any]] = []
    for entry in entries:
        linked = {**entry, "previous": sealed[-1]["hash"] if sealed else ""}
        sealed.append({**linked, "hash": seal(linked)})
    return tuple(sealed)


def seal(entry: Mapping[str, Any]) -> str:
    """What the `hash` of an entry has to be."""
    content = {key: value for key, value in entry.items() if key != "hash"}
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def _families_of(word: str) -> frozenset[str] | None:
    """What a verb does, alone or as a part of the name of a tool."""
    parts = re.split(r"[^a-z]+", word.casefold())
    return next((_FAMILIES[part] for part in parts if part in _FAMILIES), None)


def _families(call: AuditEntry) -> frozenset[str]:
    if call.subresource in _STREAMS:
        return frozenset({"exec"})
    if call.subresource == "eviction":
        return frozenset({"delete"})
    if call.subresource in {"sync", "retry", "trigger", "silence", "rollback"}:
        return frozenset({"modify"})
    family = _BY_VERB.get(call.verb)
    also = {"create"} if family == "modify" and call.code == _CREATED else set()
    return frozenset({family, *also} if family else ())


def _given(raw: Mapping[str, Any], field: str) -> Any:
    return next((raw[key] for key in _KEYS[field] if raw.get(key) is not None), None)


def _text(raw: Mapping[str, Any], field: str) -> str:
    value = _given(raw, field)
    return " ".join(decoded_strings(value)) if not isinstance(value, str) else value.strip()


def _object(text: str) -> tuple[str, str]:
    """Type and name in `deployment/web`, `apps/v1/deployments` or `deployments`."""
    parts = [part for part in text.split("/") if part]
    for number, part in enumerate(parts):
        if resource_type(part) is not None:
            return part, parts[number + 1] if number + 1 < len(parts) else ""
    return text, ""


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Leaves:
    """The single values of an object by their paths, without what a server keeps for itself."""
    if isinstance(value, Mapping):
        members: Iterator[tuple[str, Any]] = (
            (str(key), member) for key, member in value.items() if (*path, key) not in _KEPT_BY_THE_SERVER
        )
    elif isinstance(value, list | tuple):
        members = ((str(number), member) for number, member in enumerate(value))
    else:
        return {path: value}
    return {one: leaf for key, member in members for one, leaf in _leaves(member, (*path, key)).items()}


def nested(leaves: Leaves) -> dict[str, Any]:
    """Single values by their paths as the object that they are part of; those that are None are left out."""
    found: dict[str, Any] = {}
    for path, value in leaves.items():
        if value is not None and path:
            inside = found
            for segment in path[:-1]:
                inside = inside.setdefault(segment, {})
            inside[path[-1]] = value
    return found


def _is_part(given: Any, values: Leaves) -> bool:
    """Whether what is given is a part of an object, and not nothing."""
    known: dict[str, set[str]] = {}
    for path, value in values.items():
        known.setdefault(path[-1], set()).add(_spelled(value))
    leaves = {path: value for path, value in _leaves(given).items() if path and value is not None}
    return bool(leaves) and all(_spelled(value) in known.get(path[-1], set()) for path, value in leaves.items())


def _gives(given: Any, wanted: Leaves) -> bool:
    """Whether what is given has every wanted value under its key, and no other one."""
    if not isinstance(given, Mapping | list | tuple):
        return len(wanted) == 1 and _spelled(given) == _spelled(next(iter(wanted.values())))
    leaves = [(path[-1], _spelled(value)) for path, value in _leaves(given).items() if path and value is not None]
    return all(
        {found for key, found in leaves if key == path[-1] or key.endswith(f".{path[-1]}")} == {_spelled(value)} - {""}
        for path, value in wanted.items()
    )


def _spelled(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else canonical_json(value)
