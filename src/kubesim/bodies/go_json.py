"""JSON as Go's standard library reads it: values from bytes, and its error messages."""

import json
import re
from collections.abc import Iterable
from math import isinf
from typing import Any

_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN_STRING = re.compile(rb'[^"\\\x00-\x1f]*')
_SPACE = b" \t\r\n"
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_META_STRUCT = (
    r'Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)
_MAX_DEPTH = 10000
DEEPEST = 200
"""How deep values may nest here. Go's limit is higher, but stored values are later walked by recursion."""
_MOST_DIGITS = 300  # so that any whole number can also be a float
# To be safe in HTML; none of these characters occurs outside strings.
_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
END = "unexpected end of JSON input"


class JsonError(ValueError):
    """Bytes that are not JSON; the message is Go's."""


def load_json(content: bytes) -> Any:
    """The value that `content` encodes; raise `JsonError`."""
    text = content.decode("utf-8", "replace")
    try:
        value = _DECODER.decode(text)
    except JsonError:
        raise
    except (ValueError, RecursionError):
        raise JsonError(syntax_problem(content) or "exceeded max depth") from None
    if content.count(b"{") + content.count(b"[") > DEEPEST and is_too_deep(value):
        raise JsonError("exceeded max depth")
    # Half of a surrogate pair is not a character: Go replaces it.
    return _replace_surrogates(value) if "\\u" in text and _has_lone_surrogate(text) else value


def is_too_deep(value: Any) -> bool:
    """Whether a value nests deeper than is accepted here."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for part in level for item in _parts(part) if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def dump_json(value: Any) -> bytes:
    """`value` as Go's encoder writes a map: no spaces, sorted keys."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.translate(_ESCAPED).encode("utf-8", "replace")


def kind_of(value: Any) -> str:
    """Go's name for the kind of a JSON value."""
    if isinstance(value, bool):
        return "bool"
    names: dict[type, str] = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
    return names.get(type(value), "null")


def no_object_problem(value: Any) -> str:
    """The server's complaint about JSON that is not an object, where it looks for a kind."""
    return f"couldn't get version/kind; json parse error: json: cannot unmarshal {kind_of(value)} into {_META_STRUCT}"


def syntax_problem(content: bytes) -> str | None:
    """Go's error about bytes that are not JSON; None for those that are."""
    try:
        _Scanner(content).scan()
    except JsonError as problem:
        return str(problem)
    return None


def _refuse_constant(constant: str) -> Any:
    raise ValueError(constant)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else _float(digits)


def _float(digits: str) -> float:
    """A number as Go reads it; an infinite one could not be written as JSON."""
    number = float(digits)
    if isinf(number):
        raise JsonError(f"json: cannot unmarshal number {digits} into Go value of type float64")
    return number


_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_integer, parse_constant=_refuse_constant)


def _has_lone_surrogate(text: str) -> bool:
    return bool(re.search(r"\\u[dD][89a-fA-F]", text))


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return value


