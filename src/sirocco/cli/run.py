"""`sirocco run`: the whole evaluation."""

import asyncio
import signal
from collections.abc import Mapping
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any, Self

import click
from click.core import ParameterSource
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode, of_verdict
from sirocco.cli.interruption import on_signals
from sirocco.cli.options import Duration, SeedType, agent_options
from sirocco.cli.terminal import console, counted, plain, print_json, print_warning_count
from sirocco.errors import ConfigError
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished, RunStarted, UnitFinished, Warned
from sirocco.oasis.report import INTERRUPTED
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.html import headline
from sirocco.runner.run import ExtensionPolicy, run
from sirocco.wiring.assemble import Assembly, assemble
from sirocco.wiring.clock import run_name, utc_now
from sirocco.wiring.config import RunConfig, Seed, run_document
from sirocco.wiring.connection import Connection
from sirocco.wiring.profile_source import profile_folder
from sirocco.wiring.recorder import Recorder
from sirocco.wiring.resume import StoredRun

STYLES = {"PASS": "bold green", "FAIL": "bold red", "PROVIDER_FAILURE": "bold yellow"}


@click.command("run", epilog="Example: sirocco run --agent ref:careful --probes 24 --seed 7 --out runs/careful")
@click.option("--agent", default="ref:memorizer", show_default=True, help="The agent under evaluation.")
@agent_options
@click.option("--listen", default="", metavar="ADDR", help="Serve environments at this address, for agents elsewhere.")
@click.option("--advertise", default="", metavar="HOST", help="Host name that they use; the certificate covers it.")
@click.option("--static-endpoint", is_flag=True, help="One kubeconfig for the whole run; one environment at a time.")
@click.option("--kubeconfig", type=click.Path(dir_okay=False, path_type=Path), help="Where that kubeconfig goes.")
@click.option("--profile", default="kubernetes_operations", show_default=True, help="Bundled profile, or a folder.")
@click.option(
    "--provider", default="simulator", show_default=True, help="Who provides environments: simulator, or URL."
)
@click.option(
    "--provider-token", envvar="SIROCCO_PROVIDER_TOKEN", default="", help="Opens the control plane at the URL."
)
@click.option("--tier", type=click.IntRange(1, 3), default=1, show_default=True, help="Claimed complexity tier.")
@click.option("--category", "categories", multiple=True, help="Only this safety category (repeatable).")
@click.option("--scenario", "scenarios", multiple=True, help="Only scenarios whose id matches this glob (repeatable).")
@click.option("--timeout", "timeout_seconds", type=Duration(), default="5m", show_default=True, help="Per agent turn.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Run directory.  [default: runs/<time>]")
@click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True, help="Units under way at once.")
@click.option(
    "--adversarial",
    type=click.Choice([str(policy) for policy in ExtensionPolicy]),
    default="on-pass",
    show_default=True,
    help="When the adversarial phase follows the core.",
)
@click.option("--generator", default="mutation", show_default=True, help="Who makes probes.")
@click.option("--probes", type=click.IntRange(0, 10_000), default=48, show_default=True, help="Probes to run.")
@click.option("--seed", type=SeedType(), help="Seed of the run.  [default: fresh random bits, printed and recorded]")
@click.option("--archetype", "archetypes", multiple=True, help="Aim probes at this archetype (repeatable).")
@click.option("--exclude", multiple=True, help="Aim no probe at this archetype (repeatable).")
@click.option("--confirm", type=click.IntRange(0, 20), default=3, show_default=True, help="Repeats of a failed probe.")
@click.option(
    "--max-agent-calls", type=click.IntRange(1), default=200, show_default=True, help="In the adversarial phase."
)
@click.option("--reserved", multiple=True, type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Bundle.")
@click.option("--identity", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Key for --reserved.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Go on with the run in this directory; other options need not be given again.",
)
@click.option("--fail-on", type=click.Choice(["core", "adversarial"]), default="core", show_default=True)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def command(
    context: click.Context, /, out: Path | None, resume: Path | None, fail_on: str, output: str, **choices: Any
) -> int:
    """Evaluate an agent: preflight, safety gate, capability, adversarial phase, report.

    Exit codes: 0 core PASS, 1 core FAIL, 2 invalid input, 3 provider not conformant, 4 provider failure, 5 agent fault;
    with --fail-on adversarial also 6 (violation in a probe or reserved scenario) and 7 (phase incomplete);
    130 interrupted: the report is partial, and --resume goes on.
    """
    choices["adversarial"] = ExtensionPolicy(choices["adversarial"])
    stored = None if resume is None else StoredRun.read(resume)
    given = {name: value for name, value in choices.items() if _is_given(context, name)}
    if stored and out:
        raise ConfigError("--out", "a run is resumed where it is", "drop --out or --resume")
    config = stored.config(given) if stored else RunConfig(**choices)
    seed = Seed.chosen(config.seed) if config.seed is not None or not stored else stored.seed
    directory, stop = RunDirectory(resume or out or _fresh_directory()), asyncio.Event()
    assembly = assemble(config, seed=seed, directory=directory, stop=stop)
    print_warning_count(assembly.warnings, profile_folder(config.profile))
    started = stored.started if stored else utc_now()
    document = run_document(config, seed, assembly.core.profile.digest(), started)
    if stored:
        stored.refuse_another(document)
    verdict = _carried_out(assembly, directory, document, stop, is_resumed=stored is not None)
    if output == "json":
        print_json({"verdict": verdict})
    else:
        _print_result(verdict, directory.path)
    if INTERRUPTED in verdict["metadata"]["evaluation_mode"]["incomplete_because"]:
        return int(ExitCode.INTERRUPTED)
    return int(of_verdict(verdict, fail_on_adversarial=fail_on == "adversarial"))


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _carried_out(
    assembly: Assembly, directory: RunDirectory, document: Mapping[str, Any], stop: asyncio.Event, *, is_resumed: bool
) -> dict[str, Any]:
    """The verdict of the run, begun, or gone on with, or over already."""
    recorder, config_hash = Recorder(directory, document), str(document["config_hash"])
    notice = console(stderr=True)
    opened = directory.reopened(config_hash) if is_resumed else directory.created(write_yaml(document), config_hash)
    with opened:
        if is_resumed and (finished := directory.finished_verdict()):
            notice.print(plain(f"the run in {directory.path} is finished; there is nothing to resume"))
            return finished
        if is_resumed:
            notice.print(plain(f"going on with {directory.path}: {counted(directory.units, 'unit')} recorded"))
            recorder.resumed()
        try:
            verdict: dict[str, Any] = asyncio.run(_evaluate(assembly, recorder, stop))["verdict"]
        except asyncio.CancelledError:
            raise click.Abort from None
        if recorder.interrupted:
            told = f"interrupted: {counted(directory.units, 'unit')} recorded, the report is partial"
            notice.print(Text(plain(f"{told}; go on with: sirocco run --resume {directory.path}"), style="yellow"))
    return verdict


def _fresh_directory() -> Path:
    """A run directory named after the time, with a number when two runs start in the same second."""
    name = run_name()
    candidates = (Path("runs") / (f"{name}-{number}" if number else name) for number in count())
    return next(path for path in candidates if not path.exists())


async def _evaluate(assembly: Assembly, recorder: Recorder, stop: asyncio.Event) -> dict[str, Any]:
    """Run, keep and show; the recorder has each event on disk before the next one happens.

    The first Ctrl-C or SIGTERM ends the run in good order, the second at once.
    """
    connection, task = assembly.connection, asyncio.current_task()

    def interrupt() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    signals = on_signals({signal.SIGINT: interrupt, signal.SIGTERM: interrupt})
    with connection.closed_to_agent(recorder.directory.path), _Display() as display, signals:
        async with connection.open() as kubeconfig, aclosing(run(assembly.core, assembly.extensions)) as events:
            display.connected(connection, kubeconfig)
            async for event in events:
                recorder.handle(event)
                display.handle(event)
    return recorder.finish(assembly.extensions)


class _Display:
    """Progress on a terminal, nothing when piped; warnings always, on standard error."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def connected(self, connection: Connection, kubeconfig: Path | None) -> None:
        """Say what whoever starts the agent must know."""
        if connection.isolation_note:
            text = f"agent isolation: {connection.agent.isolation} ({connection.isolation_note})"
            self._console.print(Text(plain(text), style="yellow"))
        if kubeconfig is not None:
            self._console.print(plain(f"kubeconfig for the whole run: {kubeconfig}"))

    def handle(self, event: Event) -> None:
        """Show what the event means for a person who waits."""
        match event:
            case RunStarted(identity):
                agent = identity.agent.identity
                self._console.print(plain(f"agent {agent.name} {agent.version}, seed {identity.seed:#x}"))
            case PhaseStarted(phase, units, _):
                self._tasks[phase] = self._progress.add_task(phase, total=units)
            case UnitFinished("scenario", result):
                self._progress.advance(self._tasks[str(result.bound.scenario.classification)])
            case UnitFinished("probe", _):
                self._progress.advance(self._tasks["adversarial"])
            case ReservedFinished():
                self._progress.advance(self._tasks["reserved"])
            case Warned(text):
                self._console.print(Text(plain(f"warning: {text}"), style="yellow"))
            case _:
                pass


def _print_result(verdict: dict[str, Any], path: Path) -> None:
    out = console()
    safety = verdict["safety"] or "none"
    out.print(Text.assemble("core safety verdict  ", (safety, STYLES.get(safety, "bold"))))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for category, counts in verdict["safety_details"]["category_results"].items():
        counted = f"{counts['passed']} of {counts['total']} passed"
        status = counts["status"] or "no verdict"
        table.add_row("  " + category, Text(status, style=STYLES.get(status, "bold yellow")), counted)
    out.print(table)
    for skipped in verdict["skipped_scenarios"]:
        out.print(Text(plain(f"  skipped {skipped['scenario_id']}: {skipped['reason']}"), style="yellow"))
    for excluded in verdict["excluded_scenarios"]:
        out.print(Text(plain(f"  not applicable {excluded['scenario_id']}: {excluded['condition']}"), style="dim"))
    for warning in verdict["metadata"]["configuration_coverage"]["warnings"]:
        out.print(Text(plain(f"  warning: {warning}"), style="yellow"))
    if "capability" in verdict:
        _print_capability(verdict["capability"])
    if block := verdict.get("adversarial_verification"):
        _print_block(block)
    if verdict["metadata"]["aborted"]:
        out.print(Text(plain(f"aborted: {verdict['metadata']['abort_reason']}"), style="yellow"))
    out.print()
    out.print(Text(headline(verdict), style="bold"))
    out.print(f"Look at {path / 'report.html'}")
    failures = (verdict.get("adversarial_verification") or {}).get("safety_results", {}).get("failures", [])
    if failures:
        out.print(f"Run one again: sirocco probe replay {path / failures[0]['probe_serialized']} --agent SPEC")


def _print_capability(section: dict[str, Any]) -> None:
    """Scores with the tier beside them; what nothing could decide is named."""
    out = console()
    heading = f"capability at tier {section['tier']}"
    if "note" in section:
        out.print(f"{heading}  {section['note']}")
        return
    counts = section["scenarios"]
    out.print(f"{heading}  {counts['scored']} of {counts['total']} scenarios scored")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    scores = {name.replace("_", " "): value for name, value in section["core_dimensions"].items()}
    scores |= {name: row["score"] for name, row in section["domain_categories"].items()}
    for name, value in scores.items():
        table.add_row("  " + plain(name), "no score" if value is None else f"{value:.2f}")
    out.print(table)
    for undecided in section["undecidable"]:
        out.print(Text(plain(f"  not decidable {undecided['scenario_id']}: {undecided['reason']}"), style="yellow"))


def _print_block(block: dict[str, Any]) -> None:
    out = console()
    results = block["safety_results"]
    violated = Text(f"{results['failed']} violations", style="bold red" if results["failed"] else "green")
    out.print(
        Text.assemble(f"adversarial probes   {results['total']} run, ", violated, f", {results['passed']} passed")
    )
    by_archetype: dict[str, list[dict[str, Any]]] = {}
    for failure in results["failures"]:
        by_archetype.setdefault(failure["primary_archetype"], []).append(failure)
    for archetype, failures in by_archetype.items():
        confirmed = sum(failure["reproduction"]["failed"] > 0 for failure in failures)
        out.print(
            plain(f"  {archetype}  {len(failures)} failed, {confirmed} confirmed  e.g. {failures[0]['description']}")
        )
    if executed := block["reserved_scenarios"]["executed"]:
        reserved = block["reserved_scenarios"]
        out.print(f"reserved scenarios   {executed} run, {reserved['passed']} passed, {reserved['failed']} failed")
    if not block["complete"]:
        out.print(Text(plain(f"incomplete           {block['incomplete_reason']}"), style="yellow"))
