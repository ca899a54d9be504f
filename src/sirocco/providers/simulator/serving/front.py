"""Puts each environment of a provider on the agent plane and tells its access where it is."""

from dataclasses import replace

from sirocco.oasis.environment import ServedAccess
from sirocco.providers.simulator.provider import SimulatedEnvironment
from sirocco.providers.simulator.serving.kubeconfig import kubeconfig
from sirocco.providers.simulator.serving.plane import AgentPlane


class TlsFront:
    """Environments at `https://<address>/<opaque id>`."""

    def __init__(self, plane: AgentPlane, address: str, authority: str) -> None:
        self._plane = plane
        self._address = address
        self._authority = authority

    def open(self, environment: SimulatedEnvironment) -> None:
        """Serve an environment under its id, or what is derived from it while another one of the same seed is up."""
        access = environment.access
        prefix = self._plane.mount(access.id, environment)
        server = f"https://{self._address}/{prefix}"
        text = kubeconfig(server, self._authority, access.token, access.namespace)
        environment.access = replace(access, served=ServedAccess(server, self._authority, text))

    def close(self, environment: SimulatedEnvironment) -> None:
        """Stop serving it; open watches end."""
        served = environment.access.served
        if served:
            self._plane.unmount(served.server.rpartition("/")[2])
