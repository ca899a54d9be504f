"""Serves the console over HTTP, on this machine unless it is told otherwise."""

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import uvicorn

from sirocco.console.application import console_application
from sirocco.console.desk import Desk
from sirocco.console.guard import Access
from sirocco.console.library import Library
from sirocco.console.rendering import compile_templates
from sirocco.errors import ConfigError, SiroccoError

__all__ = ["Desk", "Library", "serve"]
_GRACE = 2


def serve(desk: Desk, host: str, port: int, *, is_read_only: bool, tell: Callable[[str], None]) -> None:
    """Serve until somebody ends it; the address with the token is told once it can be used."""
    bound_socket = listener(host, port)
    bound = int(bound_socket.getsockname()[1])
    access = Access.at(host, bound, is_read_only=is_read_only)
    config = uvicorn.Config(
        console_application(desk, access), log_level="error", lifespan="off", ws="none", access_log=False,
        server_header=False, proxy_headers=False, timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    if host not in {"127.0.0.1", "localhost", "::1"}:
        tell("warning: others can reach this address, and what they send and see is not encrypted")
    name = f"[{host}]" if ":" in host else host
    tell(f"console: http://{name}:{bound}/?token={access.token}")
    Thread(target=read_ahead, args=(desk,), daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[bound_socket])
    finally:
        desk.jobs.close()


def read_ahead(desk: Desk) -> None:
    """Prepare what every first visit needs: templates, runs and the profile."""
    compile_templates()
    desk.library.read_ahead()
    with suppress(SiroccoError, OSError):
        desk.quality, desk.profile.domain.reference_agents.names  # noqa: B018 - reading them once is the point
        for item in desk.library.queue()[:1]:
            sighting = item.best_sighting
            desk.library.finding(item, sighting, desk.library.run(sighting.run.replace("/", "~")), desk.profile)


def listener(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; ConfigError when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        problem = f"cannot be listened at: {error.strerror}"
        raise ConfigError(f"{host}:{port}", problem, "choose another --port") from error
    return made
