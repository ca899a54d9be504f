"""A conversation with a language model as values, and the port to one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
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

    def document(self) -> dict[str, int]:
        """The counts by the names that reports use."""
        return {"input_tokens": self.input, "output_tokens": self.output}


class Finish(StrEnum):
    """Why a reply ended where it did. Only a whole reply can be taken at its word."""

    WHOLE = "whole"
    LENGTH = "length"
    """It was cut off at a limit of tokens."""
    CONTENT_FILTER = "content_filter"
    """The endpoint withheld it, or a part of it."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """How a model is asked; what is None is left to the endpoint, and not sent."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None

    def document(self) -> dict[str, float | int | str]:
        """Those that are sent."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said: text, or calls, or both; `model` is what it calls itself."""

    content: str
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    usage: Usage = Usage()
    finish: Finish = Finish.WHOLE


class ChatModel(Protocol):
    """Port: a language model."""

    @property
    def name(self) -> str:
        """What it is asked for by."""
        ...

    @property
    def parameters(self) -> Parameters:
        """How it is asked."""
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
