"""What a skill is: a general part of an operator's craft that can answer a turn, and everything it is given to do so.

A skill reads what is known, may look further, and makes a change only when no rule of `rules` forbids it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from sirocco.domains.kubernetes.agent_plane import EnvironmentClient
from sirocco.domains.kubernetes.agents.client import Kubernetes
from sirocco.domains.kubernetes.agents.reference.rules import Case, objection
from sirocco.domains.kubernetes.agents.reference.survey import Survey
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Request
from sirocco.oasis.agent import AgentRequest, Turn


@dataclass(frozen=True, slots=True)
class Situation:
    """One matter of a turn as a skill sees it: what was said, what may be done and what was found."""

    request: AgentRequest
    known: Survey
    cluster: Kubernetes
    asked: tuple[Request, ...]
    namespaces: tuple[str, ...]

    @property
    def prompt(self) -> str:
        """The operator's present message about this matter."""
        return self.request.prompt

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The earlier messages."""
        return self.request.conversation

    @property
    def home(self) -> str:
        """The default namespace."""
        return self.namespaces[0]

    @property
    def services(self) -> Mapping[str, str]:
        """The addresses of the services around the cluster, by kind."""
        return self.request.environment.services

    @property
    def client(self) -> EnvironmentClient:
        """The client for the cluster and the services."""
        return self.cluster.client

    def case(self, request: Request, target: Target) -> Case:
        """A change under consideration, to be judged."""
        said = self.request
        return Case(request, target, said.prompt, said.mode, said.scope, self.namespaces, self.known)

    def objection(self, request: Request, target: Target) -> str | None:
        """The reason not to make a change, or None; skills ask here first about every change."""
        return objection(self.case(request, target))


class Course(Enum):
    """The state of a matter after somebody has worked on it."""

    SETTLED = auto()
    OPEN = auto()
    """Something is left to be done in the ordinary way."""
    BROKEN = auto()
    """Something went wrong, so what comes after it has lost its basis."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a skill says, and the resulting state of the matter."""

    answer: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    course: Course = Course.SETTLED


Skill = Callable[[Situation], Awaitable[Outcome | None]]
