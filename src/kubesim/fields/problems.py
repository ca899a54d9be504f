"""Why an applied configuration is not a value of its type, in the server's words."""

import json
from dataclasses import dataclass
from typing import Any

from kubesim.fields.sets import element_text
from kubesim.fields.structures import DUPLICATES_TOLERATED, InconsistentError, Structure
from kubesim.types.definitions import Shape

Problem = tuple[str, str]
"""Where, and what."""

_TEXTS = frozenset({Shape.STRING, Shape.BYTES, Shape.QUANTITY})
_KINDS_NAMED = 34
"""The first release known to say what it found in place of a number."""
_NUMBERS = frozenset({Shape.INTEGER, Shape.NUMBER})


def problems_of(structure: Structure, value: Any, *, is_live: bool = False) -> str:
    """What is wrong with a value, in one text; empty when nothing is."""
    found = sorted(Check(unique=not is_live or structure.minor < DUPLICATES_TOLERATED).value(structure, value))
    lines = [f"{path}: {text}" if path else text for path, text in found]
    return "\n  ".join(["errors:", *lines]) if len(lines) > 1 else "".join(lines)


@dataclass(frozen=True, slots=True)
class Check:
    """Finds what does not fit; `unique` requires that no list has a key twice."""

    unique: bool

    def value(self, structure: Structure, value: Any) -> list[Problem]:
        """The problems of a value and of everything in it."""
        shape = Shape.RAW if structure.type is None else structure.type.shape
        if value is None or shape is Shape.RAW:
            return []
        if shape is Shape.STRUCT or shape is Shape.MAP:
            return self._map(structure, value)
        if shape is Shape.LIST:
            return self._list(structure, value)
        if shape in _TEXTS and not isinstance(value, str):
            return [("", f"expected string, got &value.valueUnstructured{{Value:{_syntax(value)}}}")]
        if shape in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            return [("", f"expected numeric (int or float), got {_kind_of(value, structure.minor)}")]
        if shape is Shape.BOOLEAN and not isinstance(value, bool):
            return [("", f"expected boolean, got &{{{_go_text(value)}}}")]
        return []

    def _map(self, structure: Structure, value: Any) -> list[Problem]:
        if not isinstance(value, dict):
            return [("", f"expected map, got &{{{_go_text(value)}}}")]
        found: list[Problem] = []
        for name, item in value.items():
            if structure.is_closed and not structure.declares(name):
                return [*found, (f".{name}", "field not declared in schema")]
            found += [(f".{name}{path}", text) for path, text in self.value(structure.field(name)[1], item)]
        return found

    def _list(self, structure: Structure, value: Any) -> list[Problem]:
        if not isinstance(value, list):
            return [("", f"expected list, got &{{{_go_text(value)}}}")]
        found: list[Problem] = []
        seen: set[str] = set()
        for number, item in enumerate(value):
            key = f"i:{number}"
            if structure.is_list:
                try:
                    key = structure.item(item)
                except InconsistentError as problem:
                    return [*found, ("", f"element {number}: {problem}")]
                if key in seen and self.unique:
                    found.append(("", f"duplicate entries for key {element_text(key)}"))
                seen.add(key)
            below = self.value(structure.element, item)
            found += [(f"{element_text(key)}{path}", text) for path, text in below]
        return found


def _kind_of(value: Any, minor: int) -> str:
    """The kind of a value found in place of a number, as the release names it."""
    if minor < _KINDS_NAMED:
        return "*value.valueUnstructured"
    if isinstance(value, dict | list):
        return "map" if isinstance(value, dict) else "list"
    return "boolean" if isinstance(value, bool) else "string"


def _syntax(value: Any) -> str:
    """A value as Go source."""
    match value:
        case None:
            return "interface {}(nil)"
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            items = ", ".join(f"{json.dumps(key)}:{_syntax(item)}" for key, item in sorted(value.items()))
            return f"map[string]interface {{}}{{{items}}}"
        case list():
            return "[]interface {}{" + ", ".join(map(_syntax, value)) + "}"
        case _:
            return _number(value)


def _go_text(value: Any) -> str:
    """A value as Go prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case str():
            return value
        case dict():
            return "map[" + " ".join(f"{key}:{_go_text(item)}" for key, item in sorted(value.items())) + "]"
        case list():
            return "[" + " ".join(map(_go_text, value)) + "]"
        case _:
            return _number(value)


def _number(value: float) -> str:
    text = repr(float(value)).removesuffix(".0")
    if abs(value) < 1e21 and float(value).is_integer():
        return str(int(value))
    return text
