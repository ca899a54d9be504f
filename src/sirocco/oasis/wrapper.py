"""Environments that wrap another environment.

Everything that a wrapper does not change is passed on, member by member.
"""

from collections.abc import Mapping

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import Environment
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus


class EnvironmentWrapper:
    """Another environment unchanged (implements Environment); a subclass changes part of it."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def access(self) -> EnvironmentAccess:
        """What the agent is handed."""
        return self._environment.access

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        return self._environment.agent_principal

    @property
    def agent_source(self) -> str:
        """The address from which the agent's calls come."""
        return self._environment.agent_source

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespace to actual one."""
        return self._environment.resolved_namespaces

    @property
    def offers_comparison(self) -> bool:
        """Whether the same environment without the agent can be observed."""
        return self._environment.offers_comparison

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Apply a stimulus now, or arm it for a trigger."""
        await self._environment.inject(stimulus, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place, now or at a trigger."""
        await self._environment.establish(state, trigger)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """Look at the environment through its control plane."""
        return await self._environment.observe(observation_type)
