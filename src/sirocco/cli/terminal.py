"""Writing to a terminal: in colour only if there is one, and never with control codes from outside."""

import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sirocco.cli.excerpt import excerpt, lines_of
from sirocco.errors import Finding, Severity
from sirocco.profiles.read import MAX_BYTES

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


class _Console(Console):
    """Leaves a closed pipe to the command, whose exit code must not change because its reader stopped reading."""

    def on_broken_pipe(self) -> None:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())


def console(*, stderr: bool = False) -> Console:
    """A console that is plain if it is not a terminal; characters that the output cannot encode are escaped."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return _Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False, markup=False)


def one_line(text: str) -> str:
    """`text` without control characters; line breaks and tabs become spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


def print_json(document: Any) -> None:
    """Machine output: only JSON on standard output, escaped where the output cannot encode the text."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(document, indent=1)
    sys.stdout.write(text + "\n")


def print_findings(
    findings: Iterable[Finding],
    *,
    out: Console | None = None,
    texts: Mapping[str, str] | None = None,
    concise: bool = False,
) -> None:
    """Print findings in order of place, as compilers do, on standard error unless `out` says otherwise.

    Each begins with a line that contains only `file:line:column rule problem; remedy`. Below is the source line, with a
    caret and the severity; findings at one place share it. `texts` contains sources that are not in a file, by the name
    that places use.
    """
    out = out or console(stderr=True)
    lines = {name: lines_of(text) for name, text in (texts or {}).items()}
    ordered = sorted(findings, key=lambda finding: (finding.place, finding.severity, finding.rule, finding.path))
    for number, (_, group) in enumerate(groupby(ordered, key=lambda finding: (finding.place, finding.severity))):
        if number and not concise:
            out.print()
        together = list(group)
        for finding in together:
            out.print(_headline(finding))
        if not concise:
            file = together[0].place.file
            if file not in lines:
                lines[file] = lines_of(_text_of(Path(file)))
            out.print(_excerpt_below(together[0], lines[file]))


def print_table(out: Console, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows in columns as wide as needed, whatever the terminal: a wrapped name could not be searched for."""
    cells = [[cell if isinstance(cell, Text) else Text(one_line(str(cell))) for cell in row] for row in rows]
    lines = [[Text(heading, style="dim") for heading in headings], *cells]
    widths = [max(line[column].cell_len for line in lines) for column in range(len(headings))]
    for line in lines if rows else []:
        for cell, width in zip(line[:-1], widths[:-1], strict=True):
            cell.pad_right(width - cell.cell_len)
        out.print(Text("  ").join(line))


def count_phrase(number: int, noun: str) -> str:
    """A number with its noun, `1 error` or `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _headline(finding: Finding) -> Text:
    return Text.assemble(
        (one_line(str(finding.place)), "bold"),
        " ",
        (finding.rule, STYLES[finding.severity]),
        " ",
        one_line(f"{finding.problem}; {finding.remedy}"),
    )


def _excerpt_below(finding: Finding, lines: list[str]) -> Text:
    """The source line in a frame, the caret and the severity; only the severity if there is no such line."""
    style, shown = STYLES[finding.severity], excerpt(lines, finding.place)
    if shown is None:
        return Text.assemble("  ", ("=", "blue"), " ", (finding.severity, style))
    margin = " " * len(str(shown.number))
    return Text.assemble(
        (f"  {shown.number} |", "blue"),
        f" {shown.line}\n",
        (f"  {margin} |", "blue"),
        " " * (shown.caret + 1),
        (f"^ {finding.severity}", style),
    )


def _text_of(path: Path) -> str:
    """The contents of an ordinary text file; nothing for what can be read only once, such as a pipe."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return ""


def print_warning_count(warnings: Sequence[Finding], folder: Path) -> None:
    """One line on standard error about a profile's warnings, and how to see them."""
    if warnings:
        text = f"{count_phrase(len(warnings), 'warning')}; to see them: sirocco validate {folder}"
        console(stderr=True).print(Text(one_line(text), style="yellow"))
