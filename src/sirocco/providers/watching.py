"""Reports what happens in an environment while it happens; evidence is recorded as usual."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import Conformance, Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario

_SECONDS = 0.2
See = Callable[[Observation, str], None]
"""Receives the current audit log, and the agent's account."""


class WatchedProvider:
    """Wraps a provider (implements Provider) and polls the audit log of each environment."""

    def __init__(self, provider: Provider, see: See, seconds: float = _SECONDS) -> None:
        self._provider = provider
        self._see = see
        self._seconds = seconds

    async def conformance(self, profile: str) -> Conformance:
        """As the wrapped provider's."""
        return await self._provider.conformance(profile)

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """As the wrapped provider's."""
        return self._provider.unsupported_demands(scenario)

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """An environment of the wrapped provider, watched while it lasts."""
        return self._watched_environment(request)

    @asynccontextmanager
    async def _watched_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        async with self._provider.provision(request) as environment:
            looking = asyncio.create_task(self._look_again(environment))
            try:
                yield environment
            finally:
                looking.cancel()
                with suppress(asyncio.CancelledError):
                    await looking
                await self._look(environment)

    async def _look_again(self, environment: Environment) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._look(environment)

    async def _look(self, environment: Environment) -> None:
        # Watching decides nothing; if an observation fails, the run itself records that.
        with suppress(Exception):
            log = await environment.observe(ObservationType.AUDIT_LOG)
            if log.is_available:
                self._see(log, environment.agent_principal)
