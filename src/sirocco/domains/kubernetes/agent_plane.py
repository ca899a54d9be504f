"""The agent plane of environments behind an HTTP API: one request, one reply, under one account."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

KUBECONFIG = "KUBECONFIG"
"""The environment variable that names the kubeconfig for clients."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the environment's API; `body` is JSON data, or text for logs."""

    status: int
    body: Any
    warnings: tuple[str, ...] = ()
    """The server's warnings with the answer."""

    @property
    def succeeded(self) -> bool:
        """Whether the call was carried out."""
        return 200 <= self.status < 300


class EnvironmentClient(Protocol):
    """Port: the agent plane of one environment, as one principal sees it."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request; an error status is a Reply, not an exception."""
        ...


def access_details(namespace: str, server: str = "", kubeconfig: str = "") -> dict[str, Any]:
    """The part of an access document that is about a cluster; its address is included once it is served."""
    served = {"server": server, "kubeconfig": kubeconfig} if server else {}
    return {"kubernetes": {"namespace": namespace, **served}}
