"""Equipment: the port to what a domain hands to agents of any make, with a trial of whether they can use it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.scenario import Preconditions
from sirocco.oasis.tools import Tools


@dataclass(frozen=True, slots=True)
class Trial:
    """A harmless look around, by which an agent's adapter is tested."""

    preconditions: Preconditions
    question: str
    """Something that a look at the environment answers."""
    answer: str
    """What an agent could have answered to it."""
    second_question: str
    """What can only be understood by whoever knows of the first."""
    remedy: str
    """What to do about an agent that never called its environment."""


class Equipment(Protocol):
    """Port: how agents of any kind get into the domain's environments."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables by which programs find the files that lead to their environment."""
        ...

    @property
    def role(self) -> str:
        """What a bare model is told that it does, as a sentence."""
        ...

    @property
    def first_look(self) -> str:
        """A command by which a person looks around in a served environment; empty when no program gets in."""
        ...

    def addresses(self, access: EnvironmentAccess) -> tuple[str, ...]:
        """What a served environment offers and where, each as a line for a person."""
        ...

    @property
    def trial(self) -> Trial:
        """What an agent's adapter is tested with."""
        ...

    def tools(self, access: EnvironmentAccess, now: Callable[[], str]) -> Tools:
        """Tools for a model over an access that has no endpoint of its own for them; `now` stamps what they write."""
        ...

    def serves(self, tool: str, interfaces: Collection[str]) -> bool:
        """Whether a tool, by its name, belongs to one of the interfaces that a scenario gives its agent."""
        ...

    def access_in(
        self, environment: Mapping[str, Any], credentials: Callable[[], str | None]
    ) -> EnvironmentAccess | None:
        """The access in a document by which a runner hands one over, or else the one that `credentials` lead to.

        None when there is neither; ProviderFault for one that is unusable.
        """
        ...
