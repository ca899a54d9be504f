"""`sirocco env`: the environment of a scenario, served over TLS to try by hand."""

import asyncio
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from kubesim.conventions import READ_VERBS
from kubesim.services.router import PREFIX
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.interruption import interruption, on_signals
from sirocco.cli.options import SeedType
from sirocco.cli.terminal import console, plain, print_findings
from sirocco.errors import ConfigError, InvalidInput
from sirocco.oasis.environment import ServedAccess
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Environment, ProvisionRequest
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import StimulusType
from sirocco.profiles.load import load_setup
from sirocco.providers.agent_plane import KUBECONFIG
from sirocco.wiring import profile_source
from sirocco.wiring.config import Seed
from sirocco.wiring.serving import served_simulator


@click.group("env", epilog="Example: sirocco env up k8s.safety.br.tile-renderer-flood-001 -- kubectl get pods")
def command() -> None:
    """Environments to try by hand."""


@command.command(
    "up",
    context_settings={"ignore_unknown_options": True},
    epilog="Example: sirocco env up my-scenario.yaml -- kubectl get deployments",
)
@click.argument("scenario")
@click.argument("run", nargs=-1, metavar="[-- COMMAND...]")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that the scenario is of.")
@click.option("--seed", type=SeedType(), help="Names, ids and tokens follow from it.  [default: fresh random bits]")
@click.option("--listen", default="127.0.0.1:0", show_default=True, help="Address and port to serve at.")
@click.option("--advertise", default="", help="Host name that clients elsewhere use; the certificate covers it.")
@click.option("--kubeconfig", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the kubeconfig.")
def up(
    scenario: str, run: Sequence[str], profile: str, seed: int | None, listen: str, advertise: str,
    kubeconfig: Path | None,
) -> int:  # fmt: skip
    """Set up the environment of SCENARIO (an id of the profile, or a file) and serve it.

    Of a file only preconditions, stimuli and reactions need be right; what is wrong with the rest is shown.

    Without a command it stays up until interrupted, and the kubeconfig goes to standard output unless that is a
    terminal, where you are told how to use it. With a command, the command runs with KUBECONFIG set, and the
    environment goes away with it; the exit code is the command's.
    """
    loaded = profile_source.loaded(profile)
    if loaded.profile is None:
        raise InvalidInput(profile, loaded.findings)
    known = {bound.scenario.id: bound.scenario for bound in loaded.profile.scenarios}
    # What cannot be evaluated yet can be set up all the same.
    known |= {unbound.id: unbound.scenario for unbound in loaded.unbound}
    chosen = known.get(scenario) or _from_file(scenario, loaded.profile, known)
    with tempfile.TemporaryDirectory() as folder:
        target = kubeconfig or Path(folder) / "kubeconfig"
        return asyncio.run(_up(chosen, loaded.profile, Seed.chosen(seed).value, listen, advertise, target, run))


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


async def _up(
    scenario: Scenario, profile: Profile, seed: int, listen: str, advertise: str, target: Path, run: Sequence[str]
) -> int:
    async with served_simulator(profile, listen, advertise) as provider:
        if problems := provider.unsupported(scenario):
            raise ConfigError(scenario.id, "; ".join(problems), "the simulator cannot set this scenario up yet")
        request = ProvisionRequest(scenario.preconditions, scenario.tier, seed, scenario.x_sirocco.reactions)
        async with provider.provision(request) as environment:
            for stimulus in scenario.stimuli:
                if not stimulus.is_said:
                    await environment.inject(stimulus, stimulus.timing)
            served = environment.access.served
            assert served is not None, "a served simulator serves its environments"  # noqa: S101
            _write(target, served)
            try:
                return await (_command(run, target) if run else _wait(scenario, served, target))
            finally:
                await _summarize(environment)


def _write(target: Path, served: ServedAccess) -> None:
    target.touch(mode=0o600)
    target.write_text(served.files[KUBECONFIG], encoding="utf-8")


async def _command(run: Sequence[str], target: Path) -> int:
    """Run the command to its end; Ctrl-C in the terminal reaches it by itself and is its own business."""
    told_to_end = asyncio.Event()
    with on_signals({signal.SIGINT: lambda: None, signal.SIGTERM: told_to_end.set}):
        try:
            process = await asyncio.create_subprocess_exec(*run, env={**os.environ, KUBECONFIG: str(target)})
        except OSError as error:
            raise ConfigError(run[0], f"cannot be run: {error.strerror}", "check the command after --") from error
        done, ending = asyncio.ensure_future(process.wait()), asyncio.ensure_future(told_to_end.wait())
        await asyncio.wait({done, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not done.done():
            process.terminate()
        code = await done
    return code if code >= 0 else 128 - code


async def _wait(scenario: Scenario, served: ServedAccess, target: Path) -> int:
    with interruption() as ended:
        _tell(scenario, served, target)
        await ended.wait()
    return int(ExitCode.OK)


def _tell(scenario: Scenario, served: ServedAccess, target: Path) -> None:
    err = console(stderr=True)
    err.print(plain(scenario.name), style="bold")
    for stimulus in scenario.stimuli:
        if stimulus.type is StimulusType.OPERATOR_PROMPT and stimulus.value:
            err.print(f"The agent is asked: {plain(stimulus.value)}")
    err.print(f"Kubernetes API at {served.server}")
    err.print(f"Metrics, traces, dashboards, GitOps, CI at {served.server}{PREFIX}NAME")
    if served.mcp:
        err.print(f"MCP tools at {served.mcp}")
    if sys.stdout.isatty():
        err.print(f"\n  export KUBECONFIG={shlex.quote(str(target))}\n  kubectl get pods\n")
    err.print("Ctrl-C ends it.")
    if not sys.stdout.isatty():
        click.echo(served.files[KUBECONFIG], nl=False)


async def _summarize(environment: Environment) -> None:
    """What the audit log says was done, as an evaluation would see it."""
    observed = await environment.observe(ObservationType.AUDIT_LOG)
    err = console(stderr=True)
    entries = observed.data["entries"]
    err.print(f"\n{len(entries)} {'request' if len(entries) == 1 else 'requests'} in the audit log")
    for entry in entries:
        if (entry.get("objectRef") or {}).get("resource") and entry["verb"] not in READ_VERBS:
            err.print(f"  {plain(_line(entry))}")


def _line(entry: dict[str, Any]) -> str:
    reference = entry["objectRef"]
    place = "/".join(reference[key] for key in ("namespace", "resource", "name", "subresource") if reference.get(key))
    return f"{entry['responseStatus']['code']} {entry['verb']} {place}"
