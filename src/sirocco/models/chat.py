"""A conversation with a language model as values, and the port to one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.tools import Tool


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; `arguments` is the text that it wrote, which need not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One part of a conversation; `answers` is the id of the call that a message of the role `tool` answers."""

    role: str
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost, in tokens."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said: text, or calls, or both; `model` is what it calls itself."""

    content: str
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    usage: Usage = Usage()


class ChatModel(Protocol):
    """Port: a language model."""

    @property
    def name(self) -> str:
        """What it is asked for by."""
        ...

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """What it says next, with calls of `tools`, or as JSON of a schema; ModelFault when it says nothing usable."""
        ...
