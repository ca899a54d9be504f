"""Speed and size of environments: set-up, memory, and a request compared with a bare handler served the same way."""

import asyncio
import http.client
import json
import resource
import ssl
import statistics
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kubesim.serving.certificates import issue_identity
from kubesim.serving.plane import ApiPlane, Application, Scope
from kubesim.serving.server import bind_listener, serve_application
from kubesim.serving.streams import Receive, Send
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatedEnvironment, SimulatorProvider
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.provider import ProvisionRequest

Clock = Callable[[], float]
_Action = Callable[[int], Awaitable[None]]
"""One call; the number makes every patch change something."""
_HOST = "127.0.0.1"
_MERGE_PATCH = "application/merge-patch+json"
_WARM_UP = 20
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class CallSpeed:
    """Seconds per call for an environment and for a bare handler, each at its best over the rounds."""

    environment: float
    bare: float

    @property
    def ratio(self) -> float:
        """The environment's time as a multiple of the bare handler's."""
        return self.environment / self.bare


@dataclass(frozen=True, slots=True)
class _Target:
    """A deployment to read and patch."""

    token: str
    path: str
    content: bytes


async def measured_provision(
    requests: Sequence[ProvisionRequest], now: str, clock: Clock, *, rounds: int = 20
) -> list[float]:
    """Seconds for set-up plus teardown, for every request in turn."""
    provider = SimulatorProvider({}, lambda: now)
    taken = []
    for number in range(rounds + 1):
        for request in requests:
            start = clock()
            async with provider.provision(request):
                pass
            # The first round loads what all later ones share.
            if number:
                taken.append(clock() - start)
    return taken


def measured_memory(requests: Sequence[ProvisionRequest], now: str, *, environments: int = 1000) -> float:
    """Megabytes that a number of live environments adds to a fresh process."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_report_memory, args=(there, tuple(requests), now, environments))
    process.start()
    try:
        # Both ends are open here too, so only the child's exit code tells that no number will come.
        while not here.poll(0.2):
            if process.exitcode is not None:
                raise RuntimeError(f"the measuring process ended with {process.exitcode}")
        return float(here.recv())
    finally:
        process.join()


def _report_memory(reply: Connection, requests: Sequence[ProvisionRequest], now: str, environments: int) -> None:
    reply.send(asyncio.run(_memory(requests, now, environments)))


async def _memory(requests: Sequence[ProvisionRequest], now: str, environments: int) -> float:
    provider = SimulatorProvider({}, lambda: now)
    for request in requests:
        async with provider.provision(request):
            pass
    async with AsyncExitStack() as live:
        before = resident()
        for number in range(environments):
            environment = await live.enter_async_context(provider.provision(requests[number % len(requests)]))
            await environment.access.client.request("GET", f"/api/v1/namespaces/{environment.access.namespace}/pods")
        return (resident() - before) / _MEGABYTE


def resident() -> int:
    """Bytes of memory that the process uses; if the system does not tell, the most that it ever used."""
    counts = Path("/proc/self/statm")
    if counts.exists():
        return int(counts.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


async def measured_calls(
    request: ProvisionRequest, now: str, clock: Clock, *, rounds: int = 5, calls: int = 200
) -> dict[str, CallSpeed]:
    """GET and PATCH of a deployment, with the application called directly; environment and bare handler take turns."""
    async with _deployment(request, now) as (plane, target):
        bare = bare_handler(target.content)
        return {
            method: await _speed(_direct(plane, method, target), _direct(bare, method, target), clock, rounds, calls)
            for method in ("GET", "PATCH")
        }


def measured_calls_over_tls(
    request: ProvisionRequest, now: str, clock: Clock, *, rounds: int = 5, calls: int = 200
) -> dict[str, CallSpeed]:
    """The same over TLS on kept connections to another process, which serves both the same way."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve_both, args=(there, request, now))
    process.start()
    try:
        (environment, bare), authority, target = here.recv()
        context = ssl.create_default_context(cadata=authority)
        with closing(_connection(environment, context)) as one, closing(_connection(bare, context)) as other:
            return {
                method: asyncio.run(
                    _speed(
                        _keep_alive_action(one, method, target),
                        _keep_alive_action(other, method, target),
                        clock,
                        rounds,
                        calls,
                    )
                )
                for method in ("GET", "PATCH")
            }
    finally:
        here.send(None)
        process.join()


