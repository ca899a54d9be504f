"""The live environments of a service: opened, found, closed, and closed for those who went away without a word."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest

_REMEMBERED = 10_000
"""Ids of environments that are gone, so that ending one twice is no error."""


@dataclass(slots=True)
class Live:
    """One environment that somebody asked for."""

    id: str
    environment: Environment
    request: ProvisionRequest
    before: tuple[Mapping[str, Any], ...]
    """Its objects when it was handed over."""
    stack: AsyncExitStack
    touched: float
    arrivals: Mapping[str, str]
    """When requests came by the clock of runners, by their times in the audit log."""
    calls: int = 0


class Registry:
    """Environments by opaque ids; all of them are in memory, so none outlives the process.

    `time` counts seconds. `calls` says how many calls agents have made in an environment: an environment in which an
    agent still works is not abandoned, however long its runner is silent. `arrivals` translates the times of an audit
    log whose environment has a clock of its own.
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
        """A new environment."""
        async with AsyncExitStack() as stack:
            environment = await stack.enter_async_context(self.provider.provision(request))
            observed = await environment.observe(ObservationType.RESOURCE_STATE)
            before = tuple(observed.data.get("objects", ()))
            arrivals = self._arrivals(environment)
            live = Live(self._fresh_id(), environment, request, before, stack.pop_all(), self._time(), arrivals)
        self._live[live.id] = live
        return live

    def find(self, identity: str) -> Live:
        """The environment of that id, which is now known to be in use; ProviderFault when there is none."""
        live = self._live.get(identity)
        if live is None:
            problem = f'environment "{identity}" not found'
            raise ProviderFault("environment", problem, "provision a new one", FaultKind.LOST)
        live.touched = self._time()
        return live

    async def close(self, identity: str) -> None:
        """End an environment; one that was ended before stays ended, an id that never was is a fault."""
        if identity in self._gone:
            return
        live = self.find(identity)
        del self._live[identity]
        self._gone[identity] = None
        while len(self._gone) > _REMEMBERED:
            self._gone.popitem(last=False)
        await live.stack.aclose()

    async def reap(self) -> tuple[str, ...]:
        """End the environments that nobody has used for the idle time, and name them."""
        abandoned = []
        for live in list(self._live.values()):
            calls = self._calls(live.environment)
            if calls != live.calls:
                live.calls, live.touched = calls, self._time()
            elif self._time() - live.touched >= self.idle_seconds:
                abandoned.append(live.id)
        for identity in abandoned:
            # A provider that cannot end one environment must still be made to end the others.
            with suppress(Exception):
                await self.close(identity)
        return tuple(abandoned)

    async def close_all(self) -> None:
        """End every environment."""
        for identity in list(self._live):
            with suppress(Exception):
                await self.close(identity)

    def __len__(self) -> int:
        return len(self._live)
