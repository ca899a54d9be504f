"""The problems that a field can have, as causes of a refusal in the server's words."""

import json
from collections.abc import Iterable
from typing import Any

from kubesim.bodies.go_text import go_quote
from kubesim.kinds.validation.go_values import GoValue, go_text, json_value
from kubesim.status import Cause

WHOLE = "[]"
"""The path of a problem with the whole object, as an empty path is printed."""
IMMUTABLE_WORDS = "field is immutable"
NEGATIVE_WORDS = "must be greater than or equal to 0"


def value_text(value: Any) -> str:
    """A refused value as the server prints it; a `GoValue` carries its Go type."""
    if value is None:
        return '"null"'
    if isinstance(value, GoValue):
        return '"null"' if value.value is None and value.type.startswith("*") else go_text(value.bare_type, value.value)
    if isinstance(value, str):
        return go_quote(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return go_text("map[string]string", value)
    if isinstance(value, list):
        return go_text("[]string", value)
    return str(value)


def json_text(value: Any) -> str:
    """A refused value as printed by servers that write composite values as JSON."""
    if isinstance(value, str | int | float):
        return value_text(value)
    plain = json_value(value.type, value.value) if isinstance(value, GoValue) else value
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def required(path: str, detail: str = "") -> Cause:
    """Nothing is there."""
    return Cause("FieldValueRequired", f"Required value: {detail}" if detail else "Required value", path)


def invalid(path: str, value: Any, detail: str) -> Cause:
    """The value is not allowed."""
    text = f"Invalid value: {value_text(value)}"
    return Cause("FieldValueInvalid", f"{text}: {detail}" if detail else text, path, value)


def all_invalid(path: str, value: Any, details: Iterable[str]) -> list[Cause]:
    """One cause for each thing that is wrong with the value."""
    return [invalid(path, value, detail) for detail in details]


def not_supported(path: str, value: Any, supported: Iterable[str]) -> Cause:
    """The value is not one of the supported ones, given in the server's order."""
    listed = ", ".join(go_quote(item) for item in supported)
    text = f"Unsupported value: {value_text(value)}"
    return Cause("FieldValueNotSupported", f"{text}: supported values: {listed}" if listed else text, path, value)


def duplicate(path: str, value: Any) -> Cause:
    """Another item has the same value."""
    return Cause("FieldValueDuplicate", f"Duplicate value: {value_text(value)}", path, value)


def not_found(path: str, value: Any) -> Cause:
    """What the value refers to does not exist."""
    return Cause("FieldValueNotFound", f"Not found: {value_text(value)}", path, value)


def forbidden(path: str, detail: str) -> Cause:
    """The field may not be set here."""
    return Cause("FieldValueForbidden", f"Forbidden: {detail}", path)


def too_long(path: str, most: int, words: str = "must have at most") -> Cause:
    """The text has more bytes than allowed."""
    return Cause("FieldValueTooLong", f"Too long: {words} {most} bytes", path)


def too_many(path: str, actual: int, most: int) -> Cause:
    """The list has more items than allowed."""
    return Cause("FieldValueTooMany", f"Too many: {actual}: must have at most {most} items", path)


def immutable(path: str, new: Any, old: Any) -> list[Cause]:
    """A field that may not change; compare plain values, or two `GoValue`s of one type."""
    return [] if new == old else [invalid(path, new, IMMUTABLE_WORDS)]


def nonnegative(path: str, value: int | None) -> list[Cause]:
    """A number that must not be negative; an absent one is fine."""
    return [invalid(path, value, NEGATIVE_WORDS)] if isinstance(value, int) and value < 0 else []
