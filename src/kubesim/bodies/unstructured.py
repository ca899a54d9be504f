"""How the server turns merged JSON data into an object, and its words for what does not fit."""

from typing import Any

from kubesim.bodies import go_json
from kubesim.bodies.go_text import type_name
from kubesim.bodies.json_iterator import special_problem
from kubesim.types.definitions import Shape, Type
from kubesim.types.scalars import UnreadableError, canonical_bytes

_KINDS = {dict: "map", list: "slice", str: "string", int: "int64", float: "float64", bool: "bool"}
_SPECIAL = frozenset({Shape.QUANTITY, Shape.INT_OR_STRING, Shape.TIME, Shape.MICRO_TIME})


def restoring_problem(type_: Type, value: Any) -> str | None:
    """Why JSON data cannot be converted to a `type_`; None when it can."""
    if value is None or type_.shape is Shape.RAW:
        return None
    if type_.shape in _SPECIAL:
        return special_problem(type_.shape, go_json.dump_json(value))
    kind = _KINDS[type(value)]
    match type_.shape:
        case Shape.STRUCT:
            if kind != "map":
                return f"cannot restore struct from: {kind}"
            parts = ((member.type, value.get(member.name)) for member in type_.members)
            return next(filter(None, (restoring_problem(*part) for part in parts)), None)
        case Shape.MAP:
            if kind != "map":
                return f"cannot restore map from {kind}"
            return next(filter(None, (restoring_problem(type_.element, item) for item in value.values())), None)
        case Shape.LIST:
            if kind != "slice":
                return f"cannot restore slice from {kind}"
            return next(filter(None, (restoring_problem(type_.element, item) for item in value)), None)
        case Shape.BYTES:
            return _bytes_problem(value)
        case _:
            return _scalar_problem(type_, value)


def coerce_numbers(type_: Type, value: Any) -> Any:
    """JSON data whose numbers are adjusted to fit, silently, as the conversion does."""
    if type_.shape is Shape.STRUCT and isinstance(value, dict):
        fields = type_.fields
        return {key: coerce_numbers(fields[key], item) if key in fields else item for key, item in value.items()}
    if type_.shape is Shape.MAP and isinstance(value, dict):
        return {key: coerce_numbers(type_.element, item) for key, item in value.items()}
    if type_.shape is Shape.LIST and isinstance(value, list):
        return [coerce_numbers(type_.element, item) for item in value]
    if type_.shape is Shape.INTEGER and isinstance(value, int | float) and not isinstance(value, bool):
        size = 2**type_.bits
        return (int(value) + size // 2) % size - size // 2
    return value


def _bytes_problem(value: Any) -> str | None:
    if not isinstance(value, str):
        return None if isinstance(value, list) else f"cannot restore slice from {_KINDS[type(value)]}"
    try:
        canonical_bytes(value)
    except UnreadableError as problem:
        return f"error decoding from json: {problem}"
    return None


def _scalar_problem(type_: Type, value: Any) -> str | None:
    """Go converts between numbers of all kinds; its message for a number that does not fit differs from all others."""
    given = type_name(value)
    kind = {
        Shape.STRING: "string", Shape.BOOLEAN: "bool", Shape.NUMBER: "float64", Shape.INTEGER: f"int{type_.bits}",
    }[type_.shape]  # fmt: skip
    if given == kind:
        return None
    if kind == "string":
        fails = given == "int64"
    else:
        fails = given == "float64" and isinstance(value, float) and not value.is_integer()
        if given in {"int64", "float64"} and kind != "bool" and not fails:
            return None
    return f"cannot convert {given} to {type_.go_name or kind}" if fails else f"unrecognized type: {kind}"
