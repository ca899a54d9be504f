"""TLS listeners in the running event loop, one for each cluster, and what they carry."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from email.utils import format_datetime
from typing import Any

import uvicorn

from kubesim.clock import utc_now
from kubesim.errors import KubesimError
from kubesim.serving.certificates import Identity
from kubesim.serving.plane import Application
from kubesim.serving.protocol import ApiServerProtocol

_BACKLOG = 512
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_FAREWELL = 4
"""Turns of the event loop that an aborted connection needs to close its socket."""
_KEEP_ALIVE = 90
"""Seconds that a kube-apiserver keeps an idle connection; a client may think for long between two calls."""
_GRACE = 1.0
"""Seconds that answers under way have to end when the listener closes."""
_HIGHEST_PORT = 65535


class _Date(list[tuple[bytes, bytes]]):
    """The time of an answer, by the clock of what answers: any other would contradict its objects (SI-02).

    uvicorn picks up these headers when a request arrives and reads them when the answer is sent; the time is the
    latter.
    """

    def __init__(self, clock: Callable[[], str]) -> None:
        super().__init__()
        self._clock = clock

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        moment = datetime.fromisoformat(self._clock())
        yield b"date", format_datetime(moment, usegmt=True).encode()

    def __add__(self, others: Any) -> Any:
        return [*self, *others]


class _Connections:
    """What the connections of one listener share: the connections themselves, their tasks, and the date header."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self.total_requests = 0
        self.connections: set[Any] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.default_headers = _Date(clock)

    async def end(self) -> None:
        """Let answers under way end, and abort what is still there after the grace period.

        A client need not take part in closing TLS, and a connection that the server has closed may still wait for the
        client's closing message.
        """
        connections = set(self.connections)
        for connection in connections:
            connection.shutdown()
        if self.tasks:
            _, unfinished = await asyncio.wait(set(self.tasks), timeout=_GRACE)
            for task in unfinished:
                task.cancel()
        for connection in connections | self.connections:
            if connection.transport is not None:
                connection.transport.abort()
        for _ in range(_FAREWELL if connections else 0):
            await asyncio.sleep(0)


def bind_listener(address: str) -> socket.socket:
    """A socket bound to `host:port`; port 0 takes a free one. Clients get no answer until it is served."""
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()):
        raise KubesimError(address or "''", "not an address of the form host:port", "write one such as 127.0.0.1:0")
    # The protocol is named, because asyncio sends answers without delay only on sockets declared as TCP.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), int(port)))
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or error
        raise KubesimError(
            address, f"cannot listen there: {why}", "take another address; port 0 is a free one"
        ) from error
    return listener


def bound_from(address: str) -> socket.socket:
    """A socket bound to `host:port`, or to the next port above it that is free."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or not int(port):
        return bind_listener(address)
    for number in range(int(port), _HIGHEST_PORT):
        with contextlib.suppress(KubesimError):
            return bind_listener(f"{host}:{number}")
    return bind_listener(address)


def host_names(listener: socket.socket, advertised: str = "") -> tuple[str, ...]:
    """The names and addresses under which clients reach a listener, for its certificate."""
    own = str(listener.getsockname()[0])
    return tuple(dict.fromkeys(filter(None, (advertised, own, *_LOCAL_NAMES))))


@contextlib.asynccontextmanager
async def serve_application(
    application: Application,
    listener: socket.socket,
    identity: Identity | None,
    clock: Callable[[], str] = utc_now,
    protocol_type: type[ApiServerProtocol] = ApiServerProtocol,
) -> AsyncIterator[str]:
    """Serve an application for the length of the block; yields the address of the listener, as `host:port`.

    Without an identity it speaks plain HTTP. Answers are dated by the clock.
    """
    config = uvicorn.Config(
        application, http=protocol_type, ws="wsproto", lifespan="off", proxy_headers=False, server_header=False,
        access_log=False, log_config=None, log_level="critical", timeout_keep_alive=_KEEP_ALIVE,
    )  # fmt: skip
    config.load()
    state, loop = _Connections(clock), asyncio.get_running_loop()

    def protocol() -> asyncio.Protocol:
        # `_Connections` has the attributes that uvicorn needs of a server's state; its own server would wake up ten
        # times a second for each listener.
        return protocol_type(config=config, server_state=state, app_state={}, _loop=loop)

    context = identity.context() if identity else None
    server = await loop.create_server(protocol, sock=listener, ssl=context, backlog=_BACKLOG)
    try:
        host, port = listener.getsockname()[:2]
        yield f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    finally:
        server.close()
        await state.end()
