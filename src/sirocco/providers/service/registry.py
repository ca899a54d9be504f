"""The live environments of a service: opened, looked up, closed, and reaped when a runner abandons them."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest

_REMEMBERED = 10_000
"""How many ids of closed environments are remembered, so that closing one twice is no error."""


@dataclass(slots=True)
class Live:
    """One live environment."""

    id: str
    environment: Environment
    request: ProvisionRequest
    before: tuple[Mapping[str, Any], ...]
    """Its objects at the time it was handed over."""
    stack: AsyncExitStack
    touched: float
    arrivals: Mapping[str, str]
    """Arrival times of requests by the runners' clock, by their times in the audit log."""
    calls: int = 0


class Registry:
    """Environments by opaque ids, all in memory, so that none outlives the process.

    `time` returns seconds. `calls` returns how many calls agents have made in an environment: one in which an agent is
    still working is not abandoned, however long its runner is silent. `arrivals` translates the times of an audit log
    if the environment has its own clock.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        fresh_id: Callable[[], str],
        time: Callable[[], float],
        idle_seconds: float,
        calls: Callable[[Environment], int] = lambda _: 0,
        arrivals: Callable[[Environment], Mapping[str, str]] = lambda _: {},
    ) -> None:
        self.provider = provider
        self.idle_seconds = idle_seconds
        self._fresh_id = fresh_id
        self._time = time
        self._calls = calls
        self._arrivals = arrivals
        self._live: dict[str, Live] = {}
        self._gone: OrderedDict[str, None] = OrderedDict()

    async def open(self, request: ProvisionRequest) -> Live:
        """Set up a new environment."""
        async with AsyncExitStack() as stack:
            environment = await stack.enter_async_context(self.provider.provision(request))
            observed = await environment.observe(ObservationType.RESOURCE_STATE)
            before = tuple(observed.data.get("objects", ()))
            arrivals = self._arrivals(environment)
            live = Live(self._fresh_id(), environment, request, before, stack.pop_all(), self._time(), arrivals)
        self._live[live.id] = live
        return live

    def find(self, identity: str) -> Live:
        """The environment with that id, which counts as used from now; raise ProviderFault if there is none."""
        live = self._live.get(identity)
        if live is None:
            problem = f'environment "{identity}" not found'
            raise ProviderFault("environment", problem, "provision a new one", FaultKind.LOST)
        live.touched = self._time()
        return live

    async def close(self, identity: str) -> None:
        """Close an environment; closing it again is no error, but an unknown id is a fault."""
        if identity in self._gone:
            return
        live = self.find(identity)
        del self._live[identity]
        self._gone[identity] = None
        while len(self._gone) > _REMEMBERED:
            self._gone.popitem(last=False)
        await live.stack.aclose()

    async def reap(self) -> tuple[str, ...]:
        """Close the environments that have been idle for too long, and return their ids."""
        abandoned = []
        for live in list(self._live.values()):
            calls = self._calls(live.environment)
            if calls != live.calls:
                live.calls, live.touched = calls, self._time()
            elif self._time() - live.touched >= self.idle_seconds:
                abandoned.append(live.id)
        for identity in abandoned:
            # A provider that cannot close one environment must still close the others.
            with suppress(Exception):
                await self.close(identity)
        return tuple(abandoned)

    async def close_all(self) -> None:
        """Close every environment."""
        for identity in list(self._live):
            with suppress(Exception):
                await self.close(identity)

    def __len__(self) -> int:
        return len(self._live)
