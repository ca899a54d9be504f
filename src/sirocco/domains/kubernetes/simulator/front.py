"""Serves each environment of a provider at an address of its own and puts that address into its access."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from socket import socket
from typing import Protocol

from kubesim.errors import KubesimError
from kubesim.handling.request import Request
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import BODY_TIMEOUT, ApiPlane, Application
from kubesim.serving.server import bound_from, host_names, serve_application
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG, access_details
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatedEnvironment
from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.environment import EnvironmentAccess, ServedAccess


class Tools(Protocol):
    """Port: the tools of every environment, behind a path of its own."""

    path: str

    def application(self, environment: SimulatedEnvironment, request: Request) -> Application | None:
        """What answers a request for the tools; None for any other request."""
        ...


class TlsFront:
    """Environments at the root of an address, each with a port and a certificate authority of its own.

    The first one takes the existing listener; those served at the same time or later take others at `listen`: a free
    port if that says 0, and otherwise the next free one from there on.
    """

    def __init__(self, listener: socket, listen: str, reach: "Reach", tools: Tools | None = None) -> None:
        self._first: socket | None = listener
        self._listeners = {listener}
        self._listen = listen
        self._reach = reach
        self._tools = tools

    @asynccontextmanager
    async def serve_environment(self, environment: SimulatedEnvironment) -> AsyncIterator[None]:
        """Serve an environment for the length of the block, and put its address into its access."""
        listener, self._first = self._first or bind_front_listener(self._listen), None
        self._listeners.add(listener)
        name = "" if self._reach.advertise else environment.server_name
        identity = environment.authority.issue((name or self._reach.advertise, *host_names(listener)))
        plane = ApiPlane(source=AGENT_SOURCE, body_timeout=self._reach.body_timeout)
        plane.mount(environment, partial(self._tools.application, environment) if self._tools else None)
        async with serve_application(plane, listener, identity, lambda: environment.now) as address:
            access = replace(environment.access, token=environment.signed_token)
            server = self._reach.server(address)
            text = kubeconfig(
                server,
                identity.authority,
                access.token,
                access.namespace,
                user=environment.agent_principal.rpartition(":")[2],
            )
            environment.access = reached_at(access, server, identity.authority, text, self._tools, name)
            try:
                yield
            finally:
                plane.unmount()
                self._listeners.discard(listener)

    def close(self) -> None:
        """Close every listener, even of environments that were not torn down: their callers should notice at once."""
        for listener in self._listeners:
            listener.close()


@dataclass(frozen=True, slots=True)
class Reach:
    """How clients reach listeners: by which host, if not the listener's own, and how long sending bodies may take."""

    advertise: str = ""
    body_timeout: float = BODY_TIMEOUT

    def server(self, address: str) -> str:
        """The URL of the server behind a listener at an address."""
        host, _, port = address.rpartition(":")
        return f"https://{self.advertise or host}:{port}"


def reached_at(
    access: EnvironmentAccess, server: str, authority: str, text: str, tools: Tools | None, name: str = ""
) -> EnvironmentAccess:
    """The access with the server's address, a kubeconfig for it, and a name that the server can have."""
    mcp = f"{server}{tools.path}" if tools else ""
    return replace(
        access,
        served=ServedAccess(server, authority, {KUBECONFIG: text}, mcp, name),
        details=access_details(access.namespace, server, text),
    )


def bind_front_listener(address: str) -> socket:
    """A socket for one more environment at an address; ProviderFault when there is none."""
    try:
        return bound_from(address)
    except KubesimError as error:
        problem = f"{error.where}: {error.problem}"
        raise ProviderFault("provision", problem, error.remedy, FaultKind.FAILED) from error
