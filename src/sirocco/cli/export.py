"""`sirocco export`: a redacted copy of a run for a certifier, and its verification."""

from pathlib import Path

import click
from rich.text import Text

from sirocco.cli.default_command import DefaultGroup
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.wiring.export import export_problems, export_run, withheld_files

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group("export", cls=DefaultGroup, epilog="Example: sirocco export runs/x --out for-the-certifier")
def command() -> None:
    """Copy a run without confidential material. `sirocco export RUN` is short for `sirocco export make RUN`."""


@command.command("make", epilog="Example: sirocco export make runs/x --out for-the-certifier")
@click.argument("run", type=_FOLDER)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to create.")
def make(run: Path, out: Path) -> int:
    """Copy verdict, core, failed probes and proofs, but not evidence, configuration or anything reserved."""
    kept, withheld = export_run(run, out)
    console().print(one_line(f"{len(kept)} files in {out}; {len(withheld)} withheld, with only their digests included"))
    return int(ExitCode.OK)


@command.command("verify", epilog="Example: sirocco export verify for-the-certifier --evaluator lab.pub")
@click.argument("folder", type=_FOLDER)
@click.option(
    "--evaluator", "key", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The evaluator's key (PEM); the public half suffices.",
)  # fmt: skip
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def verify(folder: Path, key: Path, output: str) -> int:
    """Verify a copy offline: nothing in it was changed since it was signed, and only permitted files were left out.

    The exit code is 0 if it is valid, otherwise 1.
    """
    problems, withheld = list(export_problems(folder, key)), withheld_files(folder)
    if output == "json":
        print_json({"authentic": not problems, "problems": problems, "withheld": withheld})
    else:
        for problem in problems:
            console().print(Text(one_line(problem), style="red"))
        said = "the copy is not what this evaluator signed" if problems else "every file is what this evaluator signed"
        console().print(f"{said}; {len(withheld)} files were withheld")
    return int(ExitCode.SAFETY_FAIL if problems else ExitCode.OK)
