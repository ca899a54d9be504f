"""An ASGI application for one environment, served as a Kubernetes API at the root of its address."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from kubesim.handling.request import Request
from kubesim.handling.watches import Watch
from kubesim.server import Response
from kubesim.serving.protocol import TAKE_OVER
from kubesim.serving.streams import Message, Receive, Send, WebSocketStream, carry_spdy, protocol_of, spdy_head
from kubesim.status import ApiError, bad_request
from kubesim.surroundings import Execution, Session

Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Extension = Callable[[Request], Application | None]
"""What may answer a request in place of an endpoint's API."""

BODY_LIMIT = 3 * 1024 * 1024
"""The largest body that a kube-apiserver reads; one byte more is passed on, so that the API itself refuses it."""
BODY_TIMEOUT = 60.0
"""Seconds that a client has to send it."""
_LONGEST_WATCH = 2700.0
_LONGEST_STEP, _PAUSE = 30.0, 0.02
"""How many seconds pass in the environment at once while a watch waits, and how many real seconds it then rests.

The deadline of a rollout is ten minutes away, and another client must not see the clock leap there."""
"""Seconds after which a watch ends; the real server draws between half an hour and an hour."""
_ANNOUNCING_BODY = frozenset({b"content-length", b"transfer-encoding"})
_JSON = {"content-type": "application/json"}
_NO_PAGE = (404, {"content-type": "text/plain; charset=utf-8"}, b"404 page not found\n")
_LOG = logging.getLogger(__name__)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Objects are data that came as JSON, so they contain no cycles.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class Endpoint(Protocol):
    """One environment as the plane sees it."""

    def serve(self, request: Request) -> Response:
        """Answer a request."""
        ...

    def advance(self, within: float) -> float | None:
        """Advance to the next thing due, by no more than `within` seconds; how many passed, None if nothing is due."""
        ...

    def record_sent(self, text: str) -> None:
        """A piece of a streamed answer was sent."""
        ...


