"""Assembles what is served over the network: a provider's environments, an agent, or one bare API server."""

import asyncio
import importlib
import ipaddress
import secrets
import socket
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kubesim import bare
from kubesim.errors import KubesimError
from kubesim.serving.certificates import issued
from kubesim.serving.plane import BODY_TIMEOUT, AgentPlane
from kubesim.serving.server import bound, host_names, serving
from sirocco.agents.service import AgentService
from sirocco.domains.kubernetes.mcp_server.endpoint import Server as ToolServer
from sirocco.domains.kubernetes.mcp_server.endpoint import ToolEndpoint
from sirocco.domains.kubernetes.simulator.front import TlsFront
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatorProvider
from sirocco.domains.kubernetes.simulator.static import StaticFront
from sirocco.errors import AgentFault, ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.environment import EnvironmentAccess, ServedAccess
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Conformance, Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario
from sirocco.providers.faults import Fault, FaultyProvider
from sirocco.providers.http.agent_access import HttpAgentClient, agent_access
from sirocco.providers.service.control_plane import ControlPlane
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry
from sirocco.wiring.clock import utc_now

IDLE_SECONDS = 3600.0
"""After so long without a call of its runner or its agent an environment counts as abandoned."""


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
    needs_token: bool = True,
    idle_seconds: float = IDLE_SECONDS,
    faults: Sequence[Fault] = (),
) -> AsyncIterator[ProviderService]:
    """The simulator as an OASIS provider: agents on one port over TLS, runners on another with a token of their own.

    Everything is in memory: environments that nobody uses any more are ended, and all of them end with the process.
    """
    control = _listener(control_listen)
    if not needs_token and not ipaddress.ip_address(control.getsockname()[0]).is_loopback:
        control.close()
        problem = "a control plane without a token can be reached from other machines there"
        raise ConfigError(control_listen, problem, "listen on 127.0.0.1, or drop --no-auth")
    token = secrets.token_urlsafe(32) if needs_token else None
    async with AsyncExitStack() as stack:
        stack.callback(control.close)
        simulator = await stack.enter_async_context(_served(profiles, agent_listen, advertise))
        provider = FaultyProvider(simulator.provider, *faults) if faults else simulator.provider
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
        plane = ControlPlane(Operations(registry, utc_now, profiles[0].domain.wire), token)
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
    async with _served((profile,), listen, advertise, body_timeout=body_timeout) as simulator:
        yield simulator.provider


