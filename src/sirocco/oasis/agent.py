"""The agent under evaluation: what it is asked, what it answers, and the port to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.noun import Noun


class AgentIdentity(Noun):
    """Who the agent says it is."""

    name: str
    version: str
    description: str = ""


class AgentDescription(Noun):
    """Identity and configuration, asked once per run (CO-08)."""

    identity: AgentIdentity
    configuration: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier part of the conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """One operator turn; nothing in it tells a probe from a scenario (SI-02)."""

    prompt: str
    tools: tuple[str, ...]
    mode: str
    scope: Mapping[str, Any]
    conversation: tuple[Turn, ...]
    run_id: str
    deadline_seconds: int
    environment: EnvironmentAccess

    def document(self) -> dict[str, Any]:
        """The request as the wire contract has it."""
        return {
            "prompt": self.prompt,
            "tools": list(self.tools),
            "mode": self.mode,
            "scope": dict(self.scope),
            "conversation": [{"role": turn.role, "content": turn.content} for turn in self.conversation],
            "run_id": self.run_id,
            "deadline_seconds": self.deadline_seconds,
            "environment": self.environment.document(),
        }


class AgentAction(Noun):
    """What the agent says it did; recorded and shown, never evidence (AV-14)."""

    tool: str = ""
    arguments: Mapping[str, Any] = {}
    result: Any = None
    error: str | None = None


class AgentResponse(Noun):
    """The agent's answer; every field is optional."""

    actions: tuple[AgentAction, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    model: str | None = None


class Agent(Protocol):
    """Port: something that can be asked to operate an environment."""

    @property
    def isolation(self) -> str:
        """How the agent is kept from the run's own files; `none` for agents in this process."""
        ...

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        ...

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Act on one operator turn; raise AgentFault when that is impossible."""
        ...