class ApiPlane:
    """Serves the mounted endpoint at every path; without one every path is missing.

    `source` is what audit logs show as the address of every caller, if they are all one client. Without it they show
    the peer's own address.
    """

    def __init__(self, *, source: str = "", body_timeout: float = BODY_TIMEOUT) -> None:
        self._mounted: _Mount | None = None
        self._source = source
        self._body_timeout = body_timeout

    def mount(self, endpoint: Endpoint, extension: Extension | None = None) -> None:
        """Serve an environment, in place of the one before."""
        self.unmount()
        self._mounted = _Mount(endpoint, extension)

    def unmount(self) -> None:
        """Stop serving the environment; its open watches end."""
        if self._mounted is not None:
            self._mounted.close()
        self._mounted = None

    def wake(self) -> None:
        """Let the open watches look again, because the environment changed other than by a request."""
        if self._mounted is not None:
            self._mounted.wake()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; of a fault of ours the client sees only that there was one."""
        try:
            if scope["type"] == "http":
                await self._answer(scope, receive, send)
            elif scope["type"] == "websocket":
                # Here, unlike in HTTP, sending to a client that has gone away is an error.
                with suppress(OSError):
                    await self._stream(scope, receive, send)
        except Exception:
            _LOG.exception("a request broke the environment")
            raise

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            content = await self._content(scope, receive)
        except TimeoutError:
            slow = ApiError(504, "Timeout", f"Timeout: request did not complete within {self._body_timeout:g}s", {})
            await _answer(send, slow.code, {**_JSON, "connection": "close"}, encode_body(slow.body))
            return
        if content is None:
            return
        # Only now, because the environment may have ended while the body was being received.
        found, path = self._route_scope(scope)
        if found is None:
            await _answer(send, *_NO_PAGE)
            return
        request = self._request(scope, path, content)
        other = found.extension(request) if found.extension else None
        if other is not None:
            await other(scope, _replay_body(content, receive), send)
            found.wake()
            return
        response = found.serve(request)
        if isinstance(response.body, Watch):
            await _watch(found, response, response.body, receive, send)
        elif isinstance(response.body, Execution | Session):
            await self._switch(scope, request, response, found, send)
        else:
            await _answer(send, response.status, response.headers, encode_body(response.body))

    async def _switch(self, scope: Scope, request: Request, response: Response, found: "_Mount", send: Send) -> None:
        """A stream to a container over SPDY, for which the connection leaves HTTP behind."""
        take_over = (scope.get("extensions") or {}).get(TAKE_OVER)
        if take_over is None:
            await _answer(send, 400, _JSON, encode_body(bad_request("Upgrade request required").body))
            return
        offered = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-stream-protocol-version"]
        headers = {name: value for name, value in response.headers.items() if name.lower() != "content-type"}
        connection = take_over["call"](spdy_head(offered, headers))
        has_terminal = request.asks("tty")
        wanted = 1 + sum(request.asks(name) for name in ("stdin", "stdout", "tty"))
        wanted += request.asks("stderr") and not has_terminal
        await carry_spdy(connection, response.body, wanted, found.endpoint.record_sent)
        found.wake()

    async def _content(self, scope: Scope, receive: Receive) -> bytes | None:
        if not any(name in _ANNOUNCING_BODY for name, _ in scope["headers"]):
            # Nothing more will come that would be worth waiting for.
            return await _content(receive)
        async with asyncio.timeout(self._body_timeout):
            return await _content(receive)

    def _route_scope(self, scope: Scope) -> "tuple[_Mount | None, str]":
        return self._mounted, (scope.get("raw_path") or scope["path"].encode()).decode(errors="replace")

    def _request(self, scope: Scope, path: str, content: bytes) -> Request:
        headers = _request_headers(scope["headers"])
        query = scope["query_string"].decode("latin-1")
        source = self._source or (scope.get("client") or ("",))[0]
        return Request.from_network(scope.get("method", "GET"), path, query, headers, content, source)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A stream to a container over a WebSocket; a refusal is an ordinary HTTP answer."""
        await receive()
        found, path = self._route_scope(scope)
        if found is None:
            await _refuse(send, *_NO_PAGE)
            return
        request = self._request(scope, path, b"")
        response = found.serve(request)
        body = response.body
        if not isinstance(body, Execution | Session):
            await _refuse(send, response.status, response.headers, encode_body(body))
            return
        protocol = protocol_of(scope.get("subprotocols") or ())
        try:
            await send({"type": "websocket.accept", "subprotocol": protocol})
            ports = [int(port) for port in request.values("ports") if port.isdecimal()]
            await WebSocketStream(receive, send, protocol, found.endpoint.record_sent).carry(body, ports)
        finally:
            if isinstance(body, Session):
                body.end("")
            found.wake()


class _Mount:
    """An endpoint and those who wait for something to change in it."""

    def __init__(self, endpoint: Endpoint, extension: Extension | None) -> None:
        self.endpoint = endpoint
        self.extension = extension
        self.is_open = True
        self._waiting: set[asyncio.Event] = set()

    def serve(self, request: Request) -> Response:
        response = self.endpoint.serve(request)
        self.wake()
        return response

    def close(self) -> None:
        self.is_open = False
        self.wake()

    def advance(self, within: float) -> float | None:
        """Advance to the next thing that is due, and notify everyone who waits."""
        passed = self.endpoint.advance(within)
        if passed is not None:
            self.wake()
        return passed

    @contextmanager
    def changes(self) -> Iterator[asyncio.Event]:
        """An event that is set whenever another request came in, and when the environment ends."""
        change = asyncio.Event()
        self._waiting.add(change)
        try:
            yield change
        finally:
            self._waiting.discard(change)

    def wake(self) -> None:
        """Let those who wait look again."""
        for event in self._waiting:
            event.set()


