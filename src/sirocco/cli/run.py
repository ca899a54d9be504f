"""`sirocco run`: the whole evaluation."""

import asyncio
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any, Self

import click
from click.core import ParameterSource
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from sirocco.campaign.pursuit import TURNS
from sirocco.campaign.schedule import ScheduleKind
from sirocco.cli.borrowed_cluster import borrowed_cluster_options, borrowed_provider_spec
from sirocco.cli.dry_run import show_dry_run
from sirocco.cli.exit_codes import ExitCode, of_verdict
from sirocco.cli.interruption import on_signals
from sirocco.cli.options import Duration, GroupedCommand, SecretText, SeedType, agent_options, secret_files
from sirocco.cli.run_file import run_file_option
from sirocco.cli.run_summary import STYLES, print_result
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_warning_count
from sirocco.errors import ConfigError
from sirocco.evidence.run_directory import RunDirectory
from sirocco.evidence.transparency_log import append_entry
from sirocco.oasis.event import Event, PhaseStarted, ReservedFinished, RunStarted, UnitFinished, Warned
from sirocco.oasis.report import INTERRUPTED, UnitResult
from sirocco.profiles.yaml_text import write_yaml
from sirocco.runner.run import ExtensionPolicy, run
from sirocco.wiring.assemble import Assembly, assemble
from sirocco.wiring.clock import run_name, utc_now
from sirocco.wiring.config import EVALUATOR, Executor, RunConfig, Seed, run_document
from sirocco.wiring.connection import Connection
from sirocco.wiring.evaluator_key import default_key_file, signing_key
from sirocco.wiring.profile_source import BUNDLED, BUNDLED_PROVIDER, profile_folder
from sirocco.wiring.recorder import Recorder
from sirocco.wiring.resume import StoredRun
from sirocco.wiring.run_files import verdict_of
from sirocco.wiring.workforce import open_workforce

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_BESIDE = ("rerun", "renamed", "confirmation", "twin", "shrinking")
_SILENCE = 30.0
"""Seconds between progress messages where there is no bar, such as in a log."""
_CORE_KINDS = ("scenario", "trial", "custom")


_HEADINGS = {
    "What to run": "profile suite custom tier safety-only category scenario trials strict config",
    "The agent": "agent agent-header agent-env agent-tool model-url timeout scenario-timeout isolation",
    "The environment": "provider provider-token listen advertise static-endpoint kubeconfig context audit-log"
    " audit-webhook image yes",
    "The run": "out resume parallel agent-parallel executor ray-address dry-run verbose format fail-on artifacts",
    "Adversarial phase": "adversarial generator probes seed archetype exclude schedule turns learn until confirm twins"
    " reruns pairs core max-agent-calls max-minutes max-tokens max-cost price",
    "Withheld scenarios and material": "reserved material identity",
    "Who vouches for it": "evaluator evaluator-key transparency-log",
}


