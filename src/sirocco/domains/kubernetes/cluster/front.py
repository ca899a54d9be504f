"""The agent plane in front of a real server: TLS, the agent's own address, and a record of everything disclosed to it.

The server's answers are passed on unchanged. Failures at a trigger, services and tools are the environment's own.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from socket import socket
from typing import Any

import httptools

from kubesim.bodies.go_yaml import YamlError, load_yaml
from kubesim.handling.request import Request
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import BODY_LIMIT, Scope, encode_body
from kubesim.serving.protocol import TAKE_OVER, TunnelProtocol
from kubesim.serving.server import host_names, serve_application
from kubesim.serving.streams import Message, Receive, Send
from sirocco.domains.kubernetes.agent_access import AgentAccess, HttpAgentClient
from sirocco.domains.kubernetes.cluster.fronted import FrontedEnvironment
from sirocco.domains.kubernetes.mcp_server.endpoint import ToolEndpoint
from sirocco.domains.kubernetes.simulator.front import Reach, bind_front_listener, reached_at
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE

_PART = 65536
_STREAMED = ("/exec", "/attach", "/portforward")
_NOT_FORWARDED = frozenset({"accept-encoding", "audit-id", "x-forwarded-for", "x-real-ip", "forwarded", "connection"})
"""What a client cannot decide: the compression of its answers, its id on record, and its origin."""
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date"})
_PROTOBUF = "protobuf"


class ClusterFront:
    """Serves each environment at an address of its own, under the certificate authority of its control plane."""

    def __init__(self, listen: str, reach: Reach, tools: ToolEndpoint | None, *, is_announced: bool) -> None:
        """`is_announced` says whether agents in other processes are told its address."""
        self._listen, self._reach, self._tools = listen, reach, tools
        self._is_announced = is_announced
        self._listeners: set[socket] = set()

    @asynccontextmanager
    async def serve_environment(self, environment: FrontedEnvironment) -> AsyncIterator[None]:
        """Serve an environment for the length of the block, and put its address into its access."""
        listener = bind_front_listener(self._listen)
        self._listeners.add(listener)
        name = "" if self._reach.advertise else environment.server_name
        identity = environment.authority.issue((name or self._reach.advertise, *host_names(listener)))
        plane = AgentPlane(environment, self._tools)
        async with serve_application(plane, listener, identity, protocol_type=TunnelProtocol) as address:
            server = self._reach.server(address)
            access = environment.access
            user = environment.agent_principal.rpartition(":")[2]
            text = kubeconfig(server, identity.authority, access.token, access.namespace, user=user)
            client = HttpAgentClient(
                AgentAccess(f"https://{address}", identity.authority, access.token, access.namespace, text)
            )
            environment.access = replace(access, client=client)
            if self._is_announced:
                environment.access = reached_at(environment.access, server, identity.authority, text, self._tools, name)
            try:
                yield
            finally:
                client.close()
                self._listeners.discard(listener)

    def close(self) -> None:
        """Close every listener."""
        for listener in self._listeners:
            listener.close()


class AgentPlane:
    """The application that agents of one environment reach."""

    def __init__(self, environment: FrontedEnvironment, tools: ToolEndpoint | None) -> None:
        self._environment, self._tools = environment, tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        content = await _content(receive)
        if content is None:
            return
        path = (scope.get("raw_path") or scope["path"].encode()).decode(errors="replace")
        headers = _headers(scope)
        query = scope["query_string"].decode("latin-1")
        request = Request.from_network(scope["method"], path, query, headers, content, AGENT_SOURCE)
        environment = self._environment
        tools = self._tools.application(environment, request) if self._tools else None
        if tools is not None:
            await environment.come_alive()
            await tools(scope, _replay(content, receive), send)
        elif environment.serves_itself(request):
            response = await environment.serve_beside(request)
            await _answer(send, response.status, response.headers.items(), encode_body(response.body))
        else:
            async with environment.request_under_way() as answering:
                await self._forward(scope, request, content, receive, send, answering)

    async def _forward(
        self, scope: Scope, request: Request, content: bytes, receive: Receive, send: Send, answering: object
    ) -> None:
        environment = self._environment
        audit_id, failure = await environment.meet(request)
        if failure is not None:
            await _answer(send, failure.status, failure.headers.items(), encode_body(failure.body))
            return
        upstream = _Upstream(*await environment.open_server())
        try:
            await upstream.send(_head(scope, audit_id, content), content)
            await upstream.read_head()
            if upstream.status == 101:
                environment.note_stream(answering)
                await self._tunnel(scope, upstream)
                await environment.note_answer(audit_id, [])
            elif upstream.is_stream and _is_long(request):
                environment.note_stream(answering)
                await self._stream(upstream, receive, send)
                await environment.note_answer(audit_id, [])
            else:
                body = b"" if request.method == "HEAD" else await upstream.read_body()
                await environment.note_answer(audit_id, _told(upstream.headers, body))
                await _answer(send, upstream.status, upstream.headers, body, is_head=request.method == "HEAD")
        finally:
            upstream.close()

    async def _stream(self, upstream: "_Upstream", receive: Receive, send: Send) -> None:
        """Pass a watch or a log on as it arrives, until either side ends."""
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        await send({"type": "http.response.start", "status": upstream.status, "headers": _wire(upstream.headers)})
        try:
            while not gone.done():
                part = asyncio.ensure_future(upstream.read_part())
                await asyncio.wait((part, gone), return_when=asyncio.FIRST_COMPLETED)
                if not part.done():
                    part.cancel()
                    return
                if (found := part.result()) is None:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
                self._environment.record_sent(found.decode(errors="replace"))
                await send({"type": "http.response.body", "body": found, "more_body": True})
        finally:
            gone.cancel()

    async def _tunnel(self, scope: Scope, upstream: "_Upstream") -> None:
        """Carry a protocol other than HTTP; what it discloses to the agent is recorded at its source."""
        connection = scope["extensions"][TAKE_OVER]["call"](upstream.raw_head)
        if upstream.rest:
            connection.send(upstream.rest)

        async def up() -> None:
            while (part := await connection.receive()) is not None:
                upstream.writer.write(part)
                await upstream.writer.drain()

        async def down() -> None:
            while part := await upstream.reader.read(_PART):
                connection.send(part)

        pair = [asyncio.ensure_future(up()), asyncio.ensure_future(down())]
        try:
            await asyncio.wait(pair, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in pair:
                task.cancel()
            await asyncio.gather(*pair, return_exceptions=True)
            connection.close()


class _Upstream:
    """One request to the server and its answer, as it arrives; the methods named on_... are the parser's."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.raw_head = b""
        self.rest = b""
        self._parts: list[bytes] = []
        self._is_complete = False

    async def send(self, head: bytes, content: bytes) -> None:
        self.writer.write(head + content)
        await self.writer.drain()

    async def read_head(self) -> None:
        """Read up to the end of the head."""
        self.raw_head = await self.reader.readuntil(b"\r\n\r\n")
        self.status = int(self.raw_head.split(b" ", 2)[1])
        if self.status != 101:
            self._parser.feed_data(self.raw_head)

    @property
    def is_stream(self) -> bool:
        """Whether the end of the answer is not known yet."""
        return self.status == 200 and not any(name.lower() == "content-length" for name, _ in self.headers)

    async def read_part(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        while not self._parts:
            if self._is_complete:
                return None
            data = await self.reader.read(_PART)
            if not data:
                return None
            self._parser.feed_data(data)
        part = b"".join(self._parts)
        self._parts.clear()
        return part

    async def read_body(self) -> bytes:
        parts = []
        while (part := await self.read_part()) is not None:
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        self.writer.transport.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1"), value.decode(errors="surrogateescape")))

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self._is_complete = True


def _head(scope: Scope, audit_id: str, content: bytes) -> bytes:
    """The head of a request as the server gets it: with its origin, and its id on record."""
    target = scope.get("raw_path") or scope["path"].encode()
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    lines = [scope["method"].encode() + b" " + target + b" HTTP/1.1"]
    is_upgrade = any(name == b"upgrade" for name, _ in scope["headers"])
    for name, value in scope["headers"]:
        text = name.decode("latin-1")
        if text in _NOT_FORWARDED or text in {"content-length", "transfer-encoding"}:
            continue
        kept = _without_protobuf(value) if text == "accept" else value
        lines.append(name + b": " + kept)
    lines.append(b"Connection: Upgrade" if is_upgrade else b"Connection: close")
    lines += [b"X-Forwarded-For: " + AGENT_SOURCE.encode(), b"Audit-ID: " + audit_id.encode()]
    if content or scope["method"] in {"POST", "PUT", "PATCH"}:
        lines.append(b"Content-Length: " + str(len(content)).encode())
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _without_protobuf(accept: bytes) -> bytes:
    """The forms that a client accepts, without the one that no record could show."""
    kept = [part for part in accept.decode("latin-1").split(",") if _PROTOBUF not in part]
    return ",".join(kept).strip().encode("latin-1") or b"application/json"


def _is_long(request: Request) -> bool:
    return request.asks("watch") or request.asks("follow") or "/watch/" in request.path


def _told(headers: list[tuple[str, str]], body: bytes) -> list[Any]:
    """What an answer discloses: its body, as data if it is any, and warnings."""
    named = {name.lower(): value for name, value in headers}
    kind = named.get("content-type", "")
    told: list[Any] = []
    if body:
        text = body.decode(errors="replace")
        try:
            told.append(load_yaml(body) if "yaml" in kind else json.loads(text) if "json" in kind else text)
        except (ValueError, YamlError, RecursionError):
            told.append(text)
    return told + [value for name, value in headers if name.lower() == "warning"]


def _headers(scope: Scope) -> dict[str, str]:
    """Request headers by name, the first of a repeated one; the others are under no name, for the record."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name, text = key.decode("latin-1"), value.decode("latin-1")
        if name not in found:
            found[name] = text
        elif name.startswith("impersonate-"):
            found[name] += f"\n{text}"
        else:
            found[""] = "\n".join(filter(None, (found.get(""), f"{name}: {text}")))
    return found


def _wire(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode("latin-1"), value.encode(errors="surrogateescape"))
        for name, value in headers
        if name.lower() not in _HOP
    ]


async def _answer(send: Send, status: int, headers: Any, content: bytes, *, is_head: bool = False) -> None:
    complete = _wire(list(headers))
    if not is_head:
        complete.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": complete})
    await send({"type": "http.response.body", "body": content})


async def _content(receive: Receive) -> bytes | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if not message.get("more_body") or size > BODY_LIMIT:
            return b"".join(parts)


def _replay(content: bytes, receive: Receive) -> Receive:
    body: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive_again() -> Message:
        return body.pop() if body else await receive()

    return receive_again


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
