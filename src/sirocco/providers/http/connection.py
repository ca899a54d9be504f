"""An HTTP/1.1 client on asyncio's streams and uvicorn's parser: one request, one complete answer, one deadline."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httptools

from sirocco.errors import ConfigError, FaultKind

_PART = 256 * 1024
_LIMIT = 256 * 1024 * 1024
"""The maximum size of an answer in bytes; the audit log of a long run takes several megabytes."""
_PORTS = {"http": 80, "https": 443}


class Unanswered(Exception):  # noqa: N818 - it says what happened to the request
    """No complete answer arrived; `kind` says why."""

    def __init__(self, kind: FaultKind, problem: str) -> None:
        self.kind = kind
        self.problem = problem
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete HTTP answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """A server, and the base path for requests to it."""

    scheme: str
    host: str
    port: int
    base: str
    tls: ssl.SSLContext | None = field(default=None, repr=False, compare=False)
    server_name: str = ""

    @classmethod
    def from_url(cls, url: str, *, tls: ssl.SSLContext | None = None, server_name: str = "") -> "Origin":
        """The server that a URL names; raise ConfigError if it names none."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
        except (ValueError, KeyError) as error:
            raise ConfigError(url, "not an http or https URL", "write one such as http://127.0.0.1:8090") from error
        if not parts.hostname or not url.isascii() or not url.isprintable() or " " in url:
            raise ConfigError(url, "not an http or https URL", "write one such as http://127.0.0.1:8090")
        secure = None
        if parts.scheme == "https":
            secure = tls or ssl.create_default_context()
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"), secure, server_name)

    @property
    def authority(self) -> str:
        """Host and port, as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    async def open_connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection."""
        name = (self.server_name or self.host) if self.tls else None
        return await asyncio.open_connection(self.host, self.port, ssl=self.tls, server_hostname=name, limit=_PART)


class Connections:
    """Sends requests to one origin; up to `kept` connections are reused while the server keeps them open.

    A caller that keeps connections must close them before the event loop ends.
    """

    def __init__(self, origin: Origin, *, kept: int = 0) -> None:
        self.origin = origin
        self._kept = kept
        self._idle: list[_Connection] = []

    async def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        timeout: float,  # noqa: ASYNC109 - callers have a deadline each
    ) -> Answer:
        """Send a request and receive the complete answer within `timeout` seconds, or raise Unanswered."""
        head = _head(self.origin, method, path, headers, content)
        with_reused = True
        try:
            async with asyncio.timeout(timeout):
                while True:
                    connection = await self._take_connection(reuse=with_reused)
                    try:
                        return await self._exchange_once(connection, head + content)
                    except _StaleConnection:
                        # The server closed it while it was idle, and saw nothing of this request.
                        with_reused = False
        except TimeoutError as error:
            raise Unanswered(FaultKind.TIMEOUT, f"no answer within {timeout:.3g} s") from error
        except ssl.SSLError as error:
            raise Unanswered(FaultKind.UNREACHABLE, f"no TLS connection: {error.reason or error}") from error
        except OSError as error:
            raise Unanswered(FaultKind.UNREACHABLE, f"no connection: {error.strerror or error}") from error

    def close(self) -> None:
        """Close the idle connections."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    async def _take_connection(self, *, reuse: bool) -> "_Connection":
        if reuse and self._idle:
            return self._idle.pop()
        return _Connection(*await self.origin.open_connection())

    async def _exchange_once(self, connection: "_Connection", content: bytes) -> Answer:
        try:
            answer, keep = await connection.exchange(content)
        except BaseException:
            connection.close()
            raise
        if keep and len(self._idle) < self._kept:
            self._idle.append(connection)
        else:
            connection.close()
        return answer


class _StaleConnection(Exception):  # noqa: N818 - internal
    """A reused connection turned out to be closed; nothing was received on it."""


class _Connection:
    """One connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._is_used = False

    async def exchange(self, content: bytes) -> tuple[Answer, bool]:
        """The answer, and whether the connection can be reused."""
        was_used, self._is_used = self._is_used, True
        reception = _Reception()
        try:
            self._writer.write(content)
            await self._writer.drain()
            while not reception.is_complete:
                part = await self._reader.read(_PART)
                reception.feed(part)
        except (ConnectionError, _Unstarted) as error:
            if was_used and not reception.has_begun:
                raise _StaleConnection from error
            if isinstance(error, _Unstarted):
                raise Unanswered(FaultKind.UNREACHABLE, "the connection ended before an answer") from error
            raise
        return reception.answer(), reception.keeps_alive

    def close(self) -> None:
        self._writer.transport.abort()


class _Unstarted(Exception):  # noqa: N818 - internal
    """The connection ended before the first byte."""


class _Reception:
    """An answer being received; the methods named on_... are called by the parser."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._size = 0
        self._has_head = False
        self.has_begun = False
        self.is_complete = False
        self.keeps_alive = False

    def feed(self, part: bytes) -> None:
        """Process the next bytes; none means that the connection ended."""
        if not part:
            self._end()
            return
        self.has_begun = True
        try:
            self._parser.feed_data(part)
        except httptools.HttpParserError as error:
            raise Unanswered(FaultKind.MALFORMED, f"the answer is not HTTP: {error}") from error
        if self._size > _LIMIT:
            raise Unanswered(FaultKind.MALFORMED, f"the answer is longer than {_LIMIT} bytes")

    def answer(self) -> Answer:
        """The answer that was received."""
        return Answer(self._parser.get_status_code(), self._headers, b"".join(self._parts))

    def _end(self) -> None:
        if not self.has_begun:
            raise _Unstarted
        is_delimited = "content-length" in self._headers or "transfer-encoding" in self._headers
        if not self._has_head or is_delimited:
            raise Unanswered(FaultKind.MALFORMED, "the answer was cut off")
        self.is_complete = True

    def on_header(self, name: bytes, value: bytes) -> None:
        # API servers write warnings in UTF-8, whatever HTTP once specified for headers.
        key, text = name.decode("latin-1").lower(), value.decode(errors="replace")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self.is_complete = True
        self.keeps_alive = self._parser.should_keep_alive()


def _head(origin: Origin, method: str, path: str, headers: Mapping[str, str], content: bytes) -> bytes:
    lines = [f"{method} {origin.base}{path} HTTP/1.1", f"Host: {origin.authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if content or method not in {"GET", "HEAD", "DELETE"}:
        lines.append(f"Content-Length: {len(content)}")
    if any("\r" in line or "\n" in line for line in lines):
        raise Unanswered(FaultKind.MALFORMED, "a request cannot hold a line break in its path or headers")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")
