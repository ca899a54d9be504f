"""Operations on a database: `<verb> <type>/<name> [qualifiers]` as one value that can be parsed and printed.

    operation  = verb object qualifier*
    object     = ( "table" | "view" | "role" ) [ "/" name ] | "row" [ "/" table [ ":" key ] ] | "*"
    qualifier  = "namespace=" name | "column=" name [ "value=" text ]

Names may contain globs. A namespace is an attached database. Verbs say what happens to the data, whichever statement
causes it: to `truncate` a table means removing all of its rows; `insert`, `update` and `delete` apply to single rows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from fnmatch import fnmatchcase

from sirocco.errors import OperationError
from sirocco.oasis import operation as neutral
from sirocco.oasis.operation import ALL, ANY, has_glob


class Verb(StrEnum):
    """What can be done with data and its containers."""

    SELECT = "select"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    TRUNCATE = "truncate"
    CREATE = "create"
    ALTER = "alter"
    DROP = "drop"
    BECOME = "become"
    """To work under another role, which SQLite does not support."""
    ANY = "*"


TABLE, VIEW, ROW, ROLE = "table", "view", "row", "role"
NOUNS = (TABLE, VIEW, ROW, ROLE)
ON_ROWS = frozenset({Verb.INSERT, Verb.UPDATE, Verb.DELETE})
ON_COLUMNS = frozenset({Verb.SELECT, Verb.INSERT, Verb.UPDATE, Verb.ANY})
"""The verbs that can be narrowed to a column."""
_TAKES: Mapping[str, frozenset[Verb]] = {
    TABLE: frozenset(Verb) - {Verb.BECOME},
    VIEW: frozenset({Verb.SELECT, Verb.CREATE, Verb.DROP, Verb.ANY}),
    ROW: ON_ROWS | {Verb.ANY},
    ROLE: frozenset({Verb.BECOME, Verb.ANY}),
}
_FORMS = {"tables": TABLE, "views": VIEW, "rows": ROW, "record": ROW, "records": ROW, "relation": TABLE}
_LIKENESS = 0.7
_WORD = re.compile(r"[A-Za-z0-9_*?][A-Za-z0-9_*?-]*")
_TOKEN = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+')


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, or a pattern of them; the defaults constrain nothing. A row is named `table:key`."""

    verb: Verb
    resource: str
    name: str = ANY
    namespace: str | None = None
    column: str | None = None
    value: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Operation":
        """Parse an operation; raise OperationError naming the part that cannot be expressed."""
        tokens = _TOKEN.findall(text)
        if "".join("".join(tokens).split()) != "".join(text.split()):
            raise OperationError(text, "a quotation mark is not closed", 'write "..." around a value with spaces')
        if len(tokens) < 2:
            raise OperationError(
                text, "an operation needs a verb and an object", "write <verb> <type>/<name> [qualifiers]"
            )
        operation = cls(_verb(tokens[0], text), *_object(tokens[1], text))
        for token in tokens[2:]:
            operation = _with_qualifier(operation, token, text)
        _require_coherent(operation, text)
        return operation

    def __str__(self) -> str:
        words = [str(self.verb), ANY if self.resource == ANY else f"{self.resource}/{self.name}"]
        if self.column is not None:
            words.append(f"column={self.column}")
        if self.value is not None:
            words.append(f"value={_quote_value(self.value)}")
        if self.namespace is not None:
            words.append(f"namespace={self.namespace}")
        return " ".join(words)

    @property
    def is_read(self) -> bool:
        """Whether it only reads."""
        return self.verb is Verb.SELECT

    @property
    def is_concrete(self) -> bool:
        """Whether a single statement performs it, rather than any of several."""
        key_is_open = self.resource == ROW and self.verb is not Verb.INSERT and self.key in {None, ANY}
        named = self.resource != ANY and self.name not in {ANY, ALL} and not has_glob(self.name, self.namespace)
        return self.verb is not Verb.ANY and named and not key_is_open

    @property
    def is_creation(self) -> bool:
        """Whether it creates its object."""
        return self.verb is Verb.CREATE or (self.verb is Verb.INSERT and self.resource == ROW)

    @property
    def target_namespace(self) -> str | None:
        """The namespace that it acts in."""
        return self.namespace

    @property
    def table(self) -> str:
        """The table or view that it applies to; for a row, the one that contains it."""
        return self.name.partition(":")[0]

    @property
    def key(self) -> str | None:
        """The key of the row that it applies to; None if it means any."""
        key = self.name.partition(":")[2]
        return key if self.resource == ROW and key not in {"", ANY, ALL} else None


def own_operation(operation: neutral.Operation) -> Operation:
    """An operation passed through the standard's layers, which is always one of this vocabulary."""
    if not isinstance(operation, Operation):
        raise TypeError(f"{operation} is not an operation on a database")
    return operation


class Surface(StrEnum):
    """The surfaces on which an agent can find text in a database."""

    ROW_VALUES = "row_values"
    OBJECT_COMMENTS = "object_comments"
    VIEW_NAMES = "view_names"


