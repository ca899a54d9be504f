"""The nodes of a cluster as its server reaches them: logs, commands, ports of pods, and admission reviews.

The server connects to every address inside the cluster through one socket of ours, so that nodes and pods keep their
declared addresses. What runs in containers is what the declared cluster says.
"""

import asyncio
import base64
import json
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from kubesim.access import Authenticator
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.pod_subresources import log, stream
from kubesim.handling.request import Request, parse_call
from kubesim.handling.writing import WEBHOOK
from kubesim.serving.certificates import Authority
from kubesim.serving.plane import Scope
from kubesim.serving.protocol import TAKE_OVER, TunnelProtocol
from kubesim.serving.server import bind_listener, serve_application
from kubesim.serving.streams import Receive, Send, carry_spdy, spdy_head
from kubesim.status import ApiError, Json
from kubesim.store import Store
from kubesim.surroundings import Approach, Execution, Review, Session
from kubesim.world import World

KUBELET_PORT = 10250
WEBHOOK_HOST = "10.96.0.9"
"""Where the server finds the reviewer of writes; no service has this address."""
_WEBHOOK_PORT = 443
_PART = 65536
_TEXT = [(b"content-type", b"text/plain; charset=utf-8")]
_JSON = [(b"content-type", b"application/json")]
_STREAMS = {"exec": "exec", "attach": "attach", "portForward": "portforward"}
_PARAMETERS = {"input": "stdin", "output": "stdout", "error": "stderr"}
"""The kubelet's names for the streams of a command, with those of the API's clients."""
_ADMISSION = "admission"
_OPERATIONS = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete", "CONNECT": "create"}
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\nConnection: close\r\n\r\nOK\n"
)


class Witness(Protocol):
    """Port: records what was streamed to and from containers."""

    def record_sent(self, content: Any) -> None:
        """Something reached the client of a stream."""
        ...

    def record_told(self, place: tuple[str, str, str], text: str) -> None:
        """The client of a stream to a pod (namespace, name, kind of stream) sent something."""
        ...


