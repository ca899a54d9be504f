"""`sirocco compare`: the differences between two runs, or many runs side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json, print_table
from sirocco.errors import ConfigError
from sirocco.reports.comparison import Compared, Comparison, Row, SideBySide, comparison, side_by_side
from sirocco.reports.headline import participation_count
from sirocco.wiring.run_files import UNREADABLE, not_a_verdict, verdict_of

_MOST = 40


@click.command("compare", epilog="Example: sirocco compare runs/before runs/after")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(runs: tuple[Path, ...], output: str) -> int:
    """Compare runs: core with core, and adversarial results over the probes that all of them ran.

    With two runs, shows what changed. With more, shows them side by side: versions of one agent, or several agents.
    Names the runs that are not comparable, because profile, tier, configuration or selection differ.
    """
    if len(runs) < 2:
        raise ConfigError("sirocco compare", "there is only one run", "give two or more runs")
    verdicts = [_checked_verdict(run) for run in runs]
    if len(verdicts) == 2:
        found = comparison(*verdicts)
        if output == "json":
            print_json(found.document())
        else:
            _print(found, *runs)
        return int(ExitCode.OK)
    beside = side_by_side(verdicts)
    if output == "json":
        print_json(beside.document())
    else:
        _print_side_by_side(beside, runs)
    return int(ExitCode.OK)


def _checked_verdict(run: Path) -> Mapping[str, Any]:
    verdict: Mapping[str, Any] = verdict_of(run)["verdict"]
    try:
        comparison(verdict, verdict)
    except UNREADABLE as error:
        raise not_a_verdict(run, error) from error
    return verdict


def _print_side_by_side(found: SideBySide, paths: Sequence[Path]) -> None:
    out = console()
    names = [f"[{number}]" for number in range(1, len(paths) + 1)]
    rows = [
        (
            name,
            path,
            f"{run['agent']} {run['agent_version']}",
            run["safety"] or "none",
            f"{run['passed']} of {run['applicable']}",
            "none" if run["violations"] is None else f"{run['violations']} of {run['safety_probes']}",
            participation_count(run["participation"]),
        )
        for name, path, run in zip(names, paths, found.runs, strict=True)
    ]
    print_table(out, ("", "run", "agent", "core safety", "passed", "probes violated", "the agent"), rows)
    out.print()
    if len(found.groups) > 1:
        told = "; ".join(" with ".join(names[number] for number in group) for group in found.groups)
        out.print(Text(one_line(f"not all of them are comparable; comparable are: {told}"), style="yellow"))
    else:
        out.print("all of them are comparable: the same profile, tier, configuration, provider and selection")
    for one in found.differences:
        values = ", ".join(f"{name} {value}" for name, value in zip(names, one.values, strict=True))
        out.print(Text(one_line(f"  {one.what} differs: {values}"), style="yellow"))
    for number, reason in found.incomplete.items():
        out.print(Text(one_line(f"  {names[number]} is incomplete: {reason}"), style="yellow"))
    _print_rows(out, "safety scenarios", found.safety, names)
    _print_rows(out, "capability scenarios", found.capability, names)
    _print_rows(out, "scores", found.scores, names)
    out.print()
    out.print(Text(one_line(f"adversarial, separate from the core: {found.probes_note}")))
    _print_rows(out, "probes", found.probes, names)


def _print_rows(out: Console, what: str, rows: Sequence[Row], names: Sequence[str]) -> None:
    """The number of rows that are the same in every run, and each row that is not."""
    if not rows:
        return
    different = [one for one in rows if not one.is_same]
    out.print()
    out.print(Text.assemble((f"{what}  ", "bold"), f"{len(different)} differ, {len(rows) - len(different)} the same"))
    shown = [(f"  {one.id}", *("-" if value is None else value for value in one.values)) for one in different[:_MOST]]
    print_table(out, ("", *names), shown)
    if len(different) > _MOST:
        out.print(f"  and {len(different) - _MOST} more; --format json has them all")


def _print(found: Comparison, before: Path, after: Path) -> None:
    out = console()
    runs = ((before, found.before), (after, found.after))
    rows = [
        (
            path,
            f"{run['agent']} {run['agent_version']}",
            run["safety"] or "none",
            f"{run['passed']} of {run['applicable']}",
            participation_count(run["participation"]),
        )
        for path, run in runs
    ]
    print_table(out, ("run", "agent", "core safety", "passed", "the agent"), rows)
    for warning in found.warnings:
        out.print(Text(one_line(f"warning: {warning}"), style="yellow"))
    _print_compared(out, "safety scenarios", found.safety)
    _print_compared(out, "capability scenarios", found.capability)
    _print_scores(out, found)
    out.print()
    out.print(Text(one_line(f"adversarial, separate from the core: {found.probes_note}")))
    for path, run in runs:
        if run["probe_participation"] is not None:
            out.print(one_line(f"  {path}: the agent {participation_count(run['probe_participation'])} safety probes"))
    if found.probes is not None:
        _print_compared(out, "probes", found.probes)


def _print_compared(out: Console, what: str, compared: Compared) -> None:
    """The number of unchanged results, and each changed one with the reason."""
    if not (compared.same or compared.changed or compared.only_before or compared.only_after):
        return
    out.print()
    changed = len(compared.changed)
    out.print(Text.assemble((f"{what}  ", "bold"), f"{changed} changed, {compared.same} the same"))
    for one in compared.changed[:_MOST]:
        style = {True: "green", False: "red", None: "yellow"}[one.better]
        said = f"{one.before or 'none'} -> {one.after or 'none'}"
        out.print(Text.assemble("  ", (one_line(said), style), "  ", one_line(one.id)))
        if one.better is False and one.why:
            out.print(Text(one_line(f"      {one.why}"), style="dim"))
    if changed > _MOST:
        out.print(f"  and {changed - _MOST} more; --format json has them all")
    for word, units in (("first", compared.only_before), ("second", compared.only_after)):
        if units:
            shown = ", ".join(units[:5]) + (f" and {len(units) - 5} more" if len(units) > 5 else "")
            out.print(Text(one_line(f"  only in the {word}: {shown}"), style="dim"))


def _print_scores(out: Console, found: Comparison) -> None:
    if not found.scores:
        return
    tiers = [run["tier"] for run in (found.before, found.after)]
    out.print()
    said = (
        f"capability at tier {tiers[0]}"
        if tiers[0] == tiers[1]
        else f"capability at tier {tiers[0]} and at tier {tiers[1]}"
    )
    out.print(Text(said, style="bold"))
    rows = []
    for one in found.scores:
        style = "" if not one.difference else ("green" if one.difference > 0 else "red")
        difference = Text("" if one.difference is None else f"{one.difference:+.2f}", style=style)
        rows.append((f"  {one.id.replace('_', ' ')}", one.level, _score(one.before), _score(one.after), difference))
    print_table(out, ("  score", "of a", "before", "after", "difference"), rows)
    if tiers[0] != tiers[1]:
        out.print(Text("  scores of different tiers are not comparable, so there is no difference", style="yellow"))


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
