"""Bodies in the protobuf encoding of Kubernetes, read as the equivalent JSON data."""

import base64
import json
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from kubesim.status import Json
from kubesim.types.golang import CURRENT, RECORDED, GoField, GoTypes, go_types

_PREFIX = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 64
_INLINE = ""  # an inlined struct is a message of its own, but has no name in JSON

_Value = int | bytes


class ProtobufError(ValueError):
    """Bytes that cannot be read; the message is Go's, `kind` and `version` come from the envelope."""

    def __init__(self, problem: str, kind: str = "", version: str = "") -> None:
        super().__init__(problem)
        self.kind = kind
        self.version = version


class _Slot(NamedTuple):
    """Where the value of a field number goes, and how it is read."""

    name: str
    go: str
    expression: str
    inner: dict[int, "_Slot"]


def decoded_protobuf(content: bytes) -> Json:
    """The object in an envelope of `application/vnd.kubernetes.protobuf`; raise `ProtobufError`.

    It holds everything that was sent, including the zeros that Go writes for fields that were never set.
    """
    if not content.startswith(_PREFIX):
        shown = " ".join(str(byte) for byte in _PREFIX)
        raise ProtobufError(f"provided data does not appear to be a protobuf message, expected prefix [{shown}]")
    envelope = {number: value for number, _, value in _fields(content[len(_PREFIX) :])}
    meta = {number: value for number, _, value in _fields(_message(envelope.get(1, b"")))}
    api_version, kind = _text(_message(meta.get(1, b""))), _text(_message(meta.get(2, b"")))
    group, _, version = api_version.rpartition("/")
    try:
        found = _struct(group, version, kind)
        body = _object(*found, _message(envelope.get(2, b""))) if found else {}
    except ProtobufError as problem:
        raise ProtobufError(str(problem), kind, version) from None
    except RecursionError:
        raise ProtobufError("proto: message nested too deep", kind, version) from None
    return {"kind": kind, "apiVersion": api_version, **body}


def _struct(group: str, version: str, kind: str) -> tuple[GoTypes, str] | None:
    """The Go type of a kind, with the release that has it; kinds such as DeleteOptions belong to every group."""
    package = f"{group.partition('.')[0] or 'core'}/{version}"
    for release in (CURRENT, RECORDED):
        go = go_types(release)
        for name in (f"{package}.{kind}", f"meta/v1.{kind}"):
            if name in go:
                return go, name
    return None


def _fields(content: bytes) -> Iterator[tuple[int, int, _Value]]:
    """The numbers, wire types and values of a message."""
    at, size = 0, len(content)
    while at < size:
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(content, at)
            yield number, wire, value
            continue
        if wire == _BYTES:
            length, at = _varint(content, at)
        elif wire in {_FIXED64, _FIXED32}:
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ProtobufError(f"proto: illegal wireType {wire}")
        if number == 0:
            raise ProtobufError(f"proto: illegal tag {number} (wire type {wire})")
        if at + length > size:
            raise ProtobufError("unexpected EOF")
        yield number, wire, content[at : at + length]
        at += length


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _LONGEST_VARINT, 7):
        if at >= len(content):
            raise ProtobufError("unexpected EOF")
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ProtobufError("proto: integer overflow")


def _object(go: GoTypes, name: str, content: bytes) -> Json:
    result: Json = {}
    _fill(go, _slots(go, name), content, result)
    return result


@lru_cache(4096)
def _slots(go: GoTypes, name: str) -> dict[int, _Slot]:
    """The fields of a struct by number."""
    slots: dict[int, _Slot] = {}
    for field in go.fields(name) or ():
        _place(slots, field, field.number)
    return slots


def _place(slots: dict[int, _Slot], field: GoField, numbers: tuple[int, ...]) -> None:
    if not numbers[0]:
        return
    if len(numbers) > 1:
        inline = slots.setdefault(numbers[0], _Slot(_INLINE, field.go.partition(":")[0], "", {}))
        _place(inline.inner, field, numbers[1:])
    else:
        slots[numbers[0]] = _Slot(field.json, field.go, field.expression.removeprefix("*"), {})


