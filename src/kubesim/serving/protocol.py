"""HTTP/1.1 on one connection, with the limits and the plain refusals of Go's server, which a kube-apiserver uses."""

import re
from asyncio import Queue, TimerHandle, WriteTransport
from typing import Any
from urllib.parse import unquote

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TAKE_OVER = "kubesim.take_over"
"""The extension of a scope by which an application takes over the connection itself."""
_BAD_REQUEST = "400 Bad Request"
_TOO_LARGE = "431 Request Header Fields Too Large"
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9a-fA-F]{2})")
_ABSOLUTE = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*://[^/?]*")
_STREAMED = (b"/exec", b"/attach", b"/portforward")
_CONTINUE = b"HTTP/1.1 100 "
_LAST_HEADERS = (b"Date", b"Content-Length", b"Connection", b"Transfer-Encoding")
"""The headers that Go's server adds itself after those of the answer, in this order."""


class RawConnection:
    """A connection that has left HTTP behind."""

    def __init__(self, transport: WriteTransport) -> None:
        self._transport = transport
        self._received: Queue[bytes | None] = Queue()

    def feed(self, data: bytes | None) -> None:
        """Add what was received; None for the end."""
        self._received.put_nowait(data)

    async def receive(self) -> bytes | None:
        """What comes next; None at the end."""
        return await self._received.get()

    def send(self, data: bytes) -> None:
        """Send something, unless the client is gone."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """End the connection."""
        self._transport.close()


class _GoHead:
    """Wraps the transport of one answer until its head is written, as Go writes it (SI-02)."""

    def __init__(self, cycle: Any) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        cycle.transport = self

    def write(self, data: bytes) -> None:
        """Write the head; everything after it goes directly to the transport."""
        if not data.startswith(_CONTINUE):
            self._cycle.transport, data = self._transport, go_head(data)
        self._transport.write(data)

    def close(self) -> None:
        """End the connection."""
        self._transport.close()


def go_head(head: bytes) -> bytes:
    """The head of an answer with its header names capitalized and sorted."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    headers = [(name.title(), value) for name, _, value in (line.partition(b":") for line in lines)]
    own = sorted(header for header in headers if header[0] not in _LAST_HEADERS)
    added = sorted((header for header in headers if header[0] in _LAST_HEADERS),
                   key=lambda header: _LAST_HEADERS.index(header[0]))  # fmt: skip
    return b"\r\n".join([first, *(name + b":" + value for name, value in (*own, *added))]) + b"\r\n\r\n"


class ApiServerProtocol(HttpToolsProtocol):
    """Accepts any path that Go's server accepts, at any length; refusals are in Go's words."""

    head_limit = 1024 * 1024 + 4096
    """The most bytes that a request line and headers may have."""
    head_timeout = 32.0
    """The seconds that a client has to send them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._refusal = _BAD_REQUEST
        self._target = b""
        self._in_head = True
        self._head_size = 0
        self._head_timer: TimerHandle | None = None
        self._raw: RawConnection | None = None

    def data_received(self, data: bytes) -> None:
        """Parse what was received; a head that is too long or too slow ends the connection."""
        if self._raw is not None:
            self._raw.feed(data)
            return
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > self.head_limit:
                self._refusal = _TOO_LARGE
                self.send_400_response("")
                return
        super().data_received(data)
        if self._in_head and self._head_size and self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._raw is not None:
            self._raw.feed(None)
        self._end_head()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Start the request; its target is split here, because the parser itself knows fewer forms of targets."""
        self._end_head()
        self._require_one_host()
        self._target = self.url
        absolute = None if self.url.startswith(b"/") else _ABSOLUTE.match(self.url)
        path, _, query = (self.url[absolute.end() :] if absolute else self.url).partition(b"?")
        if _BROKEN_ESCAPE.search(path):
            raise ValueError("broken escape")
        self.url = b"/"
        before = self.cycle
        super().on_headers_complete()
        self.url = self._target
        if self.cycle is not None and self.cycle is not before:
            _GoHead(self.cycle)
        # The task of the request has not begun to run, so it sees these.
        self.scope["path"] = unquote(path.decode(errors="replace"))
        self.scope["raw_path"] = path
        self.scope["query_string"] = query
        self.scope["extensions"] = {**(self.scope.get("extensions") or {}), TAKE_OVER: {"call": self.take_over}}

    def on_message_complete(self) -> None:
        """Expect another head next."""
        self._in_head, self._head_size = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; an answer that is under way just ends."""
        del msg
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            head = f"HTTP/1.1 {self._refusal}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
            self.transport.write(f"{head}{self._refusal}".encode())
        self.transport.close()

    def _end_head(self) -> None:
        self._in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _require_one_host(self) -> None:
        if self.parser.get_http_version() not in {"1.0", "1.1"}:
            self._refuse("unsupported protocol version")
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1:
            self._refuse("too many Host headers")
        if not hosts and self.parser.get_http_version() == "1.1":
            self._refuse("missing required Host header")

    def _refuse(self, why: str) -> None:
        self._refusal = f"{_BAD_REQUEST}: {why}"
        raise ValueError(why)

    def take_over(self, head: bytes) -> "RawConnection":
        """Answer the request with this head; from then on the connection carries another protocol."""
        self._raw = RawConnection(self.transport)
        # No more HTTP follows: neither an answer nor another request.
        self.cycle.response_started = self.cycle.response_complete = True
        self.transport.write(head)
        return self._raw

    def _should_upgrade(self) -> bool:
        """Only streams to containers change the protocol; elsewhere the server ignores the request to upgrade."""
        return self._target.partition(b"?")[0].endswith(_STREAMED) and super()._should_upgrade()


class TunnelProtocol(ApiServerProtocol):
    """Leaves every stream to its application, which takes over the connection, whatever protocol the client wants."""

    def _should_upgrade(self) -> bool:
        return False