@click.command(
    "run",
    cls=GroupedCommand,
    headings=_HEADINGS,
    epilog="Example: sirocco run --agent ref:careful --probes 24 --seed 7 --out runs/careful",
)
@click.option(
    "--agent",
    default="",
    metavar="SPEC",
    help="The agent to evaluate: a URL, cmd:..., mcp:..., python:..., model:... or ref:NAME.  [required]",
)
@agent_options
@click.option(
    "--listen", default="", metavar="ADDR", help="Serve environments at this address, for agents on other machines."
)
@click.option(
    "--advertise", default="", metavar="HOST", help="Host name that those agents use; the certificate covers it."
)
@click.option(
    "--static-endpoint", is_flag=True, help="Use one kubeconfig for the whole run, and one environment at a time."
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --static-endpoint: write that kubeconfig to this file. With --context: your own, which is read.",
)
@borrowed_cluster_options
@click.option("--profile", default=BUNDLED, show_default=True, help="A bundled profile's name, or a folder.")
@click.option("--suite", type=_FILE, help="Run only the scenarios of this suite, in its order.")
@click.option(
    "--custom",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Add your own scenarios, a file or a folder; they are labelled and add nothing to coverage (repeatable).",
)
@click.option("--strict", is_flag=True, help="Treat warnings about the profile as errors.")
@click.option(
    "--provider",
    default=BUNDLED_PROVIDER,
    show_default=True,
    help="What provides environments: simulator, cluster, or a URL.",
)
@click.option(
    "--provider-token",
    type=SecretText(),
    envvar="SIROCCO_PROVIDER_TOKEN",
    default="",
    help="Token for the provider at that URL; @FILE keeps it off the command line.",
)
@click.option("--tier", type=click.IntRange(1, 3), default=1, show_default=True, help="Complexity tier to claim.")
@click.option("--safety-only", is_flag=True, help="Run only safety scenarios and safety probes.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Run only this category: its scenarios, and its probes unless --archetype names others (repeatable).",
)
@click.option(
    "--scenario", "scenarios", multiple=True, help="Run only scenarios whose id matches this glob (repeatable)."
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=Duration(),
    default="5m",
    show_default=True,
    help="Limit for one turn of the agent.",
)
@click.option(
    "--scenario-timeout", "scenario_seconds", type=Duration(), help="Limit for all turns of a scenario together."
)
@click.option("--trials", type=click.IntRange(1, 1000), default=1, show_default=True, help="Run each scenario N times.")
@click.option("--evaluator", default=EVALUATOR, show_default=True, metavar="NAME", help="Who vouches for the run.")
@click.option(
    "--evaluator-key",
    type=_FILE,
    help="Ed25519 key (PEM) that signs the run.  [default: your own, created on first use]",
)
@click.option(
    "--transparency-log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append the digest of the signed statement to this hash-chained log.",
)
@click.option(
    "--artifacts/--no-artifacts",
    default=True,
    show_default=True,
    help="Also write each scenario's evidence as evidence-ID.json, as the standard requires.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Run directory.  [default: runs/<time>]")
@click.option(
    "--parallel", type=click.IntRange(1, 64), default=4, show_default=True, help="How many units run at once."
)
@click.option("--agent-parallel", type=click.IntRange(1, 64), help="How many of them the agent handles at once.")
@click.option(
    "--executor",
    type=click.Choice([str(kind) for kind in Executor]),
    default="local",
    show_default=True,
    help="Where units run: in this process, in one process per processor, or on a Ray cluster.",
)
@click.option("--ray-address", default="", metavar="ADDR", help="Ray cluster to use.  [default: start one here]")
@click.option(
    "--adversarial",
    type=click.Choice([str(policy) for policy in ExtensionPolicy]),
    default="on-pass",
    show_default=True,
    help="When to run the adversarial phase after the core.",
)
@click.option(
    "--generator",
    multiple=True,
    default=("mutation",),
    show_default=True,
    metavar="SPEC",
    help="What generates probes: mutation, llm:PROVIDER:NAME, command:PROGRAM, a URL, red_team:PATH, hybrid:A>B or an"
    " installed generator's name, with options as in 'NAME?share=2' (repeatable: each gets its share).",
)
@click.option(
    "--probes", type=click.IntRange(0, 100_000), default=48, show_default=True, help="How many probes to run."
)
@click.option("--seed", type=SeedType(), help="Seed of the run, or @FILE.  [default: random, printed and recorded]")
@click.option("--archetype", "archetypes", multiple=True, help="Target only this archetype (repeatable).")
@click.option("--exclude", multiple=True, help="Do not target this archetype (repeatable).")
@click.option(
    "--schedule",
    type=click.Choice([str(kind) for kind in ScheduleKind]),
    default="fixed",
    show_default=True,
    help="Follow the covering plan; the findings so far (adaptive, from 100 probes up); or refine attempts that the"
    " agent did not follow (pursuit).",
)
@click.option(
    "--turns",
    type=click.IntRange(2, 100),
    default=TURNS,
    show_default=True,
    help="With --schedule pursuit: attempts in one environment.",
)
@click.option(
    "--learn",
    multiple=True,
    type=_FILE,
    help="Start --schedule adaptive or pursuit from this verdict.json of the same agent (repeatable).",
)
@click.option(
    "--until",
    multiple=True,
    metavar="RULE",
    help="Stop early once 'rate<0.05' is established or 'findings>=3' are found (repeatable: any).",
)
@click.option(
    "--confirm", type=click.IntRange(0, 20), default=3, show_default=True, help="Repeats of each failed probe."
)
@click.option(
    "--twins",
    type=click.IntRange(0, 20),
    default=1,
    show_default=True,
    help="Benign twins per capability category: legitimate work that looks like an attack.",
)
@click.option(
    "--reruns",
    type=click.IntRange(0, 100_000),
    help="Published scenarios to re-run among the probes.  [default: one for every four probes]",
)
@click.option(
    "--pairs",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Published scenarios to run with different names and wording: has the agent memorized them?",
)
@click.option(
    "--core",
    type=_FILE,
    help="Run only the adversarial phase, next to the core in this verdict.json or oasisctl report.",
)
@click.option(
    "--max-agent-calls",
    type=click.IntRange(1),
    help="Limit for the adversarial phase.  [default: 200, and 4 more for each of --pairs]",
)
@click.option(
    "--max-minutes",
    type=click.FloatRange(0, min_open=True),
    help="Start no new probes after this many minutes; the core is always finished.",
)
@click.option(
    "--reserved",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Sealed bundle of reserved scenarios (repeatable).",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Start no new probes after this many tokens of agent and generator, as reported, core included.",
)
@click.option(
    "--max-cost", type=click.FloatRange(0, min_open=True), help="Start no new probes once this much money is spent."
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="ROLE=R/W",
    help="Price of a million tokens read and written, if not reported: agent=3/15, generator=1/5 (repeatable).",
)
@click.option(
    "--material",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Sealed wording for probes, in addition to the public material (repeatable).",
)
@click.option(
    "--identity",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Key for --reserved and --material.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Resume the run in this directory; other options need not be repeated.",
)
@click.option(
    "--config",
    type=_FILE,
    is_eager=True,
    expose_value=False,
    callback=run_file_option,
    help="Read options from this run file; the command line takes precedence.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run and what it would cost; start nothing.")
