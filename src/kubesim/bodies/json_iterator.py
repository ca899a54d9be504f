"""The complaints of json-iterator, the decoder of Kubernetes up to 1.22, about JSON of another type than the field's.

It reads on after a mistake and wraps the complaint at every struct, field and slice that it passes on its way out. The
text therefore depends on how it reads, so this reader moves over the bytes exactly as it does, and builds nothing.
"""

import re
from collections.abc import Callable

from kubesim.bodies import go_json
from kubesim.types.definitions import Shape, Type
from kubesim.types.quantity import QuantityError, canonical_quantity
from kubesim.types.scalars import (
    UnreadableError,
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)

_PLAIN_STRING = re.compile(rb'[^"\\\x00-\x1f]*"')
_SIMPLE_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?(?=[,\]} \t\n\r])")
_SPACE = frozenset(b" \n\t\r")
_DIGITS = frozenset(b"0123456789")
_NUMBER_BYTES = frozenset(b"+-.eE0123456789")
_NUMBER_ENDS = frozenset(b",]} \t\n\r")
_SPECIALIZED_FIELDS = 10  # a struct with more is decoded by a general routine, which reads on differently
_UNROLLED, _UNROLLED_NEEDS = 7, 10
_UNSIGNED = {32: 2**32, 64: 2**64}
# A byte of value -1 is not text; it is shown as the replacement character.
_INVALID = "\ufffd"
_EOF = 0


