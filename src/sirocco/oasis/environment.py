"""An agent's way to its environment: the access that it is handed, and where that leads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class EnvironmentAccess:
    """The access to an environment that an agent is given; ids are opaque (SI-02)."""

    id: str
    type: str
    namespace: str
    token: str
    client: Any = field(repr=False, compare=False)
    """A client for the environment under the agent's account; only its domain knows its interface."""
    served: "ServedAccess | None" = None
    services: Mapping[str, str] = field(default_factory=dict)
    """Services such as metrics and traces: the path of each below the server, by name."""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The domain's additions to the document that is sent over the wire."""

    def document(self) -> dict[str, Any]:
        """The part that goes over the wire."""
        document: dict[str, Any] = {"id": self.id, "type": self.type, "token": self.token, **self.details}
        if self.served:
            document["ca"] = self.served.authority
            if self.served.mcp:
                document["mcp"] = {"url": self.served.mcp}
        if self.services:
            server = self.served.server if self.served else ""
            document["services"] = {name: f"{server}{path}" for name, path in self.services.items()}
        return document

    def named(self) -> "EnvironmentAccess":
        """The access of an agent whose own hosts file resolves a drawn name to the server (SI-02)."""
        if self.served is None or not self.served.name:
            return self
        old = urlsplit(self.served.server).netloc
        address, _, port = old.rpartition(":")
        new = f"{self.served.name}:{port}"
        files = {variable: content.replace(old, new) for variable, content in self.served.files.items()}
        served = replace(
            self.served, server=self.served.server.replace(old, new), files=files,
            mcp=self.served.mcp.replace(old, new), hosts=f"{address.strip('[]')}\t{self.served.name}\n",
        )  # fmt: skip
        return replace(self, served=served, details=_replace_texts(self.details, old, new))


def _replace_texts(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {key: _replace_texts(one, old, new) for key, one in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class ServedAccess:
    """The addresses and files by which clients in other processes reach an environment."""

    server: str
    authority: str
    """The certificate of the authority that issued the server's, as PEM text."""
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The files that clients read to connect: the content, by the variable that points to the file."""
    mcp: str = ""
    """The URL of its MCP tools; empty if there are none."""
    name: str = ""
    """A name that the server's certificate also covers and that only a hosts file resolves."""
    hosts: str = ""
    """The required entry in that hosts file; empty while the server is called by its address."""