def _fill(go: GoTypes, slots: dict[int, _Slot], content: bytes, result: Json) -> None:
    for number, wire, value in _fields(content):
        slot = slots.get(number)
        if slot is None:
            continue
        if slot.name is _INLINE:
            _fill(go, slot.inner, _message(value, slot.go), result)
            continue
        expression = slot.expression
        is_message = go.is_message(expression)
        plain = go.resolve_expression(expression)
        if plain.startswith("[]") and not is_message:
            items = result.setdefault(slot.name, [])
            items.extend(_items(go, plain[2:], wire, value, slot.go))
        elif plain.startswith("{}"):
            entries = result.setdefault(slot.name, {})
            key, item = _entry(go, plain[2:], _message(value, slot.go))
            entries[key] = item
        else:
            result[slot.name] = _value(go, expression, value, slot.go)


def _items(go: GoTypes, expression: str, wire: int, value: _Value, field: str) -> Iterator[Any]:
    if wire == _BYTES and isinstance(value, bytes) and go.resolve_expression(expression) in {"int32", "int64", "bool"}:
        at = 0
        while at < len(value):
            item, at = _varint(value, at)
            yield _value(go, expression, item, field)
        return
    yield _value(go, expression, value, field)


def _entry(go: GoTypes, expression: str, content: bytes) -> tuple[str, Any]:
    key, item = "", None
    for number, _, value in _fields(content):
        if number == 1:
            key = _text(_message(value))
        elif number == 2:
            item = _value(go, expression, value, "value")
    return key, _value(go, expression, b"", "value") if item is None else item


def _value(go: GoTypes, expression: str, value: _Value, field: str) -> Any:
    plain = go.resolve_expression(expression)
    if plain in {"int", "int32", "int64", "bool"}:
        if not isinstance(value, int):
            if value == b"":
                return False if plain == "bool" else 0
            raise ProtobufError(f"proto: wrong wireType = 2 for field {field}")
        if plain == "bool":
            return bool(value)
        return value - 2**64 if value >= 2**63 else value
    content = _message(value, field)
    if plain in _READERS:
        return _READERS[plain](content)
    if plain.startswith("[]"):
        return [_value(go, plain[2:], item, "items") for number, _, item in _fields(content) if number == 1]
    return _object(go, plain, content) if plain in go else None


def _message(value: _Value, field: str = "") -> bytes:
    if isinstance(value, int):
        raise ProtobufError(f"proto: wrong wireType = 0 for field {field}")
    return value


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _fields_by_number(content: bytes) -> dict[int, _Value]:
    return {number: value for number, _, value in _fields(content)}


def _quantity(content: bytes) -> str:
    return _text(_message(_fields_by_number(content).get(1, b""))) or "0"


def _int_or_string(content: bytes) -> int | str:
    parts = _fields_by_number(content)
    if parts.get(1):
        return _text(_message(parts.get(3, b"")))
    number = parts.get(2, 0)
    value = number if isinstance(number, int) else 0
    return value - 2**64 if value >= 2**63 else value


def _moment(content: bytes) -> datetime | None:
    parts = _fields_by_number(content)
    seconds, nanos = parts.get(1, 0), parts.get(2, 0)
    if not content or not isinstance(seconds, int) or not isinstance(nanos, int):
        return None
    try:
        since = timedelta(seconds=seconds - 2**64 if seconds >= 2**63 else seconds, microseconds=nanos // 1000)
        return datetime(1970, 1, 1, tzinfo=UTC) + since
    except OverflowError:
        return None


def _time(content: bytes) -> str | None:
    moment = _moment(content)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _micro_time(content: bytes) -> str | None:
    moment = _moment(content)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _raw_extension(content: bytes) -> Any:
    inner = _message(_fields_by_number(content).get(1, b""))
    try:
        return json.loads(inner) if inner else None
    except ValueError:
        return None


def _float(content: bytes) -> float:
    return float(struct.unpack("<d", content)[0]) if len(content) == 8 else 0.0


_READERS: dict[str, Callable[[bytes], Any]] = {
    "string": _text,
    "bytes": lambda content: base64.b64encode(content).decode(),
    "float64": _float,
    "quantity": _quantity,
    "intstr": _int_or_string,
    "time": _time,
    "microtime": _micro_time,
    "raw": _raw_extension,
}