@click.option("--verbose", is_flag=True, help="Print a line for each finished unit.")
@click.option(
    "--fail-on",
    type=click.Choice(["core", "adversarial"]),
    default="core",
    show_default=True,
    help="What makes the exit code non-zero: the core alone, or adversarial results too.",
)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    out: Path | None,
    resume: Path | None,
    output: str,
    dry_run: bool,
    verbose: bool,
    evaluator_key: Path | None,
    transparency_log: Path | None,
    cluster_context: str,
    audit_log: str,
    audit_webhook: str,
    images: Sequence[str],
    is_agreed: bool,
    **choices: Any,
) -> int:
    """Evaluate an agent: preflight, safety gate, capability, adversarial phase, report.

    Exit codes: 0 core PASS, 1 core FAIL, 2 invalid input, 3 provider not conformant, 4 provider failure, 5 agent fault;
    with --fail-on adversarial also 6 (violation in a probe or reserved scenario) and 7 (phase incomplete);
    130 interrupted: the report is partial, and --resume continues.
    """
    choices["adversarial"] = ExtensionPolicy(choices["adversarial"])
    choices["schedule"] = ScheduleKind(choices["schedule"])
    choices["executor"] = Executor(choices["executor"])
    choices["secret_files"] = (*secret_files(context), evaluator_key or default_key_file())
    if cluster_context or audit_log or audit_webhook or images:
        choices["provider"] = borrowed_provider_spec(
            choices["provider"], choices["profile"], kubeconfig=choices["kubeconfig"], context=cluster_context,
            audit_log=audit_log, audit_webhook=audit_webhook, images=images, is_agreed=is_agreed,
        )  # fmt: skip
        choices["kubeconfig"] = None
    stored = None if resume is None else StoredRun.read(resume)
    given = {name: value for name, value in choices.items() if _is_given(context, name)}
    if stored and out:
        raise ConfigError("--out", "a run is resumed in its own directory", "drop --out or --resume")
    config = stored.config(given) if stored else RunConfig(**choices)
    seed = Seed.choose(config.seed) if not stored or config.seed not in {None, stored.seed.value} else stored.seed
    # Before the agent starts, because starting it hides the key from it.
    key = None if dry_run else signing_key(evaluator_key, _warn)
    directory, stop = RunDirectory(resume or out or _fresh_directory()), asyncio.Event()
    assembly = assemble(config, seed=seed, directory=directory, stop=stop)
    print_warning_count(assembly.warnings, profile_folder(config.profile))
    if dry_run:
        show_dry_run(assembly, config, as_json=output == "json", verbose=verbose)
        return int(ExitCode.OK)
    started = stored.started if stored else utc_now()
    digests = assembly.core.profile.digest(), assembly.selection.digest
    document = run_document(config, seed, digests[0], started, digests[1], directory.path)
    if stored:
        stored.refuse_another(document)
    for remark in config.remarks:
        _warn(remark)
    # Recorded settings stay as they were; options without an effect on results may differ now.
    guard = assembly.reserved_task.leaking_files if assembly.reserved_task else lambda _: ()
    recorder = Recorder(directory, stored.document if stored else document, key, guard)
    display = _Display(verbose=verbose, told=config.remarks)
    verdict = _carried_out(assembly, recorder, stop, display, is_resumed=stored is not None)
    if transparency_log is not None:
        append_entry(transparency_log, directory.path, utc_now())
    if output == "json":
        print_json({"verdict": verdict})
    else:
        print_result(verdict, directory.path, recorder.run)
    if INTERRUPTED in verdict["metadata"]["evaluation_mode"]["incomplete_because"]:
        return int(ExitCode.INTERRUPTED)
    return int(of_verdict(verdict, fail_on_adversarial=config.fail_on == "adversarial"))


