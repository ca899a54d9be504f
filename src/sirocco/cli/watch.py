"""`sirocco watch`: the progress of a run in another terminal, and its results so far."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.errors import ConfigError
from sirocco.evidence.event_log import EVENTS
from sirocco.evidence.files import is_being_written
from sirocco.evidence.progress import Progress, read_progress

_SHOWN = 8
"""The number of recently finished units shown."""
_SILENCE = 10.0
"""Seconds between two lines if the output is not a terminal."""


@click.command("watch", epilog="Example: sirocco watch runs/first")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--once", is_flag=True, help="Show the current progress and exit.")
@click.option("--interval", type=click.FloatRange(0.1), default=1.0, show_default=True, help="Seconds between updates.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(run: Path, once: bool, interval: float, output: str) -> int:  # noqa: FBT001 - click's signature
    """Show the progress of the run in directory RUN until it ends.

    On a terminal, the view is updated in place; otherwise, a line is printed now and then. Watching only reads: any
    number of people can watch, and ending it does not end the run.
    """
    if not (run / EVENTS).exists():
        raise ConfigError(str(run), "no run was started here", "give the directory passed to `sirocco run --out`")
    known = read_progress(run, Progress())
    if output == "json":
        print_json(_document(known, is_running=is_being_written(run)))
        return int(ExitCode.OK)
    out = console()
    if once or not (is_being_written(run) and not known.is_over):
        out.print(_view(known, run))
        return int(ExitCode.OK)
    looks = _looks(run, known, interval)
    if not out.is_terminal:
        _print_lines(looks, time.monotonic)
        return int(ExitCode.OK)
    with Live(console=out, auto_refresh=False) as live:
        for known in looks:
            live.update(_view(known, run), refresh=True)
    return int(ExitCode.OK)


def _looks(run: Path, known: Progress, interval: float) -> Iterator[Progress]:
    """Successive views of the run, until it is over or its process is gone."""
    while True:
        is_last = not is_being_written(run)
        known = read_progress(run, known)
        yield known
        if is_last or known.is_over:
            return
        time.sleep(interval)


def _print_lines(looks: Iterator[Progress], clock: Callable[[], float]) -> None:
    out, told, stage = console(), float("-inf"), ""
    for known in looks:
        if known.stage != stage or clock() > told + _SILENCE or known.is_over:
            told, stage = clock(), known.stage
            out.print(one_line(_sentence(known)))


def _sentence(known: Progress) -> str:
    failed = sum(known.failed.values())
    counts = f"{known.done[known.phase]} of {known.phases.get(known.phase, 0)}"
    left = "" if known.remaining is None else f", about {_duration(known.remaining)} left in this phase"
    return f"{known.stage}: {counts}, {failed} violated so far, {_duration(known.elapsed)} elapsed{left}"


def _view(known: Progress, run: Path) -> Group:
    """The whole view: who is evaluated, a bar for each phase, what failed, what ended last."""
    head = Text.assemble(
        (one_line(known.agent or "starting"), "bold"), "  ", one_line(known.profile), "  ", one_line(str(run))
    )
    bars = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for phase, planned in known.phases.items():
        done = known.done[phase]
        bar = ProgressBar(total=max(planned, 1), completed=min(done, planned) if planned else 1, width=30)
        bars.add_row(f"  {one_line(phase)}", bar, f"{done} of {planned}")
    beside = ", ".join(f"{count} {kind}" for kind, count in known.kinds.items() if count)
    failed = sum(known.failed.values())
    lines = [Text(one_line(f"  {_sentence(known)}"), style="bold red" if failed else "bold")]
    lines += [Text(one_line(f"  units: {beside}"), style="dim")] if beside else []
    lines += [Text(one_line(f"  warning: {text}"), style="yellow") for text in list(known.warnings)[:3]]
    latest = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for kind, unit, status in list(known.latest)[:_SHOWN]:
        style = "red" if status == "FAIL" else "green" if status == "PASS" else "dim"
        latest.add_row(Text(f"  {one_line(status)}", style=style), one_line(kind), one_line(unit))
    return Group(head, bars, *lines, latest)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return (
        f"{minutes // 60}h{minutes % 60:02}m" if minutes >= 60 else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
    )


def _document(known: Progress, *, is_running: bool) -> dict[str, object]:
    return {
        "agent": known.agent,
        "profile": known.profile,
        "running": is_running and not known.is_over,
        "stage": known.stage,
        "phases": {phase: {"done": known.done[phase], "planned": planned} for phase, planned in known.phases.items()},
        "violated": sum(known.failed.values()),
        "statuses": dict(known.statuses),
        "units": dict(known.kinds),
        "elapsed_seconds": round(known.elapsed, 1),
        "remaining_seconds": None if known.remaining is None else round(known.remaining, 1),
        "warnings": list(known.warnings),
    }
