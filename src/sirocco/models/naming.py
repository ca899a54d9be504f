"""Models by name: turns `PROVIDER:NAME?temperature=0.2&seed=7` into a client, identically for every command."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl

from sirocco.errors import ConfigError
from sirocco.installation import install_command
from sirocco.models.chat import ChatModel, Parameters
from sirocco.models.endpoints import endpoint, is_spoken_to_directly
from sirocco.models.pacing import PacedModel

_LOOP = ("context", "calls", "steps", "rpm")
"""Parameters of the loop around a model, and not of the model itself."""


@dataclass(frozen=True, slots=True)
class _Range:
    low: float
    high: float
    is_whole: bool = False

    def __str__(self) -> str:
        return f"a {'whole ' if self.is_whole else ''}number from {self.low:g} to {self.high:g}"


_RANGES: Mapping[str, _Range] = {
    "temperature": _Range(0, 2),
    "top_p": _Range(0, 1),
    "max_tokens": _Range(1, 1_000_000, is_whole=True),
    "seed": _Range(0, 2**53, is_whole=True),
    "context": _Range(512, 10_000_000, is_whole=True),
    "steps": _Range(1, 1000, is_whole=True),
    "rpm": _Range(1, 100_000, is_whole=True),
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "reasoning_effort": ("none", "minimal", "low", "medium", "high"),
    "calls": ("native", "schema", "text"),
}


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as a user names it.

    In a loop with tools, `context` is how many tokens it can read at once, `calls` how it calls tools, and `steps` how
    many replies it has in a turn; None means unspecified. `rpm` is the maximum number of requests per minute.
    """

    provider: str
    name: str
    parameters: Parameters = field(default_factory=Parameters)
    context: int = 0
    calls: str = ""
    steps: int = 0
    rpm: int = 0

    @classmethod
    def parse(cls, text: str, option: str, example: str) -> "ModelName":
        """The model that `text` names; ConfigError naming the option for anything wrong with it."""
        named, _, asked = text.partition("?")
        provider, _, name = named.partition(":")
        if not provider or not name:
            raise ConfigError(option, f"{named!r} does not name a model", f"write {example}")
        values: dict[str, Any] = {}
        for key, value in parse_qsl(asked, keep_blank_values=True):
            values[key] = _value(option, key, value)
        loop = {key: values.pop(key) for key in _LOOP if key in values}
        return cls(provider, name, Parameters(**values), **loop)


def _value(option: str, key: str, text: str) -> float | int | str:
    if key in _WORDS:
        if text not in _WORDS[key]:
            raise ConfigError(option, f"{key} cannot be {text!r}", f"write {', '.join(_WORDS[key])}")
        return text
    allowed = _RANGES.get(key)
    if allowed is None:
        known = ", ".join(sorted((*_RANGES, *_WORDS)))
        raise ConfigError(option, f"a model has no parameter {key!r}", f"use {known}")
    try:
        number = int(text) if allowed.is_whole else float(text)
    except ValueError:
        number = -1
    if not allowed.low <= number <= allowed.high:
        raise ConfigError(option, f"{key} cannot be {text!r}", f"write {allowed}")
    return number


def chat_model(named: ModelName, url: str, environment: Mapping[str, str], seconds: float = 300.0) -> ChatModel:
    """The client for a model, limited to the request rate in its name."""
    model = _client(named, url, environment, seconds)
    return PacedModel(model, named.rpm) if named.rpm else model


def _client(named: ModelName, url: str, environment: Mapping[str, str], seconds: float) -> ChatModel:
    """Our own client if the endpoint speaks OpenAI's protocol, else a library's."""
    if url or is_spoken_to_directly(named.provider):
        direct = importlib.import_module("sirocco.models.openai")
        where = endpoint(named.provider, url, environment)
        made: ChatModel = direct.OpenAiModel(where, named.name, named.parameters, seconds=seconds)
        return made
    if find_spec("pydantic_ai") is None:
        problem = f"models of {named.provider} are reached through the package pydantic-ai-slim"
        raise ConfigError(f"model:{named.provider}", problem, f"install it: {install_command('llm')}")
    library = importlib.import_module("sirocco.models.library")
    through: ChatModel = library.library_model(named.provider, named.name, named.parameters, seconds=seconds)
    return through