def _warn(text: str) -> None:
    console(stderr=True).print(Text(one_line(f"warning: {text}"), style="yellow"))


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _carried_out(
    assembly: Assembly,
    recorder: Recorder,
    stop: asyncio.Event,
    display: "_Display",
    *,
    is_resumed: bool,
) -> dict[str, Any]:
    """The verdict of the run, whether new, resumed, or already finished."""
    directory, config_hash = recorder.directory, str(recorder.run["config_hash"])
    notice = console(stderr=True)
    opened = (
        directory.reopen_run(config_hash) if is_resumed else directory.create_run(write_yaml(recorder.run), config_hash)
    )
    with opened:
        if is_resumed and directory.is_finished:
            if not directory.missing_files:
                finished: dict[str, Any] = verdict_of(directory.path)["verdict"]
                notice.print(one_line(f"the run in {directory.path} is finished; there is nothing to resume"))
                return finished
            lost = ", ".join(directory.missing_files)
            notice.print(one_line(f"the run in {directory.path} is finished, but lacks {lost}: written again"))
        if is_resumed:
            notice.print(one_line(f"resuming {directory.path}: {count_phrase(directory.units, 'unit')} recorded"))
            recorder.record_resumption()
        try:
            verdict: dict[str, Any] = asyncio.run(_evaluate(assembly, recorder, stop, display))["verdict"]
        except (asyncio.CancelledError, KeyboardInterrupt):
            _tell_interrupted(directory, "there is no report")
            raise click.Abort from None
        if recorder.interrupted:
            _tell_interrupted(directory, "the report is partial")
    return verdict


def _tell_interrupted(directory: RunDirectory, report: str) -> None:
    told = f"interrupted: {count_phrase(directory.units, 'unit')} recorded, {report}"
    text = one_line(f"{told}; resume with: sirocco run --resume {directory.path}")
    console(stderr=True).print(Text(text, style="yellow"))


def _fresh_directory() -> Path:
    """A run directory named after the time, with a number if two runs start in the same second."""
    name = run_name()
    candidates = (Path("runs") / (f"{name}-{number}" if number else name) for number in count())
    return next(path for path in candidates if not path.exists())


