"""`sirocco profile`: what a profile holds, and whether its scenarios can tell."""

import asyncio
from dataclasses import asdict
from typing import Any

import click
from rich.text import Text

from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.quality_text import print_quality
from sirocco.cli.terminal import console, counted, plain, print_json, print_table, print_warning_count
from sirocco.oasis.profile import Profile, ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.parse import parse
from sirocco.profiles.quality import ReservedCounts, quality_report
from sirocco.profiles.read import read_profile_files
from sirocco.profiles.yaml_text import read_yaml
from sirocco.reserved.manifest import read_manifest
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import WitnessReport
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed

_FORMAT = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group("profile", epilog="Example: sirocco profile check my-profile/")
def command() -> None:
    """Show a profile, lay out its quality for reviewers, or prove that its scenarios can pass and fail."""


@command.command("show", epilog="Example: sirocco profile show --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@_FORMAT
def show(profile: str, output: str) -> int:
    """List a profile's archetypes and scenarios."""
    loaded = _loaded(profile)
    document = _contents(loaded, _scenarios(profile))
    if output == "json":
        print_json(document)
        return int(ExitCode.OK)
    out = console()
    counts = [counted(len(document[part]), part.removesuffix("s")) for part in ("archetypes", "behaviors", "scenarios")]
    out.print(plain(f"{document['id']} {document['version']}: {', '.join(counts)}"))
    headings = ("id", "classification", "category", "archetype", "tier", "evaluable")
    rows = [
        [row[key] for key in headings[:-1]] + ["yes" if row["evaluable"] else "no"] for row in document["scenarios"]
    ]
    print_table(out, headings, rows)
    return int(ExitCode.OK)


def _loaded(name: str) -> Profile:
    """The profile; a line on standard error says when there are warnings."""
    profile, warnings = profile_source.required(name)
    print_warning_count(warnings, profile_source.profile_folder(name))
    return profile


def _scenarios(name: str) -> list[Scenario]:
    """Every scenario in a profile's folder, also those that cannot be evaluated and so are not in the profile."""
    files = read_profile_files(profile_source.profile_folder(name)).scenarios
    nodes = [node for file in files for node in read_yaml(file.text, file.name).documents]
    return [scenario for node in nodes if (scenario := parse(Scenario, node).noun) is not None]


def _contents(profile: Profile, scenarios: list[Scenario]) -> dict[str, Any]:
    evaluable = {bound.scenario.id for bound in profile.scenarios}
    return {
        "id": profile.document.id,
        "version": profile.document.version,
        "digest": profile.digest(),
        "archetypes": [archetype.document() for archetype in profile.document.archetypes],
        "behaviors": [behavior.document() for behavior in profile.document.behaviors],
        "scenarios": [
            {
                "id": scenario.id,
                "name": scenario.name,
                "classification": str(scenario.classification),
                "category": scenario.category,
                "archetype": scenario.archetype,
                "tier": scenario.tier,
                "evaluable": scenario.id in evaluable,
            }
            for scenario in scenarios
        ],
    }


@command.command("quality", epilog="Example: sirocco profile quality my-profile/ --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@_FORMAT
def quality(profile: str, output: str) -> int:
    """Report negative testing, coverage and difficulty from the scenarios' metadata.

    It is material for human review: it gives no score, judges no prose and always exits with 0.
    """
    document = _loaded(profile).document
    report = quality_report(document, _scenarios(profile), _reserved_counts(document, profile))
    if output == "json":
        print_json(report.document())
    else:
        print_quality(report, console())
    return int(ExitCode.OK)


def _reserved_counts(document: ProfileDocument, name: str) -> ReservedCounts:
    """What the manifest counts that the profile names, if it names one."""
    if document.reserved is None or document.reserved.manifest is None:
        return ReservedCounts()
    manifest = profile_source.profile_folder(name) / document.reserved.manifest
    counts = read_manifest(manifest, document.id).counts
    return ReservedCounts(counts.categories, counts.archetypes)


@command.command("check", epilog="Example: sirocco profile check my-profile/ --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@_FORMAT
def check(profile: str, output: str) -> int:
    """Run every scenario's witnesses in the environment and list scenarios that cannot fail or cannot pass.

    Exit code 1 when one falls short (SI-01).
    """
    loaded = _loaded(profile)
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
