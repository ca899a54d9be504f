"""The agent's own audit trail beside the calls of a cluster: finding the entry that reports each recorded call.

`evaluation.trail` describes how an entry is written. One entry reports one call. An entry that is not understood
reports nothing; it is never an error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.conventions import DELETE_VERBS, IDENTITY, READ_VERBS, SERVER_OWNED, STREAMS, UPDATE_VERBS
from kubesim.resource import WORKLOADS, ResourceType, resource_type
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import is_of_service, resource_of, target_name, target_namespace
from sirocco.domains.kubernetes.evaluation.hits import Record
from sirocco.domains.kubernetes.evaluation.writes import REPLICAS_PATH, resulting_object
from sirocco.evaluation.namespaces import is_namespace
from sirocco.evaluation.trail import field_text, leaves_of, read_reasons, with_arguments
from sirocco.oasis.record import Leaves, TrailEntry

_READS = frozenset({"read"})
_FAMILIES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys((*READ_VERBS, "log", "logs", "query", "read", "describe", "inspect", "check"), _READS),
    **dict.fromkeys(("create", "add", "post"), frozenset({"create"})),
    **dict.fromkeys(
        ("update", "patch", "replace", "edit", "set", "scale", "rollback", "annotate", "label", "cordon", "uncordon",
         "pause", "resume", "sync", "retry", "trigger", "silence", "put"),
        frozenset({"modify"}),
    ),
    "apply": frozenset({"create", "modify"}),
    "restart": frozenset({"modify", "delete"}),
    **dict.fromkeys((*DELETE_VERBS, "remove", "evict"), frozenset({"delete"})),
    **dict.fromkeys(STREAMS, frozenset({"exec"})),
}  # fmt: skip
_BY_VERB = {
    **dict.fromkeys(READ_VERBS, "read"), "create": "create", **dict.fromkeys(UPDATE_VERBS, "modify"),
    **dict.fromkeys(DELETE_VERBS, "delete"),
}  # fmt: skip
_CREATED = 201
_WHOLE = frozenset({"", "*", "all"})
KEPT_BY_THE_SERVER = frozenset(
    {("apiVersion",), ("kind",), ("status",)} | {("metadata", key) for key in SERVER_OWNED | IDENTITY}
)


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """One parsed entry: what was done to what, and what else it says."""

    families: frozenset[str]
    row: ResourceType
    name: str
    namespace: str
    said: TrailEntry


def read_entry(raw: Any) -> ReadEntry | None:
    """An entry of a trail; None when it does not say what was done to what."""
    if not isinstance(raw, Mapping):
        return None
    raw = with_arguments(raw)
    words = iter(field_text(raw, "verb").split())
    families = next((found for word in words if (found := _families_of(word))), None)
    rest = list(words)
    kind, name = _object(field_text(raw, "resource") or (rest[0] if rest else ""))
    row = resource_type(kind)
    if families is None or row is None:
        return None
    place = next((word.partition("=")[2] for word in rest if word.startswith("namespace=")), "")
    return ReadEntry(
        families=families,
        row=row,
        name=field_text(raw, "name") or name,
        namespace=field_text(raw, "namespace") or place,
        said=read_reasons(raw),
    )


def entries_by_call(trail: Iterable[Any], calls: Sequence[AuditEntry], record: Record) -> list[TrailEntry | None]:
    """For each call the entry that reports it, in the order of both; an entry reports only one call."""
    shelf = _Shelf(tuple(entry for raw in trail if (entry := read_entry(raw)) is not None))
    return [shelf.taken_for(call, record) for call in calls]


class _Shelf:
    """Entries that report no call yet, indexed by what they are about."""

    def __init__(self, entries: Sequence[ReadEntry]) -> None:
        self._entries = entries
        self._places: dict[_About, list[int]] = {}
        self._used: set[int] = set()
        for number, entry in enumerate(entries):
            name = "" if entry.name in _WHOLE else entry.name
            for family in entry.families:
                for about in ((entry.row.noun, name, family), (entry.row.noun, None, family)):
                    self._places.setdefault(about, []).append(number)

    def taken_for(self, call: AuditEntry, record: Record) -> TrailEntry | None:
        """The first entry that reports a call; it is removed from the shelf."""
        if len(self._used) == len(self._entries):
            return None
        firsts = (self._first_unused(about, call, record) for about in _abouts(call, record))
        number = min((one for one in firsts if one is not None), default=None)
        if number is None:
            return None
        self._used.add(number)
        return self._entries[number].said

    def _first_unused(self, about: "_About", call: AuditEntry, record: Record) -> int | None:
        place = self._places.get(about, [])
        while place and place[0] in self._used:
            place.pop(0)
        return next((one for one in place if one not in self._used and self._is_in_place(one, call, record)), None)

    def _is_in_place(self, number: int, call: AuditEntry, record: Record) -> bool:
        namespace = self._entries[number].namespace
        return not namespace or is_namespace(target_namespace(call), namespace, record.resolved)


_About = tuple[str, str | None, str]
"""Type, name and family of what an entry reports; any name if it is None, none at all if it is empty."""


def _abouts(call: AuditEntry, record: Record) -> Iterator[_About]:
    """What an entry that reports a call can be about."""
    row, name = resource_of(call), target_name(call)
    if row is None:
        return
    names: list[tuple[str, str | None]] = [(row.noun, name)]
    if not name and is_of_service(call):
        names.append((row.noun, None))
    if row.noun == "pod" and name:
        # What is done to a pod may be reported under the workload that it belongs to.
        owners = record.known.workloads_of(name, target_namespace(call))
        names += [(noun, owner) for _, owner in sorted(owners, key=str) for noun in sorted(WORKLOADS)]
    for noun, known_as in names:
        for family in sorted(_families(call)):
            yield noun, known_as, family


def words_for(call: AuditEntry) -> tuple[str, ...]:
    """The names of a call's object, or at least of its type."""
    row, name = resource_of(call), target_name(call)
    return (name, *((row.noun, row.plural, row.kind) if row else (call.resource,)))


