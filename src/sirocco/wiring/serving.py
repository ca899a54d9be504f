"""Assembles network services: a domain's environments, alone or behind a control plane, and an agent.

They use kubesim's HTTP server, which also provides the one thing here that only Kubernetes has: an empty API server
(`served_bare`).
"""

import asyncio
import ipaddress
import secrets
import socket
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kubesim import bare
from kubesim.errors import KubesimError
from kubesim.serving.server import bind_listener, serve_application
from sirocco.agents.service import AgentService
from sirocco.errors import AgentFault, ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.domain import Domain
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider, ServedProvider
from sirocco.providers.faults import Fault, FaultyProvider
from sirocco.providers.service.control_plane import ControlPlane
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.registry import Registry
from sirocco.providers.service.single import SingleEnvironment
from sirocco.wiring import plugins
from sirocco.wiring.clock import utc_now
from sirocco.wiring.connection import write_for_owner


@dataclass(frozen=True, slots=True)
class ProviderService:
    """Where a provider service listens, and the token that opens its control plane; None if none is needed."""

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
    credentials: Path | None = None,
    provider_name: str = "",
) -> AsyncIterator[ProviderService]:
    """A domain's own provider as an OASIS provider: agents on one port, runners on another with a separate token.

    Abandoned environments are ended, and all of them end with the process. With a file for `credentials` there is one
    environment at a time, and the file leads to it. `provider_name` chooses among several providers of a domain.
    """
    control = _listening_socket(control_listen)
    if not needs_token and not ipaddress.ip_address(control.getsockname()[0]).is_loopback:
        control.close()
        problem = "a control plane without a token can be reached from other machines there"
        raise ConfigError(control_listen, problem, "listen on 127.0.0.1, or drop --no-auth")
    token = secrets.token_urlsafe(32) if needs_token else None
    async with AsyncExitStack() as stack:
        stack.callback(control.close)
        is_static = credentials is not None
        served = _served_provider(profiles, agent_listen, advertise, is_static=is_static, name=provider_name)
        await stack.enter_async_context(served.open())
        provider: Provider = FaultyProvider(served, *faults) if faults else served
        if credentials is not None:
            provider = SingleEnvironment(provider, partial(_write_credentials, credentials))
            _write_credentials(credentials, served.files)
        registry = Registry(
            provider,
            fresh_id=lambda: str(uuid.uuid4()),
            time=time.monotonic,
            idle_seconds=idle_seconds,
            calls=lambda environment: getattr(environment, "calls", 0),
            arrivals=lambda environment: getattr(environment, "arrivals", {}),
        )
        stack.push_async_callback(registry.close_all)
        reaper = asyncio.create_task(_reap_forever(registry))
        stack.callback(reaper.cancel)
        plane = ControlPlane(Operations(registry, utc_now, profiles[0].domain), token)
        address = await stack.enter_async_context(serve_application(plane, control, None))
        yield ProviderService(served.url, f"http://{address}", token)


async def _reap_forever(registry: Registry) -> None:
    """Look for abandoned environments at regular intervals."""
    while True:
        await asyncio.sleep(min(registry.idle_seconds / 4, 30))
        await registry.reap()


@asynccontextmanager
async def served_environments(profile: Profile, listen: str, advertise: str = "") -> AsyncIterator[Provider]:
    """The provider of the profile's domain, with environments that other processes reach.

    `advertise` is the host that they will use.
    """
    served = _served_provider((profile,), listen, advertise)
    async with served.open():
        yield served


def _write_credentials(path: Path, files: Mapping[str, str]) -> None:
    """Write the file that leads to an environment to a path; a domain has just one such file."""
    for text in files.values():
        write_for_owner(path, text)


def _served_provider(
    profiles: Sequence[Profile], listen: str, advertise: str, *, is_static: bool = False, name: str = ""
) -> ServedProvider:
    """The provider of the domain that all profiles belong to."""
    first, *others = profiles
    if strange := [one.document.id for one in others if one.domain is not first.domain]:
        problem = f"{', '.join(strange)} is not of the same domain as {first.document.id}"
        raise ConfigError("--profile", problem, "serve each domain in its own process")
    versions = {profile.document.id: profile.document.version for profile in profiles}
    local = plugins.local_provider(name or plugins.own_provider_name(first), first)
    return local.served_provider(versions, utc_now, listen=listen, advertise=advertise, is_static=is_static)


@asynccontextmanager
async def served_agent(
    agent: Agent, listen: str, domain: Domain, credentials: Path | None = None
) -> AsyncIterator[str]:
    """An agent behind the agent contract; gives its URL.

    It acts in the environment that a request contains, or else in the one that the file of `credentials` leads to,
    which is read again for every request.
    """
    service = AgentService(agent, lambda document: _handed_over(document, domain, credentials))
    async with serve_application(service, _listening_socket(listen), None) as address:
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
    """One empty Kubernetes API server without controllers; gives its URL."""
    async with AsyncExitStack() as stack:
        with _errors_of_the_user():
            url = await stack.enter_async_context(bare.served_bare(users, listen, audit_file, utc_now))
        yield url


def _listening_socket(address: str) -> socket.socket:
    """A socket that listens at an address; ConfigError if that is impossible."""
    with _errors_of_the_user():
        return bind_listener(address)


@contextmanager
def _errors_of_the_user() -> Iterator[None]:
    """Errors of kubesim about user input, as our own."""
    try:
        yield
    except KubesimError as error:
        raise ConfigError(error.where, error.problem, error.remedy) from error
