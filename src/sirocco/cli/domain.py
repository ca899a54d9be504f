"""`sirocco domain`: the installed kinds of systems that agents can be evaluated on."""

from collections.abc import Mapping
from typing import Any

import click
from rich.table import Table

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, one_line, print_json
from sirocco.wiring.domains import InstalledDomain, installed_domains


@click.group("domain", epilog="Example: sirocco domain list")
def command() -> None:
    """The systems that agents can be evaluated on."""


@command.command("list", epilog="Example: sirocco domain list --format json")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_domains(output: str) -> int:
    """List the installed domains by environment type, with what each provides."""
    documents = [_document(one) for one in installed_domains()]
    if output == "json":
        print_json(documents)
        return int(ExitCode.OK)
    for document in documents:
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        for key, value in document.items():
            if key != "environment_type":
                text = ", ".join(value) if isinstance(value, list) else str(value)
                table.add_row(key.replace("_", " "), one_line(text))
        console().print(one_line(document["environment_type"]), style="bold")
        console().print(table)
    return int(ExitCode.OK)


def _document(installed: InstalledDomain) -> Mapping[str, Any]:
    known = {"environment_type": installed.environment_type, "package": installed.package}
    domain = installed.domain
    if domain is None:
        return {**known, "problem": installed.problem}
    return {
        **known,
        "providers": list(domain.providers),
        "reference_agents": list(domain.reference_agents.names),
        "profiles": list(domain.profiles),
        "types": len(domain.vocabulary.nouns),
    }
