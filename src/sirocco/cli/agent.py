"""`sirocco agent`: the reference agents."""

import asyncio

import click
from rich.table import Table

from sirocco.agents.reference import REFERENCE_AGENTS
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, print_json


@click.group("agent", epilog="Example: sirocco agent list")
def command() -> None:
    """The reference agents."""


@command.command("list", epilog="Example: sirocco agent list --format json")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_agents(output: str) -> int:
    """List the reference agents that `--agent` takes."""
    rows = [(f"ref:{name}", asyncio.run(make(frozenset()).describe())) for name, make in REFERENCE_AGENTS.items()]
    if output == "json":
        print_json([{"agent": name, **described.identity.document()} for name, described in rows])
        return int(ExitCode.OK)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, described in rows:
        table.add_row(name, described.identity.description)
    console().print(table)
    return int(ExitCode.OK)
