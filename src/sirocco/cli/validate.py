"""`sirocco validate`: findings in profiles, scenarios and probes."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, print_findings, print_json
from sirocco.errors import ConfigError, Finding, Severity
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_profile, load_scenario_file
from sirocco.profiles.read import yaml_files
from sirocco.wiring import profile_source


@click.command("validate", epilog="Example: sirocco validate my-profile/ runs/demo/memorizer/adversarial/probe-*.yaml")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--profile", default=profile_source.BUNDLED, show_default=True, help="Profile that single files belong to."
)
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(*, paths: tuple[Path, ...], profile: str, strict: bool, output: str) -> int:
    """Check profile folders, scenarios and probes; one line a finding: file:line:column rule problem; remedy."""
    home: Profile | None = None
    findings: list[Finding] = []
    for path in paths:
        if (path / "profile.yaml").is_file():
            findings += load_profile(path).findings
            continue
        home = home or profile_source.required(profile)[0]
        files = yaml_files(path)
        if not files:
            raise ConfigError(path, "holds no YAML file", "give a profile folder, or scenario or probe files")
        for file in files:
            findings += load_scenario_file(file, home).findings
    errors = sum(strict or finding.severity is Severity.ERROR for finding in findings)
    if output == "json":
        print_json(_document(findings, errors))
    else:
        print_findings(findings)
        console().print(f"{errors} error(s), {len(findings) - errors} warning(s)")
    return int(ExitCode.INVALID if errors else ExitCode.OK)


def _document(findings: list[Finding], errors: int) -> dict[str, Any]:
    rows = []
    for finding in findings:
        row = asdict(finding)
        rows.append({"severity": str(row.pop("severity")), **row.pop("place"), **row})
    return {"findings": rows, "summary": {"errors": errors, "warnings": len(findings) - errors}}
