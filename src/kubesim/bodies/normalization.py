"""What a Go struct makes of JSON data: drops unknown fields and nulls, keeps or drops empty ones, unifies values."""

import base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from kubesim.status import Json
from kubesim.types.definitions import Member, Shape, Type
from kubesim.types.quantity import QuantityError, canonical_quantity
from kubesim.types.scalars import (
    UnreadableError,
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)

_Normalizer = Callable[..., Any]
"""Takes the value; for a struct also the value that it was made from, if that has been normalized."""
_NOTHING: Mapping[str, Any] = {}

_RESOURCE_LIST = "core/v1.ResourceList"
_GO_STRUCTS = frozenset(
    {Shape.STRUCT, Shape.QUANTITY, Shape.INT_OR_STRING, Shape.TIME, Shape.MICRO_TIME, Shape.RAW}
)  # what Go never treats as empty, whatever a field says
_INT32 = 2**31


class MismatchError(ValueError):
    """A value whose type differs from its field's; the wording depends on what decodes it."""


def normalize_value(type_: Type | None, value: Any) -> Any:
    """`value` as the server would write it after decoding it; raise `MismatchError` when it is not a `type_`."""
    return value if type_ is None else _normalizer(type_)(value)


def normalized_change(type_: Type, value: Json, known: Mapping[str, Any]) -> Any:
    """The same for an object that was made from a normalized one: parts shared by both are reused."""
    return _normalizer(type_)(value, known) if type_.shape is Shape.STRUCT else normalize_value(type_, value)


def unknown_fields(type_: Type | None, value: Any, path: str = "") -> list[str]:
    """The paths in `value` that its type does not have, as strict field validation names them."""
    if type_ is None:
        return []
    if isinstance(value, dict) and type_.shape is Shape.STRUCT:
        found: list[str] = []
        for name, item in value.items():
            place = f"{path}.{name}" if path else name
            field = type_.fields.get(name)
            found += [place] if field is None else unknown_fields(field, item, place)
        return found
    if isinstance(value, dict) and type_.shape is Shape.MAP:
        return [place for key, item in value.items() for place in unknown_fields(type_.element, item, f"{path}.{key}")]
    if isinstance(value, list) and type_.shape is Shape.LIST:
        return [
            place
            for index, item in enumerate(value)
            for place in unknown_fields(type_.element, item, f"{path}[{index}]")
        ]
    return []


@lru_cache(16384)
def _normalizer(type_: Type) -> _Normalizer:
    """The function that decodes a type; it looks at nested types only when it is first called."""
    match type_.shape:
        case Shape.STRUCT:
            return _struct(type_)
        case Shape.MAP:
            return _resource_list if type_.expression == _RESOURCE_LIST else _map(type_)
        case Shape.LIST:
            return _list(type_)
        case Shape.INTEGER:
            return _integer32 if type_.bits == 32 else _integer64
        case shape:
            return _SCALARS[shape]


def _struct(type_: Type) -> _Normalizer:
    plan: dict[str, tuple[_Normalizer, bool, bool]] = {}
    always: list[tuple[str, Any]] = []

    def prepare() -> None:
        for member in type_.members:
            step = _normalizer(member.type)
            is_struct = member.type.shape in _GO_STRUCTS
            omits_empty = member.omitempty and not member.is_pointer and not is_struct
            plan[member.name] = (step, omits_empty, member.type.shape is Shape.STRUCT)
            if member.name == "managedFields":
                plan[member.name] = (_keep_empty_list(step), False, False)
            if (is_struct and not member.is_pointer) or not member.omitempty:
                always.append((member.name, None if member.is_pointer else _zero(member, step)))

    def normalize(value: Any, known: Mapping[str, Any] = _NOTHING) -> Json:
        if value is None:
            value = {}
        elif type(value) is not dict:
            raise MismatchError
        if not plan:
            prepare()
        result = {}
        for name, item in value.items():
            if item is None or name not in plan:
                continue
            before = known.get(name)
            if item is before:
                result[name] = item
                continue
            step, omits_empty, is_struct = plan[name]
            done = step(item, before) if is_struct and type(before) is dict else step(item)
            if done or not omits_empty:
                result[name] = done
        for name, zero in always:
            if name not in result:
                result[name] = zero
        return result

    return normalize


def _keep_empty_list(step: _Normalizer) -> _Normalizer:
    """An empty list of managed fields is a request to forget them, so it is not the same as none."""
    return lambda value: step(value) or []


def _zero(member: Member, step: _Normalizer) -> Any:
    return None if member.type.shape is Shape.BYTES else step(None)


def _map(type_: Type) -> _Normalizer:
    step: _Normalizer | None = None

    def normalize(value: Any) -> Json | None:
        nonlocal step
        if value is None:
            return None
        if type(value) is not dict:
            raise MismatchError
        step = step or _normalizer(type_.element)
        return {key: step(item) for key, item in value.items()} or None

    return normalize


def _list(type_: Type) -> _Normalizer:
    step: _Normalizer | None = None

    def normalize(value: Any) -> list[Any] | None:
        nonlocal step
        if value is None:
            return None
        if type(value) is not list:
            raise MismatchError
        step = step or _normalizer(type_.element)
        return [step(item) for item in value] or None

    return normalize


def _resource_list(value: Any) -> Json | None:
    if value is None:
        return None
    if type(value) is not dict:
        raise MismatchError
    try:
        return {key: canonical_quantity(item, thousandths=True) for key, item in value.items()} or None
    except QuantityError:
        raise MismatchError from None


def _string(value: Any) -> str:
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise MismatchError


def _integer32(value: Any) -> int:
    if type(value) is int and -_INT32 <= value < _INT32:
        return value
    if value is None:
        return 0
    raise MismatchError


def _integer64(value: Any) -> int:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if value is None:
        return 0
    raise MismatchError


def _number(value: Any) -> int | float:
    if type(value) is int:
        return value
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if value is None:
        return 0
    raise MismatchError


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    if value is None:
        return False
    raise MismatchError


def _bytes(value: Any) -> str:
    if value is None:
        return ""
    if type(value) is list and all(item is None or (type(item) is int and 0 <= item < 256) for item in value):
        return base64.b64encode(bytes(item or 0 for item in value)).decode()
    if type(value) is not str:
        raise MismatchError
    try:
        return canonical_bytes(value)
    except UnreadableError:
        raise MismatchError from None


def _quantity(value: Any) -> str:
    try:
        return canonical_quantity(value)
    except QuantityError:
        raise MismatchError from None


def _int_or_string(value: Any) -> int | str:
    return value if type(value) is str else _integer32(value)


def _time(value: Any) -> str | None:
    return _moment(value, canonical_time)


def _micro_time(value: Any) -> str | None:
    return _moment(value, canonical_micro_time)


def _moment(value: Any, form: Callable[[str], str | None]) -> str | None:
    if value is None:
        return None
    if type(value) is not str:
        raise MismatchError
    try:
        return form(value)
    except UnreadableError:
        raise MismatchError from None


def _keep_raw(value: Any) -> Any:
    return value


_SCALARS: dict[Shape, _Normalizer] = {
    Shape.STRING: _string,
    Shape.NUMBER: _number,
    Shape.BOOLEAN: _boolean,
    Shape.BYTES: _bytes,
    Shape.QUANTITY: _quantity,
    Shape.INT_OR_STRING: _int_or_string,
    Shape.TIME: _time,
    Shape.MICRO_TIME: _micro_time,
    Shape.RAW: _keep_raw,
}
