"""`sirocco report`: a run in another format."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from jinja2 import UndefinedError

from sirocco import __version__
from sirocco.cli.exit_codes import ExitCode
from sirocco.profiles.yaml_text import write_yaml
from sirocco.reports.findings import Rerun
from sirocco.reports.html import html_page, html_pages
from sirocco.reports.junit import junit_xml
from sirocco.reports.markdown import markdown_summary
from sirocco.reports.page import units_to_show
from sirocco.reports.sarif import sarif_log
from sirocco.wiring.resume import StoredRun
from sirocco.wiring.run_files import UNREADABLE, not_a_verdict, verdict_of
from sirocco.wiring.stories import stories

Rendering = Callable[[Path, dict[str, Any]], str]


def _html(run: Path, document: dict[str, Any]) -> str:
    verdict = document["verdict"]
    return html_page(verdict, stories(run, units_to_show(verdict)), _rerun(run))


def _write_pages(run: Path, document: dict[str, Any], out: Path) -> None:
    """The page in a file and, if it is large, the pages of its categories next to it."""
    verdict = document["verdict"]
    pages = html_pages(verdict, stories(run, units_to_show(verdict)), _rerun(run), out.stem)
    first, *others = pages
    out.write_text(pages[first], encoding="utf-8")
    for name in others:
        out.with_name(name).write_text(pages[name], encoding="utf-8")


def _rerun(run: Path) -> Rerun:
    """The agent of the run, and where the run is now."""
    return Rerun.from_run(StoredRun.read(run).document, str(run))


def _json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


RENDERINGS: dict[str, Rendering] = {
    "html": _html,
    "junit": lambda _, document: junit_xml(document["verdict"]),
    "markdown": lambda run, document: markdown_summary(document["verdict"], _rerun(run)),
    "sarif": lambda _, document: _json(sarif_log(document["verdict"], __version__)),
    "yaml": lambda _, document: write_yaml(document),
    "json": lambda _, document: _json(document),
}


@click.command("report", epilog="Example: sirocco report runs/demo/memorizer --format markdown >> $GITHUB_STEP_SUMMARY")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "output", type=click.Choice(list(RENDERINGS)), default="html", show_default=True)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file; a large report gets a page per category next to it.  [default: standard output]",
)
def command(run: Path, output: str, out: Path | None) -> int:
    """Render the report of a run: HTML, JUnit, SARIF, a Markdown summary, or the verdict document itself."""
    document = verdict_of(run)
    try:
        if output == "html" and out is not None:
            _write_pages(run, document, out)
            return int(ExitCode.OK)
        text = RENDERINGS[output](run, document)
    except (*UNREADABLE, UndefinedError) as error:
        raise not_a_verdict(run, error) from error
    if out is not None:
        out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    return int(ExitCode.OK)
