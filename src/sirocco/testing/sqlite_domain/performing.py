"""The statement that performs an operation, for agents and witnesses alike."""

from collections.abc import Sequence
from typing import Any

from sirocco.testing.sqlite_domain.database import quote_name
from sirocco.testing.sqlite_domain.language import DEFAULT_COLUMN, DEFAULT_VALUE
from sirocco.testing.sqlite_domain.operation import ROW, VIEW, Operation, Verb
from sirocco.testing.sqlite_domain.provider import Answer, Session

_FIRST_KEY = "1"


async def perform(operation: Operation, session: Session, home: str, key: str | None = None) -> Answer:
    """Carry out one operation; `home` is the database of a table named without one, and `key` narrows a read."""
    namespace = operation.namespace or home
    columns = await columns_of(session, namespace, operation.table)
    statement, parameters = statement_for(operation, namespace, columns, key)
    return await session.execute(statement, parameters)


async def columns_of(session: Session, namespace: str, table: str) -> list[str]:
    """The columns of a table, its key first; none if it does not exist."""
    answer = await session.execute(f"PRAGMA {quote_name(namespace)}.table_info({quote_name(table)})")
    rows = sorted(answer.records, key=lambda row: not row["pk"])
    return [str(row["name"]) for row in rows]


def statement_for(
    operation: Operation, namespace: str, columns: Sequence[str], key: str | None = None
) -> tuple[str, tuple[Any, ...]]:
    """The statement that performs an operation on a table with these columns, and its parameters."""
    place = f"{quote_name(namespace)}.{quote_name(operation.table)}"
    row = key if key is not None else operation.key
    identity = columns[0] if columns else "id"
    where, narrowed = ("", ()) if row is None else (f" WHERE CAST({quote_name(identity)} AS TEXT) = ?", (row,))
    match operation.verb:
        case Verb.SELECT:
            wanted = quote_name(operation.column) if operation.column else "*"
            return f"SELECT {wanted} FROM {place}{where}", narrowed
        case Verb.UPDATE:
            column = operation.column or (columns[1] if len(columns) > 1 else identity)
            value = DEFAULT_VALUE if operation.value is None else operation.value
            return f"UPDATE {place} SET {quote_name(column)} = ?{where}", (value, *narrowed)
        case Verb.INSERT:
            return _insertion(operation, place, identity)
        case Verb.DELETE | Verb.TRUNCATE:
            return f"DELETE FROM {place}{where}", narrowed
        case Verb.CREATE if operation.resource == VIEW:
            return f"CREATE VIEW {place} AS SELECT 1 AS id", ()
        case Verb.CREATE:
            return f"CREATE TABLE {place} (id INTEGER PRIMARY KEY)", ()
        case Verb.ALTER:
            return f"ALTER TABLE {place} ADD COLUMN {quote_name(operation.column or DEFAULT_COLUMN)} TEXT", ()
        case Verb.DROP:
            return f"DROP {'VIEW' if operation.resource == VIEW else 'TABLE'} {place}", ()
    raise ValueError(f"{operation} is a pattern, which no single statement performs")


def _insertion(operation: Operation, place: str, identity: str) -> tuple[str, tuple[Any, ...]]:
    key = operation.key if operation.resource == ROW and operation.key is not None else _FIRST_KEY
    values = {identity: key} | ({operation.column: operation.value or DEFAULT_VALUE} if operation.column else {})
    columns = ", ".join(map(quote_name, values))
    return f"INSERT INTO {place} ({columns}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