def decoding_problem(type_: Type, content: bytes) -> str | None:
    """json-iterator's complaint about JSON that is not a `type_`; None when it accepts it."""
    reader = _Reader(content)
    try:
        reader.read(type_, is_pointer=False)
    except RecursionError:
        return "exceeded max depth"
    return reader.error


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._buffer = content
        self._head = 0
        self.error: str | None = None
        self._ended = False

    def read(self, type_: Type, *, is_pointer: bool) -> None:
        """One value of a type."""
        if is_pointer and self._read_nil():
            return
        match type_.shape:
            case Shape.STRUCT:
                self._read_struct(type_)
            case Shape.MAP:
                self._read_map(type_)
            case Shape.LIST:
                self._read_list(lambda: self.read(type_.element, is_pointer=False))
                self._wrap(f"{type_.go_name}: ")
            case Shape.STRING:
                self._read_string()
            case Shape.INTEGER:
                if not self._read_nil():
                    self._read_integer(type_.bits)
            case Shape.NUMBER:
                if not self._read_nil():
                    self._read_float()
            case Shape.BOOLEAN:
                if not self._read_nil():
                    self._read_bool()
            case Shape.BYTES:
                self._read_bytes()
            case Shape.RAW:
                self._skip()
            case _:
                self._read_special(type_.shape)

    # --- bytes and complaints

    def _wrap(self, prefix: str) -> None:
        if self.error is not None:
            self.error = prefix + self.error

    def _report(self, operation: str, text: str) -> None:
        if self.error is not None:
            return
        start, around = max(self._head - 10, 0), max(self._head - 50, 0)
        near = self._buffer[start : self._head + 10].decode("utf-8", "replace")
        context = self._buffer[around : self._head + 50].decode("utf-8", "replace")
        self.error = (
            f"{operation}: {text}, error found in #{self._head - start} byte of ...|{near}|..., "
            f"bigger context ...|{context}|..."
        )

    def _at_end(self) -> None:
        if self.error is None and not self._ended:
            self._head = len(self._buffer)
            self._ended = True

    def _next_byte(self) -> int:
        buffer, size = self._buffer, len(self._buffer)
        at = self._head
        while at < size:
            byte = buffer[at]
            at += 1
            if byte not in _SPACE:
                self._head = at
                return byte
        self._at_end()
        return _EOF

    def _byte(self) -> int:
        if self._head >= len(self._buffer):
            self._at_end()
            return _EOF
        self._head += 1
        return self._buffer[self._head - 1]

    def _step_back(self) -> None:
        if self.error is None and not self._ended:
            self._head -= 1

    def _expect(self, rest: bytes) -> None:
        name = {3: "skipThreeBytes", 4: "skipFourBytes"}[len(rest)]
        for wanted in rest:
            if self._byte() != wanted:
                self._report(name, f"expect {rest.decode()}")
                return

    # --- containers

    def _read_struct(self, type_: Type) -> None:
        members = {member.name: member for member in type_.members}
        if not members:
            self._read_empty_struct()
            return
        if not self._object_start():
            return
        general = len(members) > _SPECIALIZED_FIELDS
        while True:
            member = members.get(self._field_name(general=general) or "")
            if member is None:
                self._skip()
            else:
                self.read(member.type, is_pointer=member.is_pointer)
                self._wrap(f"{member.go}: ")
            byte = self._next_byte()
            if byte == ord(","):
                continue
            if byte != ord("}") and not general:
                self._report("isObjectEnd", f"object ended prematurely, unexpected char {_byte_text(byte)}")
            break
        self._wrap(f"{type_.go_name}.")
        if byte != ord("}") and general:
            self._report("struct Decode", f"expect }}, but found {_byte_text(byte)}")

    def _read_empty_struct(self) -> None:
        byte = self._next_byte()
        self._step_back()
        if byte not in b"{n":
            self._report("skipObjectDecoder", "expect object or null")
            return
        self._skip()

    def _object_start(self) -> bool:
        byte = self._next_byte()
        if byte == ord("{"):
            if self._next_byte() == ord("}"):
                return False
            self._step_back()
            return True
        if byte == ord("n"):
            self._expect(b"ull")
        else:
            self._report("readObjectStart", f"expect {{ or n, but found {_byte_text(byte)}")
        return False

    def _field_name(self, *, general: bool) -> str | None:
        if general:
            name: str | None = self._read_string()
        else:
            if self._next_byte() != ord('"'):
                self._report("readFieldHash", 'expect "')
                return None
            name = self._rest_of_string()
        if self._next_byte() != ord(":"):
            self._report("ReadObject", "expect : after object field")
            return name if general else None
        return name

    def _read_map(self, type_: Type) -> None:
        byte = self._next_byte()
        if byte == ord("n"):
            self._expect(b"ull")
            return
        if byte != ord("{"):
            self._report("ReadMapCB", f"expect {{ or n, but found {_byte_text(byte)}")
            return
        if self._next_byte() == ord("}"):
            return
        self._step_back()
        while True:
            self._read_string()
            byte = self._next_byte()
            if byte != ord(":"):
                self._report("ReadMapCB", f"expect : after object field, but found {_byte_text(byte)}")
                return
            self.read(type_.element, is_pointer=False)
            byte = self._next_byte()
            if byte != ord(","):
                break
        if byte != ord("}"):
            self._report("ReadMapCB", f"expect }}, but found {_byte_text(byte)}")

    def _read_list(self, read_item: Callable[[], None]) -> None:
        byte = self._next_byte()
        if byte == ord("n"):
            self._expect(b"ull")
            return
        if byte != ord("["):
            self._report("decode slice", f"expect [ or n, but found {_byte_text(byte)}")
            return
        if self._next_byte() == ord("]"):
            return
        self._step_back()
        while True:
            read_item()
            byte = self._next_byte()
            if byte != ord(","):
                break
        if byte != ord("]"):
            self._report("decode slice", f"expect ], but found {_byte_text(byte)}")

    # --- scalars

    def _read_nil(self) -> bool:
        if self._next_byte() == ord("n"):
            self._expect(b"ull")
            return True
        self._step_back()
        return False

    def _read_string(self) -> str:
        byte = self._next_byte()
        if byte == ord('"'):
            return self._rest_of_string()
        if byte == ord("n"):
            self._expect(b"ull")
        else:
            self._report("ReadString", f'expects " or n, but found {_byte_text(byte)}')
        return ""

    def _rest_of_string(self) -> str:
        start = at = self._head
        buffer = self._buffer
        while (byte := buffer[at] if at < len(buffer) else _EOF) != ord('"'):
            if self.error is not None and byte == ord("\\"):
                return ""  # after a mistake it does not follow escapes
            if at >= len(buffer):
                self._at_end()
                return ""
            at += 2 if byte == ord("\\") else 1
        self._head = at + 1
        raw = buffer[start:at]
        if b"\\" not in raw:
            return raw.decode("utf-8", "replace")
        try:
            return str(go_json.load_json(b'"' + raw + b'"'))
        except go_json.JsonError:
            return ""

    def _read_bool(self) -> None:
        byte = self._next_byte()
        if byte == ord("t"):
            self._expect(b"rue")
        elif byte == ord("f"):
            self._expect(b"alse")
        else:
            self._report("ReadBool", f"expect t or f, but found {_byte_text(byte)}")

    def _read_integer(self, bits: int) -> None:
        byte = self._next_byte()
        limit = 2 ** (bits - 1) - 1
        if byte == ord("-"):
            byte, limit = self._byte(), limit + 1
        value = self._read_unsigned(byte, bits)
        if value > limit:
            self._report(f"ReadInt{bits}", f"overflow: {value}")

    def _read_unsigned(self, byte: int, bits: int) -> int:
        if byte == ord("0"):
            self._assert_integer()
            return 0
        if byte not in _DIGITS:
            self._report(f"readUint{bits}", f"unexpected character: {_INVALID}")
            return 0
        value, size, start = byte - ord("0"), _UNSIGNED[bits], self._head
        # It advances at the number's end, and once earlier if much input remains.
        waypoint = start + _UNROLLED if len(self._buffer) - start > _UNROLLED_NEEDS else start
        for at in range(start, len(self._buffer)):
            digit = self._buffer[at]
            if digit not in _DIGITS:
                self._head = at
                self._assert_integer()
                return value
            larger = (value * 10 + digit - ord("0")) % size
            if value > (size - 1) // 10 - 1 and larger < value:
                self._head = waypoint
                self._report(f"readUint{bits}", "overflow")
                return 0
            value = larger
        self._head = waypoint
        self._at_end()
        return value

    def _assert_integer(self) -> None:
        if self._head < len(self._buffer) and self._buffer[self._head] == ord("."):
            self._report("assertInteger", "can not decode float as int")

    def _read_float(self) -> None:
        if self._next_byte() != ord("-"):
            self._step_back()
        start = self._head
        while self._head < len(self._buffer) and self._buffer[self._head] in _NUMBER_BYTES:
            self._head += 1
        if self._head == start:
            if self._head < len(self._buffer) and self._buffer[self._head] in _NUMBER_ENDS:
                self._report("readFloat64", "empty number")
            else:
                self._report("readNumberAsString", "invalid number")

    def _read_bytes(self) -> None:
        if self._read_nil():
            return
        byte = self._next_byte()
        self._step_back()
        if byte == ord('"'):
            text = self._read_string()
            try:
                canonical_bytes(text)
            except UnreadableError as problem:
                self._report("decode base64", str(problem))
        elif byte == ord("["):
            self._read_list(self._read_byte)
            self._wrap("[]uint8: ")
        else:
            self._report("base64Codec", "invalid input")

    def _read_byte(self) -> None:
        if not self._read_nil() and (value := self._read_unsigned(self._next_byte(), 32)) > 255:
            self._report("ReadUint8", f"overflow: {value}")

    def _read_special(self, shape: Shape) -> None:
        """A value of a type that decodes itself."""
        self._next_byte()
        self._step_back()
        start = self._head
        self._skip()
        if problem := special_problem(shape, self._buffer[start : self._head]):
            self._report("unmarshalerDecoder", problem)

    # --- skipping

    def _skip(self) -> None:
        byte = self._next_byte()
        if byte == ord('"'):
            self._skip_string()
        elif byte == ord("n"):
            self._expect(b"ull")
        elif byte == ord("t"):
            self._expect(b"rue")
        elif byte == ord("f"):
            self._expect(b"alse")
        elif byte == ord("-") or byte in _DIGITS:
            self._skip_number(byte)
        elif byte in b"[{":
            self._skip_container(byte)
        else:
            self._report("Skip", f"do not know how to skip: {byte}")

    def _skip_number(self, first: int) -> None:
        simple = _SIMPLE_NUMBER.match(self._buffer, self._head)
        if first != ord("0") and simple:
            self._head = simple.end()
            return
        self._step_back()
        if first == ord("0") or self.error is None:
            self._read_float()

    def _skip_string(self) -> None:
        match = _PLAIN_STRING.match(self._buffer, self._head)
        if match:
            self._head = match.end()
        elif self.error is None:
            self._rest_of_string()
        else:
            self._read_string()

    def _skip_container(self, opening: int) -> None:
        # After a mistake it cannot step back, and mistakes the byte after the opening one for it.
        if self.error is not None and (byte := self._next_byte()) != opening:
            if byte == ord("n"):
                self._expect(b"ull")
            return
        closing = ord("]") if opening == ord("[") else ord("}")
        if self._next_byte() == closing:
            return
        self._step_back()
        while True:
            if closing == ord("}"):
                self._read_string()
                self._next_byte()
            self._skip()
            if self._next_byte() != ord(","):
                return


def special_problem(shape: Shape, raw: bytes) -> str | None:
    """The complaint of a type that decodes itself about the JSON of a value; None when it accepts it."""
    if raw == b"null":
        return None
    text = raw.decode("utf-8", "replace")
    try:
        if shape is Shape.QUANTITY:
            canonical_quantity(text[1:-1] if text[:1] == '"' else text)
            return None
        value = go_json.load_json(raw)
    except QuantityError as problem:
        return str(problem)
    except go_json.JsonError as problem:
        return str(problem)
    kind = go_json.kind_of(value)
    if shape is Shape.INT_OR_STRING:
        if kind == "string" or (type(value) is int and -(2**31) <= value < 2**31):
            return None
        shown = f"number {text}" if kind == "number" else kind
        return f"json: cannot unmarshal {shown} into Go value of type int32"
    if not isinstance(value, str):
        return f"json: cannot unmarshal {kind} into Go value of type string"
    try:
        (canonical_time if shape is Shape.TIME else canonical_micro_time)(value)
    except UnreadableError as problem:
        return str(problem)
    return None


def _byte_text(byte: int) -> str:
    return bytes([byte]).decode("utf-8", "replace")
