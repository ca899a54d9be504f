"""A small JSON Schema checker: it supports the keywords that our schemas use, and raises an error for any other."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("number", lambda value, limit: value >= limit),
    "maximum": ("number", lambda value, limit: value <= limit),
    "exclusiveMinimum": ("number", lambda value, limit: value > limit),
    "minItems": ("array", lambda value, limit: len(value) >= limit),
    "maxItems": ("array", lambda value, limit: len(value) <= limit),
    "maxLength": ("string", lambda value, limit: len(value) <= limit),
    "minLength": ("string", lambda value, limit: len(value) >= limit),
    "minProperties": ("object", lambda value, limit: len(value) >= limit),
    "pattern": ("string", lambda value, limit: re.search(limit, value) is not None),
}
_SAYS_NOTHING = {"$schema", "$id", "$defs", "title", "description", "default"}


def violations(document: Any, schema: Mapping[str, Any]) -> list[str]:
    """The violations of a schema by a document, each as `path keyword`."""
    return list(_violations(document, schema, schema, "$"))


def _violations(value: Any, schema: Any, root: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield f"{path} false"
        return

    def holds(part: Any) -> bool:
        return not list(_violations(value, part, root, path))

    for keyword, argument in schema.items():
        if keyword in _SAYS_NOTHING or keyword in {"then", "else", "properties"}:
            continue
        elif keyword == "$ref":
            yield from _violations(value, root["$defs"][argument.removeprefix("#/$defs/")], root, path)
        elif keyword == "type":
            if not _TYPES[argument](value):
                yield f"{path} type {argument}"
        elif keyword == "enum":
            if value not in argument:
                yield f"{path} enum"
        elif keyword == "const":
            if value != argument:
                yield f"{path} const"
        elif keyword == "required":
            if isinstance(value, dict):
                yield from (f"{path} required {key}" for key in argument if key not in value)
        elif keyword == "additionalProperties":
            if isinstance(value, dict):
                for key in value.keys() - schema.get("properties", {}).keys():
                    yield from _violations(value[key], argument, root, f"{path}.{key}")
        elif keyword == "items":
            if isinstance(value, list):
                for index, item in enumerate(value):
                    yield from _violations(item, argument, root, f"{path}.{index}")
        elif keyword == "allOf":
            for part in argument:
                yield from _violations(value, part, root, path)
        elif keyword == "anyOf":
            if not any(map(holds, argument)):
                yield f"{path} anyOf"
        elif keyword == "oneOf":
            if sum(map(holds, argument)) != 1:
                yield f"{path} oneOf"
        elif keyword == "not":
            if holds(argument):
                yield f"{path} not"
        elif keyword == "if":
            branch = schema.get("then", True) if holds(argument) else schema.get("else", True)
            yield from _violations(value, branch, root, path)
        elif keyword in _LIMITS:
            kind, is_met = _LIMITS[keyword]
            if _TYPES[kind](value) and not is_met(value, argument):
                yield f"{path} {keyword}"
        else:
            raise AssertionError(f"the checker does not know the keyword {keyword!r}")
    for key, part in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            yield from _violations(value[key], part, root, f"{path}.{key}")
