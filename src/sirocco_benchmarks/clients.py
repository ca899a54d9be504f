"""The processor time that our HTTP client needs for a request to a remote provider, compared with HTTP libraries.

The provider is our own in another process. On its control plane every request uses a new connection; the agent plane is
called over TLS on persistent connections. The clients take turns, so that all of them meet the same conditions.
"""

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from sirocco.domains.kubernetes.agent_access import AgentAccess, agent_access
from sirocco.providers.http.connection import Connections, Origin

Clock = Callable[[], float]
_Ask = Callable[[], Awaitable[int]]
_Client = Callable[["_Request"], AbstractAsyncContextManager[_Ask]]
_KEPT = 4
_SECONDS = 30.0
_WARM_UP = 20
_NAMESPACE = "depot"
_JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_PROVISION: Mapping[str, Any] = {
    "scenario_id": "bench",
    "environment": {
        "type": "kubernetes-cluster",
        "state": [{"resource": "configmap/settings", "namespace": _NAMESPACE, "data": {"level": "info"}}],
    },
    "agent": {"mode": "autonomous", "tools": [], "scope": {"namespaces": [_NAMESPACE]}},
    "tier": 1,
}


@dataclass(frozen=True, slots=True)
class ClientSpeed:
    """Seconds of processor time per request, by client, each at its best over the rounds; `own` is ours."""

    plane: str
    own: float
    others: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Request:
    server: str
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes
    kept: int
    tls: ssl.SSLContext | None = None


def measured_clients(processor: Clock, *, rounds: int = 4, requests: int = 500) -> list[ClientSpeed]:
    """Processor time of a request on either plane."""
    with _provider() as control:
        return asyncio.run(_measure_clients(control, processor, rounds, requests))


@contextmanager
def _provider() -> Iterator[str]:
    """The control plane of a provider in another process."""
    command = [sys.executable, "-m", "sirocco", "provider", "serve", "--no-auth"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ourselves
        try:
            yield str(json.loads(process.stdout.readline() if process.stdout else "{}")["control"])
        finally:
            process.terminate()


async def _measure_clients(control: str, processor: Clock, rounds: int, requests: int) -> list[ClientSpeed]:
    provisioned = await _answer(_Request(control, "POST", "/v1/provision", _JSON, json.dumps(_PROVISION).encode(), 0))
    asked = {"environment_id": provisioned["environment_id"], "observation_type": "audit_log", "parameters": {}}
    observation = _Request(control, "POST", "/v1/observe", _JSON, json.dumps(asked).encode(), 0)
    speeds = []
    for plane, request in (("control", observation), ("agent", _look(agent_access(provisioned)))):
        taken: dict[str, list[float]] = {name: [] for name in _CLIENTS}
        for _ in range(rounds):
            for name, client in _CLIENTS.items():
                taken[name].append(await _seconds(client(request), processor, requests))
        best = {name: min(times) for name, times in taken.items()}
        speeds.append(ClientSpeed(plane, best.pop("own"), best))
    return speeds


def _look(access: AgentAccess) -> _Request:
    """A read on the agent plane."""
    path = f"/api/v1/namespaces/{_NAMESPACE}/configmaps/settings"
    headers = {"Authorization": f"Bearer {access.token}", "Accept": "application/json"}
    return _Request(
        access.server, "GET", path, headers, b"", _KEPT, ssl.create_default_context(cadata=access.authority)
    )


async def _answer(request: _Request) -> Any:
    connections = Connections(Origin.from_url(request.server))
    answer = await connections.request(
        request.method, request.path, headers=request.headers, content=request.content, timeout=_SECONDS
    )
    return json.loads(answer.content)


async def _seconds(client: AbstractAsyncContextManager[_Ask], processor: Clock, requests: int) -> float:
    """Processor time of a request, after some warm-up requests."""
    async with client as ask:
        for _ in range(_WARM_UP):
            await _require_success(ask)
        start = processor()
        for _ in range(requests):
            await _require_success(ask)
        return (processor() - start) / requests


async def _require_success(ask: _Ask) -> None:
    if (status := await ask()) != httpx.codes.OK:
        raise RuntimeError(f"a measured request was answered with {status}")


@asynccontextmanager
async def _own_client(request: _Request) -> AsyncIterator[_Ask]:
    connections = Connections(Origin.from_url(request.server, tls=request.tls), kept=request.kept)

    async def ask() -> int:
        answer = await connections.request(
            request.method, request.path, headers=request.headers, content=request.content, timeout=_SECONDS
        )
        return answer.status

    yield ask
    connections.close()


@asynccontextmanager
async def _httpcore(request: _Request) -> AsyncIterator[_Ask]:
    async with httpcore.AsyncConnectionPool(ssl_context=request.tls, max_keepalive_connections=request.kept) as pool:
        url, headers = f"{request.server}{request.path}", list(request.headers.items())

        async def ask() -> int:
            async with asyncio.timeout(_SECONDS):
                answer = await pool.request(request.method, url, headers=headers, content=request.content)
            return answer.status

        yield ask


@asynccontextmanager
async def _httpx(request: _Request) -> AsyncIterator[_Ask]:
    limits = httpx.Limits(max_keepalive_connections=request.kept)
    verify = True if request.tls is None else request.tls
    async with httpx.AsyncClient(trust_env=False, verify=verify, limits=limits, timeout=_SECONDS) as client:
        url = f"{request.server}{request.path}"

        async def ask() -> int:
            answer = await client.request(request.method, url, headers=dict(request.headers), content=request.content)
            return answer.status_code

        yield ask


_CLIENTS: Mapping[str, _Client] = {"own": _own_client, "httpcore": _httpcore, "httpx": _httpx}
