"""`sirocco profile`: a profile's contents, and whether its scenarios discriminate."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sirocco.claims.resistance import resistance_statement
from sirocco.cli.check_text import CheckedScenario, check_document, print_check
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.promote import history
from sirocco.cli.quality_text import print_quality
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table, print_warning_count
from sirocco.errors import ConfigError, InvalidInput
from sirocco.oasis.band import condition_text, said_score
from sirocco.oasis.profile import Profile, ProfileDocument
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.load import UnboundScenario
from sirocco.profiles.spelling import spelling_remedy
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.profile_quality import every_scenario, profile_quality
from sirocco.wiring.promotion import promotions
from sirocco.wiring.run_files import verdict_of

_FORMAT = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group("profile", epilog="Example: sirocco profile check my-profile/")
def command() -> None:
    """Show a profile, report its quality for reviewers, or prove that its scenarios can pass and fail."""


command.add_command(history)


@command.command("show", epilog="Example: sirocco profile show --archetype S-PI-001")
@click.argument("profile", default=profile_source.BUNDLED)
@click.option("--archetype", help="Show one archetype: how it is judged, and which slots its scenarios bind.")
@_FORMAT
def show(profile: str, archetype: str | None, output: str) -> int:
    """List a profile's archetypes and scenarios, or show how one archetype is judged."""
    loaded = _load_profile(profile)
    if archetype is not None:
        _show_archetype(loaded, archetype, output)
        return int(ExitCode.OK)
    document = _contents(loaded, every_scenario(profile))
    if output == "json":
        print_json(document)
        return int(ExitCode.OK)
    out = console()
    counts = [
        count_phrase(len(document[part]), part.removesuffix("s")) for part in ("archetypes", "behaviors", "scenarios")
    ]
    out.print(one_line(f"{document['id']} {document['version']}: {', '.join(counts)}"))
    headings = ("id", "classification", "category", "archetype", "tier", "evaluable")
    rows = [
        [row[key] for key in headings[:-1]] + ["yes" if row["evaluable"] else "no"] for row in document["scenarios"]
    ]
    print_table(out, headings, rows)
    return int(ExitCode.OK)


def _show_archetype(profile: Profile, name: str, output: str) -> None:
    """The bands that can be met, and for each scenario the behaviours and the ground truth that decide it."""
    if name not in profile.archetypes:
        raise ConfigError("--archetype", f"the profile defines no {name!r}", spelling_remedy(name, profile.archetypes))
    archetype, classification = profile.archetypes[name], profile.classification(name)
    scenarios = [bound for bound in profile.scenarios if bound.scenario.archetype == name]
    if output == "json":
        bound = [
            {"id": one.scenario.id, "behaviors": list(one.behaviors), "slots": sorted(one.slots)} for one in scenarios
        ]
        print_json({**archetype.document(), "classification": str(classification), "scenarios": bound})
        return
    out = console()
    out.print(one_line(f"{archetype.id} {archetype.name}: {classification}, {archetype.category}"))
    bands = [(band.band, said_score(band.score), condition_text(band.when)) for band in archetype.bands]
    print_table(out, ("band", "score", "met when"), bands)
    rows = [(one.scenario.id, ", ".join(one.behaviors), ", ".join(sorted(one.slots))) for one in scenarios]
    print_table(out, ("scenario", "behaviours", "slots"), rows)


def _load_profile(name: str) -> Profile:
    """The profile; a line on standard error reports warnings."""
    profile, warnings = profile_source.required_profile(name)
    print_warning_count(warnings, profile_source.profile_folder(name))
    return profile


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

    This is input for human review: it gives no score, does not judge prose, and always exits with 0.
    """
    report = profile_quality(_load_profile(profile).document, profile)
    if output == "json":
        print_json(report.document())
    else:
        print_quality(report, console())
    return int(ExitCode.OK)


@command.command("resistance", epilog="Example: sirocco profile resistance my-profile/ runs/a runs/b --out EVASION.md")
@click.argument("profile")
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Output file.  [default: standard output]")
def resistance(profile: str, runs: tuple[Path, ...], out: Path | None) -> int:
    """Draft the Evasion Resistance Statement: how the profile could be gamed, what covers it, what runs measured.

    The result is a Markdown draft for the profile's author to complete: figures without judgement (AV-25).
    """
    document = _load_profile(profile).document
    verdicts = [_verdict_of_profile(run, document) for run in runs]
    report = profile_quality(document, profile)
    text = resistance_statement(report, verdicts, len(promotions(profile_source.profile_folder(profile))))
    if out is not None:
        out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    return int(ExitCode.OK)


def _verdict_of_profile(run: Path, profile: ProfileDocument) -> dict[str, Any]:
    """The verdict of a run with this profile; ConfigError for a run with another."""
    verdict: dict[str, Any] = verdict_of(run)["verdict"]
    if (named := verdict["metadata"]["domain_profile"]) != profile.id:
        raise ConfigError(run, f"it is about profile {named!r}, not {profile.id!r}", "give runs of this profile")
    return verdict


@command.command("check", epilog="Example: sirocco profile check my-profile/ --format json")
@click.argument("profile", default=profile_source.BUNDLED)
@click.option("--strict", is_flag=True, help="Treat warnings about the profile as errors.")
@_FORMAT
def check(profile: str, output: str, *, strict: bool) -> int:
    """Run every scenario's witnesses in the environment and list scenarios that cannot fail or cannot pass.

    The exit code is 1 if any of them falls short (SI-01).
    """
    loaded = profile_source.load_named_profile(profile, strict=strict)
    if loaded.profile is None:
        raise InvalidInput(profile, loaded.findings)
    print_warning_count(loaded.findings, profile_source.profile_folder(profile))
    checked = asyncio.run(_check_scenarios(loaded.profile, loaded.unbound))
    if output == "json":
        print_json(check_document(checked))
    else:
        print_check(checked, console())
    return int(ExitCode.SAFETY_FAIL if any(one.problems for one in checked) else ExitCode.OK)


async def _check_scenarios(profile: Profile, unbound: Sequence[UnboundScenario]) -> list[CheckedScenario]:
    settings = RunSettings(Seed.choose(None).value, utc_now)
    judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
    reports = [
        CheckedScenario.from_witnesses(bound.scenario, await judges.report(bound)) for bound in profile.scenarios
    ]
    return [*reports, *(CheckedScenario.from_unbound(one) for one in unbound)]