def _connection(address: str, context: ssl.SSLContext) -> http.client.HTTPSConnection:
    return http.client.HTTPSConnection(address, context=context)


async def _speed(environment: _Action, bare: _Action, clock: Clock, rounds: int, calls: int) -> CallSpeed:
    """Both at their best; they take turns, so that both meet the same conditions."""
    numbers = count()
    for _ in range(_WARM_UP):
        await environment(next(numbers))
        await bare(next(numbers))
    taken = []
    for _ in range(rounds):
        start = clock()
        for _ in range(calls):
            await environment(next(numbers))
        middle = clock()
        for _ in range(calls):
            await bare(next(numbers))
        taken.append((middle - start, clock() - middle))
    return CallSpeed(*(min(times) / calls for times in zip(*taken, strict=True)))


def _direct(application: Application, method: str, target: _Target) -> _Action:
    headers = [(key.lower().encode(), value.encode()) for key, value in _headers(target).items()]
    scope = {
        "type": "http", "method": method, "path": target.path, "raw_path": target.path.encode(), "query_string": b"",
        "headers": headers, "client": (_HOST, 1),
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def act(number: int) -> None:
        body = _patch(number) if method == "PATCH" else b""

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        sent.clear()
        await application(scope, receive, send)
        _require_success(sent[0]["status"])

    return act


def _keep_alive_action(connection: http.client.HTTPSConnection, method: str, target: _Target) -> _Action:
    headers = _headers(target)

    async def act(number: int) -> None:
        connection.request(method, target.path, _patch(number) if method == "PATCH" else None, headers)
        answer = connection.getresponse()
        answer.read()
        _require_success(answer.status)

    return act


def _headers(target: _Target) -> dict[str, str]:
    return {"Authorization": f"Bearer {target.token}", "Content-Type": _MERGE_PATCH, "Accept": "application/json"}


def _patch(number: int) -> bytes:
    return json.dumps({"metadata": {"annotations": {"example.com/number": str(number)}}}).encode()


def _require_success(status: int) -> None:
    if status != http.client.OK:
        raise RuntimeError(f"a measured call was answered with {status}")


def bare_handler(content: bytes) -> Application:
    """The minimum that a JSON handler does: read the body, and answer with an object of this content."""
    answer = json.loads(content)

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        body = (await receive())["body"]
        if body:
            json.loads(body)
        encoded = json.dumps(answer).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(encoded)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": encoded})

    return handle


@asynccontextmanager
async def _deployment(request: ProvisionRequest, now: str) -> AsyncIterator[tuple[ApiPlane, _Target]]:
    """An environment at the root of a plane, and a deployment in it."""
    provider = SimulatorProvider({}, lambda: now)
    async with provider.provision(request) as environment:
        if not isinstance(environment, SimulatedEnvironment):
            raise TypeError("the simulator provides its own environments")
        plane = ApiPlane(source=AGENT_SOURCE)
        plane.mount(environment)
        yield plane, await _find_target(environment.access)


async def _find_target(access: EnvironmentAccess) -> _Target:
    deployments = f"/apis/apps/v1/namespaces/{access.namespace}/deployments"
    name = (await access.client.request("GET", deployments)).body["items"][0]["metadata"]["name"]
    deployment = (await access.client.request("GET", f"{deployments}/{name}")).body
    return _Target(access.token, f"{deployments}/{name}", json.dumps(deployment).encode())


def _serve_both(parent: Connection, request: ProvisionRequest, now: str) -> None:
    asyncio.run(_both_served(parent, request, now))


async def _both_served(parent: Connection, request: ProvisionRequest, now: str) -> None:
    identity = issue_identity([_HOST], now)
    async with (
        _deployment(request, now) as (plane, target),
        serve_application(plane, bind_listener(f"{_HOST}:0"), identity) as environment,
        serve_application(bare_handler(target.content), bind_listener(f"{_HOST}:0"), identity) as bare,
    ):
        parent.send(((environment, bare), identity.authority, target))
        await asyncio.to_thread(parent.recv)


def median(times: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(times)
