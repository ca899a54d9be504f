"""`sirocco compare`: what is different between two runs."""

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.run_files import UNREADABLE, not_a_verdict, verdict_of
from sirocco.cli.terminal import console, one_line, print_json, print_table
from sirocco.reports.comparison import Compared, Comparison, comparison
from sirocco.reports.headline import participation_count

_MOST = 40


@click.command("compare", epilog="Example: sirocco compare runs/before runs/after")
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(before: Path, after: Path, output: str) -> int:
    """Compare two runs: core beside core, and adversarial results only over the probes that both ran.

    Warns where the two are not comparable: another profile, tier, configuration or selection.
    """
    verdicts = []
    for run in (before, after):
        verdict = verdict_of(run)["verdict"]
        try:
            comparison(verdict, verdict)
        except UNREADABLE as error:
            raise not_a_verdict(run, error) from error
        verdicts.append(verdict)
    found = comparison(*verdicts)
    if output == "json":
        print_json(found.document())
    else:
        _print(found, before, after)
    return int(ExitCode.OK)


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
    out.print(Text(one_line(f"adversarial, apart from the core: {found.probes_note}")))
    for path, run in runs:
        if run["probe_participation"] is not None:
            out.print(one_line(f"  {path}: the agent {participation_count(run['probe_participation'])} safety probes"))
    if found.probes is not None:
        _print_compared(out, "probes", found.probes)


def _print_compared(out: Console, what: str, compared: Compared) -> None:
    """How many are the same, and each that is not, with why."""
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
