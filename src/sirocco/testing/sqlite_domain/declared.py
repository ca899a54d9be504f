"""What preconditions declare: namespaces, tables with rows, views, comments, and the agent's grants.

    - resource: table/orders        columns: {id: INTEGER, status: TEXT}, or else as the rows have them
      namespace: shop               rows: [{id: 17, status: open}], comment: text
    - resource: view/open_orders    query: select ..., comment: text
    - resource: role/clerk          grants: [operations]; who the agent is, and what it may do

The first column of a table is its key. If no role is declared, the agent may do everything in the namespaces of its
scope, and nothing elsewhere.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Self

from sirocco.errors import OperationError
from sirocco.oasis.operation import ANY
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.testing.sqlite_domain.database import CATALOG, IDENTIFIER, MAIN, Act, column_types
from sirocco.testing.sqlite_domain.operation import ROLE, ROW, TABLE, VIEW, Operation, Surface, Verb

ENVIRONMENT_TYPE = "sqlite-database"
DEFAULT_ROLE = "agent"
_KEYS = {
    TABLE: frozenset({"columns", "rows", "comment"}),
    VIEW: frozenset({"query", "comment"}),
    ROLE: frozenset({"grants"}),
}
_MOST_NAMESPACES = 8
"""SQLite attaches at most ten databases to a connection."""
CONFIDENTIAL = re.compile(r"(?:^|_)(?:pin|passwords?|passcode|secrets?|tokens?|card|iban|ssn)(?:_|$)", re.IGNORECASE)
"""Columns whose names say that their values are confidential."""
_COLUMN_TYPE = re.compile(r"INTEGER|REAL|TEXT|BLOB|NUMERIC", re.IGNORECASE)


TARGET_FORMS: Mapping[Surface, str] = {
    Surface.ROW_VALUES: "row/TABLE:KEY/values/COLUMN",
    Surface.OBJECT_COMMENTS: "table/NAME/comment or view/NAME/comment",
    Surface.VIEW_NAMES: "table/NAME/views",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed stimulus target: the object, the surface on it, and the column there."""

    kind: str
    name: str
    surface: Surface
    key: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a target; raise ValueError with the accepted forms."""
        kind, _, rest = text.partition("/")
        name, _, rest = rest.partition("/")
        segment, _, key = rest.partition("/")
        match kind, segment, bool(name), bool(key):
            case "row", "values", True, True if ":" in name:
                return cls(ROW, name, Surface.ROW_VALUES, key)
            case (("table" | "view"), "comment", True, False):
                return cls(kind, name, Surface.OBJECT_COMMENTS)
            case "table", "views", True, False:
                return cls(TABLE, name, Surface.VIEW_NAMES)
        raise ValueError(f"target {text!r} names no surface; use one of: {'; '.join(TARGET_FORMS.values())}")

    def __str__(self) -> str:
        segment = {Surface.ROW_VALUES: "values", Surface.OBJECT_COMMENTS: "comment", Surface.VIEW_NAMES: "views"}
        return "/".join(part for part in (self.kind, self.name, segment[self.surface], self.key) if part)

    @property
    def table(self) -> str:
        """The table or view that it is on."""
        return self.name.partition(":")[0]

    @property
    def row(self) -> str:
        """The key of the row that it is on; empty if it is on the whole table."""
        return self.name.partition(":")[2]

    @property
    def readings(self) -> tuple[Operation, ...]:
        """Statements that show the text placed there."""
        if self.surface is Surface.ROW_VALUES:
            return (Operation(Verb.SELECT, TABLE, self.table, column=self.key),)
        catalog = CATALOG if self.surface is Surface.OBJECT_COMMENTS else "sqlite_master"
        return (Operation(Verb.SELECT, TABLE, catalog),)


def default_namespace(preconditions: Preconditions) -> str:
    """The namespace of entries that name none: the first of the scope."""
    return next(iter(preconditions.agent.scope.namespaces), MAIN)


def namespace_of(entry: StateEntry, preconditions: Preconditions) -> str:
    """The namespace of an entry."""
    return entry.namespace or default_namespace(preconditions)


def namespaces_of(preconditions: Preconditions) -> tuple[str, ...]:
    """Every namespace that is declared or in scope, the agent's own first."""
    declared = (namespace_of(entry, preconditions) for entry in preconditions.environment.state)
    return tuple(dict.fromkeys((default_namespace(preconditions), *preconditions.agent.scope.namespaces, *declared)))


def entries_of(preconditions: Preconditions, noun: str) -> Iterator[StateEntry]:
    """The declared entries of a type."""
    return (entry for entry in preconditions.environment.state if entry.kind == noun)


def columns_of(entry: StateEntry) -> dict[str, str]:
    """The columns of a declared table with their types."""
    declared = entry.fields.get("columns")
    if isinstance(declared, Mapping):
        return {str(column): str(kind) for column, kind in declared.items()}
    return column_types(rows_of(entry))


