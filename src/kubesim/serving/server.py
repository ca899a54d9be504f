"""One TLS listener in the running event loop, and what it carries."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn

from kubesim.errors import KubesimError
from kubesim.serving.certificates import Identity
from kubesim.serving.plane import Application
from kubesim.serving.protocol import ApiServerProtocol

_BACKLOG = 512
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_FAREWELL = 4
"""Turns of the event loop that it takes a cut connection to close its socket."""
_KEEP_ALIVE = 90
"""Seconds that a kube-apiserver keeps an idle connection; a client may think for long between two calls."""


class _Server(uvicorn.Server):
    """Leaves signals to the program that it runs in."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bound(address: str) -> socket.socket:
    """A listening socket at `host:port`; port 0 takes a free one."""
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()):
        raise KubesimError(address or "''", "not an address of the form host:port", "write one such as 127.0.0.1:0")
    # The protocol is named, because asyncio sends answers without delay only on sockets that say that they are TCP.
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
    listener.listen(_BACKLOG)
    return listener


def host_names(listener: socket.socket, advertised: str = "") -> tuple[str, ...]:
    """The names and addresses under which clients reach a listener, for its certificate."""
    own = str(listener.getsockname()[0])
    return tuple(dict.fromkeys(filter(None, (advertised, own, *_LOCAL_NAMES))))


@contextlib.asynccontextmanager
async def serving(application: Application, listener: socket.socket, identity: Identity | None) -> AsyncIterator[str]:
    """Serve an application for the length of the block; gives the address that the listener has, as `host:port`.

    Without an identity it speaks plain HTTP.
    """
    config = uvicorn.Config(
        application, http=ApiServerProtocol, ws="wsproto", lifespan="off", proxy_headers=False, server_header=False,
        access_log=False, log_config=None, log_level="critical", timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    config.load()
    if identity is not None:
        config.ssl = identity.context()
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn tells it by a flag only
            await asyncio.sleep(0.002)
        if task.done():
            await task
        host, port = listener.getsockname()[:2]
        yield f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    finally:
        server.should_exit = True
        connections = list(server.server_state.connections)
        await task
        # A client need not take part in the end of TLS, so what is still there after the time of grace is cut off; a
        # connection that uvicorn has let go of may still wait for the client's farewell.
        for connection in {*connections, *server.server_state.connections}:
            if connection.transport is not None:
                connection.transport.abort()
        for _ in range(_FAREWELL):
            await asyncio.sleep(0)
