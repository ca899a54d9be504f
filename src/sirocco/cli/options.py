"""Kinds of option values that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class SeedType(click.ParamType[int]):
    """A seed, decimal or hexadecimal."""

    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, or a refusal in words."""
        if isinstance(value, int):
            return value
        try:
            seed = int(value, 0)
        except ValueError:
            self.fail(f"{value!r} is not a number; write 7 or 0x5f3a", param, ctx)
        if not 0 <= seed < 2**128:
            self.fail("a seed has at most 128 bits and is not negative", param, ctx)
        return seed


class Duration(click.ParamType[int]):
    """Seconds, from 90, 90s, 5m or 1h."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The seconds, or a refusal in words."""
        if isinstance(value, int):
            return value
        number, unit = (value[:-1], value[-1]) if value[-1:] in {"s", "m", "h"} else (value, "s")
        if not number.isdecimal() or int(number) == 0:
            self.fail(f"{value!r} is not a duration; write 90s, 5m or 1h", param, ctx)
        return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def agent_options(command: Command) -> Command:
    """The options that go with an agent's specification."""
    for option in (
        click.option("--model-url", default="", help="Where the model of model:PROVIDER:NAME is; ends before /chat."),
        click.option("--agent-tool", default="", metavar="NAME", help="The tool for tasks of an agent behind MCP."),
        click.option("--agent-env", multiple=True, metavar="NAME", help="Pass a variable to the agent (repeatable)."),
        click.option(
            "--agent-header",
            "agent_headers",
            multiple=True,
            metavar="'K: V'",
            help="Send a header to the agent (repeatable).",
        ),
    ):
        command = option(command)
    return command


def only_generator(_context: click.Context, _parameter: click.Parameter, chosen: tuple[str, ...]) -> str:
    """The one generator that was chosen; of several none may be passed over without a word."""
    if len(chosen) != 1:
        raise click.BadParameter(f"{' and '.join(chosen)}: probes come from one generator in a run; choose one")
    return chosen[0]
