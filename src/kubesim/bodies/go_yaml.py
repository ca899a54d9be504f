"""YAML as the server reads it: turned into JSON by the rules of go-yaml, with its error messages."""

import re
from math import isfinite
from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, DocumentEndEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from kubesim.bodies.go_json import DEEPEST

_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)")
_TIMESTAMP = re.compile(r"[0-9]{4}-")
_QUOTED = frozenset({"'", '"', "|", ">"})
_MOST_ALIASED = 400_000  # nodes; below this limit of go-yaml, aliases may make up nearly all of a document
_OPENINGS = (b"[", b"{", b":", b"-", b"?")  # every collection begins with one of them
_MOST_DIGITS = len("-0b") + 64
_INFINITE = {".inf", "+.inf", "-.inf", ".nan"}


class YamlError(ValueError):
    """Bytes that are not YAML, or that JSON cannot express; the message is Go's."""


def load_yaml(content: bytes) -> Any:
    """The JSON value of the first document in `content`; raise `YamlError`."""
    loader = yaml.CSafeLoader(content)
    try:
        _require_shallow(content)
        node = loader.get_node() if loader.check_node() else None
    except yaml.MarkedYAMLError as error:
        raise YamlError(_problem(error, content)) from None
    except yaml.YAMLError as error:
        raise YamlError(f"yaml: {getattr(error, 'reason', 'unknown problem parsing YAML content')}") from None
    finally:
        loader.dispose()
    return None if node is None else _Converter().value(node)


def _require_shallow(content: bytes) -> None:
    """Raise `YamlError` for a document that nests too deep: composing a very deep one would crash the process."""
    if sum(map(content.count, _OPENINGS)) <= DEEPEST:
        return
    depth = 0
    for event in yaml.parse(content, yaml.CSafeLoader):
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        elif isinstance(event, DocumentEndEvent):
            return
        if depth > DEEPEST:
            raise YamlError("yaml: document contains excessive nesting")


def _problem(error: yaml.MarkedYAMLError, content: bytes) -> str:
    if error.problem and error.problem.startswith("found undefined alias"):
        return f"yaml: unknown anchor '{_alias(content, error.problem_mark)}' referenced"
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + (1 if isinstance(error, yaml.scanner.ScannerError) else 0)
    elif error.context_mark is not None and error.context_mark.line:
        line = error.context_mark.line
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem or 'unknown problem parsing YAML content'}"


def _alias(content: bytes, mark: yaml.Mark | None) -> str:
    """The name of the alias that starts at a place in the document."""
    lines = content.decode("utf-8", "replace").splitlines()
    if mark is None or mark.line >= len(lines):
        return ""
    found = re.match(r"\*([\w-]+)", lines[mark.line][mark.column :])
    return found[1] if found else ""


class _Converter:
    def __init__(self) -> None:
        self._count = 0
        self._open: set[int] = set()

    def value(self, node: Node) -> Any:
        """The JSON value of a node."""
        self._count += 1
        if self._count > _MOST_ALIASED:
            raise YamlError("yaml: document contains excessive aliasing")
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if id(node) in self._open:
            raise YamlError("yaml: anchor value contains itself")
        self._open.add(id(node))
        result = self._items(node) if isinstance(node, SequenceNode) else self._pairs(node)
        self._open.discard(id(node))
        return result

    def _items(self, node: SequenceNode) -> list[Any]:
        return [self.value(item) for item in node.value]

    def _pairs(self, node: Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        pairs = node.value if isinstance(node, MappingNode) else []
        for key, item in pairs:
            if isinstance(key, ScalarNode) and key.value == "<<" and key.style not in _QUOTED:
                for source in item.value if isinstance(item, SequenceNode) else [item]:
                    content = self.value(source)
                    if not isinstance(content, dict):
                        raise YamlError("yaml: map merge requires map or sequence of maps as the value")
                    merged = {**content, **merged}
                continue
            own[self._key(key)] = self.value(item)
        return {**merged, **own} if merged else own

    def _key(self, node: Node) -> str:
        value = self.value(node)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if value is None:
            raise YamlError("Unsupported map key of type: %!s(<nil>), key: <nil>")
        raise YamlError("yaml: invalid map key")


def _scalar(node: ScalarNode) -> Any:
    text = str(node.value)
    if node.style in _QUOTED or (text and _is_plain_text(text)):
        return text
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _NULL:
        return None
    if text.lower() in _INFINITE:
        raise YamlError(f"json: unsupported value: {'NaN' if 'n' in text.lower()[-1:] else '+Inf'}")
    if _TIMESTAMP.match(text):
        return text
    return _number(text)


def _is_plain_text(text: str) -> bool:
    return text[0] not in "yYnNtTfFoO~+-.0123456789"


def _number(text: str) -> Any:
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(plain) and len(plain) <= _MOST_DIGITS and -(2**63) <= (value := _integer(plain)) < 2**64:
        return value
    if plain[:1] and plain[0] in "+-.0123456789" and _FLOAT.fullmatch(plain) and isfinite(number := float(plain)):
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def _integer(plain: str) -> int:
    sign, digits = (-1 if plain[0] == "-" else 1), plain.lstrip("+-").lower()
    for prefix, base in (("0x", 16), ("0b", 2), ("0o", 8)):
        if digits.startswith(prefix):
            return sign * int(digits[2:] or "0", base)
    return sign * int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
