"""Whether a document has the keys and kinds of values that a JSON Schema asks for, said in words."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "object": ((dict,), "a mapping"),
    "array": ((list,), "a list"),
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "null": ((type(None),), "null"),
}


def shape_problems(document: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Every key that is missing and every value of another kind, with the place of it.

    Only what our own published schemas are made of is known here; conditions between keys are left to validators.
    """
    return _shape_problems(document, schema, "", schema.get("$defs", {}))


def _shape_problems(value: Any, schema: Mapping[str, Any], where: str, known: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _shape_problems(value, known[schema["$ref"].removeprefix("#/$defs/")], where, known)
        return
    if "anyOf" in schema:
        found = [list(_shape_problems(value, one, where, known)) for one in schema["anyOf"]]
        yield from min(found, key=len)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where or 'the document'} is none of {', '.join(map(str, schema['enum']))}"
    if (kind := schema.get("type")) is None:
        return
    types, said = _KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield f"{where or 'the document'} is not {said}"
    elif isinstance(value, dict):
        yield from (f"{_path_below(where, key)} is missing" for key in schema.get("required", ()) if key not in value)
        named, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        inner = (
            _shape_problems(held, named.get(key, others), _path_below(where, key), known)
            for key, held in value.items()
            if isinstance(named.get(key, others), Mapping)
        )
        yield from chain.from_iterable(inner)
    elif isinstance(value, list):
        inner = (
            _shape_problems(held, schema.get("items", {}), f"{where}[{index}]", known)
            for index, held in enumerate(value)
        )
        yield from chain.from_iterable(inner)


def _path_below(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)
