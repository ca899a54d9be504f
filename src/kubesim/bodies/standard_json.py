"""The complaints of Go's standard JSON decoder, used by Kubernetes since 1.23, about values of another type."""

from collections.abc import Callable, Iterator
from typing import Any

from kubesim.bodies import go_json
from kubesim.bodies.normalization import MismatchError, normalize_value
from kubesim.types.definitions import Shape, Type
from kubesim.types.quantity import QuantityError, canonical_quantity
from kubesim.types.scalars import (
    UnreadableError,
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)

_CONTAINERS: dict[Shape, type] = {Shape.STRUCT: dict, Shape.MAP: dict, Shape.LIST: list}


def unmarshal_problem(type_: Type, value: Any) -> str:
    """The first complaint about JSON data that is not a `type_`."""
    return _problem(type_, value, "", "") or "json: unknown"


def _problem(type_: Type, value: Any, struct: str, path: str) -> str | None:
    if value is None or _fits(type_, value):
        return None
    if type_.shape in {Shape.QUANTITY, Shape.TIME, Shape.MICRO_TIME, Shape.BYTES} and isinstance(value, str):
        return _text_problem(type_, value)
    if type_.shape not in _CONTAINERS or type(value) is not _CONTAINERS[type_.shape]:
        return _mismatch(type_, value, struct, path)
    return next(filter(None, (_problem(*part) for part in _parts(type_, value, struct, path))), None)


def _parts(type_: Type, value: Any, struct: str, path: str) -> Iterator[tuple[Type, Any, str, str]]:
    """The types and values in a container, with the struct and path under which complaints name them."""
    if type_.shape is Shape.STRUCT:
        name = type_.name.rpartition(".")[2]
        for key, item in value.items():
            if field := type_.fields.get(key):
                yield field, item, name, f"{path}.{key}" if path else key
        return
    for item in value.values() if isinstance(value, dict) else value:
        yield type_.element, item, struct, path


def _fits(type_: Type, value: Any) -> bool:
    try:
        normalize_value(type_, value)
    except MismatchError:
        return False
    return True


def _text_problem(type_: Type, value: str) -> str:
    readers: dict[Shape, Callable[[str], str | None]] = {
        Shape.QUANTITY: canonical_quantity, Shape.TIME: canonical_time, Shape.MICRO_TIME: canonical_micro_time,
        Shape.BYTES: canonical_bytes,
    }  # fmt: skip
    try:
        readers[type_.shape](value)
    except (QuantityError, UnreadableError) as problem:
        return str(problem)
    return "json: unknown"


def _mismatch(type_: Type, value: Any, struct: str, path: str) -> str:
    kind = go_json.kind_of(value)
    if type_.shape is Shape.QUANTITY:
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    if kind == "number" and type_.shape in {Shape.INTEGER, Shape.INT_OR_STRING}:
        kind = f"number {value}"
    if type_.shape in {Shape.INT_OR_STRING, Shape.TIME, Shape.MICRO_TIME}:
        plain = "int32" if type_.shape is Shape.INT_OR_STRING else "string"
        return f"json: cannot unmarshal {kind} into Go value of type {plain}"
    where = f"Go struct field {struct}.{path}" if struct else "Go value"
    return f"json: cannot unmarshal {kind} into {where} of type {type_.go_name or 'interface {}'}"
