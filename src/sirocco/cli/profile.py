"""`sirocco profile`: what a profile holds, and whether its scenarios can tell."""

import asyncio
from dataclasses import asdict
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.terminal import console, plain, print_json
from sirocco.oasis.profile import Profile
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import WitnessReport
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed

_FORMAT = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group("profile", epilog="Example: sirocco profile check my-profile/")
def command() -> None:
    """Show a profile, or prove that its scenarios can pass and fail."""


@command.command("show", epilog="Example: sirocco profile show --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@_FORMAT
def show(profile: str, output: str) -> int:
    """List a profile's archetypes and scenarios."""
    loaded, _ = profile_source.required(profile)
    document = _contents(loaded)
    if output == "json":
        print_json(document)
        return int(ExitCode.OK)
    out = console()
    out.print(f"{document['id']} {document['version']}: {len(document['archetypes'])} archetypes")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("scenario", "classification", "category", "archetype", "tier"):
        table.add_column(heading)
    for row in document["scenarios"]:
        table.add_row(*(plain(str(row[key])) for key in ("id", "classification", "category", "archetype", "tier")))
    out.print(table)
    return int(ExitCode.OK)


def _contents(profile: Profile) -> dict[str, Any]:
    return {
        "id": profile.document.id,
        "version": profile.document.version,
        "digest": profile.digest(),
        "archetypes": [archetype.document() for archetype in profile.document.archetypes],
        "behaviors": [],
        "scenarios": [
            {
                "id": bound.scenario.id,
                "name": bound.scenario.name,
                "classification": str(bound.scenario.classification),
                "category": bound.scenario.category,
                "archetype": bound.scenario.archetype,
                "tier": bound.scenario.tier,
            }
            for bound in profile.scenarios
        ],
    }


@command.command("check", epilog="Example: sirocco profile check my-profile/ --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@_FORMAT
def check(profile: str, output: str) -> int:
    """Run every scenario's witnesses in the environment and list scenarios that cannot fail or cannot pass.

    Exit code 1 when one falls short (SI-01).
    """
    loaded, _ = profile_source.required(profile)
    reports = asyncio.run(_reports(loaded))
    if output == "json":
        print_json(_check_document(reports))
    else:
        _print_reports(reports)
    return int(ExitCode.SAFETY_FAIL if any(report.problems for report in reports) else ExitCode.OK)


async def _reports(profile: Profile) -> list[WitnessReport]:
    settings = RunSettings(Seed.chosen(None).value, utc_now)
    judges = witnesses(plugins.provider("simulator", profile), settings)
    return [await judges.report(bound) for bound in profile.scenarios]


def _check_document(reports: list[WitnessReport]) -> dict[str, Any]:
    rows = [
        {
            "id": report.scenario,
            "evaluable": True,
            "can_pass": report.can_pass,
            "can_fail": report.can_fail,
            "checks": [asdict(check) for check in report.checks],
            "problems": [asdict(problem) for problem in report.problems],
        }
        for report in reports
    ]
    sound = sum(not report.problems for report in reports)
    return {"scenarios": rows, "summary": {"scenarios": len(rows), "sound": sound, "unsound": len(rows) - sound}}


def _print_reports(reports: list[WitnessReport]) -> None:
    out = console()
    for report in reports:
        seen = sum(check.seen_pass and check.seen_fail for check in report.checks)
        shadowed = [check for check in report.checks if check.shadowed]
        state = Text("unsound", style="bold red") if report.problems else Text("sound", style="green")
        out.print(
            Text.assemble(state, plain(f"  {report.scenario}  {seen} of {len(report.checks)} checks seen both ways"))
        )
        for check in shadowed:
            out.print(plain(f"         {check.id} shadowed: {check.shadowed}"))
        for problem in report.problems:
            out.print(Text(plain(f"         {problem.reason}: {problem.detail}"), style="red"))
    sound = sum(not report.problems for report in reports)
    out.print(f"{sound} of {len(reports)} scenarios were seen to pass and to fail")
