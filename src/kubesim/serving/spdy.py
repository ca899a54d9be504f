"""SPDY/3.1 from the server's side, without I/O of its own: frames, and the streams that Kubernetes opens.

Clients speak it after upgrading their connection, or tunnelled through a WebSocket.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from kubesim.serving.ports import PortConnection
from kubesim.surroundings import Conversation, Execution, Forwarding, Session, is_complete

_CONTROL, _VERSION, _FINISHED = 0x8000, 3, 1
_STREAM_BITS = 0x7FFFFFFF
_LARGEST_FRAME = 0xFFFFFF
_MOST_INPUT = 1024 * 1024
_NAMES = (
    "options", "head", "post", "put", "delete", "trace", "accept", "accept-charset", "accept-encoding",
    "accept-language", "accept-ranges", "age", "allow", "authorization", "cache-control", "connection", "content-base",
    "content-encoding", "content-language", "content-length", "content-location", "content-md5", "content-range",
    "content-type", "date", "etag", "expect", "expires", "from", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location", "max-forwards", "pragma",
    "proxy-authenticate", "proxy-authorization", "range", "referer", "retry-after", "server", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning", "www-authenticate", "method", "get",
    "status", "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin",
)  # fmt: skip
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = b"".join(struct.pack(">I", len(name)) + name.encode() for name in _NAMES) + _TEXT.encode()
"""The compression dictionary that both sides of a connection share (SPDY/3.1, section 2.6.10.1)."""


class _Kind(IntEnum):
    """The control frames that matter here; others are ignored."""

    SYN_STREAM = 1
    SYN_REPLY = 2
    RST_STREAM = 3
    PING = 6
    GOAWAY = 7


class SpdyError(Exception):
    """The received bytes are not SPDY/3.1."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The client opened a stream."""

    stream: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Received:
    """The client sent data on a stream, possibly its last; a stream that it resets has also ended."""

    stream: int
    data: bytes
    is_last: bool


class Framing:
    """The frames of one connection; headers are compressed as one text for each direction."""

    def __init__(self) -> None:
        self._waiting = b""
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self.replies = b""
        """The protocol's own replies to what was received."""
        self.is_over = False

    def take_frames(self, data: bytes) -> Iterator[Opened | Received]:
        """The events in these bytes, together with what was left over before them."""
        self._waiting += data
        while len(self._waiting) >= 8:
            first, length = struct.unpack(">II", self._waiting[:8])
            flags, size = length >> 24, length & _LARGEST_FRAME
            is_data = not first & 0x80000000
            if not is_data and first >> 16 != _CONTROL | _VERSION:
                raise SpdyError("not a frame of SPDY/3.1")
            if len(self._waiting) < 8 + size:
                return
            content, self._waiting = self._waiting[8 : 8 + size], self._waiting[8 + size :]
            if is_data:
                yield Received(first & _STREAM_BITS, content, bool(flags & _FINISHED))
            else:
                yield from self._control(first & 0xFFFF, flags, content)

    def _control(self, kind: int, flags: int, content: bytes) -> Iterator[Opened | Received]:
        stream = struct.unpack(">I", content[:4])[0] & _STREAM_BITS if len(content) >= 4 else 0
        match kind:
            case _Kind.SYN_STREAM:
                yield Opened(stream, self._headers(content[10:]))
                self.replies += self._frame(_Kind.SYN_REPLY, struct.pack(">I", stream) + self._deflate_headers({}))
                if flags & _FINISHED:
                    yield Received(stream, b"", is_last=True)
            case _Kind.RST_STREAM:
                yield Received(stream, b"", is_last=True)
            case _Kind.PING:
                self.replies += self._frame(_Kind.PING, content)
            case _Kind.GOAWAY:
                self.is_over = True

    def _headers(self, block: bytes) -> dict[str, str]:
        try:
            plain = self._inflate.decompress(block, _MOST_INPUT)
            (count,), place = struct.unpack(">I", plain[:4]), 4
            texts = []
            for _ in range(2 * count):
                (size,) = struct.unpack(">I", plain[place : place + 4])
                texts.append(plain[place + 4 : place + 4 + size].decode("latin-1"))
                place += 4 + size
        except (zlib.error, struct.error) as error:
            raise SpdyError("headers that cannot be read") from error
        return {name.lower(): value for name, value in zip(texts[::2], texts[1::2], strict=True)}

    def _deflate_headers(self, headers: Mapping[str, str]) -> bytes:
        texts = (text.encode("latin-1") for pair in headers.items() for text in pair)
        block = struct.pack(">I", len(headers)) + b"".join(struct.pack(">I", len(text)) + text for text in texts)
        return self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)

    def data(self, stream: int, content: bytes, *, is_last: bool = False) -> bytes:
        """Data on a stream."""
        return struct.pack(">II", stream, (is_last << 24) | len(content)) + content

    def farewell(self) -> bytes:
        """The last frame of a connection."""
        return self._frame(_Kind.GOAWAY, struct.pack(">II", 0, 0))

    @staticmethod
    def _frame(kind: int, content: bytes) -> bytes:
        return struct.pack(">HHI", _CONTROL | _VERSION, kind, len(content)) + content


