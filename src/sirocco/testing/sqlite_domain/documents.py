"""Reads what scenario documents say about a database: declarations in preconditions, and demands in entries."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis import operation as neutral
from sirocco.oasis.archetype import Function
from sirocco.oasis.declarations import RegisteredValue, UnresolvedValue
from sirocco.oasis.operation import ANY, has_glob
from sirocco.oasis.predicate import Forbidden, Predicate, Preserved, StateHolds
from sirocco.oasis.reader import EntryReading, Reading, no_reading, unread_entry
from sirocco.oasis.scenario import Preconditions, Scenario, StateAssertion, StateEntry
from sirocco.oasis.slot import ObjectRef
from sirocco.oasis.stimulus import Stimulus
from sirocco.testing.sqlite_domain.declared import (
    Target,
    entries_of,
    entry_problems,
    key_of,
    namespace_of,
    namespaces_of,
    rows_of,
    table_named,
)
from sirocco.testing.sqlite_domain.operation import (
    ROLE,
    ROW,
    TABLE,
    VIEW,
    Operation,
    SqliteVocabulary,
    Surface,
    Verb,
    own_operation,
)

VALUE_REF = re.compile(r"row/(?P<table>[\w-]+):(?P<key>[\w-]+)\.(?P<column>\w+)")
_CONDITIONS = ("exists", "absent", "unchanged")
_TAKES_AWAY = frozenset({Verb.UPDATE, Verb.DELETE, Verb.TRUNCATE, Verb.DROP})
_WORDS = SqliteVocabulary()


class SqliteDeclarations:
    """Tables, rows, views and roles as state entries declare them (implements `oasis.declarations.Declarations`)."""

    def noun(self, kind: str) -> str | None:
        """The type of object that a state entry's kind denotes."""
        return _WORDS.noun(kind)

    def names(self, scenario: Scenario) -> Iterator[str]:
        """The names of tables and views, and the texts in rows."""
        for entry in scenario.preconditions.environment.state:
            if entry.kind in {TABLE, VIEW}:
                yield entry.name
                yield from (value for row in rows_of(entry) for value in row.values() if isinstance(value, str))

    def namespaces(self, scenario: Scenario) -> frozenset[str]:
        """Every database that is declared or in scope."""
        return frozenset(namespaces_of(scenario.preconditions))

    def namespace_of(self, scenario: Scenario, entry: StateEntry) -> str | None:
        """The database of an entry; None for a role."""
        return None if entry.kind == ROLE else namespace_of(entry, scenario.preconditions)

    def declared_namespace(self, scenario: Scenario, noun: str, name: str) -> str | None:
        """The database where an object is declared; the first of the scope if it is declared nowhere or in several."""
        if noun == ROLE:
            return None
        found = {
            one.namespace for one in declared_objects(scenario.preconditions) if (one.noun, one.name) == (noun, name)
        }
        return found.pop() if len(found) == 1 else namespaces_of(scenario.preconditions)[0]

    def is_declared(self, scenario: Scenario, noun: str, name: str, namespace: str | None) -> bool:
        """Whether an object is declared: a row by its key, rows in general by their table."""
        if noun == ROW and ":" not in name:
            noun = TABLE
        if noun == ROLE:
            return any(entry.name == name for entry in entries_of(scenario.preconditions, ROLE))
        named = [
            one for one in declared_objects(scenario.preconditions) if one.noun == noun and one.namespace == namespace
        ]
        table, _, key = name.partition(":")
        if has_glob(key) or key == ANY:
            return any(one.name.startswith(f"{table}:") for one in named)
        return any(one.name == name for one in named)

    def boundaries(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        """Each database of the scope under its name, and all of them together."""
        scope = scenario.preconditions.agent.scope.namespaces
        return {"namespaces": scope, **{name: (name,) for name in scope}} if scope else {}

    def permits(self, scenario: Scenario, operation: neutral.Operation, *, read_only: bool) -> bool:
        """Whether an operation stays in the databases of the scope and, for a read-only agent, changes nothing."""
        is_allowed = operation.is_read or not read_only
        return is_allowed and operation.namespace in scenario.preconditions.agent.scope.namespaces

    def registered_value(self, scenario: Scenario, value_ref: str) -> RegisteredValue:
        """The value of one column of one declared row."""
        found = VALUE_REF.fullmatch(value_ref)
        if found is None:
            raise UnresolvedValue(f"{value_ref!r} is not a value reference", "use row/TABLE:KEY.COLUMN")
        entry = table_named(scenario.preconditions, found["table"], None)
        rows = [] if entry is None else [row for row in rows_of(entry) if str(row.get(key_of(entry))) == found["key"]]
        value = rows[0].get(found["column"]) if rows else None
        if entry is None or value is None:
            raise UnresolvedValue(f"nothing is declared for {value_ref!r}", "declare the row, or correct the reference")
        return RegisteredValue((str(value),), namespace_of(entry, scenario.preconditions))

    def entry_problems(self, entry: StateEntry, path: DocumentPath) -> Iterator[Problem]:
        """The parts of an entry that no database could hold."""
        for problem in entry_problems(entry):
            yield Problem("state-entry", path, problem, "correct the entry")

    def types_for_effect(self, effect: str) -> Collection[str]:  # noqa: ARG002 - a database does none of them
        """None: a database only reacts with new values."""
        return ()

    def target(self, text: str) -> Target:
        """Parse the target of a stimulus; raise ValueError with the accepted forms."""
        return Target.parse(text)

    def entry_for(self, stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
        """The table with the text in place; raise ValueError if a state entry cannot express it."""
        target = Target.parse(stimulus.target or "")
        table = table_named(preconditions, target.table, stimulus.namespace)
        if table is None or target.surface is Surface.VIEW_NAMES:
            raise ValueError(f"no state entry puts a text on {stimulus.target!r}")
        document = table.document()
        if target.surface is Surface.OBJECT_COMMENTS:
            return StateEntry.model_validate({**document, "comment": stimulus.value})
        key = key_of(table)
        rows = [
            {**row, target.key: stimulus.value} if str(row.get(key)) == target.row else row for row in rows_of(table)
        ]
        return StateEntry.model_validate({**document, "rows": rows})

    def brings_its_object(self, surface: str) -> bool:  # noqa: ARG002 - it is so for each of them
        """False for every surface."""
        return False

    def changes_its_object(self, surface: str) -> bool:
        """True for values and comments; a view's name is not part of the table that it shows."""
        return surface != Surface.VIEW_NAMES

    def neighbours(self, scenario: Scenario) -> tuple[StateEntry, ...]:  # noqa: ARG002 - it is so for each of them
        """None: no operator of this domain adds tables."""
        return ()


class SqliteReader:
    """Reads what entries demand; prose is not read (implements `oasis.reader.Reader`)."""

    def action(self, text: str, scenario: Scenario) -> Reading:  # noqa: ARG002 - prose is not read
        """No reading."""
        return ()

    def read_forbidden(self, text: str, scenario: Scenario) -> Reading:  # noqa: ARG002 - prose is not read
        """No reading."""
        return ()

    def sentence(self, text: str, scenario: Scenario) -> Reading:  # noqa: ARG002 - prose is not read
        """No reading."""
        return ()

    def difference(self, difference: Mapping[str, Any], scenario: Scenario) -> Reading:  # noqa: ARG002
        """No reading."""
        return ()

    def state(self, assertion: StateAssertion, scenario: Scenario, path: DocumentPath) -> EntryReading:
        """A condition on tables, views or rows, and the values of columns."""
        kind, _, name = (assertion.resource or "").partition("/")
        noun = _WORDS.noun(kind)
        if noun is None or noun == ROLE:
            problem = f"{kind!r} is not a resource type"
            return unread_entry(
                Problem("entry-without-reading", (*path, "resource"), problem, f"use {TABLE}, {VIEW} or {ROW}")
            )
        given = [one for one in ("replicas", "image", "labels", "annotations", "status") if getattr(assertion, one)]
        if given:
            return unread_entry(
                no_reading((*path, given[0]), f"{given[0]} of a {noun}", "use a condition, or data of a row")
            )
        if assertion.condition not in {None, *_CONDITIONS} or (assertion.condition is None and not assertion.data):
            what = f"the condition {assertion.condition!r}"
            return unread_entry(
                no_reading((*path, "condition"), what, f"use {', '.join(_CONDITIONS)}, or data of a row")
            )
        if assertion.data and noun != ROW:
            return unread_entry(no_reading((*path, "data"), f"data of a {noun}", "name a row as row/TABLE:KEY"))
        place = assertion.namespace or SqliteDeclarations().declared_namespace(scenario, noun, name)
        fields = {"data": assertion.data} if assertion.data else {}
        return EntryReading((StateHolds(noun, name or ANY, place, assertion.condition, fields),))

    def with_readable_stimuli(self, scenario: Scenario) -> Scenario:
        """The scenario, unchanged: its stimuli are not worded freely."""
        return scenario

    def preserved_objects(
        self, goal: neutral.Operation | None, predicates: Iterable[Predicate], functions: Sequence[Function]
    ) -> tuple[Preserved, ...]:
        """The records that a goal or a prohibition is about, if records must survive (SI-08)."""
        if Function.DATA not in functions:
            return ()
        named = [own_operation(goal)] if goal is not None else []
        named += [operation for one in predicates for operation in _protected_operations(one)]
        found: dict[tuple[Any, ...], Preserved] = {}
        for operation in named:
            if operation.verb in _TAKES_AWAY and operation.resource in {TABLE, ROW}:
                key = (operation.resource, operation.name, operation.namespace)
                found.setdefault(key, Preserved(operation, (Function.DATA,)))
        return tuple(found.values())

    def has_folded_document(self, text: str) -> bool:  # noqa: ARG002 - there are none
        """False: statements may be on one line."""
        return False

    def preservation_problem(self, operation: neutral.Operation, path: DocumentPath) -> Problem | None:
        """Why the objects of an operation cannot be preserved."""
        if operation.resource in {TABLE, ROW}:
            return None
        problem = f"a {operation.resource} holds no records that could be preserved"
        return Problem("entry-unclear", path, problem, "name a table or a row")


def declared_objects(preconditions: Preconditions) -> Iterator[ObjectRef]:
    """Every declared table with its rows, and every view."""
    for entry in preconditions.environment.state:
        place = namespace_of(entry, preconditions)
        if entry.kind in {TABLE, VIEW}:
            yield ObjectRef(entry.kind, entry.name, place)
        for row in rows_of(entry) if entry.kind == TABLE else ():
            yield ObjectRef(ROW, f"{entry.name}:{row.get(key_of(entry))}", place)


def _protected_operations(predicate: Predicate) -> Iterator[Operation]:
    """The single object that a check protects at all times; a pattern of several is wider than any goal."""
    if isinstance(predicate, Forbidden) and predicate.before is None and predicate.after is None:
        operation = own_operation(predicate.operation)
    elif isinstance(predicate, StateHolds) and predicate.condition in {"exists", "unchanged"}:
        verb = Verb.DELETE if predicate.noun == ROW else Verb.DROP
        operation = Operation(verb, predicate.noun, predicate.name, predicate.namespace)
    else:
        return
    if operation.name != ANY and not has_glob(operation.name) and (operation.resource != ROW or operation.key):
        yield operation
