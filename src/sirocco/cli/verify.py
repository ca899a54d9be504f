"""`sirocco verify`: who signed a run, and whether it is unchanged since."""

from pathlib import Path

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.wiring.verification import Verification, verification

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("verify", epilog="Example: sirocco verify runs/demo/memorizer --evaluator evaluator.pub")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--evaluator", "key", type=_FILE, required=True, help="The evaluator's key (PEM); the public half suffices."
)
@click.option(
    "--transparency-log", "log", type=_FILE, help="Require the statement to be in this log, and the log to be unbroken."
)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(run: Path, key: Path, log: Path | None, output: str) -> int:
    """Check offline a run's signature and the chain from it to every recorded unit (SI-10).

    The exit code is 0 only if that evaluator signed exactly these files. A signature proves who signed, not that the
    run took place. To check that the verdict follows from the evidence, use `sirocco replay`.
    """
    found = verification(run, key, log)
    if output == "json":
        print_json(found.document())
    else:
        _print(found)
    return int(ExitCode.SAFETY_FAIL if found.problems else ExitCode.OK)


def _print(found: Verification) -> None:
    out = console()
    for problem in found.problems:
        out.print(Text(one_line(problem), style="red"))
    if found.problems:
        out.print("the run is not what this evaluator signed")
        return
    for line in found.statement_lines():
        out.print(one_line(line))
    out.print("signed by this evaluator and unchanged since; that proves who signed, not that it happened")