class Streams(Protocol):
    """What is carried over one connection."""

    is_over: bool

    def take_bytes(self, data: bytes) -> bytes:
        """Process received bytes; the bytes to send back."""
        ...

    def close(self) -> None:
        """The connection ended."""
        ...


class Tunnel:
    """Connections to ports: for each, the client opens a stream for errors and one for data."""

    def __init__(self, forwarding: Forwarding, on_sent: Callable[[str], None]) -> None:
        self._forwarding, self._on_sent = forwarding, on_sent
        self._framing = Framing()
        self._errors: dict[str, int] = {}
        self._connections: dict[int, tuple[PortConnection, str]] = {}
        self._told = ""
        self.is_over = False

    def take_bytes(self, data: bytes) -> bytes:
        """Process received bytes; the bytes to send back."""
        answers = b""
        try:
            for event in self._framing.take_frames(data):
                answer = self._open(event) if isinstance(event, Opened) else self._pass(event)
                answers += self._taken_replies() + answer
        except SpdyError:
            self.is_over = True
        self.is_over |= self._framing.is_over
        return answers + self._taken_replies()

    def close(self) -> None:
        """The connection ended; report what was said on it."""
        open_ones = "".join(connection.take_input for connection, _ in self._connections.values())
        self._forwarding.end(self._told + open_ones)

    def _taken_replies(self) -> bytes:
        replies, self._framing.replies = self._framing.replies, b""
        return replies

    def _open(self, opened: Opened) -> bytes:
        asked, port = opened.headers.get("requestid", ""), opened.headers.get("port", "")
        if opened.headers.get("streamtype") == "error":
            self._errors[asked] = opened.stream
            return b""
        connection = PortConnection(self._forwarding, int(port) if port.isdecimal() else 0)
        self._connections[opened.stream] = connection, asked
        return b""

    def _pass(self, received: Received) -> bytes:
        if received.stream not in self._connections:
            return b""
        connection, asked = self._connections[received.stream]
        answer = connection.answer(received.data)
        if answer:
            self._on_sent(answer.decode(errors="replace"))
        if not received.is_last and not connection.refusal:
            return self._framing.data(received.stream, answer) if answer else b""
        return self._end(received.stream, connection, asked, answer)

    def _end(self, stream: int, connection: PortConnection, asked: str, answer: bytes) -> bytes:
        del self._connections[stream]
        self._told += connection.take_input
        errors = self._errors.pop(asked, None)
        last = self._framing.data(stream, answer, is_last=True)
        if errors is None:
            return last
        return self._framing.data(errors, connection.refusal.encode(), is_last=True) + last


class Command:
    """A command in a container, or an attachment: a stream for each of its inputs and outputs, one for the result."""

    def __init__(self, body: Execution | Session, wanted: int, on_sent: Callable[[str], None]) -> None:
        """`wanted` is the number of streams that the client opens."""
        self._body, self._wanted, self._on_sent = body, wanted, on_sent
        self._framing = Framing()
        self._streams: dict[str, int] = {}
        self._told = b""
        self._is_told = not isinstance(body, Conversation)
        self.is_over = False

    def take_bytes(self, data: bytes) -> bytes:
        """Process received bytes; the bytes to send back."""
        answers = b""
        try:
            for event in self._framing.take_frames(data):
                if isinstance(event, Opened):
                    self._streams[event.headers.get("streamtype", "")] = event.stream
                elif event.stream == self._streams.get("stdin"):
                    self._told += event.data[: _MOST_INPUT - len(self._told)]
                    typed = "\n" + self._told.decode(errors="replace")
                    self._is_told |= event.is_last or is_complete(typed)
        except SpdyError:
            self.is_over = True
        answers += self._framing.replies
        self._framing.replies = b""
        if self._is_told and len(self._streams) >= self._wanted and not self.is_over:
            self.is_over = True
            answers += self._result()
        self.is_over |= self._framing.is_over
        return answers

    def close(self) -> None:
        """The connection ended."""
        if isinstance(self._body, Session):
            self._body.end(self._told.decode(errors="replace"))

    def _result(self) -> bytes:
        body = self._body
        execution = body.answer(self._told.decode(errors="replace")) if isinstance(body, Conversation) else body
        if not isinstance(execution, Execution):
            return self._framing.farewell()
        texts = execution.texts()
        for text in filter(None, texts.values()):
            self._on_sent(text)
        texts["error"] = json.dumps(result(execution), separators=(",", ":"))
        return b"".join(
            self._framing.data(self._streams[name], text.encode(), is_last=True)
            for name, text in texts.items() if name in self._streams
        )  # fmt: skip


def result(execution: Execution) -> dict[str, object]:
    """The outcome of a command in the form that the server sends at the end of a stream."""
    if not execution.exit_code:
        return {"metadata": {}, "status": "Success"}
    code = str(execution.exit_code)
    return {
        "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": code}]},
    }  # fmt: skip
