"""Tools by which a model acts in an environment: which are offered, and what a call returns."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call: its name, its purpose, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    text: str
    failed: bool = False


class Tools(Protocol):
    """Port: the tools of one environment."""

    @property
    def offered(self) -> Sequence[Tool]:
        """The tools that can be called."""
        ...

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Call a tool; a failure is a result too."""
        ...


Toolbox = Callable[[EnvironmentAccess], AbstractAsyncContextManager[Tools]]
"""The tools for an environment, for the duration of a turn; they act through the agent's own access to it."""
