"""Types of option values that several commands share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from sirocco.agents.isolation import Level

_OPTION_FILES = "sirocco.option_files"
Command = TypeVar("Command", bound=Callable[..., Any])


class SeedType(click.ParamType[int]):
    """A seed, decimal or hexadecimal, or the file that contains it."""

    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, or an error in words."""
        if isinstance(value, int):
            return value
        value = text_or_file(value, param, ctx, self)
        try:
            seed = int(value, 0)
        except ValueError:
            self.fail(f"{value!r} is not a number; write 7 or 0x5f3a", param, ctx)
        if not 0 <= seed < 2**128:
            self.fail("a seed has at most 128 bits and is not negative", param, ctx)
        return seed


class SecretText(click.ParamType[str]):
    """A text, or `@FILE` for the one line in a file: every account can read what is on a command line."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, or an error in words."""
        return text_or_file(value, param, ctx, self)


def text_or_file(
    value: str, param: click.Parameter | None, ctx: click.Context | None, kind: click.ParamType[Any]
) -> str:
    """A value as given, or the contents of the file that `@FILE` names; the file is then kept from agents."""
    if not value.startswith("@"):
        return value
    path = Path(value[1:])
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        kind.fail(f"{path} cannot be read: {why}; name a file with one line", param, ctx)
    if len(text.splitlines()) != 1:
        kind.fail(f"{path} has {len(text.splitlines())} lines; write one", param, ctx)
    note_secret_file(ctx, path)
    return text


def note_secret_file(context: click.Context | None, path: Path) -> None:
    """Remember a file that an option was read from."""
    if context is not None:
        context.meta.setdefault(_OPTION_FILES, []).append(path)


def secret_files(context: click.Context) -> tuple[Path, ...]:
    """The files that options of this command were read from."""
    return tuple(context.meta.get(_OPTION_FILES, ()))


class Duration(click.ParamType[int]):
    """Seconds, from 90, 90s, 5m or 1h."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The seconds, or an error in words."""
        if isinstance(value, int):
            return value
        number, unit = (value[:-1], value[-1]) if value[-1:] in {"s", "m", "h"} else (value, "s")
        if not number.isdecimal() or int(number) == 0:
            self.fail(f"{value!r} is not a duration; write 90s, 5m or 1h", param, ctx)
        return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


class GroupedCommand(click.Command):
    """A command with many options, whose help groups them under headings; ungrouped ones come last."""

    def __init__(self, *args: Any, headings: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.headings = {heading: names.split() for heading, names in headings.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading."""
        rows = {
            param.opts[0].removeprefix("--"): row
            for param in self.get_params(ctx)
            if (row := param.get_help_record(ctx)) is not None
        }
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([rows.pop(name) for name in names])
        with formatter.section("Other options"):
            formatter.write_dl(list(rows.values()))


def agent_options(command: Command) -> Command:
    """The options that go with an agent's specification."""
    for option in (
        click.option("--model-url", default="", help="Base URL of the model's endpoint, without /chat/completions."),
        click.option("--agent-tool", default="", metavar="NAME", help="The MCP tool that takes tasks."),
        click.option(
            "--agent-env",
            multiple=True,
            metavar="NAME",
            help="Pass this environment variable to the agent (repeatable).",
        ),
        click.option(
            "--agent-header",
            "agent_headers",
            multiple=True,
            type=SecretText(),
            metavar="'K: V'",
            help="Send a header to the agent; @FILE keeps it off the command line (repeatable).",
        ),
        click.option(
            "--isolation",
            type=click.Choice([str(level) for level in Level]),
            callback=lambda _context, _parameter, value: Level(value),
            default="auto",
            show_default=True,
            help="How strictly to isolate the agent: auto is the strongest level that works; any other is enforced, or "
            "the run is refused.",
        ),
    ):
        command = option(command)
    return command
