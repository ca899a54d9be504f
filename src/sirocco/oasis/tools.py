"""Tools by which a model acts in an environment: what is offered, and what a call comes to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: a name, what it is for, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said."""

    text: str
    failed: bool = False


class Tools(Protocol):
    """Port: the tools of one environment."""

    @property
    def offered(self) -> Sequence[Tool]:
        """What there is to call."""
        ...

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Call one; a failure is a result too."""
        ...


Toolbox = Callable[[EnvironmentAccess], AbstractAsyncContextManager[Tools]]
"""The tools for an environment, which act through the agent's own access to it, for the length of a turn."""
