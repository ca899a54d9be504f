"""How Go's fmt package prints values into messages."""

from collections.abc import Mapping
from typing import Any

_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}  # fmt: skip


def go_print(value: Any) -> str:
    """JSON data as `%v` prints it."""
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{key}:{go_print(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(go_print, value)) + "]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return str(value)


def go_quote(text: str) -> str:
    """A text as `%q` prints it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escape_letter(letter) for letter in text) + '"'


def type_name(value: Any) -> str:
    """The Go type that JSON data has when it is decoded into an untyped value."""
    if isinstance(value, bool):
        return "bool"
    names: dict[type, str] = {
        dict: "map[string]interface {}", list: "[]interface {}", str: "string", int: "int64", float: "float64",
    }  # fmt: skip
    return names.get(type(value), "%!s(<nil>)")


def _escape_letter(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter.isprintable():
        return letter
    number = ord(letter)
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
