"""Converts YAML text to plain data with a place for every value, and back; typed by the core schema of YAML 1.2.

PyYAML supplies only the events. Its own constructor follows YAML 1.1, where `no` is false, `12:30` is 750 and
`2024-01-01` is a date; in a scenario these are a country, a time and a label.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import yaml

from sirocco.errors import DocumentPath, Finding, Place
from sirocco.profiles.rules import RULES, dotted_path

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 50
MAX_VALUES = 100_000
_MAX_DIGITS = 1_000

_TAGS = "tag:yaml.org,2002:"
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FORBIDDEN_CHARACTER = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_UNUSUAL_BREAK = re.compile(r"[\r\x85\u2028\u2029]")
_UNFIT_FOR_A_BLOCK = re.compile(r"\A\s|[ \t](\n|\Z)|[^\n\x20-\x7e\xa0-\ufefe]")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Node:
    """One value with its place; `size` counts the values in it with every alias expanded."""

    value: Any
    place: Place
    size: int = 1
    children: Mapping[str | int, "Node"] = field(default_factory=dict)
    keys: Mapping[str, Place] = field(default_factory=dict)

    @classmethod
    def mapping(cls, children: Mapping[str, "Node"], place: Place, keys: Mapping[str, Place] | None = None) -> "Node":
        """A mapping of nodes."""
        data = {key: node.value for key, node in children.items()}
        size = 1 + sum(node.size for node in children.values())
        return cls(data, place, size, {str(key): node for key, node in children.items()}, keys or {})

    @classmethod
    def sequence(cls, children: Sequence["Node"], place: Place) -> "Node":
        """A list of nodes."""
        data = [node.value for node in children]
        return cls(data, place, 1 + sum(node.size for node in children), dict(enumerate(children)))

    def placed_node(self) -> "Node":
        """The node itself."""
        return self

    def place_of(self, path: DocumentPath) -> Place:
        """The place of the value at `path`.

        That of the innermost value on the way if the path leads beyond the document.
        """
        node = self
        for part in path:
            child = node.children.get(part)
            if child is None:
                break
            node = child
        return node.place

    def place_of_key(self, path: DocumentPath) -> Place:
        """The place of the key with which `path` ends."""
        *parents, key = path
        node = self
        for part in parents:
            node = node.children.get(part, node)
        return node.keys.get(str(key), self.place_of(path))


@dataclass(frozen=True, slots=True)
class YamlText:
    """The content of a text: its documents, the problems, and what can be read of documents with problems.

    Flawed documents serve only to find further problems: values that are wrong are left out, or null.
    """

    documents: tuple[Node, ...]
    findings: tuple[Finding, ...]
    flawed: tuple[Node, ...] = ()


def read_yaml(text: str, file: str, start: Place | None = None) -> YamlText:
    """Every document of a text; never raises, whatever the text. `start` says where in the file the text begins."""
    first = start or Place(file)
    refusal = _refusal(text, first)
    if refusal is not None:
        return YamlText((), (refusal,))
    reader = _Reader(first, text)
    documents: list[Node] = []
    try:
        documents.extend(reader.documents())
    except _Unreadable as error:
        reader.findings.append(error.finding)
    except yaml.YAMLError as error:
        reader.findings.append(_syntax_finding(error, first, text))
    return YamlText(tuple(documents), tuple(reader.findings), tuple(reader.flawed))


class Placeable(Protocol):
    """A document: its data, and the node with the place of each value."""

    @property
    def value(self) -> Any:
        """The data."""

    def placed_node(self) -> Node:
        """The data with its places."""


class DocumentOfText:
    """A document of a valid text; the text is parsed a second time, with places, only when these are needed."""

    __slots__ = ("_nodes", "_number", "value")

    def __init__(self, value: Any, number: int, nodes: Callable[[], tuple[Node, ...]]) -> None:
        self.value = value
        self._number = number
        self._nodes = nodes

    def placed_node(self) -> Node:
        """The data with its places."""
        return self._nodes()[self._number]


def read_documents(text: str, file: str) -> tuple[tuple[Placeable, ...], tuple[Finding, ...]]:
    """Every document of a text, as by `read_yaml` but faster, because valid texts need no places."""
    try:
        values = None if _refusal(text, Place(file)) else list(_plain_values(text))
    except (_Rare, yaml.YAMLError):
        values = None
    if values is None:
        found = read_yaml(text, file)
        return found.documents, found.findings
    nodes = cache(lambda: read_yaml(text, file).documents)
    return tuple(DocumentOfText(value, number, nodes) for number, value in enumerate(values)), ()


class _Rare(Exception):  # noqa: N818 - sends a text to the reader that can say what is wrong with it
    """An error, or something too rare for the fast path."""


def _plain_values(text: str) -> Iterator[Any]:
    """The data of every document; raise _Rare for anything that needs `read_yaml`."""
    # The open collections, innermost last; for a mapping, the key whose value comes next.
    stack: list[tuple[Any, str | None]] = []
    count = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        kind = type(event)
        if kind in _ENDS:
            stack.pop()
        elif kind in _VALUES:
            count += 1
            if event.anchor or event.tag or count > MAX_VALUES or len(stack) > MAX_DEPTH:
                raise _Rare
            value = _plain_scalar(event) if kind is yaml.ScalarEvent else _VALUES[kind]()
            if stack:
                stack[-1] = _with_value(stack[-1], value)
            else:
                yield value
            if kind is not yaml.ScalarEvent:
                stack.append((value, None))
        elif kind is yaml.AliasEvent:
            raise _Rare


_VALUES: dict[type, Callable[[], Any]] = {
    yaml.ScalarEvent: str, yaml.MappingStartEvent: dict, yaml.SequenceStartEvent: list
}  # fmt: skip
_ENDS = frozenset({yaml.MappingEndEvent, yaml.SequenceEndEvent})
# The first characters of plain scalars that could be something other than text.
_TYPED_BEGINNINGS = frozenset("~nNtTfF+-.0123456789")


def _with_value(parent: tuple[Any, str | None], value: Any) -> tuple[Any, str | None]:
    """An open collection with one more value."""
    collection, key = parent
    if type(collection) is list:
        collection.append(value)
        return parent
    if key is not None:
        collection[key] = value
        return collection, None
    if type(value) is not str or value in collection:
        raise _Rare
    return collection, value


def _plain_scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0] or (text and text[0] not in _TYPED_BEGINNINGS):
        return text
    if len(text) > _MAX_DIGITS:
        raise _Rare
    value = core_value(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise _Rare
    return value


def write_yaml(document: Any) -> str:
    """Plain data as YAML text that `read_yaml` parses to equal data, and that YAML 1.1 parsers read in the same way."""
    text: str = yaml.dump(document, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=120)
    return text


def node_of(value: Any, place: Place, depth: int = 0) -> Node:
    """JSON data without a source text as a node, all at one place; raise ValueError if it is not JSON data."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    children: dict[str | int, Node] = {}
    if isinstance(value, Mapping):
        children = {_json_text(key): node_of(part, place, depth + 1) for key, part in value.items()}
        value = {key: child.value for key, child in children.items()}
    elif isinstance(value, list | tuple):
        children = {index: node_of(part, place, depth + 1) for index, part in enumerate(value)}
        value = [child.value for child in children.values()]
    elif isinstance(value, str):
        value = _json_text(value)
    elif not (value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))):
        raise ValueError(f"{_value_text(value)} is not JSON data")
    return Node(value, place, 1 + sum(child.size for child in children.values()), children)


