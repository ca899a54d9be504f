"""How an agent reaches its environment: the access it is handed, and the port through which calls go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the environment's API; `body` is JSON data, or text for logs."""

    status: int
    body: Any
    warnings: tuple[str, ...] = ()
    """What the server says beside the answer."""

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


@dataclass(frozen=True, slots=True)
class EnvironmentAccess:
    """What an agent is given to reach its environment; ids are opaque (SI-02)."""

    id: str
    type: str
    namespace: str
    token: str
    client: EnvironmentClient = field(repr=False, compare=False)
    served: "ServedAccess | None" = None
    services: Mapping[str, str] = field(default_factory=dict)
    """Where metrics, traces and the like are asked for: by name, the path below the server."""

    def document(self) -> dict[str, Any]:
        """The part that goes over the wire."""
        kubernetes = {"namespace": self.namespace}
        document: dict[str, Any] = {"id": self.id, "type": self.type, "token": self.token, "kubernetes": kubernetes}
        if self.served:
            kubernetes |= {"server": self.served.server, "kubeconfig": self.served.kubeconfig}
            document["ca"] = self.served.authority
            if self.served.mcp:
                document["mcp"] = {"url": self.served.mcp}
        if self.services:
            server = self.served.server if self.served else ""
            document["services"] = {name: f"{server}{path}" for name, path in self.services.items()}
        return document


@dataclass(frozen=True, slots=True)
class ServedAccess:
    """Where an environment that is served over TLS is, for clients in other processes."""

    server: str
    authority: str
    """The certificate of the authority that vouches for the server, as PEM text."""
    kubeconfig: str = field(repr=False)
    mcp: str = ""
    """The URL of its tools; empty when there are none."""