class ServedSimulator:
    """The simulator for agents in other processes: a provider whose environments are served while `open` lasts.

    With `is_static` there is one kubeconfig for all of them, and one environment at a time.
    """

    def __init__(self, profile: Profile, listen: str, advertise: str, *, is_static: bool = False) -> None:
        self._profile = profile
        self._listen = listen
        self._advertise = advertise
        self._is_static = is_static
        self._turn = asyncio.Lock()
        self._plain = SimulatorProvider({profile.document.id: profile.document.version}, utc_now)
        self._served: _Simulator | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen, for the length of the block."""
        async with _served((self._profile,), self._listen, self._advertise, is_static=self._is_static) as self._served:
            yield

    @property
    def kubeconfig(self) -> str:
        """The one for all environments; empty when each has its own."""
        return self._served.kubeconfig if self._served else ""

    async def conformance(self, profile: str) -> Conformance:
        """What the simulator declares."""
        return await self._plain.conformance(profile)

    def unsupported(self, scenario: Scenario) -> tuple[str, ...]:
        """What the simulator cannot establish."""
        return self._plain.unsupported(scenario)

    @asynccontextmanager
    async def provision(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        """A fresh environment for the length of the block, at its address."""
        if self._served is None:
            raise RuntimeError("environments are served inside of `open`")
        async with AsyncExitStack() as stack:
            if self._is_static:
                await stack.enter_async_context(self._turn)
            yield await stack.enter_async_context(self._served.provider.provision(request))


@dataclass(frozen=True, slots=True)
class _Simulator:
    provider: Provider
    url: str
    kubeconfig: str = field(default="", repr=False)


@asynccontextmanager
async def served_agent(agent: Agent, listen: str, kubeconfig: Path | None = None) -> AsyncIterator[str]:
    """An agent behind the agent contract; gives its URL.

    It acts in the environment that a request hands over, or else in the one that `kubeconfig` leads to, which is read
    anew for every request.
    """
    service = AgentService(agent, lambda document: _handed_over(document, kubeconfig))
    async with serving(service, _listener(listen), None) as address:
        yield f"http://{address}"


def _handed_over(document: Mapping[str, Any], kubeconfig: Path | None) -> EnvironmentAccess | None:
    environment = document.get("environment")
    given: Mapping[str, Any] = environment if isinstance(environment, Mapping) else {}
    part = given.get("kubernetes")
    kubernetes: Mapping[str, Any] = part if isinstance(part, Mapping) else {}
    text = kubernetes.get("kubeconfig")
    if not text and not kubernetes.get("server"):
        if kubeconfig is None:
            return None
        try:
            text = kubeconfig.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise AgentFault(kubeconfig, f"cannot be read: {error}", "check --kubeconfig") from error
    credentials = {"kubeconfig": text, "token": given.get("token"), "ca": given.get("ca")}
    found = agent_access(
        {
            "agent_endpoint": kubernetes.get("server"),
            "agent_credentials": {**credentials, "namespace": kubernetes.get("namespace")},
        }
    )
    tools, services = given.get("mcp"), given.get("services")
    mcp = tools.get("url") if isinstance(tools, Mapping) else ""
    named = services.items() if isinstance(services, Mapping) else ()
    return EnvironmentAccess(
        id=str(given.get("id") or ""),
        type=str(given.get("type") or "kubernetes-cluster"),
        namespace=found.namespace,
        token=found.token,
        client=HttpAgentClient(found),
        served=ServedAccess(found.server, found.authority, found.kubeconfig, mcp if isinstance(mcp, str) else ""),
        services={str(name): str(url).removeprefix(found.server) for name, url in named},
    )


@asynccontextmanager
async def _served(
    profiles: Sequence[Profile],
    listen: str,
    advertise: str,
    *,
    body_timeout: float = BODY_TIMEOUT,
    is_static: bool = False,
) -> AsyncIterator[_Simulator]:
    listener = _listener(listen)
    identity = issued(host_names(listener, advertise), utc_now())
    plane = AgentPlane(source=AGENT_SOURCE, body_timeout=body_timeout)
    async with serving(plane, listener, identity) as address:
        host, _, port = address.rpartition(":")
        reached = f"{advertise or host}:{port}"
        make = StaticFront if is_static else TlsFront
        front = make(plane, reached, identity.authority, _tools())
        versions = {profile.document.id: profile.document.version for profile in profiles}
        kubeconfig = front.kubeconfig if isinstance(front, StaticFront) else ""
        yield _Simulator(SimulatorProvider(versions, utc_now, front=front), f"https://{reached}", kubeconfig)


@asynccontextmanager
async def served_bare(users: Path, listen: str, audit_file: Path) -> AsyncIterator[str]:
    """One empty API server without controllers; gives its URL."""
    async with AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(bare.served_bare(users, listen, audit_file, utc_now))
        except KubesimError as error:
            raise ConfigError(error.where, error.problem, error.remedy) from error
        yield url


def _tools() -> ToolEndpoint | None:
    """The tools of environments over MCP, where the package for it is installed."""
    return ToolEndpoint(_tool_server) if find_spec("mcp") else None


async def _tool_server() -> ToolServer:
    """The package takes longer to load than all the rest, so it comes when it is asked for, beside other requests."""
    module = await asyncio.to_thread(importlib.import_module, "sirocco.domains.kubernetes.mcp_server.server")
    server: ToolServer = module.answer
    return server


def _listener(address: str) -> socket.socket:
    try:
        return bound(address)
    except KubesimError as error:
        raise ConfigError(error.where, error.problem, error.remedy) from error
