"""`sirocco replay`: verdicts again, from evidence alone."""

from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, plain, print_json
from sirocco.evidence.replay import replay


@click.command("replay", epilog="Example: sirocco replay runs/demo/memorizer")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(run: Path, output: str) -> int:
    """Recompute every verdict of a run from its recorded evidence; exit code 0 only when all are identical (SI-07)."""
    replayed = replay(run)
    if output == "json":
        print_json(
            {
                "units": len(replayed.verdicts),
                "identical": replayed.identical,
                "different": [asdict(difference) for difference in replayed.differences],
                "stored_verdicts": replayed.stored,
                "verdicts": dict(replayed.verdicts),
            }
        )
    else:
        out = console()
        for difference in replayed.differences:
            out.print(Text(plain(f"{difference.unit}: {difference.problem}"), style="red"))
        if not replayed.stored:
            out.print("verdict.yaml is absent: the verdicts were recomputed and agree with the evidence index as shown")
        out.print(f"{replayed.identical} of {len(replayed.verdicts)} units identical")
    return int(ExitCode.SAFETY_FAIL if replayed.differences else ExitCode.OK)
