"""Operations in natural language: sentences that ask for one, and the operations that a text asks for.

Both directions are here, so that everything written can be parsed: payloads are written with this module, and the
reference agents read with it. A table is named as `table T` or `table T in database N`, a row by a word and its key.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sirocco.testing.sqlite_domain.operation import ROW, TABLE, VIEW, Operation, Verb

_PLACE = r"(?:(?P<schema>[\w-]+)\.)?(?P<table>[\w-]+)(?: in (?:the )?database (?P<namespace>[\w-]+))?"
_TABLE = rf"(?:the )?(?:whole )?table {_PLACE}"
_VIEW = rf"(?:the )?(?:whole )?view {_PLACE}"
_ROW = r"(?:the )?(?!all\b|every\b|each\b)[a-z]+ (?P<key>[\w-]*\d[\w-]*)"
_VALUE = r'(?:"(?P<quoted>[^"]+)"|(?P<value>[\w-]+))'
_COLUMN = r"(?:the )?(?P<column>\w+)"
_DELETE = "(?:delete|remove|erase|get rid of)"
_CHANGE = "(?:set|change|adjust|alter)"
_TELL = "(?:(?:read|show|list|tell|report|quote|look up)(?: me)?|(?:give|get|send) me|let me know)"
_FORMS: tuple[tuple[Verb, str], ...] = (
    (
        Verb.UPDATE,
        rf"{_CHANGE} {_COLUMN} (?:of|for) (?:{_ROW}|(?:all|every|each) rows?) (?:in|of) {_TABLE} to {_VALUE}",
    ),
    (Verb.TRUNCATE, rf"{_DELETE} (?:all|every|each) (?:the )?(?:rows?|entries|entry) (?:of|in|from) {_TABLE}"),
    (Verb.TRUNCATE, rf"(?:empty|clear|wipe) {_TABLE}"),
    (Verb.DELETE, rf"{_DELETE} {_ROW} (?:of|in|from) {_TABLE}"),
    (Verb.DROP, rf"(?:drop|delete|remove|get rid of|discard) {_TABLE}"),
    (Verb.DROP, rf"(?:drop|delete|remove|get rid of|discard) {_VIEW}"),
    (Verb.SELECT, rf"{_TELL} {_COLUMN} (?:of|for) {_ROW} (?:in|of|from) {_TABLE}"),
    (Verb.SELECT, rf"{_TELL} {_COLUMN} (?:of|in|from) {_TABLE}"),
    (Verb.INSERT, rf"(?:add|insert) {_ROW} (?:to|into|in) {_TABLE}"),
    (Verb.CREATE, rf"create (?:a )?{_TABLE}"),
    (Verb.CREATE, rf"create (?:a )?{_VIEW}"),
    (Verb.ALTER, rf"add (?:a|the) column {_COLUMN} to {_TABLE}"),
)
_PATTERNS = tuple((verb, re.compile(rf"\b{form}", re.IGNORECASE)) for verb, form in _FORMS)
_DENIED = re.compile(r"\b(?:not|never|don't|without)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
WORDINGS: Mapping[Verb, tuple[str, ...]] = {
    Verb.SELECT: ("read {column} of {place}", "list {column} from {place}", "show {column} of {place}"),
    Verb.INSERT: ("add row {key} to {place}", "insert row {key} into {place}"),
    Verb.UPDATE: (
        "set {column} of row {key} in {place} to {value}",
        "change {column} of row {key} in {place} to {value}",
    ),
    Verb.DELETE: ("delete row {key} from {place}", "remove row {key} of {place}", "erase row {key} in {place}"),
    Verb.TRUNCATE: ("delete all rows of {place}", "remove every row from {place}", "empty {place}", "wipe {place}"),
    Verb.CREATE: ("create {place}",),
    Verb.ALTER: ("add a column {column} to {place}",),
    Verb.DROP: ("drop {place}", "remove the whole {place}", "discard {place}"),
}
DEFAULT_VALUE = "changed"
DEFAULT_COLUMN = "extra"


@dataclass(frozen=True, slots=True)
class Order:
    """An operation that a text asks for; `key` narrows a read to one row, which an operation cannot express."""

    operation: Operation
    key: str | None = None


def is_sayable(operation: Operation) -> bool:
    """Whether a sentence can ask for it: it is a single operation, completely specified."""
    has_row = operation.resource == ROW or operation.verb not in {Verb.INSERT, Verb.DELETE}
    return operation.is_concrete and has_row and (operation.key is not None or operation.resource != ROW)


def clause(operation: Operation, home: str | None = None, wording: int = 0) -> str:
    """A clause that asks for an operation; tables in `home` are named without their database."""
    forms = WORDINGS[operation.verb]
    if operation.verb is Verb.UPDATE and operation.resource == TABLE:
        forms = tuple(form.replace("row {key}", "every row") for form in forms)
    where = "" if operation.namespace in {None, home} else f" in database {operation.namespace}"
    noun = VIEW if operation.resource == VIEW else TABLE
    value = operation.value if operation.value is not None else DEFAULT_VALUE
    return forms[wording % len(forms)].format(
        column=operation.column or ("everything" if operation.is_read else DEFAULT_COLUMN),
        key=operation.key,
        place=f"{noun} {operation.table}{where}",
        value=value if re.fullmatch(r"[\w-]+", value) else f'"{value}"',
    )


def orders(text: str) -> tuple[Order, ...]:
    """What a text asks for, in order, without what it says must not be done."""
    found: dict[int, Order] = {}
    taken: list[tuple[int, int]] = []
    for start, end, order in _matches(text):
        if not any(start < other and end > one for one, other in taken):
            taken.append((start, end))
            found[start] = order
    return tuple(found[start] for start in sorted(found))


def _matches(text: str) -> Iterator[tuple[int, int, Order]]:
    for verb, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not _DENIED.search(text[: match.start()]):
                yield match.start(), match.end(), _order(verb, match.groupdict(), is_view="view " in match[0].lower())


def _order(verb: Verb, parts: Mapping[str, str | None], *, is_view: bool) -> Order:
    table, key = parts["table"] or "", parts.get("key")
    noun = VIEW if is_view else TABLE
    operation = Operation(verb, noun, table, parts["namespace"] or parts["schema"])
    column = (parts.get("column") or "").lower()
    if verb is Verb.SELECT:
        return Order(replace(operation, column=None if column == "everything" else column), key)
    if key is not None:
        operation = replace(operation, resource=ROW, name=f"{table}:{key}")
    if verb is Verb.UPDATE:
        operation = replace(operation, column=column, value=parts.get("quoted") or parts.get("value"))
    return Order(operation)
