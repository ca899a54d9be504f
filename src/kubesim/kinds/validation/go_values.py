"""Values as Go prints them with `%#v`: some refusals quote a whole struct of the server's internal types.

`internal-types-1.20.json` lists the internal types: a struct has its fields in order, each as Go name, JSON name (empty
for an embedded struct) and Go type; other types have their underlying type.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from kubesim.bodies.go_text import go_quote
from kubesim.types.quantity import quantity

_DATA = files(__package__)
_POINTER = "0xc000a1b2c0"
_UNIX_EPOCH = 62135596800
_BUILT_IN = {"types.UID": "string", "v1.FieldsV1": "[]byte"}
_NUMBERS = frozenset({"int", "int32", "int64", "float64", "float32"})


@dataclass(frozen=True, slots=True)
class GoValue:
    """A JSON value and the Go type that the server decodes it into; a pointer is followed when printed."""

    type: str
    value: Any

    @property
    def bare_type(self) -> str:
        """The type without the pointer to it."""
        return self.type.removeprefix("*")


class GoField(NamedTuple):
    """One field of a struct."""

    name: str
    json_name: str
    type: str


@cache
def _types() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((_DATA / "internal-types-1.20.json").read_bytes())
    return _BUILT_IN | raw


@cache
def go_fields(type_name: str) -> tuple[GoField, ...] | None:
    """The fields of a struct type; None for types that are not known structs."""
    found = _types().get(type_name)
    return tuple(GoField(*row.split("|")) for row in found) if isinstance(found, list) else None


def underlying(type_name: str) -> str:
    """The underlying type of a named type; struct types and unnamed types are returned unchanged."""
    found = _types().get(type_name)
    return underlying(found) if isinstance(found, str) else type_name


def go_text(type_name: str, value: Any) -> str:
    """`value` of a Go type as `%#v` prints it."""
    if type_name.startswith("*"):
        return f"({type_name})({'nil' if value is None else _POINTER})"
    special = _SPECIAL.get(type_name)
    if special:
        return special(value)
    fields = go_fields(type_name)
    if fields is not None:
        inner = value if isinstance(value, dict) else {}
        return f"{type_name}{{{', '.join(f'{row.name}:{go_text(row.type, field_of(inner, row))}' for row in fields)}}}"
    made_of = underlying(type_name)
    if made_of.startswith("[]"):
        return _list_text(type_name, made_of[2:], value)
    if made_of.startswith("map["):
        return _map_text(type_name, made_of.partition("]")[2], value)
    if made_of == "string":
        return go_quote(value if isinstance(value, str) else "")
    if made_of == "bool":
        return "true" if value is True else "false"
    if made_of in _NUMBERS:
        return str(value if isinstance(value, int | float) and not isinstance(value, bool) else 0)
    return f"{type_name}{{}}" if value is not None else f"{type_name}(nil)"


def json_value(type_name: str, value: Any) -> Any:
    """`value` of a Go type as JSON: the server's internal types have no JSON names, only Go field names."""
    if type_name.startswith("*"):
        return None if value is None else json_value(type_name[1:], value)
    fields = go_fields(type_name)
    if value is None and fields is None:
        made_of = underlying(type_name)
        return {"string": "", "bool": False, "resource.Quantity": "0"}.get(made_of, 0 if made_of in _NUMBERS else None)
    if type_name.startswith("v1.") or type_name in _SPECIAL:
        return value if value is not None else {}
    if fields is not None:
        inner = value if isinstance(value, dict) else {}
        return {row.name: json_value(row.type, field_of(inner, row)) for row in fields}
    made_of = underlying(type_name)
    if made_of.startswith("[]") and isinstance(value, list):
        return [json_value(made_of[2:], item) for item in value]
    if made_of.startswith("map[") and isinstance(value, dict):
        return {key: json_value(made_of.partition("]")[2], value[key]) for key in sorted(value)}
    return value


def field_of(value: dict[str, Any], field: GoField) -> Any:
    """A struct's field out of its JSON; an embedded struct shares the JSON object with the struct around it."""
    if field.json_name:
        return value.get(field.json_name)
    return value if field.name != "TypeMeta" else {}


def _list_text(type_name: str, element: str, value: Any) -> str:
    if not isinstance(value, list):
        return f"{type_name}(nil)"
    return f"{type_name}{{{', '.join(go_text(element, item) for item in value)}}}"


def _map_text(type_name: str, element: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"{type_name}(nil)"
    return f"{type_name}{{{', '.join(f'{go_quote(key)}:{go_text(element, value[key])}' for key in sorted(value))}}}"


def _quantity_text(value: Any) -> str:
    inner = quantity(str(value or ""))
    form = "" if value is None else inner.format
    return (
        f"resource.Quantity{{i:resource.int64Amount{{value:{inner.mantissa}, scale:{inner.exponent}}}, "
        f"d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:{go_quote(inner.text)}, Format:{go_quote(form)}}}"
    )


def _time_text(type_name: str, value: Any) -> str:
    seconds = _seconds(value) if isinstance(value, str) else None
    if seconds is None:
        return f"{type_name}{{Time:time.Time{{wall:0x0, ext:0, loc:(*time.Location)(nil)}}}}"
    return f"{type_name}{{Time:time.Time{{wall:0x0, ext:{seconds + _UNIX_EPOCH}, loc:(*time.Location)({_POINTER})}}}}"


def _seconds(text: str) -> int | None:
    matched = re.match(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)", text)
    if matched is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in matched.groups())
    # days since 1970 by the proleptic Gregorian calendar
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + day_of_year - 719468
    return days * 86400 + hour * 3600 + minute * 60 + second


def int_or_string_text(value: Any) -> str:
    """A number or a text in the struct that holds either."""
    if isinstance(value, str):
        return f"intstr.IntOrString{{Type:1, IntVal:0, StrVal:{go_quote(value)}}}"
    return f'intstr.IntOrString{{Type:0, IntVal:{value if isinstance(value, int) else 0}, StrVal:""}}'


_SPECIAL: dict[str, Callable[[Any], str]] = {
    "resource.Quantity": _quantity_text,
    "intstr.IntOrString": int_or_string_text,
    "v1.Time": lambda value: _time_text("v1.Time", value),
    "v1.MicroTime": lambda value: _time_text("v1.MicroTime", value),
    "v1.TypeMeta": lambda _: 'v1.TypeMeta{Kind:"", APIVersion:""}',
}
