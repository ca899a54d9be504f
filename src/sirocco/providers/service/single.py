"""Provides one environment at a time and announces its credentials, for runners that hand none to their agents."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.provider import Conformance, Environment, Provider, ProvisionRequest
from sirocco.oasis.scenario import Scenario


class SingleEnvironment:
    """Announces, for each environment, the files that give access to it (implements Provider).

    A second environment is refused rather than queued: a runner waiting because another forgot its teardown would not
    learn why, and an agent with one set of credentials cannot work in two environments.
    """

    def __init__(self, provider: Provider, announce: Callable[[Mapping[str, str]], None]) -> None:
        self._provider = provider
        self._announce = announce
        self._is_taken = False

    async def conformance(self, profile: str) -> Conformance:
        """The provider's declaration."""
        return await self._provider.conformance(profile)

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """What the provider cannot establish."""
        return self._provider.unsupported_demands(scenario)

    @asynccontextmanager
    async def provision(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        """The only environment, for the duration of the block; raise ProviderFault while there is another."""
        if self._is_taken:
            problem = "another environment is up, and both would share one file of credentials; tear it down first"
            remedy = "run one scenario at a time, or give each environment its own credentials"
            raise ProviderFault("provision", problem, remedy, FaultKind.REFUSED)
        self._is_taken = True
        try:
            async with self._provider.provision(request) as environment:
                served = environment.access.served
                self._announce(served.files if served else {})
                yield environment
        finally:
            self._is_taken = False