class _Scanner:
    """Goes over the bytes and stops where Go's scanner would."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def scan(self) -> None:
        """Raise `JsonError` at the first byte that does not belong."""
        self._value("looking for beginning of value")
        if self._next_byte() is not None:
            raise self._unexpected_error("after top-level value")

    def _next_byte(self) -> int | None:
        """The next byte that is not white space, not consumed."""
        content, at = self._content, self._at
        while at < len(content) and content[at] in _SPACE:
            at += 1
        self._at = at
        return content[at] if at < len(content) else None

    def _value(self, expected: str) -> None:
        """One value, with an explicit stack: nesting is bounded by Go's limit, not by ours."""
        stack: list[int] = []
        while True:
            byte = self._next_byte()
            if byte == ord("{"):
                self._open(stack, byte)
                if self._next_byte() == ord("}"):
                    self._at += 1
                    stack.pop()
                else:
                    self._key()
                    continue
            elif byte == ord("["):
                self._open(stack, byte)
                if self._next_byte() == ord("]"):
                    self._at += 1
                    stack.pop()
                else:
                    continue
            else:
                self._scalar(byte, expected)
            if self._closed(stack):
                return

    def _open(self, stack: list[int], byte: int) -> None:
        self._at += 1
        stack.append(byte)
        if len(stack) > _MAX_DEPTH:
            raise JsonError(f"invalid character {_quote_byte(byte)} exceeded max depth")

    def _closed(self, stack: list[int]) -> bool:
        """Close what ends after a value; False when another value follows."""
        while stack:
            byte = self._next_byte()
            in_object = stack[-1] == ord("{")
            if byte == ord(","):
                self._at += 1
                if in_object:
                    self._key()
                return False
            if byte != (ord("}") if in_object else ord("]")):
                raise self._unexpected_error("after object key:value pair" if in_object else "after array element")
            self._at += 1
            stack.pop()
        return True

    def _key(self) -> None:
        if self._next_byte() != ord('"'):
            raise self._unexpected_error("looking for beginning of object key string")
        self._string()
        if self._next_byte() != ord(":"):
            raise self._unexpected_error("after object key")
        self._at += 1

    def _scalar(self, byte: int | None, expected: str) -> None:
        if byte == ord('"'):
            self._string()
        elif byte in _LITERALS:
            self._scan_literal(_LITERALS[byte])
        elif byte is not None and (byte == ord("-") or ord("0") <= byte <= ord("9")):
            self._number()
        else:
            raise self._unexpected_error(expected)

    def _string(self) -> None:
        self._at += 1
        while True:
            plain = _PLAIN_STRING.match(self._content, self._at)
            self._at = plain.end() if plain else self._at
            byte = self._current_byte()
            if byte == ord('"'):
                self._at += 1
                return
            if byte != ord("\\"):
                raise self._unexpected_error("in string literal")
            self._at += 1
            escaped = self._current_byte()
            if escaped is None or escaped not in b'bfnrt\\/"u':
                raise self._unexpected_error("in string escape code", in_token=True)
            self._at += 1
            for _ in range(4 if escaped == ord("u") else 0):
                digit = self._current_byte()
                if digit is None or digit not in b"0123456789abcdefABCDEF":
                    raise self._unexpected_error("in \\u hexadecimal character escape", in_token=True)
                self._at += 1

    def _scan_literal(self, word: bytes) -> None:
        self._at += 1
        for letter in word[1:]:
            if self._current_byte() != letter:
                raise self._unexpected_error(f"in literal {word.decode()} (expecting '{chr(letter)}')", in_token=True)
            self._at += 1

    def _number(self) -> None:
        match = _NUMBER.match(self._content, self._at)
        if match is None:
            self._at += 1
            raise self._unexpected_error("in numeric literal", in_token=True)
        self._at = match.end()
        byte = self._current_byte()
        if byte == ord(".") and b"." not in match[0] and b"e" not in match[0].lower():
            self._at += 1
            raise self._unexpected_error("after decimal point in numeric literal", in_token=True)
        if byte is not None and byte in b"eE" and b"e" not in match[0].lower():
            self._at += 1
            sign = self._current_byte()
            self._at += 1 if sign is not None and sign in b"+-" else 0
            raise self._unexpected_error("in exponent of numeric literal", in_token=True)

    def _current_byte(self) -> int | None:
        return self._content[self._at] if self._at < len(self._content) else None

    def _unexpected_error(self, context: str, *, in_token: bool = False) -> JsonError:
        byte = self._current_byte()
        if byte is None and in_token:
            byte = ord(" ")  # Go ends its input with a space, which most places skip
        if byte is None:
            return JsonError(END)
        return JsonError(f"invalid character {_quote_byte(byte)} {context}")


def _quote_byte(byte: int) -> str:
    if byte == ord("'"):
        return r"'\''"
    if byte == ord('"'):
        return "'\"'"
    special = {0x07: r"\a", 0x08: r"\b", 0x0C: r"\f", 0x0A: r"\n", 0x0D: r"\r", 0x09: r"\t", 0x0B: r"\v", 0x5C: r"\\"}
    if byte in special:
        return f"'{special[byte]}'"
    letter = chr(byte)
    if letter.isprintable() and letter != "\u00ad":
        return f"'{letter}'"
    return f"'\\x{byte:02x}'" if byte < ord(" ") else f"'\\u{byte:04x}'"
