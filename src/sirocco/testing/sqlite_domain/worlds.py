"""Worlds: the contents of a database at one time, and their differences, in the terms that statements use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from sirocco.oasis.operation import ANY
from sirocco.testing.sqlite_domain.database import Act, Change
from sirocco.testing.sqlite_domain.declared import covers
from sirocco.testing.sqlite_domain.operation import ON_ROWS, ROW, TABLE, VIEW, Operation, Verb
from sirocco.testing.sqlite_domain.statements import covers_change, is_place

ObjectKey = tuple[str, str, str]
"""Type, namespace and name of an object."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """The objects of one observed state, by type, namespace and name."""

    objects: Mapping[ObjectKey, Mapping[str, Any]]

    @classmethod
    def from_objects(cls, objects: Any) -> "World":
        """Objects as the provider shows them."""
        found: dict[ObjectKey, Mapping[str, Any]] = {}
        for item in objects:
            noun, _, name = str(item["resource"]).partition("/")
            found[noun, str(item["namespace"]), name] = item
        return cls(found)

    @cached_property
    def rows(self) -> Mapping[tuple[str, str], Mapping[str, Row]]:
        """The rows of each table (namespace and name), by their keys."""
        found: dict[tuple[str, str], dict[str, Row]] = {
            (namespace, name): {} for noun, namespace, name in self.objects if noun == TABLE
        }
        for (noun, namespace, name), item in self.objects.items():
            if noun == ROW:
                table, _, key = name.partition(":")
                found.setdefault((namespace, table), {})[key] = item["values"]
        return found

    def matching_keys(self, noun: str, name: str, namespace: str | None) -> list[ObjectKey]:
        """The objects of a type whose names match a pattern."""
        return [
            key
            for key in self.objects
            if key[0] == noun and fnmatchcase(key[2], name) and (namespace is None or fnmatchcase(key[1], namespace))
        ]

    def whole_object(self, key: ObjectKey) -> Any:
        """The complete object, for a table including its rows; None if it does not exist."""
        item = self.objects.get(key)
        return item if item is None or key[0] != TABLE else {**item, "rows": self.rows[key[1], key[2]]}


@dataclass(frozen=True, slots=True)
class Difference:
    """One object that differs between two worlds: what was done to it, and to its rows or columns."""

    key: ObjectKey
    change: str
    act: Act | None = None
    row: Change | None = None
    emptied: tuple[str, str] | None = None

    def is_by(self, operation: Operation) -> bool:
        """Whether the operation would have caused it."""
        if operation.verb is Verb.SELECT:
            return False
        if self.emptied is not None:
            return operation.verb is Verb.TRUNCATE and is_place(operation, *self.emptied)
        if self.row is not None:
            is_about_rows = operation.resource in {ANY, ROW} or operation.verb in ON_ROWS
            return is_about_rows and operation.verb is not Verb.TRUNCATE and covers_change(operation, self.row)
        return self.act is not None and covers(operation, self.act)


def differences(expected: World, actual: World) -> Iterator[Difference]:
    """The differences of a world from what it would have been, object by object."""
    for key in dict.fromkeys((*expected.objects, *actual.objects)):
        if key[0] != ROW:
            yield from _of_definition(key, expected.objects.get(key), actual.objects.get(key))
    for place in dict.fromkeys((*expected.rows, *actual.rows)):
        yield from _of_rows(place, expected.rows.get(place, {}), actual.rows.get(place, {}))


def _of_definition(
    key: ObjectKey, was: Mapping[str, Any] | None, now: Mapping[str, Any] | None
) -> Iterator[Difference]:
    noun, namespace, name = key
    if was is None:
        yield Difference(key, "was created", Act(Verb.CREATE, noun, name, namespace))
    elif now is None:
        yield Difference(key, "is gone", Act(Verb.DROP, noun, name, namespace))
    elif was != now:
        verb = Verb.ALTER if noun == TABLE else Verb.CREATE
        yield Difference(key, "is defined otherwise", Act(verb, noun, name, namespace))


def _of_rows(place: tuple[str, str], was: Mapping[str, Row], now: Mapping[str, Row]) -> Iterator[Difference]:
    namespace, table = place
    if was and not now:
        yield Difference((TABLE, namespace, table), "has no rows left", emptied=place)
    for key in dict.fromkeys((*was, *now)):
        then, since = was.get(key), now.get(key)
        here = (ROW, namespace, f"{table}:{key}")
        if then is None:
            yield Difference(here, "was added", row=Change(Verb.INSERT, namespace, table, key, None, since))
        elif since is None:
            yield Difference(here, "is gone", row=Change(Verb.DELETE, namespace, table, key, then, None))
        elif changed := [column for column in {**then, **since} if then.get(column) != since.get(column)]:
            said = f"has another {', '.join(changed)}"
            yield Difference(here, said, row=Change(Verb.UPDATE, namespace, table, key, then, since))


def lost_rows(operation: Operation, expected: World, actual: World) -> list[tuple[ObjectKey, str]]:
    """The losses among the records that an operation is about, each with what became of it.

    For an operation on a table, the table is lost if nothing is left of any of its rows; for one on a row or column,
    the row is. A row without any of its values left is as lost as one that is gone.
    """
    found: list[tuple[ObjectKey, str]] = []
    for place, rows in expected.rows.items():
        kept = actual.rows.get(place, {})
        if not is_place(operation, *place) or operation.resource == VIEW:
            continue
        columns = None if operation.verb is not Verb.UPDATE or operation.column is None else operation.column
        lost = [key for key, row in rows.items() if _is_lost(row, kept.get(key), columns)]
        if operation.resource == ROW:
            keys = [key for key in lost if operation.key is None or fnmatchcase(key, operation.key)]
            found += [((ROW, place[0], f"{place[1]}:{key}"), "lost what it held") for key in keys]
        elif rows and len(lost) == len(rows):
            found.append(((TABLE, *place), "lost all its rows"))
    return found


def _is_lost(row: Row, now: Row | None, column: str | None) -> bool:
    if now is None:
        return True
    held = [name for name in list(row)[1:] if row[name] not in {None, ""}]
    kept = [name for name in held if now.get(name) == row[name]]
    return column not in kept if column in held else bool(held) and not kept
