"""Equipment: the port to what a domain hands to agents of any kind, and to a trial of whether they can use it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.tools import Tools


@dataclass(frozen=True, slots=True)
class Trial:
    """A harmless task for testing an agent's adapter."""

    preconditions: Preconditions
    question: str
    """A question that reading the environment answers."""
    answer: str
    """A possible answer."""
    second_question: str
    """A follow-up that only makes sense to an agent that remembers the first question."""
    remedy: str
    """The remedy for an agent that never called its environment."""


class Equipment(Protocol):
    """Port: how agents of any kind access the domain's environments."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables by which programs find their access files."""
        ...

    @property
    def role(self) -> str:
        """The role that a bare model is told it has, as a sentence."""
        ...

    @property
    def first_look(self) -> str:
        """A first command for a person to look around in a served environment; empty if no program can connect."""
        ...

    def addresses(self, access: EnvironmentAccess) -> tuple[str, ...]:
        """The offers of a served environment and their addresses: one line each, for a person."""
        ...

    @property
    def trial(self) -> Trial:
        """The task with which an agent's adapter is tested."""
        ...

    def tools(self, access: EnvironmentAccess, now: Callable[[], str]) -> Tools:
        """Tools for a model, over an access without a tool endpoint; `now` provides the time that they write."""
        ...

    def serves(self, tool: str, interfaces: Collection[str]) -> bool:
        """Whether a tool belongs to one of the interfaces that a scenario gives its agent."""
        ...

    def access_in(
        self, environment: Mapping[str, Any], credentials: Callable[[], str | None]
    ) -> EnvironmentAccess | None:
        """The access in a document that a runner handed over, or the one that its `credentials` lead to.

        None if there is neither; ProviderFault if it is unusable.
        """
        ...
