"""Environments of providers that may hang: every request to a provider has a deadline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.wrapper import EnvironmentWrapper

PROVIDER_SECONDS = 600.0
Answer = TypeVar("Answer")


async def answer_in_time(answer: Awaitable[Answer], seconds: float, what: str) -> Answer:
    """The provider's answer, if it arrives in time."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await answer
    except TimeoutError as error:
        if not limit.expired():
            raise
        problem = f"the provider did not {what} within {seconds:g} s"
        raise ProviderFault("provider", problem, "see the provider's own log", FaultKind.TIMEOUT) from error


class Watched(EnvironmentWrapper):
    """Another environment, each answer of which either arrives in time or becomes a fault."""

    def __init__(self, environment: Environment, seconds: float) -> None:
        super().__init__(environment)
        self._seconds = seconds

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Apply a stimulus in time."""
        await answer_in_time(super().inject(stimulus, trigger), self._seconds, "apply a stimulus")

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place in time."""
        await answer_in_time(super().establish(state, trigger), self._seconds, "put further entries in place")

    async def observe(self, observation_type: ObservationType) -> Observation:
        """Observe in time."""
        return await answer_in_time(super().observe(observation_type), self._seconds, f"observe {observation_type}")


@asynccontextmanager
async def provision_watched(provider: Provider, request: ProvisionRequest, seconds: float) -> AsyncIterator[Watched]:
    """An environment whose provider has a deadline for everything, from provisioning to teardown."""
    made = provider.provision(request)
    environment = await answer_in_time(made.__aenter__(), seconds, "set up an environment")
    try:
        yield Watched(environment, seconds)
    except BaseException as error:
        if not await answer_in_time(made.__aexit__(type(error), error, error.__traceback__), seconds, "tear down"):
            raise
    else:
        await answer_in_time(made.__aexit__(None, None, None), seconds, "tear down the environment")
