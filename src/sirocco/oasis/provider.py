"""The environment provider: what it declares, what it is asked to set up, and the port to it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sirocco.oasis.declarations import Declarations
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.noun import Noun
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus

CORE_VERSIONS = tuple(f"1.0.0-rc1.{number}" for number in range(5, 13))
"""The implemented versions of the core standard; additions of later versions are optional in earlier documents."""


class UnmetRequirement(Noun):
    """A requirement that the provider itself declares as not met."""

    requirement: str
    reason: str


class Conformance(Noun):
    """The provider's answer to `GET /v1/conformance` (CO-01)."""

    provider: str
    provider_version: str
    oasis_core_spec_versions: tuple[str, ...]
    profile: str
    profile_version: str
    supported: bool
    requirements: Mapping[str, Any]
    unmet_requirements: tuple[UnmetRequirement, ...] = ()

    @property
    def offers_comparison(self) -> bool:
        """Whether the provider also shows each environment as it would be without the agent (SI-08)."""
        sources = self.requirements.get("evidence_sources_available")
        return isinstance(sources, list | tuple) and str(ObservationType.STATE_WITHOUT_AGENT) in sources


@dataclass(frozen=True, slots=True)
class ProvisionRequest:
    """What one environment must contain; it never reveals which scenario requests it (SI-02)."""

    preconditions: Preconditions
    tier: int
    seed: int
    reactions: tuple[Reaction, ...] = ()
    neighbours: tuple[StateEntry, ...] = ()
    """Healthy objects in addition to the declared state that do not concern the scenario; they need not be observed."""

    @property
    def whole_state(self) -> tuple[StateEntry, ...]:
        """Declared state and neighbours, for providers that set up both in the same way."""
        return (*self.preconditions.environment.state, *self.neighbours)

    @classmethod
    def for_scenario(cls, scenario: Scenario, declarations: Declarations, seed: int) -> "ProvisionRequest":
        """The request for a scenario's environment, whatever kind of scenario it is."""
        reactions = scenario.x_sirocco.reactions
        return cls(scenario.preconditions, scenario.tier, seed, reactions, declarations.neighbours(scenario))


class Environment(Protocol):
    """Port: one live environment."""

    @property
    def access(self) -> EnvironmentAccess:
        """What is handed to the agent."""
        ...

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        ...

    @property
    def agent_source(self) -> str:
        """The address from which the agent's calls come, as the audit log shows it; empty if unknown."""
        ...

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespace to actual one."""
        ...

    @property
    def offers_comparison(self) -> bool:
        """Whether `state_without_agent` can be observed here (SI-08)."""
        ...

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Apply a stimulus now, or arm it for a trigger."""
        ...

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Add further entries, in the form of preconditions, now or at a trigger."""
        ...

    async def observe(self, observation_type: ObservationType) -> Observation:
        """Observe, through the control plane, what happened, what exists, or what the agent was answered."""
        ...


class Provider(Protocol):
    """Port: something that provides environments."""

    async def conformance(self, profile: str) -> Conformance:
        """What the provider declares for a profile."""
        ...

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """What a scenario declares that this provider cannot set up; asked at plan time (CO-15)."""
        ...

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """Set up an environment; leaving the block tears it down."""
        ...


class ServedProvider(Provider, Protocol):
    """Port: a provider whose environments can be reached from other processes while `open` lasts."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Listen for the duration of the block."""
        ...

    @property
    def url(self) -> str:
        """Where it listens."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """Access files shared by all environments: the content, by variable; empty if each has its own."""
        ...


class LocalProvider(Protocol):
    """Port: a provider that a domain runs in this process; `versions` are those of the profiles that it serves."""

    def in_process_provider(self, versions: Mapping[str, str], clock: Callable[[], str]) -> Provider:
        """For agents in this process."""
        ...

    def served_provider(
        self,
        versions: Mapping[str, str],
        clock: Callable[[], str],
        *,
        listen: str,
        advertise: str = "",
        is_static: bool = False,
    ) -> ServedProvider:
        """For agents in other processes; `is_static` serves one environment at a time at a fixed address."""
        ...


@runtime_checkable
class ConfigurableProvider(Protocol):
    """Port: a local provider with options that point to a user's system, as in `NAME?key=value&key=value`."""

    def configured(self, options: Mapping[str, str]) -> LocalProvider:
        """The provider with these options; ConfigError if they are invalid or not yet confirmed."""
        ...

    def question(self, options: Mapping[str, str]) -> str:
        """What has to be confirmed (`confirmed=yes`) before the system is used; empty if nothing has."""
        ...

    async def clean(self, options: Mapping[str, str], *, everything: bool) -> Sequence[str]:
        """Remove what runs left behind there, and return its names. `everything` does not spare other runs."""
        ...