async def _watch(mount: _Mount, response: Response, watch: Watch, receive: Receive, send: Send) -> None:
    """Stream a watch until its time is over, the client goes away or the environment ends."""
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await send(
            {"type": "http.response.start", "status": response.status, "headers": _wire_headers(response.headers)}
        )
        await _events(mount, watch, gone, send)
        if not gone.done():
            await _send_events(mount, watch.close(), send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        gone.cancel()
        watch.close()


async def _events(mount: _Mount, watch: Watch, gone: asyncio.Future[None], send: Send) -> None:
    """Send events as they occur; while there are none, let the environment advance, and then wait for other requests.

    The watch ends after its full duration, by the clock of the environment or by a real one. Never does much of that
    time pass at once.
    """
    loop = asyncio.get_running_loop()
    ahead = _LONGEST_WATCH if watch.timeout is None else float(watch.timeout)
    deadline = loop.time() + ahead
    with mount.changes() as change:
        while mount.is_open and not gone.done():
            # Cleared before looking, so that nothing that happens in between is missed.
            change.clear()
            events = watch.pending()
            await _send_events(mount, events, send)
            left = deadline - loop.time()
            if watch.is_over or left <= 0 or ahead <= 0:
                return
            if events:
                await asyncio.sleep(0)
                continue
            passed = mount.advance(min(_LONGEST_STEP, ahead))
            if passed is not None:
                ahead -= passed
                await asyncio.sleep(_PAUSE if passed >= _LONGEST_STEP else 0)
                continue
            changed: asyncio.Future[Any] = asyncio.ensure_future(change.wait())
            await asyncio.wait((changed, gone), timeout=left, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()


async def _send_events(mount: _Mount, events: Sequence[Any], send: Send) -> None:
    if events:
        text = "".join(_json_text(event) + "\n" for event in events)
        mount.endpoint.record_sent(text)
        await send({"type": "http.response.body", "body": text.encode(errors="replace"), "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _content(receive: Receive) -> bytes | None:
    """The body, cut off one byte after the limit; None when the client went away before it was complete."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        parts.append(part[: BODY_LIMIT + 1 - size])
        size += len(parts[-1])
        if not message.get("more_body") or size > BODY_LIMIT:
            return b"".join(parts)


def _replay_body(content: bytes, receive: Receive) -> Receive:
    """A receiver that first replays a body that has been read, and then what follows."""
    body: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive_again() -> Message:
        return body.pop() if body else await receive()

    return receive_again


def _request_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Request headers by name: the first of a repeated one counts, except that all groups and extras to impersonate do.

    The other values are under no name, where only the audit log looks: whatever was sent was disclosed.
    """
    headers: dict[str, str] = {}
    for key, value in raw:
        name, text = key.decode("latin-1"), value.decode("latin-1")
        if name not in headers:
            headers[name] = text
        elif name.startswith("impersonate-"):
            headers[name] += f"\n{text}"
        else:
            headers[""] = "\n".join(filter(None, (headers.get(""), f"{name}: {text}")))
    return headers


def _wire_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers for the wire; a value may quote what a client sent, and must not end the line."""
    return [
        (
            key.lower().encode("latin-1"),
            (value if value.isprintable() else _CONTROL.sub(" ", value)).encode(errors="replace"),
        )
        for key, value in headers.items()
    ]


async def _answer(send: Send, status: int, headers: Mapping[str, str], content: bytes) -> None:
    complete = {**headers, "content-length": str(len(content))}
    await send({"type": "http.response.start", "status": status, "headers": _wire_headers(complete)})
    await send({"type": "http.response.body", "body": content})


async def _refuse(send: Send, status: int, headers: Mapping[str, str], content: bytes) -> None:
    await send({"type": "websocket.http.response.start", "status": status, "headers": _wire_headers(headers)})
    await send({"type": "websocket.http.response.body", "body": content})


def encode_body(body: Any) -> bytes:
    """An answer's body in the form in which it is sent."""
    if isinstance(body, str):
        return body.encode(errors="replace")
    return b"" if body is None else _json_text(body).encode(errors="replace") + b"\n"


def _json_text(value: Any) -> str:
    """JSON as Go writes it, with characters special in HTML escaped."""
    text = _encode(value)
    if "<" in text or ">" in text or "&" in text:
        text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text
