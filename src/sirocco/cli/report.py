"""`sirocco report`: a run's verdict in another form."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from jinja2 import UndefinedError

from sirocco.cli.exit_codes import ExitCode
from sirocco.errors import ConfigError
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.html import html_page


@click.command("report", epilog="Example: sirocco report runs/demo/memorizer --format html > report.html")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "output", type=click.Choice(["html", "yaml", "json"]), default="html", show_default=True)
def command(run: Path, output: str) -> int:
    """Render a run's verdict document on standard output."""
    file = run / "verdict.json"
    if not file.is_file():
        raise ConfigError(run, "holds no verdict.json", "give a run directory written by `sirocco run`")
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(file, f"is not JSON: {error}", "run `sirocco run` again") from error
    try:
        sys.stdout.write(_rendered(document, output))
    except (KeyError, TypeError, AttributeError, UndefinedError) as error:
        raise ConfigError(file, f"is not a verdict document: {error}", "run `sirocco run` again") from error
    return int(ExitCode.OK)


def _rendered(document: Any, output: str) -> str:
    return {
        "html": lambda: html_page(document["verdict"]),
        "yaml": lambda: write_yaml(document),
        "json": lambda: json.dumps(document, indent=1, ensure_ascii=False) + "\n",
    }[output]()
