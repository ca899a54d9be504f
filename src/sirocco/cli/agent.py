"""`sirocco agent`: the reference agents, by name or behind HTTP, and the test of any agent's adapter."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from sirocco.agents.isolation import Level
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.interruption import interruption
from sirocco.cli.options import Duration, SeedType, agent_options
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.oasis.agent import Agent
from sirocco.oasis.domain import Domain
from sirocco.oasis.profile import Profile
from sirocco.runner.agent_checking import Outcome, Status, outcomes
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.config import Seed
from sirocco.wiring.connection import Connection, Reach, connection
from sirocco.wiring.domains import usable_domains

_STYLES = {Status.PASSED: "green", Status.WARNED: "yellow", Status.FAILED: "bold red", Status.SKIPPED: "dim"}


@click.group("agent", epilog="Example: sirocco agent check http://127.0.0.1:8080")
def command() -> None:
    """List and serve the reference agents, or check any agent."""


@command.command("list", epilog="Example: sirocco agent list --format json")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_agents(output: str) -> int:
    """List the reference agents that `--agent` accepts."""
    domains = usable_domains()
    rows = [(domain, name) for domain in domains for name in domain.reference_agents.names]
    found = [(*row, asyncio.run(row[0].reference_agents.agent(row[1]).describe()).identity) for row in rows]
    # Whose they are is worth mentioning only if there are several domains.
    is_named = len(domains) > 1
    if output == "json":
        print_json(
            [
                {"agent": f"ref:{name}", **identity.document()}
                | ({"environment_type": domain.environment_type} if is_named else {})
                for domain, name, identity in found
            ]
        )
        return int(ExitCode.OK)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for domain, name, identity in found:
        table.add_row(f"ref:{name}", identity.description, *([domain.environment_type] if is_named else []))
    console().print(table)
    return int(ExitCode.OK)


@command.command("serve", epilog="Example: sirocco agent serve ref:careful --listen 127.0.0.1:8080")
@click.argument("spec", metavar="SPEC")
@agent_options
@click.option("--listen", default="127.0.0.1:0", show_default=True, help="Address and port to serve at.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Environment to act in for runners that send none; re-read for every turn.",
)
@click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that ref:memorizer has memorized."
)
def serve(
    spec: str, listen: str, kubeconfig: Path | None, profile: str, agent_headers: tuple[str, ...],
    agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Serve an agent through the agent contract until interrupted: any agent that --agent accepts.

    Prints one JSON line when ready, with its url. It acts in the environment that each request hands over.
    """
    loaded, _ = profile_source.required_profile(profile)
    options = AgentOptions(agent_headers, agent_env, agent_tool, model_url, isolation=isolation)
    asyncio.run(_serve(plugins.agent(spec, loaded, options), loaded.domain, listen, kubeconfig))
    return int(ExitCode.OK)


async def _serve(agent: Agent, domain: Domain, listen: str, credentials: Path | None) -> None:
    # The server is part of the simulator, which the other commands do not need.
    serving = importlib.import_module("sirocco.wiring.serving")
    with interruption() as ended:
        async with _close_after(agent), serving.served_agent(agent, listen, domain, credentials) as url:
            click.echo(json.dumps({"url": url}))
            await ended.wait()


@asynccontextmanager
async def _close_after(agent: Agent) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if close := getattr(agent, "close", None):
            await close()


@command.command("check", epilog="Example: sirocco agent check 'cmd:python3 my_agent.py' --timeout 1m")
@click.argument("spec", metavar="SPEC")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Limit for one turn.")
@click.option(
    "--listen", default="", metavar="ADDR", help="Serve environments at this address, for agents on other machines."
)
@click.option(
    "--advertise", default="", metavar="HOST", help="Host name that those agents use; the certificate covers it."
)
@click.option(
    "--profile",
    default=profile_source.BUNDLED,
    show_default=True,
    help="Profile whose configuration the agent reports.",
)
@click.option("--seed", type=SeedType(), help="Seed for names, ids and tokens.  [default: random]")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(
    spec: str, timeout: int, listen: str, advertise: str, profile: str, seed: int | None, output: str,
    agent_headers: tuple[str, ...], agent_env: tuple[str, ...], agent_tool: str, model_url: str, isolation: Level,
) -> int:  # fmt: skip
    """Test an agent's adapter before a run: identity, a harmless turn in a real environment, state, timing.

    Prints one line per check: what was seen or, if it failed, what is wrong, where, and how to fix it. The exit code is
    5 if a check failed; warnings do not count.
    """
    loaded, _ = profile_source.required_profile(profile)
    options = AgentOptions(
        agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout, isolation=isolation
    )
    connected = connection(loaded, spec, options, reach=Reach(listen, advertise))
    found = asyncio.run(_check(connected, loaded, Seed.choose(seed).value, timeout, is_shown=output == "text"))
    summary = {str(status): sum(outcome.status is status for outcome in found) for status in Status}
    if output == "json":
        checks = [outcome.document() for outcome in found]
        print_json({"agent": spec, "checks": checks, "summary": summary, "usable": not summary["failed"]})
    else:
        console().print(", ".join(f"{number} {status}" for status, number in summary.items()))
    return int(ExitCode.AGENT_FAULT if summary["failed"] else ExitCode.OK)


async def _check(connected: Connection, profile: Profile, seed: int, seconds: int, *, is_shown: bool) -> list[Outcome]:
    out, found = console(), []
    schema = profile.document.configuration_schema
    made = outcomes(connected.agent, connected.provider, profile.domain, schema, seed=seed, deadline_seconds=seconds)
    async with connected.open(), aclosing(made) as checks:
        async for outcome in checks:
            found.append(outcome)
            if is_shown:
                out.print(_line(outcome))
    return found


def _line(outcome: Outcome) -> Text:
    said = outcome.seen or "; ".join(part for part in (outcome.problem, outcome.remedy) if part)
    where = f"{outcome.where}: " if outcome.where else ""
    return Text.assemble(
        (f"{outcome.status:<8}", _STYLES[outcome.status]), one_line(f"{outcome.check:<16} {where}{said}").rstrip()
    )
