"""`sirocco provider`: environments served to other programs."""

import asyncio
import json
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.interruption import interruption
from sirocco.errors import ConfigError
from sirocco.wiring.serving import served_bare


@click.group("provider", epilog="Example: sirocco provider serve --bare --users users.json --audit-file audit.jsonl")
def command() -> None:
    """Serve environments."""


@command.command("serve", epilog="Example: sirocco provider serve --bare --users users.json --audit-file audit.jsonl")
@click.option("--bare", is_flag=True, help="One empty Kubernetes API without controllers, for comparisons.")
@click.option("--users", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Users and their tokens.")
@click.option("--agent-listen", default="127.0.0.1:0", show_default=True, help="Where the agent plane listens.")
@click.option("--audit-file", type=click.Path(dir_okay=False, path_type=Path), help="Gets the audit events.")
def serve(*, bare: bool, users: Path | None, agent_listen: str, audit_file: Path | None) -> int:
    """Serve until interrupted; prints one JSON line when ready."""
    if not bare:
        raise ConfigError("provider serve", "only a bare API can be served yet", "add --bare, or use `sirocco env up`")
    if users is None or audit_file is None:
        missing = " and ".join(flag for flag, value in (("--users", users), ("--audit-file", audit_file)) if not value)
        raise ConfigError(
            "provider serve --bare", f"{missing} missing", "name a users file and a file for audit events"
        )
    asyncio.run(_serve_bare(users, agent_listen, audit_file))
    return int(ExitCode.OK)


async def _serve_bare(users: Path, listen: str, audit_file: Path) -> None:
    with interruption() as ended:
        async with served_bare(users, listen, audit_file) as url:
            click.echo(json.dumps({"agent": url}))
            await ended.wait()
