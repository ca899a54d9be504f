"""The engine: SQLite databases in memory, the effects of each statement, and their contents.

SQLite calls its authorizer for every statement, object by object and column by column. This both enforces grants and
reveals what a statement does: nothing here parses SQL. Changed rows are found by comparing before and after. Each
namespace is an attached database, and each statement a separate transaction.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sirocco.testing.sqlite_domain.operation import TABLE, VIEW, Verb

MAIN = "main"
"""The database that SQLite always has."""
CATALOG = "comments"
"""The table in which each namespace keeps the comments on its tables and views."""
_INTERNAL = "sqlite_"
_STEPS = 2_000_000
"""A statement is interrupted after this many steps of SQLite's virtual machine, so that no clock decides."""
_ROWS = 10_000
_READABLE_PRAGMAS = frozenset({"table_info", "table_xinfo", "table_list", "database_list"})
_HARMLESS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_VERBS = {
    sqlite3.SQLITE_READ: (Verb.SELECT, TABLE),
    sqlite3.SQLITE_INSERT: (Verb.INSERT, TABLE),
    sqlite3.SQLITE_UPDATE: (Verb.UPDATE, TABLE),
    sqlite3.SQLITE_DELETE: (Verb.DELETE, TABLE),
    sqlite3.SQLITE_CREATE_TABLE: (Verb.CREATE, TABLE),
    sqlite3.SQLITE_DROP_TABLE: (Verb.DROP, TABLE),
    sqlite3.SQLITE_CREATE_VIEW: (Verb.CREATE, VIEW),
    sqlite3.SQLITE_DROP_VIEW: (Verb.DROP, VIEW),
}
_OF_ANOTHER = frozenset(
    {
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_DROP_TRIGGER,
        sqlite3.SQLITE_ALTER_TABLE,
    }
)
"""Actions that change the table given second: its columns, indexes and triggers."""
_DEFINING = frozenset({Verb.CREATE, Verb.ALTER, Verb.DROP})
_TYPES = {bool: "INTEGER", int: "INTEGER", float: "REAL"}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Outcome(StrEnum):
    """The outcome of a statement."""

    OK = "ok"
    DENIED = "denied"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Act:
    """One action of a statement, as the engine reports it: on a table or view, and on which column."""

    verb: Verb
    noun: str
    name: str
    namespace: str
    column: str | None = None

    def document(self) -> dict[str, Any]:
        """The act in the form of the record."""
        column = {"column": self.column} if self.column else {}
        return {"verb": str(self.verb), "resource": f"{self.noun}/{self.name}", "namespace": self.namespace, **column}


@dataclass(frozen=True, slots=True)
class Change:
    """One row that a statement inserted, updated or deleted, or would have if allowed."""

    verb: Verb
    namespace: str
    table: str
    key: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def document(self) -> dict[str, Any]:
        """The change in the form of the record."""
        rows = {name: dict(row) for name, row in (("before", self.before), ("after", self.after)) if row is not None}
        resource = f"row/{self.table}:{self.key}"
        return {"verb": str(self.verb), "resource": resource, "namespace": self.namespace, **rows}


@dataclass(frozen=True, slots=True)
class Execution:
    """One statement with all of its results."""

    outcome: Outcome
    acts: tuple[Act, ...]
    changes: tuple[Change, ...] = ()
    emptied: tuple[tuple[str, str], ...] = ()
    """The tables (namespace and name) that had rows and lost all of them."""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    message: str = ""


Permission = Callable[[Act], bool]
_Rows = dict[tuple[str, str], dict[str, dict[str, Any]]]


