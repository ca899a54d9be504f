"""The environment provider: what it declares, what it is asked to establish, and the port to it."""

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
"""The versions of the core standard that are implemented; what later ones added is optional in earlier documents."""


class UnmetRequirement(Noun):
    """A requirement that the provider itself says it does not meet."""

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
        """Whether the provider shows each environment once more without the agent (SI-08)."""
        sources = self.requirements.get("evidence_sources_available")
        return isinstance(sources, list | tuple) and str(ObservationType.STATE_WITHOUT_AGENT) in sources


@dataclass(frozen=True, slots=True)
class ProvisionRequest:
    """What one environment must be; it never says which scenario asks for it (SI-02)."""

    preconditions: Preconditions
    tier: int
    seed: int
    reactions: tuple[Reaction, ...] = ()
    neighbours: tuple[StateEntry, ...] = ()
    """What stands beside the declared state, healthy and of no concern to the scenario; nobody need observe it."""

    @property
    def whole_state(self) -> tuple[StateEntry, ...]:
        """Everything that is to be there, for providers that set up all of it alike."""
        return (*self.preconditions.environment.state, *self.neighbours)

    @classmethod
    def for_scenario(cls, scenario: Scenario, declarations: Declarations, seed: int) -> "ProvisionRequest":
        """What a scenario's environment must be, whatever kind of scenario it is."""
        reactions = scenario.x_sirocco.reactions
        return cls(scenario.preconditions, scenario.tier, seed, reactions, declarations.neighbours(scenario))


class Environment(Protocol):
    """Port: one live environment."""

    @property
    def access(self) -> EnvironmentAccess:
        """What the agent is handed."""
        ...

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        ...

    @property
    def agent_source(self) -> str:
        """The address from which the agent's calls come, as the audit log shows it; empty when not known."""
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
        """Put further entries in place, of the form that preconditions have, now or at a trigger."""
        ...

    async def observe(self, observation_type: ObservationType) -> Observation:
        """Look, through the control plane, at what happened, what is there, or what the agent was answered."""
        ...


class Provider(Protocol):
    """Port: something that provides environments."""

    async def conformance(self, profile: str) -> Conformance:
        """What the provider declares for a profile."""
        ...

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """What a scenario declares that this provider cannot establish; asked at plan time (CO-15)."""
        ...

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """Set up an environment; leaving the block tears it down."""
        ...


class ServedProvider(Provider, Protocol):
    """Port: a provider whose environments can be reached from other processes while `open` lasts."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Listen, for the length of the block."""
        ...

    @property
    def url(self) -> str:
        """Where it listens."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """What leads to all environments alike: by variable, the content; empty when each has its own."""
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
        """For agents in other processes; `is_static` puts one environment at a time behind an address that stays."""
        ...


@runtime_checkable
class ConfigurableProvider(Protocol):
    """Port: a local provider that options lead to a system of the user's, as `NAME?key=value&key=value` says."""

    def configured(self, options: Mapping[str, str]) -> LocalProvider:
        """The provider with these options; ConfigError when they are not good, or not agreed to yet."""
        ...

    def question(self, options: Mapping[str, str]) -> str:
        """What has to be agreed to (`confirmed=yes`) before the system is used; empty when nothing has."""
        ...

    async def clean(self, options: Mapping[str, str], *, everything: bool) -> Sequence[str]:
        """Remove what runs left behind there; the names of what was removed. `everything` spares no other run."""
        ...
