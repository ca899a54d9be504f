"""`sirocco env`: the environment of a scenario, served for trying it by hand."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.interruption import interruption, on_signals
from sirocco.cli.options import SeedType
from sirocco.cli.terminal import console, one_line, print_findings
from sirocco.errors import ConfigError, InvalidInput
from sirocco.oasis.domain import Domain
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Environment, ProvisionRequest
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import StimulusType
from sirocco.profiles.load import load_setup
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.config import Seed
from sirocco.wiring.connection import written_files
from sirocco.wiring.serving import served_environments


@click.group("env", epilog="Example: sirocco env up k8s.safety.br.tile-renderer-flood-001 -- kubectl get pods")
def command() -> None:
    """Try environments by hand."""


@command.command(
    "up",
    context_settings={"ignore_unknown_options": True},
    epilog="Example: sirocco env up my-scenario.yaml -- kubectl get deployments",
)
@click.argument("scenario")
@click.argument("run", nargs=-1, metavar="[-- COMMAND...]")
@click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the scenario belongs to."
)
@click.option("--seed", type=SeedType(), help="Seed for names, ids and tokens.  [default: random]")
@click.option("--listen", default="127.0.0.1:0", show_default=True, help="Address and port to serve at.")
@click.option("--advertise", default="", help="Host name for clients on other machines; the certificate covers it.")
@click.option("--kubeconfig", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the kubeconfig.")
def up(
    scenario: str, run: Sequence[str], profile: str, seed: int | None, listen: str, advertise: str,
    kubeconfig: Path | None,
) -> int:  # fmt: skip
    """Set up the environment of SCENARIO (an id of the profile, or a file) and serve it.

    In a file, only preconditions, stimuli and reactions must be valid; other problems are shown as warnings.

    Without a command, the environment stays up until interrupted. The kubeconfig is printed to standard output or, on a
    terminal, instructions for using it. With a command, the command runs with KUBECONFIG set, its exit code is
    returned, and the environment ends with it.
    """
    loaded = profile_source.load_named_profile(profile)
    if loaded.profile is None:
        raise InvalidInput(profile, loaded.findings)
    known = {bound.scenario.id: bound.scenario for bound in loaded.profile.scenarios}
    # A scenario that cannot be evaluated yet can still be set up.
    known |= {unbound.id: unbound.scenario for unbound in loaded.unbound}
    chosen = known.get(scenario) or _from_file(scenario, loaded.profile, known)
    return asyncio.run(
        _run_environment(chosen, loaded.profile, Seed.choose(seed).value, listen, advertise, kubeconfig, run)
    )


@command.command("clean", epilog="Example: sirocco env clean --kubeconfig ~/.kube/config --context kind-dev")
@click.option(
    "--kubeconfig", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True,
    help="Your kubeconfig.",
)  # fmt: skip
@click.option("--context", required=True, metavar="NAME", help="The context of your cluster.")
@click.option("--all", "everything", is_flag=True, help="Also remove what belongs to runs that may be in progress.")
@click.option("--provider", default="cluster", show_default=True, help="What provided the environments.")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="A profile of their domain.")
def clean(kubeconfig: Path, context: str, *, everything: bool, provider: str, profile: str) -> int:
    """Remove what killed runs left behind in a cluster of yours.

    Only what has their label is removed; without --all, only what has expired or belongs to a process of this machine
    that has ended. Every new run does the same when it starts.
    """
    loaded = profile_source.required_profile(profile)[0]
    spec = f"{provider}?kubeconfig={kubeconfig.resolve()}&context={context}"
    for name in asyncio.run(plugins.clean_provider(spec, loaded, everything=everything)):
        click.echo(name)
    return int(ExitCode.OK)


def _from_file(name: str, profile: Profile, known: Iterable[str]) -> Scenario:
    path = Path(name)
    if not path.is_file():
        closest = get_close_matches(name, known, n=1, cutoff=0.5)
        remedy = f"did you mean {closest[0]!r}?" if closest else "`sirocco profile show` lists the scenarios"
        raise ConfigError("SCENARIO", f"{name!r} is neither a scenario of the profile nor a file", remedy)
    loaded = load_setup(path, profile)
    if loaded.scenario is None:
        raise InvalidInput(name, loaded.findings)
    print_findings(loaded.findings, concise=True)
    return loaded.scenario


async def _run_environment(
    scenario: Scenario, profile: Profile, seed: int, listen: str, advertise: str, target: Path | None,
    run: Sequence[str],
) -> int:  # fmt: skip
    async with served_environments(profile, listen, advertise) as provider:
        if problems := provider.unsupported_demands(scenario):
            raise ConfigError(scenario.id, "; ".join(problems), "no environment can be set up for this scenario yet")
        request = ProvisionRequest.for_scenario(scenario, profile.domain.declarations, seed)
        async with provider.provision(request) as environment:
            for stimulus in scenario.stimuli:
                if not stimulus.is_said:
                    await environment.inject(stimulus, stimulus.timing)
            access = environment.access
            with written_files(access.served.files if access.served else {}, target) as files:
                try:
                    return await (_command(run, files) if run else _wait(scenario, access, profile.domain, files))
                finally:
                    await _summarize(environment, profile.domain)


async def _command(run: Sequence[str], files: Mapping[str, Path]) -> int:
    """Run the command to its end; Ctrl-C in the terminal reaches it directly and is left to it."""
    told_to_end = asyncio.Event()
    with on_signals({signal.SIGINT: lambda: None, signal.SIGTERM: told_to_end.set}):
        try:
            found = {variable: str(path) for variable, path in files.items()}
            process = await asyncio.create_subprocess_exec(*run, env={**os.environ, **found})
        except OSError as error:
            raise ConfigError(run[0], f"cannot be run: {error.strerror}", "check the command after --") from error
        done, ending = asyncio.ensure_future(process.wait()), asyncio.ensure_future(told_to_end.wait())
        await asyncio.wait({done, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not done.done():
            process.terminate()
        code = await done
    return code if code >= 0 else 128 - code


async def _wait(scenario: Scenario, access: EnvironmentAccess, domain: Domain, files: Mapping[str, Path]) -> int:
    with interruption() as ended:
        _tell(scenario, access, domain, files)
        await ended.wait()
    return int(ExitCode.OK)


def _tell(scenario: Scenario, access: EnvironmentAccess, domain: Domain, files: Mapping[str, Path]) -> None:
    err = console(stderr=True)
    err.print(one_line(scenario.name), style="bold")
    for stimulus in scenario.stimuli:
        if stimulus.type is StimulusType.OPERATOR_PROMPT and stimulus.value:
            err.print(f"The agent is asked: {one_line(stimulus.value)}")
    for line in domain.equipment.addresses(access):
        err.print(one_line(line))
    if access.served and access.served.mcp:
        err.print(f"MCP tools at {access.served.mcp}")
    if sys.stdout.isatty():
        lines = [f"export {variable}={shlex.quote(str(path))}" for variable, path in files.items()]
        err.print("".join(f"\n  {line}" for line in (*lines, domain.equipment.first_look)) + "\n")
    err.print("Ctrl-C ends it.")
    if not sys.stdout.isatty():
        for path in files.values():
            click.echo(path.read_text(encoding="utf-8"), nl=False)


async def _summarize(environment: Environment, domain: Domain) -> None:
    """A summary of the audit log, as an evaluation would see it."""
    observed = await environment.observe(ObservationType.AUDIT_LOG)
    err = console(stderr=True)
    count = len(observed.data["entries"])
    err.print(f"\n{count} {'request' if count == 1 else 'requests'} in the audit log")
    for deed in domain.record.log(observed):
        if domain.record.is_write(deed):
            err.print(f"  {one_line(f'{deed.status} {deed.verb} {deed.place}')}")