class NodeAgent:
    """Every node of one cluster."""

    def __init__(
        self,
        store: Store,
        world: World,
        authenticator: Authenticator,
        review: Callable[[Approach], Review],
        witness: Witness,
    ) -> None:
        self._store, self._world, self._authenticator = store, world, authenticator
        self._review, self._witness = review, witness
        self._catalogue = catalogue(CURRENT_RELEASE, metrics=True)
        self.reviews = 0
        """How often the server has asked about a write."""

    @asynccontextmanager
    async def listen(self, socket: Path, authority: Authority) -> AsyncIterator[None]:
        """Listen on a socket for the length of the block."""
        listener = bind_listener("127.0.0.1:0")
        identity = authority.issue(("127.0.0.1", WEBHOOK_HOST))
        async with serve_application(self, listener, identity, protocol_type=TunnelProtocol):
            port = listener.getsockname()[1]
            await asyncio.to_thread(socket.unlink, missing_ok=True)
            server = await asyncio.start_unix_server(partial(self._connect, port), socket)
            try:
                yield
            finally:
                server.close()

    async def _connect(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one connection of the server to its destination."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n\r\n")
            host, _, wanted = head.split(b" ", 2)[1].decode("latin-1").rpartition(":")
            if (host, wanted) == (WEBHOOK_HOST, str(_WEBHOOK_PORT)) or wanted == str(KUBELET_PORT):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _relay(reader, writer, *await asyncio.open_connection("127.0.0.1", port))
            elif self._is_listening(host, wanted):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await reader.readuntil(b"\r\n\r\n")
                writer.write(_ANSWER)
                await writer.drain()
            else:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        writer.close()

    def _is_listening(self, address: str, port: str) -> bool:
        pods = [pod for pod in self._store.items("pod") if (pod.get("status") or {}).get("podIP") == address]
        return port.isdecimal() and any(self._world.reaches(pod, int(port)) for pod in pods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the server."""
        if scope["type"] != "http":
            return
        content = await _content(receive)
        what, *rest = scope["path"].strip("/").split("/")
        if what == "containerLogs" and len(rest) == 3:
            await self._log(scope, (rest[0], rest[1], rest[2]), send)
        elif what in _STREAMS and len(rest) >= 2:
            await self._stream(scope, _STREAMS[what], rest, send)
        elif what == _ADMISSION:
            self.reviews += 1
            await _answer(send, 200, _JSON, json.dumps(self._admission_review(json.loads(content))).encode())
        elif what == "healthz":
            await _answer(send, 200, _TEXT, b"ok")
        else:
            await _answer(send, 404, _TEXT, b"404 page not found\n")

    async def _log(self, scope: Scope, place: tuple[str, str, str], send: Send) -> None:
        namespace, pod, container = place
        query = scope["query_string"].decode("latin-1")
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        asked = "&".join(filter(None, (query, f"container={container}")))
        try:
            response = log(self._exchange(Request.from_network("GET", path, asked, {}, b"", "")))
        except ApiError as error:
            await _answer(send, error.code, _TEXT, str(error).encode(errors="replace"))
            return
        await _answer(send, response.status, _TEXT, str(response.body or "").encode(errors="replace"))

    async def _stream(self, scope: Scope, kind: str, rest: list[str], send: Send) -> None:
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        namespace, pod = rest[0], rest[1]
        parts = [part.partition("=") for part in scope["query_string"].decode("latin-1").split("&") if part]
        query = "&".join(f"{_PARAMETERS.get(key, key)}={value}" for key, _, value in parts)
        if len(rest) > 2:
            query = "&".join(filter(None, (query, f"container={rest[-1]}")))
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/{kind}"
        request = Request.from_network("POST", path, query, headers, b"", "")
        try:
            response: Response = stream(self._exchange(request))
        except ApiError as error:
            await _answer(send, error.code, _TEXT, str(error).encode(errors="replace"))
            return
        body = response.body
        take_over = (scope.get("extensions") or {}).get(TAKE_OVER)
        if take_over is None or not isinstance(body, Execution | Session):
            await _answer(send, 400, _TEXT, b"Upgrade request required")
            return
        if isinstance(body, Session):
            body.on_end = partial(self._witness.record_told, (namespace, pod, kind))
        offered = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-stream-protocol-version"]
        connection = take_over["call"](spdy_head(offered, {}))
        wanted = 1 + sum(request.asks(name) for name in ("stdin", "stdout", "tty"))
        wanted += request.asks("stderr") and not request.asks("tty")
        await carry_spdy(connection, body, wanted, self._witness.record_sent)

    def _exchange(self, request: Request) -> Exchange:
        received, completed = self._world.now()
        exchange = Exchange(
            request, parse_call(request), self._store, self._catalogue, self._world, self._authenticator, received,
            completed,
        )  # fmt: skip
        exchange.resource = self._catalogue.find("", "v1", "pods")
        return exchange

    def _admission_review(self, review: Json) -> Json:
        """What policies say about a write, in the form of the server's question."""
        asked = review["request"]
        resource = asked.get("resource") or {}
        row = self._catalogue.find(resource.get("group", ""), resource.get("version", ""), resource.get("resource", ""))
        operation = _OPERATIONS.get(asked.get("operation", ""), "")
        approach = Approach(
            operation, row.noun if row else "", asked.get("namespace") or "", asked.get("name") or "",
            asked.get("subResource") or "",
        )  # fmt: skip
        said = self._review(approach)
        answer: Json = {"uid": asked["uid"], "allowed": said.refusal is None}
        if said.warnings:
            answer["warnings"] = list(said.warnings)
        if said.refusal is not None:
            answer["status"] = {"code": 403, "message": said.refusal}
        return {"kind": "AdmissionReview", "apiVersion": review["apiVersion"], "response": answer}


def webhook_configuration(authority: Authority, exempt: Sequence[str]) -> Json:
    """The configuration that has the server ask about every write, except those of exempt users."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "scope": "*"}
    names = ", ".join(f"'{user}'" for user in exempt)
    certificate = base64.b64encode(authority.certificate.encode()).decode()
    return {
        "kind": "ValidatingWebhookConfiguration",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {
            "name": WEBHOOK,
            "uid": str(uuid.uuid4()),
            "creationTimestamp": authority.founded.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "generation": 1,
        },
        "webhooks": [
            {
                "name": WEBHOOK,
                "clientConfig": {"url": f"https://{WEBHOOK_HOST}/{_ADMISSION}", "caBundle": certificate},
                "rules": [{**everything, "operations": ["CREATE", "UPDATE", "DELETE"]}],
                "matchConditions": [{"name": "clients", "expression": f"!(request.userInfo.username in [{names}])"}],
                "failurePolicy": "Fail",
                "matchPolicy": "Equivalent",
                "namespaceSelector": {},
                "objectSelector": {},
                "sideEffects": "None",
                "timeoutSeconds": 10,
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


async def _relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Carry bytes in both directions until one side ends."""
    pair = [
        asyncio.ensure_future(_copy(reader, other_writer)),
        asyncio.ensure_future(_copy(other_reader, writer)),
    ]
    try:
        await asyncio.wait(pair, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in pair:
            task.cancel()
        await asyncio.gather(*pair, return_exceptions=True)
        other_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(_PART):
            writer.write(part)
            await writer.drain()


async def _content(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], content: bytes) -> None:
    sized = [*headers, (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": sized})
    await send({"type": "http.response.body", "body": content})
