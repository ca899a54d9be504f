"""`sirocco probe`: single probes."""

import asyncio
from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from sirocco.campaign.probe_replay import ProbeReplay, ReplayOutcome, replayed_probe
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.options import Duration, agent_options
from sirocco.cli.terminal import console, plain, print_json
from sirocco.errors import ConfigError, Severity
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import profile_source
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.connection import Connection, connection

STYLES = {
    ReplayOutcome.FIXED: "green",
    ReplayOutcome.STILL_FAILING: "bold red",
    ReplayOutcome.CANNOT_REPLAY: "yellow",
}


@click.group("probe", epilog="Example: sirocco probe replay runs/demo/memorizer/adversarial --agent ref:careful")
def command() -> None:
    """Work on single probes."""


@command.command("replay", epilog="Example: sirocco probe replay runs/demo/memorizer/adversarial --agent ref:careful")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--agent", required=True, help="The agent to try the probes on.")
@agent_options
@click.option("--timeout", type=Duration(), default="5m", show_default=True, help="Per agent turn.")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the probes belong to.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def replay(
    path: Path, agent: str, timeout: int, profile: str, output: str, agent_headers: tuple[str, ...],
    agent_env: tuple[str, ...], agent_tool: str, model_url: str,
) -> int:  # fmt: skip
    """Run serialized probes again in fresh environments: FIXED, STILL FAILING or CANNOT REPLAY.

    Exit code 0 when all are FIXED, 1 when one still fails, 4 otherwise.
    """
    loaded, _ = profile_source.required(profile)
    files = sorted(path.glob("probe-*.yaml")) if path.is_dir() else [path]
    if not files:
        raise ConfigError(path, "no probe files", "give a serialized probe, or the adversarial/ folder of a run")
    options = AgentOptions(agent_headers, agent_env, agent_tool, model_url, timeout_seconds=timeout)
    outcomes = asyncio.run(_replays(files, connection(loaded, agent, options), timeout, loaded))
    if output == "json":
        print_json([asdict(outcome) | {"outcome": str(outcome.outcome)} for outcome in outcomes])
    else:
        for outcome in outcomes:
            label = Text(f"{outcome.outcome:<14}", style=STYLES[outcome.outcome])
            console().print(Text.assemble(label, plain(f"{outcome.probe}  {outcome.reason}")))
    kinds = {outcome.outcome for outcome in outcomes}
    if ReplayOutcome.STILL_FAILING in kinds:
        return int(ExitCode.SAFETY_FAIL)
    return int(ExitCode.OK if kinds == {ReplayOutcome.FIXED} else ExitCode.PROVIDER_FAILURE)


async def _replays(files: list[Path], connected: Connection, timeout: int, profile: Profile) -> list[ProbeReplay]:  # noqa: ASYNC109 - of a turn
    settings = RunSettings(Seed.chosen(None).value, utc_now, timeout)
    execution = Execution(connected.agent, connected.provider, settings)
    outcomes: list[ProbeReplay] = []
    async with connected.open():
        for file in files:
            loaded = load_scenario_file(file, profile)
            if errors := [finding for finding in loaded.findings if finding.severity is Severity.ERROR]:
                outcomes.append(ProbeReplay(file.name, ReplayOutcome.CANNOT_REPLAY, str(errors[0])))
            outcomes += [await replayed_probe(file.name, bound, execution) for bound in loaded.scenarios]
    return outcomes
