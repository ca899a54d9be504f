"""Operation: `<verb> <type>/<name> [qualifiers]` as one value that can be parsed and printed.

Matching an audit entry lives in `evaluation.operations`, performing through a client in `agents.performance`.
What this grammar cannot express is an OperationError at load, never a matcher that matches nothing.

    operation  = verb object qualifier*
    object     = type [ "/" name ] | "*" | "external-credentials"     name may hold globs; "all" means the collection
    qualifier  = "namespace=" name | "labels=" ( "*" | key:value[,key:value]* ) | "replicas=" integer
               | path [ "=" value ] | "image" [ "=" value ]          path from metadata, spec, data or stringData
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from kubesim.resource import BY_NOUN, REPLICATED, SERVICE_NOUNS, WORKLOADS, closest_noun, resource_type
from sirocco.errors import OperationError
from sirocco.oasis import operation as neutral
from sirocco.oasis.operation import ALL, ANY, has_glob, matches


class Verb(StrEnum):
    """The vocabulary of verbs; they are semantic, so one verb covers several requests (docs/decisions/0003)."""

    GET = "get"
    LIST = "list"
    WATCH = "watch"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    PATCH = "patch"
    APPLY = "apply"
    DELETE = "delete"
    DELETECOLLECTION = "deletecollection"
    SCALE = "scale"
    RESTART = "restart"
    ROLLBACK = "rollback"
    EXEC = "exec"
    LOG = "log"
    QUERY = "query"
    SYNC = "sync"
    RETRY = "retry"
    TRIGGER = "trigger"
    SILENCE = "silence"
    AUTHENTICATE = "authenticate"
    ANY = "*"


EXTERNAL_CREDENTIALS = "external-credentials"
_MODIFY = frozenset({Verb.UPDATE, Verb.PATCH, Verb.REPLACE, Verb.APPLY})
_MODIFIED_BY = frozenset({Verb.SCALE, Verb.RESTART, Verb.ROLLBACK})
READ_VERBS = frozenset({Verb.GET, Verb.LIST, Verb.WATCH, Verb.LOG, Verb.QUERY})
SERVICE_DEEDS = frozenset({Verb.SYNC, Verb.RETRY, Verb.TRIGGER, Verb.SILENCE})
"""What only services do."""
FIELD_VERBS = frozenset({Verb.UPDATE, Verb.REPLACE, Verb.PATCH, Verb.APPLY, Verb.CREATE, Verb.ANY})
IMAGE_PATH = ("spec", "template", "spec", "containers", "*", "image")
_LIKENESS = 0.7
"""How similar a word must be to a verb to count as a misspelling; `destroy` is not `retry`."""
_ON_COLLECTIONS = frozenset({Verb.LIST, Verb.WATCH, Verb.QUERY, Verb.DELETE, Verb.DELETECOLLECTION})
_KEPT: Mapping[str, frozenset[Verb]] = {
    "alert": frozenset({Verb.SILENCE}),
    "dashboard": frozenset({Verb.CREATE, Verb.UPDATE, Verb.DELETE}),
    "gitops-application": frozenset({Verb.UPDATE, Verb.DELETE, Verb.SYNC}),
    "pipeline": frozenset({Verb.LOG, Verb.RETRY, Verb.TRIGGER}),
    "database-migration": frozenset({Verb.ROLLBACK}),
}
_TAKEN: Mapping[Verb, frozenset[str]] = {
    Verb.SCALE: REPLICATED,
    Verb.RESTART: WORKLOADS | {"pod"},
    Verb.ROLLBACK: WORKLOADS,
    Verb.EXEC: frozenset({"pod"}),
    Verb.LOG: WORKLOADS | {"pod", "job"},
}
_PATH_HEADS = ("metadata", "spec", "data", "stringData")
_NAME = re.compile(r"[A-Za-z0-9*?][A-Za-z0-9*?._:-]*")
_LABEL = re.compile(r"[A-Za-z0-9*][A-Za-z0-9*._/-]*")
_SEGMENT = re.compile(r"""([A-Za-z0-9_/*-]+)|\["([^"\\]+)"\]""")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, or a pattern of them; the defaults constrain nothing."""

    verb: Verb
    resource: str
    name: str = ANY
    namespace: str | None = None
    labels: tuple[tuple[str, str], ...] | None = None
    any_labels: bool = False
    replicas: int | None = None
    path: tuple[str, ...] = ()
    value: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Operation":
        """Read an operation; raise OperationError naming the part that cannot be expressed."""
        tokens = _tokens(text)
        if len(tokens) < 2:
            raise OperationError(
                text, "an operation needs a verb and an object", "write <verb> <type>/<name> [qualifiers]"
            )
        verb = _verb(tokens[0], text)
        if verb is Verb.AUTHENTICATE:
            if tokens[1:] != [EXTERNAL_CREDENTIALS]:
                raise OperationError(
                    text,
                    f"authenticate takes only {EXTERNAL_CREDENTIALS!r}",
                    f"write: authenticate {EXTERNAL_CREDENTIALS}",
                )
            return cls(verb, EXTERNAL_CREDENTIALS)
        resource, name = _object(tokens[1], text)
        operation = cls(verb, resource, name)
        for token in tokens[2:]:
            operation = _with_qualifier(operation, token, text)
        _require_coherent(operation, text)
        return operation

    def __str__(self) -> str:
        bare = self.resource in {ANY, EXTERNAL_CREDENTIALS}
        words = [str(self.verb), self.resource if bare else f"{self.resource}/{self.name}"]
        if self.path:
            path = print_path(self.path)
            words.append(path if self.value is None else f"{path}={_quote_value(self.value)}")
        if self.replicas is not None:
            words.append(f"replicas={self.replicas}")
        if self.any_labels:
            words.append("labels=*")
        elif self.labels is not None:
            words.append("labels=" + ",".join(f"{key}:{value}" for key, value in self.labels))
        if self.namespace is not None:
            words.append(f"namespace={self.namespace}")
        return " ".join(words)

    @property
    def is_read(self) -> bool:
        """Whether the operation only reads."""
        return self.verb in READ_VERBS

    @property
    def is_creation(self) -> bool:
        """Whether its object does not exist before."""
        return self.verb is Verb.CREATE

    @property
    def is_concrete(self) -> bool:
        """Whether it names one request that a client could perform, rather than a pattern of several."""
        if self.verb is Verb.AUTHENTICATE:
            return True
        named = self.name not in {ANY, ALL} or self.verb in _ON_COLLECTIONS
        return self.verb is not Verb.ANY and self.resource != ANY and named and not has_glob(self.name, self.namespace)

    @property
    def target_namespace(self) -> str | None:
        """The namespace that the operation acts in: the qualifier, or the namespace object itself."""
        return self.name if self.resource == "namespace" and not has_glob(self.name) else self.namespace


def takes(noun: str, verb: Verb) -> bool:
    """Whether the verb can be applied to objects of a type."""
    if verb is Verb.ANY:
        return True
    if noun in SERVICE_NOUNS:
        return verb in {Verb.GET, Verb.LIST, Verb.QUERY, *_KEPT.get(noun, ())}
    return verb not in {Verb.QUERY, *SERVICE_DEEDS} and noun in _TAKEN.get(verb, {noun})


def parse_path(text: str) -> tuple[str, ...]:
    """Split a field path at its dots; `["a.b/c"]` quotes a segment. Empty when the text is not a path."""
    segments: list[str] = []
    position = 0
    while position < len(text):
        if segments and text[position] == ".":
            position += 1
        found = _SEGMENT.match(text, position)
        if not found:
            return ()
        segments.append(found.group(1) or found.group(2))
        position = found.end()
    return tuple(segments)


def print_path(path: tuple[str, ...]) -> str:
    """A field path in the form that `parse_path` reads."""
    if path == IMAGE_PATH:
        return "image"
    plain = re.compile(r"[A-Za-z0-9_/*-]+")
    parts = [segment if plain.fullmatch(segment) else f'["{segment}"]' for segment in path]
    text = parts[0]
    for part in parts[1:]:
        text += part if part.startswith("[") else f".{part}"
    return text


def _tokens(text: str) -> list[str]:
    """Words of the text; double quotes keep white space inside a word together, and must be closed."""
    words = re.findall(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+', text)
    if "".join("".join(words).split()) != "".join(text.split()):
        raise OperationError(text, "a quotation mark is not closed", 'write "..." around a value with spaces')
    return words


def _quote_value(value: str) -> str:
    if value and not re.search(r'[\s"\\]', value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote_value(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _verb(word: str, text: str) -> Verb:
    try:
        return Verb(word.lower())
    except ValueError:
        closest = get_close_matches(word.lower(), [verb.value for verb in Verb], n=1, cutoff=_LIKENESS)
        remedy = f"did you mean {closest[0]!r}?" if closest else "use one of: " + ", ".join(verb.value for verb in Verb)
        raise OperationError(text, f"{word!r} is not a verb of the operation vocabulary", remedy) from None


def _object(word: str, text: str) -> tuple[str, str]:
    noun, slash, name = word.partition("/")
    if noun == ANY:
        if slash and name != ANY:
            raise OperationError(text, f"{word!r} names an object without a type", "name the type, or write * alone")
        return ANY, ANY
    row = resource_type(noun)
    if row is None:
        closest = closest_noun(noun)
        known = "known types: " + ", ".join(sorted(BY_NOUN))
        raise OperationError(
            text, f"{noun!r} is not a resource type", f"did you mean {closest!r}?" if closest else known
        )
    if slash and not _NAME.fullmatch(name):
        raise OperationError(
            text, f"{name!r} is not an object name", "use letters, digits, '-', '.', and the globs * and ?"
        )
    return row.noun, name if slash else ANY


def _with_qualifier(operation: Operation, token: str, text: str) -> Operation:
    """`operation` narrowed by one more qualifier."""
    key, equals, value = token.partition("=")
    if equals and key in {"namespace", "ns"}:
        if not _NAME.fullmatch(value):
            raise OperationError(text, f"{value!r} is not a namespace name", "write namespace=NAME")
        return replace(operation, namespace=None if value == ANY else value)
    if equals and key == "labels":
        return _with_labels(operation, value, text)
    if equals and key == "replicas":
        if value == ANY:
            return operation
        if not value.isdecimal():
            raise OperationError(text, f"replicas={value} is not a count", "write replicas=N with a whole number")
        return replace(operation, replicas=int(value))
    path = parse_path(key)
    if path == ("image",):
        path = IMAGE_PATH
    if not path or (path[0] not in _PATH_HEADS):
        remedy = "qualifiers are namespace=, labels=, replicas=, image, or a path from " + ", ".join(_PATH_HEADS)
        raise OperationError(text, f"{token!r} is not a qualifier", remedy)
    if operation.path:
        raise OperationError(text, "an operation can only name one field path", "split it into two operations")
    return replace(operation, path=path, value=_unquote_value(value) if equals else None)


def _with_labels(operation: Operation, value: str, text: str) -> Operation:
    if value == ANY:
        return replace(operation, any_labels=True)
    pairs = []
    for part in value.split(","):
        key, _, wanted = part.partition(":") if ":" in part else part.partition("=")
        if not _LABEL.fullmatch(key) or not _LABEL.fullmatch(wanted):
            raise OperationError(text, f"{part!r} is not a label", "write labels=key:value[,key:value]")
        pairs.append((key, wanted))
    return replace(operation, labels=tuple(sorted(pairs)))


def _require_coherent(operation: Operation, text: str) -> None:
    """Refuse combinations that no request could ever satisfy."""
    verb, noun = operation.verb, operation.resource
    row = BY_NOUN.get(noun)
    if row and not row.namespaced and operation.namespace:
        raise OperationError(text, f"a {noun} has no namespace", "drop namespace=")
    if noun != ANY and not takes(noun, verb):
        allowed = ", ".join(sorted(other for other in BY_NOUN if takes(other, verb)))
        raise OperationError(text, f"nothing can {verb} a {noun}", f"types for it: {allowed}")
    if noun in SERVICE_NOUNS and (operation.path or operation.any_labels or operation.labels is not None):
        raise OperationError(text, f"a {noun} can only be named as a whole", "drop the field path and labels=")
    counts = verb in FIELD_VERBS | {Verb.SCALE} and (noun == ANY or noun in REPLICATED)
    if operation.replicas is not None and not counts:
        raise OperationError(text, "replicas= needs a write to a replicated workload", "use scale, update or patch")
    if operation.path and verb not in FIELD_VERBS:
        raise OperationError(text, f"{verb} takes no field path", "use update, patch or replace with a path")


def own_operation(operation: neutral.Operation) -> Operation:
    """An operation received through the standard's layers, which must be one of this vocabulary."""
    if not isinstance(operation, Operation):
        raise TypeError(f"{operation} is not an operation on a cluster")
    return operation


def covers(pattern: Operation, operation: Operation) -> bool:
    """Whether, by form alone, performing `operation` also does what `pattern` describes."""
    return (
        _verb_covers(pattern, operation)
        and pattern.resource in {ANY, operation.resource}
        and (pattern.name in {ANY, ALL} or matches(pattern.name, operation.name))
        and (pattern.namespace is None or matches(pattern.namespace, operation.target_namespace))
        and (pattern.replicas is None or pattern.replicas == operation.replicas)
        and (pattern.labels is None or pattern.labels == operation.labels)
        and _path_covers(pattern, operation)
    )


def _verb_covers(pattern: Operation, operation: Operation) -> bool:
    wanted, verb = pattern.verb, operation.verb
    if wanted in {Verb.ANY, verb}:
        return True
    if wanted in _MODIFY:
        return verb in _MODIFY or verb in _MODIFIED_BY or (wanted is Verb.APPLY and verb is Verb.CREATE)
    if wanted is Verb.SCALE:
        return operation.replicas is not None or operation.path == ("spec", "replicas")
    if wanted is Verb.DELETE:
        return verb is Verb.DELETECOLLECTION
    reads_several = pattern.name == ANY or has_glob(pattern.name)
    return wanted is Verb.GET and reads_several and verb in {Verb.LIST, Verb.WATCH}


def _path_covers(pattern: Operation, operation: Operation) -> bool:
    if not pattern.path:
        return True
    written = operation.path or (("spec", "replicas") if operation.verb is Verb.SCALE else ())
    within = written[: len(pattern.path)] == pattern.path or pattern.path[: len(written)] == written
    return bool(written) and within and pattern.value in {None, operation.value}
