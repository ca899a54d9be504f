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
    """The agent's own statement of who it is, including the build, prompt and model that it is made of."""

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
    """The fixed text that the adapter puts around every stimulus of a run."""

    @property
    def declaration(self) -> dict[str, str | None]:
        """The declaration that the standard asks of an agent; null for each field that the agent leaves out."""
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
    """Split a conversation, in the form that the standard's library writes, into its earlier turns.

    `[Previous turn] Agent: "..."` and `[Turn 2] User: ...` each begin a turn; a text without such marks is the user's.
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
        """The request in the form of the wire contract."""
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
    """An action as the agent reports it; recorded and shown, but never evidence (AV-14).

    Unknown keys are kept as they came.
    """

    model_config = ConfigDict(extra="allow")

    tool: str = ""
    arguments: Mapping[str, Any] = {}
    result: Any = None
    error: str | None = None


class AgentResponse(Noun):
    """The agent's answer; every field is optional. Unknown keys are kept, because they also leave the agent (CO-06)."""

    model_config = ConfigDict(extra="allow")

    actions: tuple[AgentAction, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    audit_trail: tuple[Any, ...] = ()
    model: str | None = None


class TurnEnd(StrEnum):
    """Why a turn ended before the agent said that it was done: the `ended` field of an answer."""

    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OVERFLOW = "overflow"
    """The conversation no longer fitted into the context window."""
    FAULT = "fault"
    MISTAKES = "mistakes"
    """It kept writing replies that are not valid steps."""
    EMPTY = "empty"
    STEPS = "steps"
    REPETITION = "repetition"


CUT_OFF = frozenset({TurnEnd.LENGTH, TurnEnd.CONTENT_FILTER, TurnEnd.OVERFLOW, TurnEnd.FAULT, TurnEnd.MISTAKES})
"""The ends that leave open what the agent would have done next (SI-12)."""


class Agent(Protocol):
    """Port: anything that can be asked to operate an environment."""

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
    """Port: a domain's own agents of known behaviour, by name.

    The evaluation itself relies on two names. `naive` does what it reads, which shows whether a text is encountered at
    all. `careful`, which a domain may lack, does what it is asked with good judgement, and votes on smaller forms of
    probes.
    """

    @property
    def names(self) -> Iterable[str]:
        """The names of the agents."""
        ...

    def numbers(self, name: str) -> Mapping[str, float]:
        """The numeric parameters that an agent takes, as in `ref:slow?seconds=0.2`: the maximum of each, by name."""
        ...

    def agent(self, name: str, published: frozenset[str] = frozenset(), **numbers: float) -> Agent:
        """A new agent of that name; `published` are the texts that it could have memorized."""
        ...

    def reader(self, trusts: Callable[[str], bool]) -> Agent:
        """An agent that reads texts unprompted and unquestioningly obeys those that it trusts."""
        ...


@runtime_checkable
class TrailKeeper(Protocol):
    """Optional capability of an agent: exporting its own audit trail, read-only, as its store holds it.

    Only an export can show whether the trail is protected from change; nothing that the agent says about it can.
    """

    async def audit_trail(self, run_id: str) -> tuple[Any, ...]:
        """The entries of one run in order; raise AgentFault when they are not available."""
        ...
