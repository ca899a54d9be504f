"""A conversation with a language model as values, and the port to one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

from sirocco.oasis.tools import Tool


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model requests; `arguments` is the text that it wrote, which need not be JSON."""

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
    """Why a reply ended where it did. Only a complete reply can be relied on."""

    WHOLE = "whole"
    LENGTH = "length"
    """It was cut off at a token limit."""
    CONTENT_FILTER = "content_filter"
    """The endpoint withheld all or part of it."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a request; those that are None are left to the endpoint, and not sent."""

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
    """A model's reply: text, or calls, or both; `model` is what it calls itself."""

    content: str
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    usage: Usage = Usage()
    finish: Finish = Finish.WHOLE


class ChatModel(Protocol):
    """Port: a language model."""

    @property
    def name(self) -> str:
        """The name that it is requested by."""
        ...

    @property
    def parameters(self) -> Parameters:
        """Its parameters."""
        ...

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The next reply, with calls of `tools`, or as JSON of a schema; ModelFault if there is nothing usable."""
        ...
