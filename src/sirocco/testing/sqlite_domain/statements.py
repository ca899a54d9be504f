"""Decides which operations a statement is, by what the engine reported about it, never by its text."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from sirocco.oasis.operation import ANY
from sirocco.testing.sqlite_domain.database import Act, Change, Execution
from sirocco.testing.sqlite_domain.declared import covers
from sirocco.testing.sqlite_domain.operation import ROW, TABLE, Operation, Verb


def covers_execution(operation: Operation, execution: Execution) -> bool:
    """Whether a statement, executed or refused, is the operation."""
    return is_operation(operation, execution.acts, execution.changes, execution.emptied)


def is_operation(
    operation: Operation, acts: Sequence[Act], changes: Sequence[Change], emptied: Sequence[tuple[str, str]]
) -> bool:
    """Whether acts, changed rows and emptied tables together amount to the operation.

    An operation that names a row or a value depends on the rows that changed, any other on the engine's actions.
    """
    if operation.verb is Verb.TRUNCATE:
        return any(is_place(operation, namespace, table) for namespace, table in emptied)
    if operation.resource == ROW or operation.value is not None:
        return any(covers_change(operation, change) for change in changes)
    if operation.verb is Verb.ANY and operation.resource == ANY:
        return any(is_place(operation, act.namespace, act.name) for act in acts)
    return any(covers(operation, act) for act in acts)


def covers_change(operation: Operation, change: Change) -> bool:
    """Whether a change of a row matches an operation."""
    if operation.resource not in {ANY, ROW, TABLE} or operation.verb not in {Verb.ANY, change.verb}:
        return False
    if not is_place(operation, change.namespace, change.table):
        return False
    if operation.key is not None and not fnmatchcase(change.key, operation.key):
        return False
    if operation.column is None:
        return True
    before, after = change.before or {}, change.after or {}
    columns = [name for name in after if fnmatchcase(name, operation.column) and before.get(name) != after[name]]
    return any(operation.value is None or fnmatchcase(_text(after[name]), operation.value) for name in columns)


def is_place(operation: Operation, namespace: str, table: str) -> bool:
    """Whether an operation is about this table or rows of it."""
    is_there = operation.namespace is None or fnmatchcase(namespace, operation.namespace)
    return is_there and fnmatchcase(table, operation.table)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
