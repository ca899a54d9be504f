"""Assembles what is served over the network: a provider's environments, an agent, or one bare API server."""

import asyncio
import ipaddress
import secrets
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubesim.bare import BareEndpoint, FileAuditLog, bare_api, read_users
from kubesim.serving.certificates import issued
from kubesim.serving.plane import BODY_TIMEOUT, ApiPlane
from kubesim.serving.server import host_names, serving
from sirocco.agents.service import AgentService
from sirocco.domains.kubernetes.serving import ServedSimulator, given, listening_socket
from sirocco.errors import AgentFault, ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.domain import Domain
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.providers.faults import Fault, FaultyProvider
from sirocco.providers.service.control_plane import ControlPlane
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry
from sirocco.wiring.clock import utc_now


@dataclass(frozen=True, slots=True)
class ProviderService:
    """Where a provider service listens, and the token that opens its control plane; None when none is needed."""

    agent: str
    control: str
    control_token: str | None


@asynccontextmanager
async def served_provider(
    profiles: Sequence[Profile],
    agent_listen: str,
    control_listen: str,
    *,
    advertise: str = "",
    needs_token: bool,
    idle_seconds: float,
    faults: Sequence[Fault] = (),
) -> AsyncIterator[ProviderService]:
    """The simulator as an OASIS provider: agents on one port over TLS, runners on another with a token of their own.

    Everything is in memory: environments that nobody uses any more are ended, and all of them end with the process.
    """
    control = listening_socket(control_listen)
    if not needs_token and not ipaddress.ip_address(control.getsockname()[0]).is_loopback:
        control.close()
        problem = "a control plane without a token can be reached from other machines there"
        raise ConfigError(control_listen, problem, "listen on 127.0.0.1, or drop --no-auth")
    token = secrets.token_urlsafe(32) if needs_token else None
    async with AsyncExitStack() as stack:
        stack.callback(control.close)
        versions = {profile.document.id: profile.document.version for profile in profiles}
        simulator = ServedSimulator(versions, utc_now, listen=agent_listen, advertise=advertise)
        await stack.enter_async_context(simulator.open())
        provider: Provider = FaultyProvider(simulator, *faults) if faults else simulator
        registry = Registry(
            provider,
            fresh_id=lambda: str(uuid.uuid4()),
            time=time.monotonic,
            idle_seconds=idle_seconds,
            calls=lambda environment: getattr(environment, "calls", 0),
            arrivals=lambda environment: getattr(environment, "arrivals", {}),
        )
        stack.push_async_callback(registry.close_all)
        reaper = asyncio.create_task(_reaped(registry))
        stack.callback(reaper.cancel)
        plane = ControlPlane(Operations(registry, utc_now, profiles[0].domain), token)
        address = await stack.enter_async_context(serving(plane, control, None))
        yield ProviderService(simulator.url, f"http://{address}", token)


async def _reaped(registry: Registry) -> None:
    """Look again and again for environments that were abandoned."""
    while True:
        await asyncio.sleep(min(registry.idle_seconds / 4, 30))
        await registry.reap()


@asynccontextmanager
async def served_simulator(
    profile: Profile, listen: str, advertise: str = "", *, body_timeout: float = BODY_TIMEOUT
) -> AsyncIterator[Provider]:
    """The simulator with its environments on a TLS listener; `advertise` is the host that clients will use."""
    versions = {profile.document.id: profile.document.version}
    simulator = ServedSimulator(versions, utc_now, listen=listen, advertise=advertise, body_timeout=body_timeout)
    async with simulator.open():
        yield simulator


@asynccontextmanager
async def served_agent(
    agent: Agent, listen: str, domain: Domain, credentials: Path | None = None
) -> AsyncIterator[str]:
    """An agent behind the agent contract; gives its URL.

    It acts in the environment that a request hands over, or else in the one that the file of `credentials` leads to,
    which is read anew for every request.
    """
    service = AgentService(agent, lambda document: _handed_over(document, domain, credentials))
    async with serving(service, listening_socket(listen), None) as address:
        yield f"http://{address}"


def _handed_over(document: Mapping[str, Any], domain: Domain, file: Path | None) -> EnvironmentAccess | None:
    environment = document.get("environment")
    handed: Mapping[str, Any] = environment if isinstance(environment, Mapping) else {}

    def credentials() -> str | None:
        if file is None:
            return None
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise AgentFault(file, f"cannot be read: {error}", "check --kubeconfig") from error

    return domain.equipment.access_in(handed, credentials)


@asynccontextmanager
async def served_bare(users: Path, listen: str, audit_file: Path) -> AsyncIterator[str]:
    """One empty API server without controllers; gives its URL."""
    accounts = given(read_users, users)
    listener = listening_socket(listen)
    identity = issued(host_names(listener), utc_now())
    plane = ApiPlane()
    with audit_file.open("a", encoding="utf-8", buffering=1) as file:
        plane.mount(BareEndpoint(bare_api(accounts, FileAuditLog(file), utc_now)))
        async with serving(plane, listener, identity) as address:
            try:
                yield f"https://{address}"
            finally:
                plane.unmount()
