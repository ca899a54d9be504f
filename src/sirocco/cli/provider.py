"""`sirocco provider`: environments served to other programs, and a test of any provider."""

import asyncio
import importlib
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.interruption import interruption
from sirocco.cli.options import Duration
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.errors import ConfigError
from sirocco.oasis.profile import Profile
from sirocco.providers.checking.check import outcomes
from sirocco.providers.checking.outcome import Outcome, Status
from sirocco.providers.faults import FAULTS
from sirocco.providers.http.control import ControlPlane, Timeouts
from sirocco.wiring import profile_source

IDLE_SECONDS = 3600.0
"""The time after which an environment that neither runner nor agent has called counts as abandoned."""
_EXAMPLE = "Example: sirocco provider serve --agent-listen 127.0.0.1:6443 --control-listen 127.0.0.1:8090"

_STYLES = {Status.PASSED: "green", Status.FAILED: "bold red", Status.SKIPPED: "yellow"}


@click.group("provider", epilog=_EXAMPLE)
def command() -> None:
    """Serve environments, or test a provider."""


@command.command("serve", epilog=_EXAMPLE)
@click.option("--agent-listen", default="127.0.0.1:0", show_default=True, help="Address for agents.")
@click.option("--control-listen", default="127.0.0.1:0", show_default=True, help="Address for runners.")
@click.option("--advertise", default="", help="Host name for agents on other machines; the certificate covers it.")
@click.option("--profile", "profiles", multiple=True, help="Profile to serve (repeatable).  [default: the bundled one]")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep this file pointing to the current environment, for agents whose runner sends none; one at a time.",
)
@click.option("--provider", "provider_name", default="", help="Which provider of the domain.  [default: the first]")
@click.option("--no-auth", is_flag=True, help="Require no control token, for runners that send none; loopback only.")
@click.option(
    "--idle",
    type=Duration(),
    default=f"{IDLE_SECONDS:.0f}s",
    show_default=True,
    help="End an environment that has been unused for this long.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    type=click.Choice(sorted(FAULTS)),
    help="Misbehave on purpose, as a drill for runners (repeatable).",
)
@click.option("--bare", is_flag=True, help="Serve one empty Kubernetes API without controllers, for comparisons.")
@click.option(
    "--users", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="With --bare: users and their rights."
)
@click.option(
    "--audit-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --bare: append audit events to this file.",
)
def serve(
    *, agent_listen: str, control_listen: str, advertise: str, profiles: Sequence[str], no_auth: bool, idle: int,
    faults: Sequence[str], bare: bool, users: Path | None, audit_file: Path | None, kubeconfig: Path | None,
    provider_name: str,
) -> int:  # fmt: skip
    """Serve environments by the standard's provider contract until interrupted.

    Prints one JSON line when ready: agent, control and control_token. Agents and runners use different ports and
    tokens. Environments live in memory and end with the process, or when they are no longer used.
    """
    if not bare:
        loaded = [profile_source.required_profile(name)[0] for name in profiles or (profile_source.BUNDLED,)]
        service = _serving_module().served_provider(
            loaded, agent_listen, control_listen, advertise=advertise, needs_token=not no_auth, idle_seconds=idle,
            faults=[FAULTS[name] for name in faults], credentials=kubeconfig,
            provider_name=provider_name,
        )  # fmt: skip
        asyncio.run(_serve(service))
        return int(ExitCode.OK)
    if users is None or audit_file is None:
        missing = " and ".join(flag for flag, value in (("--users", users), ("--audit-file", audit_file)) if not value)
        raise ConfigError(
            "provider serve --bare", f"{missing} missing", "name a users file and a file for audit events"
        )
    asyncio.run(_serve_bare(users, agent_listen, audit_file))
    return int(ExitCode.OK)


@command.command("check", epilog="Example: sirocco provider check http://127.0.0.1:8090 --format json")
@click.argument("url")
@click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the provider must serve."
)
@click.option(
    "--tier", type=click.IntRange(1, 3), default=1, show_default=True, help="Tier that the provider must offer."
)
@click.option("--token", envvar="SIROCCO_PROVIDER_TOKEN", default="", help="Control token.")
@click.option("--timeout", type=Duration(), help="Limit for each operation.  [default: as in a run]")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(url: str, profile: str, tier: int, token: str, timeout: int | None, output: str) -> int:
    """Test whether the provider at URL does what it declares: conformance first, then self-tests in environments.

    Prints one line per check: what is wrong, where, and how to fix it. The exit code is 3 if a check failed.
    """
    loaded, _ = profile_source.required_profile(profile)
    timeouts = Timeouts(timeout, timeout, timeout, timeout) if timeout else Timeouts()
    control = ControlPlane(url, token=token, timeouts=timeouts)
    found = asyncio.run(_check(control, loaded, tier, is_shown=output == "text"))
    failed = sum(outcome.status is Status.FAILED for outcome in found)
    summary = {str(status): sum(outcome.status is status for outcome in found) for status in Status}
    if output == "json":
        checks = [outcome.document() for outcome in found]
        about = {"provider": url, "profile": loaded.document.id}
        print_json({**about, "checks": checks, "summary": summary, "conformant": not failed})
    else:
        console().print(", ".join(f"{number} {status}" for status, number in summary.items()))
    return int(ExitCode.NOT_CONFORMANT if failed else ExitCode.OK)


async def _check(control: ControlPlane, profile: Profile, tier: int, *, is_shown: bool) -> list[Outcome]:
    out = console()
    found = []
    async with aclosing(outcomes(control, profile, tier)) as checks:
        async for outcome in checks:
            found.append(outcome)
            if is_shown:
                out.print(_check_line(outcome))
    return found


def _check_line(outcome: Outcome) -> Text:
    said = "; ".join(one_line(part) for part in (outcome.problem, outcome.remedy) if part)
    where = f"{outcome.where}: " if outcome.where else ""
    return Text.assemble(
        (f"{outcome.status:<8}", _STYLES[outcome.status]), f"{outcome.check:<20} {where}{said}".rstrip()
    )


def _serving_module() -> Any:
    """The module that serves simulated clusters, which is not needed for testing other providers."""
    return importlib.import_module("sirocco.wiring.serving")


async def _serve(service: AbstractAsyncContextManager[Any]) -> None:
    with interruption() as ended:
        async with service as where:
            click.echo(json.dumps(asdict(where)))
            await ended.wait()


async def _serve_bare(users: Path, listen: str, audit_file: Path) -> None:
    with interruption() as ended:
        async with _serving_module().served_bare(users, listen, audit_file) as url:
            click.echo(json.dumps({"agent": url}))
            await ended.wait()
