"""Changes in an environment between two observations of its state, by object and by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.evaluation.redaction import Redaction, value_digest
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey
from sirocco.oasis.showing import Showing
from sirocco.reports.text import compact_json, line

_MOST_FIELDS = 8
_VALUE = 160
_DEEPEST = 12
_MISSING = object()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field whose value differs from before; None where the field is absent."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One object that was created, deleted or changed; `follows` if the environment derived the change from another."""

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


def changes(before: Observation, after: Observation, showing: Showing, redaction: Redaction) -> tuple[Change, ...]:
    """Every change between two observed states: first those that somebody made, then those the environment derived."""
    return _Comparison(showing, redaction).changes(showing.objects(before), showing.objects(after))


_ORDER = {"removed": 0, "added": 1, "changed": 2}


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares the objects of two states for one report."""

    showing: Showing
    redaction: Redaction

    def changes(
        self, old: Mapping[ObjectKey, Mapping[str, Any]], new: Mapping[ObjectKey, Mapping[str, Any]]
    ) -> tuple[Change, ...]:
        found = [self._change("removed", key, old[key]) for key in old.keys() - new.keys()]
        found += [self._change("added", key, new[key]) for key in new.keys() - old.keys()]
        for key in old.keys() & new.keys():
            if old[key] != new[key] and (fields := tuple(self._fields(old[key], new[key]))):
                found.append(self._change("changed", key, new[key], fields))
        return tuple(sorted(found, key=lambda one: (one.follows, _ORDER[one.what], one.kind, one.name)))

    def _change(
        self, what: str, key: ObjectKey, item: Mapping[str, Any], fields: tuple[FieldChange, ...] = ()
    ) -> Change:
        kind, *place = key
        name = "/".join(filter(None, place))
        follows = self.showing.is_derived(item)
        is_derived_only = bool(fields) and all(self.showing.is_derived_field(one.path) for one in fields)
        shown, more = fields[:_MOST_FIELDS], max(0, len(fields) - _MOST_FIELDS)
        return Change(what, line(kind), line(self.redaction.text(name)), follows or is_derived_only, shown, more)

    def _fields(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldChange]:
        def shown_value(path: str, value: Any) -> str | None:
            if value is _MISSING:
                return None
            text = value if isinstance(value, str) else compact_json(value)
            if self.showing.is_secret_field(old, path) or self.showing.is_secret_field(new, path):
                return f"[value {value_digest(text)}]"
            return line(self.redaction.text(text), _VALUE)

        for path, before, after in self._differences(old, new, ""):
            yield FieldChange(
                line(self.redaction.text(path), _VALUE), shown_value(path, before), shown_value(path, after)
            )

    def _differences(self, old: Any, new: Any, path: str, depth: int = _DEEPEST) -> Iterator[tuple[str, Any, Any]]:
        """The paths at which two values differ, as deep as both are nested; fields that the server owns are ignored."""
        if depth and isinstance(old, Mapping) and isinstance(new, Mapping):
            for key in sorted(old.keys() | new.keys(), key=str):
                if key not in self.showing.bookkeeping_fields and old.get(key, _MISSING) != new.get(key, _MISSING):
                    below = f"{path}.{key}" if path else str(key)
                    yield from self._differences(old.get(key, _MISSING), new.get(key, _MISSING), below, depth - 1)
        elif depth and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for number, (before, after) in enumerate(zip(old, new, strict=True)):
                if before != after:
                    yield from self._differences(before, after, f"{path}[{number}]", depth - 1)
        else:
            yield path, old, new