def rows_of(entry: StateEntry) -> list[dict[str, Any]]:
    """The rows of a declared table."""
    return [dict(row) for row in entry.fields.get("rows") or ()]


def key_of(entry: StateEntry) -> str:
    """The column that identifies the rows of a declared table: the first."""
    return next(iter(columns_of(entry)), "")


def table_named(preconditions: Preconditions, name: str, namespace: str | None) -> StateEntry | None:
    """The declared table of that name, in the given namespace or in the first that has it."""
    found = (entry for entry in entries_of(preconditions, TABLE) if entry.name == name)
    return next((one for one in found if namespace in {None, namespace_of(one, preconditions)}), None)


def role_of(preconditions: Preconditions) -> str:
    """The name under which the agent works."""
    return next((entry.name for entry in entries_of(preconditions, ROLE)), DEFAULT_ROLE)


def grants_of(preconditions: Preconditions) -> tuple[Operation, ...]:
    """What the agent may do, as patterns of operations."""
    for role in entries_of(preconditions, ROLE):
        return tuple(Operation.parse(str(grant)) for grant in role.fields.get("grants") or ())
    scope = preconditions.agent.scope.namespaces or (default_namespace(preconditions),)
    return tuple(Operation(Verb.ANY, ANY, namespace=namespace) for namespace in scope)


def permission(grants: tuple[Operation, ...]) -> Callable[[Act], bool]:
    """Whether the grants allow an action of a statement; everyone may read comments."""

    def allows(act: Act) -> bool:
        is_catalog = act.verb is Verb.SELECT and act.name == CATALOG
        return is_catalog or any(covers(grant, act) for grant in grants)

    return allows


def covers(operation: Operation, act: Act) -> bool:
    """Whether an operation, as a pattern, matches an action of a statement on a table or view."""
    return (
        operation.verb in {Verb.ANY, act.verb}
        and operation.resource in {ANY, act.noun}
        and fnmatchcase(act.name, operation.name)
        and (operation.namespace is None or fnmatchcase(act.namespace, operation.namespace))
        and (operation.column is None or act.column is None or fnmatchcase(act.column, operation.column))
    )


def problems_of(preconditions: Preconditions) -> tuple[str, ...]:
    """What is declared but cannot be set up, in words for a plan (CO-15)."""
    found: list[str] = []
    if preconditions.environment.type != ENVIRONMENT_TYPE:
        found.append(f"environments of type {preconditions.environment.type!r} are not provided")
    if len(namespaces_of(preconditions)) > _MOST_NAMESPACES:
        found.append(f"more than {_MOST_NAMESPACES} namespaces")
    found += [f"{name!r} is not a name for a namespace" for name in namespaces_of(preconditions) if not _is_name(name)]
    for index, entry in enumerate(preconditions.environment.state):
        found += [f"state.{index} ({entry.resource}): {problem}" for problem in entry_problems(entry)]
    return tuple(found)


def entry_problems(entry: StateEntry) -> Iterator[str]:
    """The reasons why an entry cannot be established."""
    keys = _KEYS.get(entry.kind)
    if keys is None:
        yield f"{entry.kind!r} is not something that a database holds; there are {', '.join(_KEYS)}"
        return
    if not _is_name(entry.name) or entry.name == CATALOG:
        yield f"{entry.name!r} cannot be the name of a {entry.kind}"
    yield from (f"{key!r} is not a key of a {entry.kind}" for key in entry.fields if key not in keys)
    match entry.kind:
        case "table":
            yield from _table_problems(entry)
        case "view" if not isinstance(entry.fields.get("query"), str):
            yield "a view needs a query"
        case "role":
            yield from _grant_problems(entry)


def _table_problems(entry: StateEntry) -> Iterator[str]:
    rows = entry.fields.get("rows", [])
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        yield "rows is a list of mappings from column to value"
        return
    columns = columns_of(entry)
    if not columns:
        yield "a table needs columns, or rows that have some"
    yield from (f"{column!r} cannot be the name of a column" for column in columns if not _is_name(column))
    yield from (f"{kind!r} is not a type of a column" for kind in columns.values() if not _COLUMN_TYPE.fullmatch(kind))
    unknown = {column for row in rows for column in row} - set(columns)
    yield from (f"rows have a column {column!r} that is not declared" for column in sorted(map(str, unknown)))
    key = next(iter(columns), "")
    if any(row.get(key) is None for row in rows):
        yield f"each row needs its key {key!r}"
    simple = (str, int, float, bool, type(None))
    if any(not isinstance(value, simple) for row in rows for value in row.values()):
        yield "values of rows are texts, numbers or null"


def _grant_problems(entry: StateEntry) -> Iterator[str]:
    for grant in entry.fields.get("grants") or ():
        try:
            Operation.parse(str(grant))
        except OperationError as error:
            yield f"grant {grant!r}: {error.problem}"


def _is_name(text: object) -> bool:
    return isinstance(text, str) and IDENTIFIER.fullmatch(text) is not None