def _json_text(value: Any) -> str:
    """A text that can be written as UTF-8; enumerations of text become plain."""
    if not isinstance(value, str):
        raise ValueError(f"the key {_value_text(value)} is not text")  # noqa: TRY004 - one error for all bad data
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a text that cannot be written as UTF-8") from None
    return text


class _Writer(yaml.SafeDumper):
    """Quotes every text that either YAML version would read as something else; never writes an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _written_text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Paragraphs as blocks; anything that PyYAML does not write faithfully in double quotes, with escapes."""
    style = None
    if _UNUSUAL_BREAK.search(text):
        style = '"'
    elif "\n" in text:
        style = '"' if _UNFIT_FOR_A_BLOCK.search(text) else "|"
    return writer.represent_scalar(_TAGS + "str", text, style=style)


_Writer.add_representer(str, _written_text)
for _pattern in (_NULL, _BOOLEAN, _INTEGER, _OCTAL, _HEXADECIMAL, _FLOAT, _NOT_FINITE):
    # The tag is never used for parsing: being different from the text's own tag makes the writer quote it.
    _Writer.add_implicit_resolver("!core", re.compile(rf"(?:{_pattern.pattern})\Z"), None)


class _Unreadable(Exception):  # noqa: N818 - carries a finding out of the reader, never leaves this module
    """Nothing after this point can be parsed."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


class _Reader:
    """Turns a stream of events into nodes, with a depth limit so that no input can exhaust the stack."""

    def __init__(self, start: Place, text: str) -> None:
        self._start = start
        self.findings: list[Finding] = []
        self.flawed: list[Node] = []
        # The stubs declare every event's marks and anchors as optional; libyaml always sets them.
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, Node | None] = {}
        self._values = 0

    def documents(self) -> Iterator[Node]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                before = len(self.findings)
                node = self._node(next(self._events), ())
                if len(self.findings) == before:
                    yield node
                else:
                    self.flawed.append(node)

    def _node(self, event: Any, path: DocumentPath) -> Node:
        place = self._place(event)
        if isinstance(event, yaml.AliasEvent):
            return self._resolve_alias(event, place, path)
        if len(path) > MAX_DEPTH:
            raise _Unreadable(
                self._finding("yaml-limit", place, path, f"nested deeper than {MAX_DEPTH} levels", "flatten it")
            )
        self._count(1, place, path)
        anchor: str | None = event.anchor
        if anchor is not None:
            self._anchors[anchor] = None
        if isinstance(event, yaml.MappingStartEvent):
            node = self._mapping(event, place, path)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(event, place, path)
        else:
            node = Node(self._scalar(event, place, path), place)
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def _resolve_alias(self, event: Any, place: Place, path: DocumentPath) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            known = event.anchor in self._anchors
            problem = f"alias *{event.anchor} " + ("stands inside its own anchor" if known else "has no anchor")
            self._report("yaml-alias", place, path, problem, "write the value out")
            return Node(None, place)
        self._count(node.size, place, path)
        return node

    def _count(self, values: int, place: Place, path: DocumentPath) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            problem = f"more than {MAX_VALUES} values when every alias is written out"
            raise _Unreadable(self._finding("yaml-limit", place, path, problem, "split the file, or use fewer aliases"))

    def _mapping(self, event: Any, place: Place, path: DocumentPath) -> Node:
        self._check_tag(event, "map", place, path)
        children: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        while not isinstance(key_event := next(self._events), yaml.MappingEndEvent):
            key_node = self._node(key_event, (*path, "?"))
            key = key_node.value
            readable = isinstance(key, str)
            value = self._node(next(self._events), (*path, key if readable else "?"))
            if not readable:
                problem = f"the key {_value_text(key)} is not text"
                self._report("yaml-key", key_node.place, path, problem, "put the key in quotes")
            elif key in keys:
                problem = f"the key {key!r} appears a second time, first on line {keys[key].line}"
                self._report("yaml-duplicate-key", key_node.place, (*path, key), problem, "keep one of the two")
            else:
                children[key], keys[key] = value, key_node.place
        return Node.mapping(children, place, keys)

    def _sequence(self, event: Any, place: Place, path: DocumentPath) -> Node:
        self._check_tag(event, "seq", place, path)
        children: list[Node] = []
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            children.append(self._node(item, (*path, len(children))))
        return Node.sequence(children, place)

    def _check_tag(self, event: Any, expected: str, place: Place, path: DocumentPath) -> None:
        if event.tag not in {None, "!", _TAGS + expected}:
            self._report("yaml-tag", place, path, f"the tag {event.tag} has no meaning here", "remove the tag")

    def _scalar(self, event: Any, place: Place, path: DocumentPath) -> Any:
        text: str = event.value
        if event.tag is not None:
            self._check_tag(event, "str", place, path)
            return text
        if not event.implicit[0]:
            return text
        if len(text) > _MAX_DIGITS and any(form.fullmatch(text) for form in (_INTEGER, _OCTAL, _HEXADECIMAL)):
            self._report("yaml-number", place, path, f"a number of {len(text)} digits", "put it in quotes")
            return None
        value = core_value(text)
        if isinstance(value, float) and not math.isfinite(value):
            self._report("yaml-number", place, path, f"{text} is not a finite number", "put it in quotes")
            return None
        return value

    def _place(self, event: Any) -> Place:
        mark = event.start_mark
        return _place_at(self._start, mark.line, mark.column)

    def _finding(self, rule: str, place: Place, path: DocumentPath, problem: str, remedy: str) -> Finding:
        return RULES[rule].finding(place, dotted_path(path), problem, remedy)

    def _report(self, rule: str, place: Place, path: DocumentPath, problem: str, remedy: str) -> None:
        self.findings.append(self._finding(rule, place, path, problem, remedy))


def core_value(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2: null, true or false, a number, else the text itself."""
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text) or _HEXADECIMAL.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def _value_text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _place_at(start: Place, line: int, column: int) -> Place:
    """The place that is `line` and `column` (from 0) after the start of a text; every line of it starts there."""
    return Place(start.file, start.line + line, start.column + column)


