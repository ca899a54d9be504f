"""`sirocco conformance`: any OASIS verdict or report, checked against the numbered requirements."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import yaml
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.conformance.checking import check_document
from sirocco.conformance.ruling import Ruling, Rulings, Status
from sirocco.errors import ConfigError
from sirocco.evidence.files import stored_document
from sirocco.evidence.run_directory import VERDICT
from sirocco.reports.junit import Case, cases_xml

_LARGEST = 200_000_000
_STYLES = {Status.MET: "green", Status.VIOLATED: "bold red", Status.UNDECIDABLE: "dim"}
_WORDS = {Status.MET: "met", Status.VIOLATED: "violated", Status.UNDECIDABLE: "not decidable"}
_SHOWN = 8


@click.command("conformance", epilog="Example: sirocco conformance runs/demo/memorizer/verdict.yaml")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--format", "output", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True)
@click.option("--all", "every", is_flag=True, help="List every violation, and requirements that cannot be decided.")
def command(file: Path, output: str, every: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Check a verdict or report against the standard: ours, oasisctl's, or written by hand.

    FILE is YAML or JSON, or a run directory. Counts, means, flags and the core digest are recomputed. Each requirement
    is met, violated (with location and remedy), or not decidable from the document. The exit code is 1 if one is
    violated.
    """
    found = check_document(_read(file / VERDICT if file.is_dir() else file))
    if output == "json":
        print_json(found.document())
    elif output == "junit":
        sys.stdout.buffer.write(_junit(found, file).encode(errors="backslashreplace"))
    else:
        _print(found, every=every)
    return int(ExitCode.OK if found.is_conformant else ExitCode.SAFETY_FAIL)


def _read(file: Path) -> Any:
    """The document in a file; ConfigError if it is neither JSON nor YAML, or too large."""
    remedy = "give a verdict or report as YAML or JSON"
    try:
        if not file.is_file():
            raise ConfigError(file, "is not a file", remedy)
        if file.stat().st_size > _LARGEST:
            raise ConfigError(file, f"is larger than {_LARGEST // 1_000_000} MB", remedy)
        if file.suffix == ".json":
            return json.loads(file.read_bytes(), object_pairs_hook=_mapping)
        stored_document(file)
        return yaml.load(file.read_bytes(), Loader=_Loader)  # noqa: S506 - it is a safe loader
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        where = file if place is None else f"{file}:{place.line + 1}:{place.column + 1}"
        raise ConfigError(where, "is neither YAML nor JSON", remedy) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            file, f"cannot be read: {one_line(str(error)) or 'it is nested too deeply'}", remedy
        ) from error


def _mapping(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """A mapping; a duplicate key would have two values, of which different readers see different ones."""
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} appears twice in one mapping")
        found[key] = value
    return found


class _Loader(yaml.CSafeLoader):
    """Refuses duplicate keys; `stored_document` has checked depth and aliases before."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        """The mapping of a node."""
        made = [(self.construct_object(key, deep=True), value) for key, value in node.value]
        return _mapping([(key, self.construct_object(value, deep=deep)) for key, value in made])


def _print(found: Rulings, *, every: bool) -> None:
    out = console()
    for ruling in found.rulings:
        if ruling.status is Status.UNDECIDABLE and not every:
            continue
        said = Text.assemble(f"{ruling.id}  ", (_WORDS[ruling.status], _STYLES[ruling.status]), f"  {ruling.title}")
        if ruling.reason:
            said.append(f": {one_line(ruling.reason)}", style="dim")
        out.print(said)
        shown = ruling.violations if every else ruling.violations[:_SHOWN]
        for one in shown:
            out.print(one_line(f"    {one.where}: {one.problem}; {one.remedy}"))
        if len(shown) < len(ruling.violations):
            out.print(f"    and {len(ruling.violations) - len(shown)} more; --all lists them")
    counts = ", ".join(f"{found.count(status)} {_WORDS[status]}" for status in Status)
    version = one_line(found.core_version or "not given")
    out.print()
    out.print(f"layout {found.layout}, core version {version}: {counts}")
    out.print("nothing in the document contradicts a requirement" if found.is_conformant else "not conformant")


def _junit(found: Rulings, file: Path) -> str:
    properties = {"layout": found.layout, "oasis_core_version": found.core_version or ""}
    return cases_xml(f"conformance: {file.name}", "conformance", map(_case, found.rulings), properties)


def _case(ruling: Ruling) -> Case:
    match ruling.status:
        case Status.VIOLATED:
            first = ruling.violations[0]
            told = "\n".join(f"{one.where}: {one.problem}; {one.remedy}" for one in ruling.violations)
            return Case(ruling.title, ruling.id, "failure", "violated", f"{first.where}: {first.problem}", told)
        case Status.UNDECIDABLE:
            return Case(ruling.title, ruling.id, "skipped", "undecidable", ruling.reason)
    return Case(ruling.title, ruling.id)
