"""The agent under evaluation: what it is asked, what it answers, and the port to it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import ConfigDict

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.noun import Noun

_TURN = re.compile(r"\[(?:previous turn|turn \d+)\] (?P<who>agent|assistant|user|operator):", re.IGNORECASE)
_ROLES = {"agent": "assistant", "assistant": "assistant", "user": "user", "operator": "user"}


class AgentIdentity(Noun):
    """Who the agent says it is, and what it says of the build, the prompt and the model that make it up."""

    name: str
    version: str
    description: str = ""
    binary_version: str | None = None
    binary_sha: str | None = None
    config_hash: str | None = None
    system_prompt_hash: str | None = None
    declared_model: str | None = None
    declared_provider: str | None = None
    fixed_wrapper_text: str | None = None
    """What the adapter puts around every stimulus of a run alike."""

    @property
    def declaration(self) -> dict[str, str | None]:
        """What the standard asks an agent to declare of itself; null where it does not."""
        return {name: getattr(self, name) for name in DECLARED_OF_AGENTS}


DECLARED_OF_AGENTS = tuple(
    name for name in AgentIdentity.model_fields if name not in {"name", "version", "description"}
)


class AgentDescription(Noun):
    """Identity and configuration, asked once per run (CO-08)."""

    identity: AgentIdentity
    configuration: Mapping[str, Any] = {}
    tools: tuple[str, ...] = ()
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier part of the conversation."""

    role: str
    content: str


def earlier_turns(context: str) -> tuple[Turn, ...]:
    """The turns of a conversation that went before, as the standard's library writes them down.

    `[Previous turn] Agent: "..."` and `[Turn 2] User: ...` begin a turn each; a text without such marks is the user's.
    """
    marks = list(_TURN.finditer(context))
    if not marks or context[: marks[0].start()].strip():
        return (Turn("user", context),)
    ends = [*(mark.start() for mark in marks[1:]), len(context)]
    return tuple(
        Turn(_ROLES[mark["who"].lower()], _without_quotes(context[mark.end() : end].strip()))
        for mark, end in zip(marks, ends, strict=True)
    )


def _without_quotes(text: str) -> str:
    inner = text[1:-1]
    return inner if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inner else text


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
    """What the agent says it did; recorded and shown, never evidence (AV-14). Further keys are kept as they came."""

    model_config = ConfigDict(extra="allow")

    tool: str = ""
    arguments: Mapping[str, Any] = {}
    result: Any = None
    error: str | None = None


class AgentResponse(Noun):
    """The agent's answer; every field is optional. Further keys are kept, because they too leave the agent (CO-06)."""

    model_config = ConfigDict(extra="allow")

    actions: tuple[AgentAction, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    audit_trail: tuple[Any, ...] = ()
    model: str | None = None


class TurnEnd(StrEnum):
    """Why a turn came to an end without the agent's having said that it was done: `ended` of an answer."""

    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OVERFLOW = "overflow"
    """What it had to read no longer fitted."""
    FAULT = "fault"
    MISTAKES = "mistakes"
    """It went on writing what is no step."""
    EMPTY = "empty"
    STEPS = "steps"
    REPETITION = "repetition"


CUT_OFF = frozenset({TurnEnd.LENGTH, TurnEnd.CONTENT_FILTER, TurnEnd.OVERFLOW, TurnEnd.FAULT, TurnEnd.MISTAKES})
"""The ends at which nobody knows what the agent would have done next (SI-12)."""


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


class ReferenceAgents(Protocol):
    """Port: a domain's own operators of known behaviour, by name.

    Two names mean something to the evaluation itself. `naive` does what it reads and shows whether a text is met at
    all. `careful`, which a domain may lack, does what it is asked with judgement, and votes on smaller forms of probes.
    """

    @property
    def names(self) -> Iterable[str]:
        """What they are called."""
        ...

    def numbers(self, name: str) -> Mapping[str, float]:
        """The numbers that one takes, as in `ref:slow?seconds=0.2`: by name, the most that each may be."""
        ...

    def agent(self, name: str, published: frozenset[str] = frozenset(), **numbers: float) -> Agent:
        """A fresh one; `published` are the texts that it could have learned by heart."""
        ...

    def reader(self, trusts: Callable[[str], bool]) -> Agent:
        """One that understands texts by itself, and does without further thought what those say that it trusts."""
        ...


@runtime_checkable
class TrailKeeper(Protocol):
    """What an agent may offer besides: its own audit trail as its store has it, to be read but not written.

    Only this can show whether the trail is kept from change; nothing that the agent says about it can.
    """

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:
        """The entries of one run in their order; raise AgentFault when they cannot be had."""
        ...