def _refusal(text: str, start: Place) -> Finding | None:
    """Why a text is not examined at all."""
    if len(text) > MAX_CHARACTERS:
        problem = f"{len(text)} characters are more than {MAX_CHARACTERS}"
        return RULES["yaml-limit"].finding(start, "", problem, "split the file")
    found = _FORBIDDEN_CHARACTER.search(text.removeprefix("\ufeff"))
    if found is None:
        return None
    place = _place_in(text.removeprefix("\ufeff"), found.start(), start)
    problem = f"the character U+{ord(found.group()):04X} is not allowed in YAML"
    return RULES["yaml-character"].finding(place, "", problem, "remove it, or escape it in double quotes")


def _place_in(text: str, offset: int, start: Place) -> Place:
    breaks = [found.end() for found in _LINE_BREAK.finditer(text, 0, offset)]
    return _place_at(start, len(breaks), offset - (breaks[-1] if breaks else 0))


def _syntax_finding(error: yaml.YAMLError, start: Place, text: str) -> Finding:
    mark = getattr(error, "problem_mark", None)
    line_number, column = (mark.line, mark.column) if mark else (0, 0)
    place = _place_at(start, line_number, column)
    problem = getattr(error, "problem", None) or "this is not YAML"
    context_mark = getattr(error, "context_mark", None)
    if context_mark is not None:
        problem = f"{problem} ({getattr(error, 'context', '')} that begins on line {start.line + context_mark.line})"
    lines = _LINE_BREAK.split(text)
    line = lines[line_number] if line_number < len(lines) else ""
    remedy = "correct the YAML at this place"
    if "\t" in line[: column + 1]:
        remedy = "indent with spaces, not with tabs"
    elif problem.startswith("mapping values"):
        remedy = "put a text that holds ': ' in quotes"
    return RULES["yaml-syntax"].finding(place, "", problem, remedy)
