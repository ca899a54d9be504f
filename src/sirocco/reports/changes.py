"""What changed in an environment between two observations of its state, object by object and field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of, owners_of
from sirocco.evaluation.redaction import Redaction, value_digest
from sirocco.oasis.observation import Observation
from sirocco.reports.text import compact_json, line

_BOOKKEEPING = frozenset(
    {"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "observedGeneration", "selfLink"}
)
_FOLLOWERS = frozenset({"Pod", "ReplicaSet", "Event", "Endpoints", "EndpointSlice", "ControllerRevision"})
_MOST_FIELDS = 8
_VALUE = 160
_DEEPEST = 12
_MISSING = object()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that has another value than before; None where it is not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One object that came, went or is not what it was; `follows` when a controller made it of something else."""

    what: str
    kind: str
    name: str
    follows: bool
    fields: tuple[FieldChange, ...] = ()
    more_fields: int = 0

    def document(self) -> dict[str, Any]:
        """The change as plain data."""
        fields = [{"path": one.path, "before": one.before, "after": one.after} for one in self.fields]
        return {"change": self.what, "object": f"{self.kind} {self.name}", "fields": fields}


def changes(before: Observation, after: Observation, redaction: Redaction) -> tuple[Change, ...] | None:
    """Every change, what somebody did before what controllers made of it; None when one state was not observed."""
    if not (before.is_available and after.is_available):
        return None
    old, new = (_by_name(observation) for observation in (before, after))
    found = [_change("removed", old[key], redaction) for key in old.keys() - new.keys()]
    found += [_change("added", new[key], redaction) for key in new.keys() - old.keys()]
    for key in old.keys() & new.keys():
        if old[key] != new[key] and (fields := tuple(_fields(old[key], new[key], redaction))):
            found.append(_change("changed", new[key], redaction, fields))
    return tuple(sorted(found, key=lambda one: (one.follows, _ORDER[one.what], one.kind, one.name)))


_ORDER = {"removed": 0, "added": 1, "changed": 2}


def _by_name(observation: Observation) -> dict[tuple[str, str, str], KubernetesObject]:
    objects = Snapshot.recorded(observation).objects
    return {(str(item.get("kind", "")), namespace_of(item), name_of(item)): item for item in objects}


def _change(what: str, item: KubernetesObject, redaction: Redaction, fields: tuple[FieldChange, ...] = ()) -> Change:
    kind = str(item.get("kind", ""))
    name = "/".join(filter(None, (namespace_of(item), name_of(item))))
    follows = kind in _FOLLOWERS and (kind != "Pod" or any(owners_of(item)))
    is_status_only = bool(fields) and all(one.path.startswith("status") for one in fields)
    shown, more = fields[:_MOST_FIELDS], max(0, len(fields) - _MOST_FIELDS)
    return Change(what, line(kind), line(redaction.text(name)), follows or is_status_only, shown, more)


def _fields(old: KubernetesObject, new: KubernetesObject, redaction: Redaction) -> Iterator[FieldChange]:
    is_secret = "Secret" in {old.get("kind"), new.get("kind")}

    def shown(path: str, value: Any) -> str | None:
        if value is _MISSING:
            return None
        text = value if isinstance(value, str) else compact_json(value)
        if is_secret and path.startswith(("data", "stringData")):
            return f"[value {value_digest(text)}]"
        return line(redaction.text(text), _VALUE)

    for path, before, after in _differences(old, new, ""):
        yield FieldChange(line(redaction.text(path), _VALUE), shown(path, before), shown(path, after))


def _differences(old: Any, new: Any, path: str, depth: int = _DEEPEST) -> Iterator[tuple[str, Any, Any]]:
    """The paths at which two values differ, as deep as both go on alike; what servers note for themselves aside."""
    if depth and isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys(), key=str):
            if key not in _BOOKKEEPING and old.get(key, _MISSING) != new.get(key, _MISSING):
                below = f"{path}.{key}" if path else str(key)
                yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), below, depth - 1)
    elif depth and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                yield from _differences(before, after, f"{path}[{number}]", depth - 1)
    else:
        yield path, old, new
