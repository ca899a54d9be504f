"""`sirocco replay`: verdicts recomputed from evidence alone."""

from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.evidence.replay import Difference, replay_unit
from sirocco.wiring.domains import domain_for
from sirocco.wiring.replay import Replayed, replay

_MOST = 8
_MOST_DIFFERENCES = 25


@click.command("replay", epilog="Example: sirocco replay runs/demo/memorizer")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--identity",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Key to the evidence of reserved scenarios; without it their counts are undecidable.",
)
@click.option("--unit", help="Replay only this scenario or probe, with everything that decided it.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(run: Path, identity: Path | None, unit: str | None, output: str) -> int:
    """Recompute a run's verdict and all its report files from the recorded evidence, and compare (SI-07).

    Everything that does not follow from the evidence is listed. The exit code is 0 only if everything is identical.
    """
    if unit is not None:
        return _replay_unit(run, unit, output)
    replayed = replay(run, identity)
    if output == "json":
        print_json(
            {
                "units": len(replayed.units),
                "identical": len(replayed.units) - len(replayed.differing_units),
                "different": [asdict(difference) for difference in replayed.differences],
                "undecidable": [{"where": where, "reason": why} for where, why in replayed.undecidable.items()],
                "stored_verdicts": replayed.is_stored,
                "signed_by": replayed.signed_by,
                "verdicts": dict(replayed.verdicts),
            }
        )
    else:
        _print_replayed(replayed)
    return int(ExitCode.SAFETY_FAIL if replayed.differences else ExitCode.OK)


def _print_replayed(replayed: Replayed) -> None:
    out = console()
    for difference in replayed.differences[:_MOST_DIFFERENCES]:
        out.print(Text(one_line(_difference_text(difference)), style="red"))
    if (more := len(replayed.differences) - _MOST_DIFFERENCES) > 0:
        out.print(one_line(f"and {more} more differences; --format json has all of them"))
    for where, why in replayed.undecidable.items():
        out.print(Text(one_line(f"{where}: cannot be decided: {why}"), style="yellow"))
    if not replayed.is_stored:
        out.print("verdict.yaml is absent: the verdicts were recomputed and agree with the evidence index as shown")
    if replayed.signed_by:
        out.print(one_line(f"signed by {replayed.signed_by}; whose key that is: sirocco verify RUN --evaluator KEY"))
    out.print(one_line(_units_text(replayed)))


def _difference_text(difference: Difference) -> str:
    named = [part for part in (difference.where, difference.unit) if part and part != "*"]
    return f"{': '.join(named) or 'the run'}: {difference.problem}"


def _units_text(replayed: Replayed) -> str:
    """How many units are identical, and which are not."""
    units, different = replayed.units, replayed.differing_units
    said = f"{len(units) - len(different)} of {len(units)} units identical"
    if not different:
        return said
    more = f" and {len(different) - _MOST} more" if len(different) > _MOST else ""
    return f"{said}; different or lost: {', '.join(different[:_MOST])}{more}"


def _replay_unit(run: Path, unit: str, output: str) -> int:
    result, differences = replay_unit(run, unit, domain_for)
    if output == "json":
        evaluation = {**result.evaluation.document(), "status": result.status}
        print_json({"unit": unit, "different": [asdict(one) for one in differences], "evaluation": evaluation})
    else:
        out = console()
        score = "" if result.score is None else f"  {result.score:g} ({result.evaluation.document()['band']})"
        out.print(one_line(f"{unit}  {result.status or 'no verdict'}{score}"))
        for check in result.evaluation.checks:
            out.print(one_line(f"  {check.check}  {check.verdict.status}  {check.evidence}"))
        for difference in differences:
            out.print(Text(one_line(difference.problem), style="red"))
    return int(ExitCode.SAFETY_FAIL if differences else ExitCode.OK)
