"""An agent connected to the environments that it acts in: these are served if the agent lives in another process."""

import ipaddress
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sirocco.errors import ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider, ServedProvider
from sirocco.wiring import agents, plugins
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now

LISTEN = "127.0.0.1:0"


@dataclass(frozen=True, slots=True)
class Reach:
    """How agents reach environments: where they are served, under which name, and whether at one address for all."""

    listen: str = ""
    advertise: str = ""
    is_static: bool = False
    kubeconfig: Path | None = None

    def __post_init__(self) -> None:
        host = self.listen.rpartition(":")[0].strip("[]")
        if self.advertise and _is_local(host or "127.0.0.1") and not _is_local(self.advertise):
            problem = f"nobody elsewhere reaches {host or '127.0.0.1'}"
            raise ConfigError("--advertise", problem, "add --listen 0.0.0.0:PORT")
        if host in {"0.0.0.0", "::"} and not self.advertise:  # noqa: S104 - it is asked for, not bound here
            raise ConfigError(
                "--listen", f"{host} is not an address that an agent could connect to", "add --advertise HOST"
            )
        if self.kubeconfig and not self.is_static:
            raise ConfigError("--kubeconfig", "there is no kubeconfig for the whole run", "add --static-endpoint")

    @property
    def is_asked_for(self) -> bool:
        """Whether the user wants environments to be served, whatever the agent."""
        return bool(self.listen or self.advertise or self.is_static)


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that crosses a process boundary; nothing of it runs before `open`."""

    agent: Agent
    provider: Provider
    witnesses: Provider
    """Where witnesses run, which are in this process: not at an address that belongs to the agent."""
    served: ServedProvider | None = None
    """The provider, if it listens for agents elsewhere."""
    credentials: Path | None = None
    """Where to put the file that leads to all environments of the run."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Mapping[str, Path]]:
        """Open while the agent is used; gives the files that lead to all environments of the run, by variable."""
        async with AsyncExitStack() as stack:
            where: Mapping[str, Path] = {}
            if self.served is not None:
                await stack.enter_async_context(self.served.open())
                where = stack.enter_context(written_files(self.served.files, self.credentials))
            if close := getattr(self.agent, "close", None):
                stack.push_async_callback(close)
            yield where

    @property
    def isolation(self) -> str:
        """The isolation level of the agent, and how it is achieved."""
        means = getattr(self.agent, "isolation_means", "")
        return f"{self.agent.isolation} by {means}" if means else self.agent.isolation

    @property
    def isolation_note(self) -> str:
        """Why the agent is not isolated further; empty if there is nothing to say."""
        return str(getattr(self.agent, "isolation_note", ""))

    @contextmanager
    def closed_to_agent(self, folder: Path) -> Iterator[None]:
        """Keep a folder closed to an agent under another account for as long as it runs."""
        if self.agent.isolation != "process+uid":
            yield
            return
        mode = folder.stat().st_mode
        folder.chmod(mode & 0o700)
        try:
            yield
        finally:
            folder.chmod(mode)


def connection(
    profile: Profile,
    spec: str,
    options: AgentOptions,
    *,
    provider: str = "",
    provider_token: str = "",
    reach: Reach | None = None,
) -> Connection:
    """The agent that `spec` names, with the provider in the form it needs: the domain's own if none is named."""
    wanted = reach or Reach()
    provider = provider or plugins.own_provider_name(profile)
    is_outside = agents.needs_serving(agents.kind_of(spec))
    is_local = plugins.is_local_provider(provider, profile)
    if not is_local and wanted.is_asked_for:
        raise ConfigError("--listen", "the provider at the URL serves its environments itself", "drop it")
    chosen = plugins.learned_options(options, profile)
    if not is_local or not (is_outside or wanted.is_asked_for):
        plain = plugins.provider(provider, profile, provider_token)
        return Connection(agents.agent(spec, profile.domain, chosen), plain, plain)
    served = plugins.local_provider(provider, profile).served_provider(
        plugins.profile_versions(profile), utc_now, listen=wanted.listen or LISTEN, advertise=wanted.advertise,
        is_static=wanted.is_static,
    )  # fmt: skip
    if wanted.is_static:
        chosen = replace(chosen, files=lambda: served.files, patience=float(options.timeout_seconds))
    agent = agents.agent(spec, profile.domain, chosen)
    return Connection(agent, served, plugins.provider(provider, profile), served, wanted.kubeconfig)


@contextmanager
def written_files(contents: Mapping[str, str], path: Path | None) -> Iterator[Mapping[str, Path]]:
    """Each content in a file that only its owner can read; without a path, in a temporary one."""
    if not contents:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="access-") as folder:
        targets = {variable: path or Path(folder) / variable.lower() for variable in contents}
        for variable, target in targets.items():
            write_for_owner(target, contents[variable])
        yield targets


def write_for_owner(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in place: it may be mounted where an agent lives."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is a descriptor
        file.write(text)


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
