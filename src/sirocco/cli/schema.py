"""`sirocco schema`: JSON Schemas for editors and other programs."""

import json
import sys
from pathlib import Path

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.errors import ConfigError
from sirocco.profiles.schema import probe_schema, profile_schema, scenario_schema, suite_schema
from sirocco.reports.schema import verdict_schema
from sirocco.wiring.domains import usable_domains

SCHEMAS = {
    "scenario": scenario_schema,
    "profile": lambda: profile_schema(dict.fromkeys(s for one in usable_domains() for s in one.vocabulary.surfaces)),
    "suite": suite_schema,
    "probe": probe_schema,
    "verdict": verdict_schema,
}


@click.command("schema", epilog="Example: sirocco schema scenario --out schemas/scenario.json")
@click.argument("name", type=click.Choice(list(SCHEMAS)))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead of printing.")
def command(name: str, out: Path | None) -> int:
    """Print the JSON Schema of a document: a scenario, a profile.yaml, a suite, a serialized probe or a verdict.

    An editor checks a YAML file whose first line is `# yaml-language-server: $schema=schemas/scenario.json`.
    """
    text = schema_text(name)
    if out is None:
        sys.stdout.write(text)
        return int(ExitCode.OK)
    try:
        out.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError("--out", f"{out}: {error.strerror}", "give a path that can be written") from error
    return int(ExitCode.OK)


def schema_text(name: str) -> str:
    """A schema in its published form: indented ASCII."""
    return json.dumps(SCHEMAS[name](), indent=2) + "\n"