class Database:
    """All namespaces of one environment behind one connection, which has the owner's rights except in `execute`."""

    def __init__(self, namespaces: Sequence[str]) -> None:
        # SQLite would not show a cached prepared statement to the authorizer again.
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        self._connection.set_progress_handler(self._step, 1000)
        self._steps = 0
        self.namespaces = tuple(namespaces)
        self._places = tuple(dict.fromkeys((MAIN, *namespaces)))
        """Where tables can be, in the order in which SQLite resolves an unqualified name."""
        for namespace in namespaces:
            if namespace != MAIN:
                self._run(f"ATTACH ':memory:' AS {quote_name(namespace)}")
            self._run(f"CREATE TABLE {quote_name(namespace)}.{CATALOG} (object TEXT PRIMARY KEY, comment TEXT)")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    # Actions of the owner

    def put_table(
        self, namespace: str, name: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Create a table, unless it exists, with its first column as key; merge rows into those with the same key."""
        if columns and name not in self._names(namespace, TABLE):
            written = ", ".join(f"{quote_name(column)} {kind}" for column, kind in columns.items())
            key = quote_name(next(iter(columns)))
            self._run(f"CREATE TABLE {quote_name(namespace)}.{quote_name(name)} ({written}, PRIMARY KEY ({key}))")
        for row in rows:
            self._put_row(namespace, name, row)

    def put_view(self, namespace: str, name: str, query: str) -> None:
        """Create a view, replacing one with the same name."""
        self._run(f"DROP VIEW IF EXISTS {quote_name(namespace)}.{quote_name(name)}")
        self._run(f"CREATE VIEW {quote_name(namespace)}.{quote_name(name)} AS {query}")

    def put_comment(self, namespace: str, name: str, comment: str) -> None:
        """Comment on a table or view."""
        self._run(f"INSERT OR REPLACE INTO {quote_name(namespace)}.{CATALOG} VALUES (?, ?)", (name, comment))

    def put_value(self, namespace: str, table: str, key: str, column: str, value: Any) -> None:
        """Set one column of one row."""
        where = f"CAST({quote_name(self._key_column(namespace, table))} AS TEXT) = ?"
        self._run(
            f"UPDATE {quote_name(namespace)}.{quote_name(table)} SET {quote_name(column)} = ? WHERE {where}",
            (value, key),
        )

    def _put_row(self, namespace: str, table: str, row: Mapping[str, Any]) -> None:
        key = self._key_column(namespace, table)
        known = self._contents()[namespace, table].get(str(row.get(key)), {})
        merged = {**known, **row}
        places = ", ".join("?" * len(merged))
        columns = ", ".join(map(quote_name, merged))
        into = f"{quote_name(namespace)}.{quote_name(table)} ({columns})"
        self._run(f"INSERT OR REPLACE INTO {into} VALUES ({places})", tuple(merged.values()))

    # Actions of others

    def acts_of(self, statement: str, parameters: Sequence[Any] = ()) -> tuple[Act, ...]:
        """What a statement would do, without executing it; empty for an invalid statement."""
        authorizer = _Authorizer(None, self._schema())
        try:
            self._execute_authorized(f"EXPLAIN {statement}", parameters, authorizer)
        except (sqlite3.Error, sqlite3.Warning):
            return ()
        return authorizer.acts

    def execute(self, statement: str, parameters: Sequence[Any], allows: Permission) -> Execution:
        """Execute one statement under the given permissions.

        A refused statement is executed again with everything allowed and rolled back at once, because the rows that it
        would have affected are part of the attempt.
        """
        before = self._contents()
        authorizer = _Authorizer(allows, self._schema())
        try:
            columns, rows = self._execute_authorized(statement, parameters, authorizer)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not authorizer.is_refused:
                return Execution(Outcome.ERROR, authorizer.acts, message=str(error))
            acts, intended = self._intended_effects(statement, parameters, authorizer)
            changes = tuple(_changes(before, intended))
            return Execution(Outcome.DENIED, acts, changes, _emptied_tables(before, intended), message=str(error))
        after = self._contents()
        changes, emptied = tuple(_changes(before, after)), _emptied_tables(before, after)
        return Execution(Outcome.OK, authorizer.acts, changes, emptied, columns, rows)

    def _intended_effects(
        self, statement: str, parameters: Sequence[Any], refused: "_Authorizer"
    ) -> tuple[tuple[Act, ...], _Rows]:
        """Everything that a refused statement would have done, and the resulting rows."""
        authorizer = _Authorizer(None, self._schema())
        if refused.is_beyond_grants:
            return refused.acts, self._contents()
        self._run("SAVEPOINT intended")
        try:
            self._execute_authorized(statement, parameters, authorizer)
        except (sqlite3.Error, sqlite3.Warning):
            return authorizer.acts or refused.acts, self._contents()
        else:
            return authorizer.acts, self._contents()
        finally:
            self._run("ROLLBACK TO intended")
            self._run("RELEASE intended")

    def _execute_authorized(
        self, statement: str, parameters: Sequence[Any], authorizer: "_Authorizer"
    ) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        self._steps = 0
        self._connection.set_authorizer(authorizer)
        try:
            cursor = self._connection.execute(statement, tuple(parameters))
            rows = tuple(tuple(map(_plain_value, row)) for row in cursor.fetchmany(_ROWS))
            columns = tuple(column[0] for column in cursor.description or ())
            cursor.close()
        finally:
            self._connection.set_authorizer(None)
        return columns, rows

    # Contents

    def objects(self) -> list[dict[str, Any]]:
        """Every table, view and row, in a fixed order."""
        found: list[dict[str, Any]] = []
        contents = self._contents()
        for namespace in self._places:
            comments = self._comments(namespace)
            for table in self._names(namespace, TABLE):
                columns = {str(row[1]): str(row[2]) for row in self._columns(namespace, table)}
                found.append(_object(TABLE, table, namespace, comments, columns=columns))
                for key, row in contents[namespace, table].items():
                    found.append(_object("row", f"{table}:{key}", namespace, {}, values=row))
            for view in self._names(namespace, VIEW):
                sql = self._run(f"SELECT sql FROM {quote_name(namespace)}.sqlite_master WHERE name = ?", (view,))[0][0]
                found.append(_object(VIEW, view, namespace, comments, query=sql))
        return found

    def _contents(self) -> _Rows:
        return {
            (namespace, table): self._rows(namespace, table)
            for namespace in self._places
            for table in self._names(namespace, TABLE)
        }

    def _comments(self, namespace: str) -> dict[str, str]:
        """The comments on tables and views; empty if the agent removed the catalog."""
        known = self._run(f"SELECT 1 FROM {quote_name(namespace)}.sqlite_master WHERE name = ?", (CATALOG,))
        rows = self._run(f"SELECT object, comment FROM {quote_name(namespace)}.{CATALOG}") if known else []
        return {str(name): str(text) for name, text in rows}

    def _rows(self, namespace: str, table: str) -> dict[str, dict[str, Any]]:
        columns = [str(row[1]) for row in self._columns(namespace, table)]
        key = self._key_column(namespace, table)
        selected = ", ".join(map(quote_name, (key, *columns)))
        rows = self._run(f"SELECT {selected} FROM {quote_name(namespace)}.{quote_name(table)} ORDER BY 1")
        return {str(_plain_value(row[0])): dict(zip(columns, map(_plain_value, row[1:]), strict=True)) for row in rows}

    def _key_column(self, namespace: str, table: str) -> str:
        keys = [str(row[1]) for row in self._columns(namespace, table) if row[5]]
        return keys[0] if len(keys) == 1 else "rowid"

    def _columns(self, namespace: str, table: str) -> list[tuple[Any, ...]]:
        return self._run(f"PRAGMA {quote_name(namespace)}.table_info({quote_name(table)})")

    def _names(self, namespace: str, noun: str) -> list[str]:
        """The tables or views of a namespace, without the catalog and SQLite's own tables."""
        found = self._run(
            f"SELECT name FROM {quote_name(namespace)}.sqlite_master WHERE type = ? ORDER BY name", (noun,)
        )
        return [str(name) for (name,) in found if name != CATALOG and not str(name).startswith(_INTERNAL)]

    def _schema(self) -> "_Schema":
        views = [(place, name) for place in self._places for name in self._names(place, VIEW)]
        tables = [(place, name) for place in self._places for name in self._names(place, TABLE)]
        catalogs = [(place, CATALOG) for place in self.namespaces]
        return _Schema(frozenset(views), {name: place for place, name in reversed([*tables, *views, *catalogs])})

    def _run(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        self._steps = 0
        return self._connection.execute(statement, tuple(parameters)).fetchall()

    def _step(self) -> bool:
        self._steps += 1000
        return self._steps > _STEPS


@dataclass(frozen=True, slots=True)
class _Schema:
    """The schema when a statement is executed: the views, and where unqualified names are resolved."""

    views: frozenset[tuple[str, str]]
    homes: Mapping[str, str]


class _Authorizer:
    """Called by SQLite before each action of a statement: records the action, and allows or denies it."""

    def __init__(self, allows: Permission | None, schema: _Schema) -> None:
        self._allows = allows
        self._schema = schema
        self._acts: dict[Act, None] = {}
        self._defined: set[tuple[str, str]] = set()
        self.is_refused = False
        self.is_beyond_grants = False
        """Whether the statement needs something that no grant permits: another file, a setting, a transaction."""

    @property
    def acts(self) -> tuple[Act, ...]:
        """The actions of the statement, each once, without SQLite's own lookups."""
        defines = any(act.verb in _DEFINING for act in self._acts)
        return tuple(act for act in self._acts if not (defines and act.name.startswith(_INTERNAL)))

    def __call__(self, code: int, first: str | None, second: str | None, place: str | None, _: str | None) -> int:
        if code in _HARMLESS or (code == sqlite3.SQLITE_PRAGMA and str(first).lower() in _READABLE_PRAGMAS):
            return sqlite3.SQLITE_OK
        if code == sqlite3.SQLITE_READ and place is None:
            # Counting rows reads no column, and SQLite passes the place on as written, which is empty for names that
            # the statement itself defines.
            place = self._schema.homes.get(str(first))
            if place is None:
                return sqlite3.SQLITE_OK
        act = self._act(code, first or "", second or "", place or MAIN)
        if act is None:
            self.is_beyond_grants = self.is_refused = True
            return sqlite3.SQLITE_DENY
        is_own = act.name.startswith(_INTERNAL) and act.verb is not Verb.SELECT
        # To drop a table, SQLite first deletes its rows; to alter one, it writes its own tables.
        if is_own or (act.namespace, act.name) in self._defined:
            return sqlite3.SQLITE_OK
        if act.verb in _DEFINING:
            self._defined.add((act.namespace, act.name))
        self._acts[act] = None
        if self._allows is None or act.name.startswith(_INTERNAL) or self._allows(act):
            return sqlite3.SQLITE_OK
        self.is_refused = True
        return sqlite3.SQLITE_DENY

    def _act(self, code: int, first: str, second: str, place: str) -> Act | None:
        if code in _OF_ANOTHER:
            namespace = first if code == sqlite3.SQLITE_ALTER_TABLE else place
            return Act(Verb.ALTER, TABLE, second, namespace)
        if code not in _VERBS or place == "temp":
            return None
        verb, noun = _VERBS[code]
        if (place, first) in self._schema.views:
            noun = VIEW
        column = second if code in {sqlite3.SQLITE_READ, sqlite3.SQLITE_UPDATE} else ""
        return Act(verb, noun, first, place, column or None)


def quote_name(name: str) -> str:
    """A name quoted for SQL, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def column_types(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns of rows, with the types of their values."""
    found: dict[str, str] = {}
    for column, value in (item for row in rows for item in row.items()):
        found.setdefault(column, _TYPES.get(type(value), "TEXT"))
    return found


def _object(noun: str, name: str, namespace: str, comments: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    comment = {"comment": comments[name]} if name in comments else {}
    return {"resource": f"{noun}/{name}", "namespace": namespace, **fields, **comment}


def _changes(before: _Rows, after: _Rows) -> Iterator[Change]:
    """The changed rows of the tables that still exist."""
    for (namespace, table), old in before.items():
        new = after.get((namespace, table))
        if new is None:
            continue
        for key in dict.fromkeys((*old, *new)):
            was, now = old.get(key), new.get(key)
            # An added column that is still empty does not change the row.
            if was is None or now is None or _without_nulls(was) != _without_nulls(now):
                verb = Verb.INSERT if was is None else Verb.DELETE if now is None else Verb.UPDATE
                yield Change(verb, namespace, table, key, was, now)


def _without_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in row.items() if value is not None}


def _emptied_tables(before: _Rows, after: _Rows) -> tuple[tuple[str, str], ...]:
    return tuple(place for place, rows in before.items() if rows and after.get(place) == {})


def _plain_value(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
