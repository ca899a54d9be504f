"""Assembles what is served over the network: a provider's environments, or one bare API server."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.providers.simulator.bare import BareEndpoint, FileAuditLog, bare_api, read_users
from sirocco.providers.simulator.provider import AGENT_SOURCE, SimulatorProvider
from sirocco.providers.simulator.serving.certificates import issued
from sirocco.providers.simulator.serving.front import TlsFront
from sirocco.providers.simulator.serving.plane import BODY_TIMEOUT, AgentPlane
from sirocco.providers.simulator.serving.server import bound, serving
from sirocco.wiring.clock import utc_now

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


@asynccontextmanager
async def served_simulator(
    profile: Profile, listen: str, advertise: str = "", *, body_timeout: float = BODY_TIMEOUT
) -> AsyncIterator[Provider]:
    """The simulator with its environments on a TLS listener; `advertise` is the host that clients will use."""
    listener = bound(listen)
    identity = issued(_hosts(listener, advertise), utc_now())
    plane = AgentPlane(source=AGENT_SOURCE, body_timeout=body_timeout)
    async with serving(plane, listener, identity) as address:
        host, _, port = address.rpartition(":")
        front = TlsFront(plane, f"{advertise or host}:{port}", identity.authority)
        yield SimulatorProvider({profile.document.id: profile.document.version}, utc_now, front=front)


@asynccontextmanager
async def served_bare(users: Path, listen: str, audit_file: Path) -> AsyncIterator[str]:
    """One empty API server without controllers; gives its URL."""
    accounts = read_users(users)
    listener = bound(listen)
    identity = issued(_hosts(listener, ""), utc_now())
    plane = AgentPlane()
    with audit_file.open("a", encoding="utf-8", buffering=1) as file:
        plane.mount("", BareEndpoint(bare_api(accounts, FileAuditLog(file), utc_now)))
        async with serving(plane, listener, identity) as address:
            try:
                yield f"https://{address}"
            finally:
                plane.unmount("")


def _hosts(listener: socket.socket, advertise: str) -> tuple[str, ...]:
    own = str(listener.getsockname()[0])
    return tuple(dict.fromkeys(filter(None, (advertise, own, *_LOCAL_NAMES))))