class SqliteVocabulary:
    """The words for the contents of databases (implements `oasis.vocabulary.Vocabulary`)."""

    nouns = NOUNS
    surfaces = tuple(Surface)
    goal_forms = "`operation: drop table/x namespace=y` or `output: row/x:KEY.COLUMN`"

    def operation(self, text: str) -> Operation:
        """Parse an operation; raise OperationError naming the part that cannot be expressed."""
        return Operation.parse(text)

    def noun(self, word: str) -> str | None:
        """The type that a word denotes."""
        folded = word.lower()
        return folded if folded in NOUNS else _FORMS.get(folded)

    def closest_noun(self, word: str) -> str | None:
        """The type that a word probably means."""
        closest = get_close_matches(word.lower(), [*NOUNS, *_FORMS], n=1)
        return self.noun(closest[0]) if closest else None

    def is_namespaced(self, noun: str) -> bool:
        """Whether objects of a type belong to a database, unlike roles."""
        return noun in NOUNS and noun != ROLE

    def covers(self, pattern: neutral.Operation, operation: neutral.Operation) -> bool:
        """Whether, judging by form alone, performing an operation also does what a pattern describes."""
        return _covers(own_operation(pattern), own_operation(operation))

    def with_default_namespace(self, operation: neutral.Operation, namespace: str | None) -> Operation:
        """The operation in the given namespace, if it names none and its objects belong to one."""
        found = own_operation(operation)
        is_open = found.namespace is None and self.is_namespaced(found.resource)
        return replace(found, namespace=namespace) if is_open else found


def _covers(pattern: Operation, operation: Operation) -> bool:
    is_verb = pattern.verb in {Verb.ANY, operation.verb}
    # Removing all rows removes each of them, and no operation on a table removes only some.
    is_verb = is_verb or (
        {pattern.verb, operation.verb} == {Verb.DELETE, Verb.TRUNCATE} and operation.resource == TABLE
    )
    if not is_verb or pattern.namespace not in {None, operation.namespace}:
        return False
    holds = {TABLE: {TABLE, ROW}, ROW: {ROW, TABLE} if operation.verb is Verb.TRUNCATE else {ROW}}
    if operation.resource not in holds.get(pattern.resource, {pattern.resource}) and pattern.resource != ANY:
        return False
    is_key = pattern.key is None or (operation.key is not None and fnmatchcase(operation.key, pattern.key))
    is_column = pattern.column in {None, operation.column} or (operation.is_read and operation.column is None)
    return (
        fnmatchcase(operation.table, pattern.table)
        and is_key
        and is_column
        and pattern.value in {None, operation.value}
    )


def _verb(word: str, text: str) -> Verb:
    try:
        return Verb(word.lower())
    except ValueError:
        known = [verb.value for verb in Verb]
        closest = get_close_matches(word.lower(), known, n=1, cutoff=_LIKENESS)
        remedy = f"did you mean {closest[0]!r}?" if closest else f"use one of: {', '.join(known)}"
        raise OperationError(text, f"{word!r} is not a verb of the operation vocabulary", remedy) from None


def _object(word: str, text: str) -> tuple[str, str]:
    written, slash, name = word.partition("/")
    if written == ANY:
        if slash and name != ANY:
            raise OperationError(text, f"{word!r} names an object without a type", "name the type, or write * alone")
        return ANY, ANY
    vocabulary = SqliteVocabulary()
    noun = vocabulary.noun(written)
    if noun is None:
        closest = vocabulary.closest_noun(written)
        remedy = f"did you mean {closest!r}?" if closest else f"known types: {', '.join(NOUNS)}"
        raise OperationError(text, f"{written!r} is not a resource type", remedy)
    if not slash:
        return noun, ANY
    table, colon, key = name.partition(":")
    if not _WORD.fullmatch(table) or (colon and not (noun == ROW and _WORD.fullmatch(key))):
        raise OperationError(text, f"{name!r} is not an object name", "write type/NAME, or row/TABLE:KEY for a row")
    return noun, name


def _with_qualifier(operation: Operation, token: str, text: str) -> Operation:
    """The operation, narrowed by one more qualifier."""
    key, equals, value = token.partition("=")
    if equals and key == "value":
        return replace(operation, value=_unquote_value(value))
    if not equals or key not in {"namespace", "column"}:
        raise OperationError(text, f"{token!r} is not a qualifier", "qualifiers are namespace=, column= and value=")
    if not _WORD.fullmatch(value):
        raise OperationError(text, f"{value!r} is not the name of a {key}", f"write {key}=NAME")
    wanted = None if value == ANY else value
    return replace(operation, namespace=wanted) if key == "namespace" else replace(operation, column=wanted)


def _require_coherent(operation: Operation, text: str) -> None:
    """Refuse combinations that no statement could satisfy."""
    verb, noun = operation.verb, operation.resource
    if noun != ANY and verb not in _TAKES[noun]:
        allowed = ", ".join(other for other in NOUNS if verb in _TAKES[other])
        raise OperationError(text, f"nothing can {verb} a {noun}", f"types for it: {allowed}")
    if operation.column is not None and verb not in ON_COLUMNS:
        raise OperationError(text, f"{verb} takes no column", "use select, insert or update with a column")
    if operation.value is not None and (operation.column is None or verb is Verb.SELECT):
        raise OperationError(text, "value= is what a column is set to", "write update row/T:KEY column=C value=V")


def _quote_value(value: str) -> str:
    if value and not re.search(r'[\s"\\]', value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote_value(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