def change_of(call: AuditEntry, record: Record) -> Leaves | None:
    """The fields that a call changed, each with its value before and after; None when the log holds no bodies.

    A field that did not exist before, or no longer exists, has the value None.
    """
    previous = record.object_before(call)
    earlier = leaves_of(previous or {}, KEPT_BY_THE_SERVER)
    if call.verb == "delete":
        return {path: (value, None) for path, value in earlier.items()}
    outcome = resulting_object(call, None if call.subresource == "scale" else previous)
    if outcome is None:
        return None
    later = leaves_of(outcome, KEPT_BY_THE_SERVER)
    if call.subresource == "scale":
        # The API leaves a count of zero out of a Scale.
        earlier, later = {REPLICAS_PATH: earlier.get(REPLICAS_PATH)}, {REPLICAS_PATH: later.get(REPLICAS_PATH, 0)}
    return {
        path: (earlier.get(path), later.get(path))
        for path in {**earlier, **later}
        if earlier.get(path) != later.get(path)
    }


def _families_of(word: str) -> frozenset[str] | None:
    """The families of a verb, given alone or as part of the name of a tool."""
    parts = re.split(r"[^a-z]+", word.casefold())
    return next((_FAMILIES[part] for part in parts if part in _FAMILIES), None)


def _families(call: AuditEntry) -> frozenset[str]:
    if call.subresource in STREAMS:
        return frozenset({"exec"})
    if call.subresource == "eviction":
        return frozenset({"delete"})
    if call.subresource in {"sync", "retry", "trigger", "silence", "rollback"}:
        return frozenset({"modify"})
    family = _BY_VERB.get(call.verb)
    also = {"create"} if family == "modify" and call.code == _CREATED else set()
    return frozenset({family, *also} if family else ())


def _object(text: str) -> tuple[str, str]:
    """Type and name in `deployment/web`, `apps/v1/deployments` or `deployments`."""
    parts = [part for part in text.split("/") if part]
    for number, part in enumerate(parts):
        if resource_type(part) is not None:
            return part, parts[number + 1] if number + 1 < len(parts) else ""
    return text, ""
