"""Puts each environment of a provider on the agent plane and tells its access where it is."""

from dataclasses import replace
from functools import partial
from typing import Protocol

from kubesim.handling.request import Request
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import ApiPlane, Application
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG, access_details
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment
from sirocco.oasis.environment import ServedAccess


class Tools(Protocol):
    """Port: the tools of every environment, behind a path of its own."""

    path: str

    def application(self, environment: SimulatedEnvironment, request: Request) -> Application | None:
        """What answers a request that is for the tools; None for any other."""
        ...


class TlsFront:
    """Environments at `https://<address>/<opaque id>`."""

    def __init__(self, plane: ApiPlane, address: str, authority: str, tools: Tools | None = None) -> None:
        self._plane = plane
        self._address = address
        self._authority = authority
        self._tools = tools

    def open(self, environment: SimulatedEnvironment) -> None:
        """Serve an environment under its id, or what is derived from it while another one of the same seed is up."""
        access = replace(environment.access, token=environment.signed_token)
        extension = partial(self._tools.application, environment) if self._tools else None
        prefix = self._plane.mount(access.id, environment, extension)
        server = f"https://{self._address}/{prefix}"
        text = kubeconfig(server, self._authority, access.token, access.namespace)
        mcp = f"{server}{self._tools.path}" if self._tools else ""
        environment.access = replace(
            access,
            served=ServedAccess(server, self._authority, {KUBECONFIG: text}, mcp),
            details=access_details(access.namespace, server, text),
        )

    def close(self, environment: SimulatedEnvironment) -> None:
        """Stop serving it; open watches end."""
        served = environment.access.served
        if served:
            self._plane.unmount(served.server.rpartition("/")[2])
