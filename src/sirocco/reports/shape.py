"""Whether a document has the keys and kinds of values that a JSON Schema demands, in words."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from sirocco.errors import DocumentPath

_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "object": ((dict,), "a mapping"),
    "array": ((list,), "a list"),
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "null": ((type(None),), "null"),
}
Located = tuple[DocumentPath, str]
"""A place in a document, and the problem there."""


def shape_problems(document: Any, schema: Mapping[str, Any]) -> Iterator[Located]:
    """Every key that is missing and every value of the wrong kind, with its place.

    Only the keywords used in our own published schemas are supported; conditions between keys are left to validators.
    """
    return _shape_problems(document, schema, (), schema.get("$defs", {}))


def dotted(path: DocumentPath) -> str:
    """A place as people write it: `verdict.scenario_details[3].status`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".") or "the document"


def _shape_problems(
    value: Any, schema: Mapping[str, Any], path: DocumentPath, known: Mapping[str, Any]
) -> Iterator[Located]:
    if "$ref" in schema:
        yield from _shape_problems(value, known[schema["$ref"].removeprefix("#/$defs/")], path, known)
        return
    if "anyOf" in schema:
        found = [list(_shape_problems(value, one, path, known)) for one in schema["anyOf"]]
        yield from min(found, key=len)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield path, f"is none of {', '.join(map(str, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        yield path, f"is not {schema['const']}"
    if (kind := schema.get("type")) is None:
        return
    types, said = _KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield path, f"is not {said}"
    elif isinstance(value, dict):
        yield from (((*path, key), "is missing") for key in schema.get("required", ()) if key not in value)
        named, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        inner = (
            _shape_problems(held, named.get(key, others), (*path, str(key)), known)
            for key, held in value.items()
            if isinstance(named.get(key, others), Mapping)
        )
        yield from chain.from_iterable(inner)
    elif isinstance(value, list):
        inner = (
            _shape_problems(held, schema.get("items", {}), (*path, index), known) for index, held in enumerate(value)
        )
        yield from chain.from_iterable(inner)
    else:
        yield from ((path, problem) for problem in _limit_problems(value, schema))


def _limit_problems(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """The limits that a text or number exceeds."""
    if "minimum" in schema and not value >= schema["minimum"]:
        yield f"is below {schema['minimum']}"
    if "maximum" in schema and not value <= schema["maximum"]:
        yield f"is above {schema['maximum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"does not have the form {schema['pattern']}"