async def _evaluate(assembly: Assembly, recorder: Recorder, stop: asyncio.Event, shown: "_Display") -> dict[str, Any]:
    """Run, record and show; the recorder has each event on disk before the next one happens.

    The first Ctrl-C or SIGTERM ends the run gracefully, the second immediately.
    """
    connection, task = assembly.connection, asyncio.current_task()

    def interrupt() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    signals = on_signals({signal.SIGINT: interrupt, signal.SIGTERM: interrupt})
    with connection.closed_to_agent(recorder.directory.path), shown as display, signals:
        async with (
            connection.open() as files,
            open_workforce(assembly.workforce),
            aclosing(run(assembly.core, assembly.extensions)) as events,
        ):
            display.show_connection(connection, files)
            async for event in events:
                if isinstance(event, RunStarted):
                    assembly.refuse_other_agent(event.identity)
                recorder.handle(event)
                display.handle(event)
    return recorder.finish(assembly.extensions)


class _Display:
    """Progress on standard error: a bar on a terminal, else a line now and then; warnings, and units if requested."""

    def __init__(
        self, *, verbose: bool = False, told: Sequence[str] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._verbose = verbose
        self._remarks = frozenset(told)
        """Warnings that were shown before the run started."""
        self._clock = clock
        self._told = clock()
        self._done: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._console = console(stderr=True)
        failures = TextColumn("[red]{task.fields[failed]}")
        times = (TimeElapsedColumn(), TextColumn("elapsed,"), TimeRemainingColumn(), TextColumn("left"))
        columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn(), *times, failures)
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show_connection(self, connection: Connection, files: Mapping[str, Path]) -> None:
        """Show what is needed to start the agent."""
        note = connection.isolation_note
        if note or getattr(connection.agent, "isolation_means", ""):
            text = f"agent isolation: {connection.isolation}" + (f" ({note})" if note else "")
            self._console.print(Text(one_line(text), style="yellow" if note else ""))
        for variable, path in files.items():
            self._console.print(one_line(f"{variable.lower()} for the whole run: {path}"))

    def handle(self, event: Event) -> None:
        """Show what the event means to someone who is waiting."""
        match event:
            case RunStarted(identity):
                agent = identity.agent.identity
                hint = "" if self._verbose or self._console.is_terminal else "; --verbose shows each unit as it ends"
                profile = f"{identity.profile.name} {identity.profile.version}, by OASIS core {identity.core_version}"
                self._console.print(one_line(f"agent {agent.name} {agent.version}, seed {identity.seed:#x}{hint}"))
                self._console.print(one_line(f"profile {profile} (it requires {identity.profile.oasis_core})"))
            case PhaseStarted(phase, units, _):
                self._tasks[phase] = self._progress.add_task(phase, total=units, failed="")
                self._total[phase] = units
            case UnitFinished(kind, result):
                self._unit(kind, result)
            case ReservedFinished():
                self._advance("reserved")
            case Warned(text) if text not in self._remarks:
                self._console.print(Text(one_line(f"warning: {text}"), style="yellow"))
            case _:
                pass

    def _advance(self, phase: str, units: int = 1) -> None:
        self._progress.advance(self._tasks[phase], units)
        self._done[phase] = self._done.get(phase, 0) + units
        if self._console.is_terminal or self._verbose or self._clock() < self._told + _SILENCE:
            return
        self._told = self._clock()
        then = ", confirming what failed" if not units and self._done[phase] == self._total[phase] else ""
        self._console.print(f"{phase}: {self._done[phase]} of {self._total[phase]}{then}")

    def _unit(self, kind: str, result: UnitResult) -> None:
        phase = str(result.bound.scenario.classification) if kind in _CORE_KINDS else "adversarial"
        self._advance(phase, 0 if kind in _BESIDE else 1)
        if kind not in _BESIDE and result.status == "FAIL" and result.score is None:
            self._failed[phase] = self._failed.get(phase, 0) + 1
            self._progress.update(self._tasks[phase], failed=f"{self._failed[phase]} violated")
        if self._verbose:
            status = result.status or "no verdict"
            score = "" if result.score is None else f"  {result.score:.2f}"
            style = STYLES.get(status, "yellow")
            self._console.print(Text.assemble((f"{status:<16}", style), one_line(f"{kind:<12} {result.unit}{score}")))
