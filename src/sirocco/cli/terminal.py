"""Writing to a terminal: colour only where there is one, and no control code from outside ever reaches it."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from sirocco.errors import Finding, Severity


class _Console(Console):
    """Leaves a closed pipe to the command, whose exit code must not change because a reader had enough."""

    def on_broken_pipe(self) -> None:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())


def console(*, stderr: bool = False) -> Console:
    """A console that is plain when it is not a terminal."""
    return _Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False, markup=False)


def plain(text: str) -> str:
    """`text` without control characters; line breaks and tabs become spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


def print_json(document: Any) -> None:
    """Machine output: JSON on standard output and nothing else."""
    sys.stdout.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def print_findings(findings: Iterable[Finding]) -> None:
    """One line a finding, `file:line:column rule problem; remedy`."""
    out = console(stderr=True)
    for finding in findings:
        line = Text(plain(str(finding.place)), style="bold")
        style = "red" if finding.severity is Severity.ERROR else "yellow"
        line.append(f" {finding.rule} ", style=style)
        line.append(f"{plain(finding.problem)}; {plain(finding.remedy)}", style="")
        out.print(line)
