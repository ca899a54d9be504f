"""The simulator as a provider in this process: for agents in it, or served over TLS to those elsewhere."""

import asyncio
import importlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec

from kubesim.errors import KubesimError
from kubesim.serving.certificates import issue_identity
from kubesim.serving.plane import BODY_TIMEOUT, ApiPlane
from kubesim.serving.server import bind_listener, host_names, serve_application
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG
from sirocco.domains.kubernetes.mcp_server.endpoint import Server as ToolServer
from sirocco.domains.kubernetes.mcp_server.endpoint import ToolEndpoint
from sirocco.domains.kubernetes.simulator.front import Reach, TlsFront
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatorProvider
from sirocco.domains.kubernetes.simulator.static import StaticFront
from sirocco.errors import ConfigError
from sirocco.oasis.provider import Conformance, Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario

Clock = Callable[[], str]


class ServedSimulator:
    """The simulator for agents in other processes: a provider whose environments are served while `open` lasts.

    With `is_static` there is one kubeconfig for all of them, and one environment at a time.
    """

    def __init__(
        self,
        versions: Mapping[str, str],
        clock: Clock,
        *,
        listen: str,
        advertise: str = "",
        is_static: bool = False,
        body_timeout: float = BODY_TIMEOUT,
    ) -> None:
        self._versions = versions
        self._clock = clock
        self._listen = listen
        self._advertise = advertise
        self._is_static = is_static
        self._body_timeout = body_timeout
        self._turn = asyncio.Lock()
        self._plain = SimulatorProvider(versions, clock)
        self._listening: _Listening | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen for the length of the block."""
        async with self._listens() as self._listening:
            yield

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._listening.url if self._listening else ""

    @property
    def files(self) -> Mapping[str, str]:
        """The kubeconfig for all environments; empty when each has its own."""
        kubeconfig = self._listening.kubeconfig if self._listening else ""
        return {KUBECONFIG: kubeconfig} if kubeconfig else {}

    async def conformance(self, profile: str) -> Conformance:
        """What the simulator declares."""
        return await self._plain.conformance(profile)

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """Demands that the simulator cannot meet."""
        return self._plain.unsupported_demands(scenario)

    @asynccontextmanager
    async def provision(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        """A fresh environment for the length of the block, at its address."""
        if self._listening is None:
            raise RuntimeError("environments are served inside of `open`")
        async with AsyncExitStack() as stack:
            if self._is_static:
                await stack.enter_async_context(self._turn)
            yield await stack.enter_async_context(self._listening.provider.provision(request))

    @asynccontextmanager
    async def _listens(self) -> AsyncIterator["_Listening"]:
        listener = _listening_socket(self._listen)
        reach = Reach(self._advertise, self._body_timeout)
        host, port = listener.getsockname()[:2]
        url = reach.server(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        if self._is_static:
            async with self._static(listener, url) as front:
                yield _Listening(SimulatorProvider(self._versions, self._clock, front=front), url, front.kubeconfig)
            return
        own = TlsFront(listener, self._listen, reach, tool_endpoint())
        try:
            yield _Listening(SimulatorProvider(self._versions, self._clock, front=own), url)
        finally:
            own.close()

    @asynccontextmanager
    async def _static(self, listener: socket.socket, url: str) -> AsyncIterator[StaticFront]:
        """One endpoint for all environments."""
        identity = issue_identity(host_names(listener, self._advertise), self._clock())
        plane = ApiPlane(source=AGENT_SOURCE, body_timeout=self._body_timeout)
        front = StaticFront(plane, url, identity.authority, tool_endpoint())
        async with serve_application(plane, listener, identity, lambda: front.now(self._clock)):
            yield front


@dataclass(frozen=True, slots=True)
class _Listening:
    """The simulator while it listens."""

    provider: Provider
    url: str
    kubeconfig: str = field(default="", repr=False)


def tool_endpoint() -> ToolEndpoint | None:
    """The tools of environments over MCP, if the package for it is installed."""
    return ToolEndpoint(_tool_server) if find_spec("mcp") else None


async def _tool_server() -> ToolServer:
    """Import the server on first use, in a thread: that takes longer than loading everything else."""
    module = await asyncio.to_thread(importlib.import_module, "sirocco.domains.kubernetes.mcp_server.server")
    server: ToolServer = module.answer
    return server


def _listening_socket(address: str) -> socket.socket:
    """A socket that listens at an address; ConfigError when none can."""
    try:
        return bind_listener(address)
    except KubesimError as error:
        raise ConfigError(error.where, error.problem, error.remedy) from error
