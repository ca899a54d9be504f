"""`sirocco probe promote` and `sirocco profile history`: reviewed findings become scenarios of the corpus (AV-26)."""

import asyncio
import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from sirocco.campaign.novelty import Known
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.review import review_rules
from sirocco.cli.run_files import verdict_of
from sirocco.cli.terminal import console, one_line, print_json, print_table
from sirocco.errors import ConfigError, InvalidInput, Severity
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file
from sirocco.profiles.read import PROFILE_FILE, SCENARIOS_FOLDER
from sirocco.profiles.yaml_text import read_documents, write_yaml
from sirocco.review.log import Decision, ReviewLog
from sirocco.review.promotion import (
    PROMOTIONS,
    Promotion,
    Wording,
    next_minor,
    promoted_scenario,
    pull_request_body,
    remains_of_probe,
)
from sirocco.review.queue import Item, review_queue
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.truth_table import WitnessReport
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import today, utc_now
from sirocco.wiring.config import Seed

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_LEVELS = click.Choice(["low", "medium", "high"])
_SEEDS = 2
"""Its witnesses are run under so many seeds; a scenario that is deterministic has one truth table."""


@click.command(
    "promote", epilog="Example: sirocco probe promote runs/x/adversarial/probe-1f3a.yaml --log review.jsonl ..."
)
@click.argument("file", type=_FILE)
@click.option("--log", "log_file", type=_FILE, required=True, help="The review log in which it was decided.")
@click.option("--rules", type=_FILE, help="Rules for sign-offs, as for `sirocco review`.")
@click.option("--slug", required=True, help="The scenario's own part of its id, such as seat-row-binding.")
@click.option("--name", required=True, help="What happens, in a few words.")
@click.option("--intent", required=True, help="What this scenario alone shows; 20 characters or more.")
@click.option("--description", required=True, help="What happens, and what the agent should do.")
@click.option("--companion", help="The capability scenario that shows the legitimate work.")
@click.option("--without-companion", default="", help="Why there is none.")
@click.option("--attack-surface", help="In place of the proposed one.")
@click.option("--plausibility", type=_LEVELS, help="In place of the proposed one.")
@click.option("--detection-complexity", type=_LEVELS, help="In place of the proposed one.")
@click.option("--contextual-embedding", type=_LEVELS, help="In place of the proposed one.")
@click.option("--profile", default=profile_source.BUNDLED, show_default=True, help="The profile that it is to join.")
@click.option("--write", is_flag=True, help="Write the scenario and its record into the folder of the profile.")
@click.option("--sealing", type=_FOLDER, help="Write the scenario into this folder, for `sirocco reserved seal`.")
@click.option("--patch", type=click.Path(dir_okay=False, path_type=Path), help="Write the change as a patch instead.")
@click.option("--as-executed", is_flag=True, help="Take the probe as it was run, although there is a smaller form.")
def promote(
    file: Path, log_file: Path, rules: Path | None, slug: str, name: str, intent: str, description: str,
    companion: str | None, without_companion: str, attack_surface: str | None, plausibility: str | None,
    detection_complexity: str | None, contextual_embedding: str | None, profile: str, sealing: Path | None,
    patch: Path | None, *, write: bool, as_executed: bool,
) -> int:  # fmt: skip
    """Make a reviewed probe a scenario of the corpus, and print what to tell the maintainers.

    Its smallest form is taken. Lineage and record go, goal, task and predicates stay; the words are yours and are
    linted; its witnesses must come to the same under different seeds. Exit code 1 when they do not.
    """
    if sum((write, sealing is not None, patch is not None)) != 1:
        raise ConfigError("sirocco probe promote", "it is to go to one place", "give --write, --sealing or --patch")
    folder = profile_source.profile_folder(profile)
    run = file.resolve().parent.parent
    item, reviewers = _reviewed(run, file, log_file, rules)
    loaded, _ = profile_source.required_profile(profile)
    probe = _probe(file if as_executed else _smallest(file), loaded)
    difficulty = {
        "plausibility": plausibility, "detection_complexity": detection_complexity,
        "contextual_embedding": contextual_embedding,
    }  # fmt: skip
    quality = _quality(probe, attack_surface, {key: value for key, value in difficulty.items() if value})
    wording = Wording(slug, name, intent, description, companion, without_companion, quality)
    made = promoted_scenario(probe, loaded, wording)
    if left := remains_of_probe(made.scenario, probe.scenario):
        raise ConfigError(
            file, f"something of the probe is left: {', '.join(left)}", "take it out of the probe's texts"
        )
    if problem := asyncio.run(_indeterminate(made, loaded)):
        console(stderr=True).print(one_line(f"not promoted: {problem}"))
        return int(ExitCode.SAFETY_FAIL)
    metadata = verdict_of(run)["verdict"]["metadata"]
    promotion = Promotion(
        scenario=made.scenario.id, archetype=made.scenario.archetype, on=str(today()), finding=item.id,
        evidence_root=metadata["evidence_root"], agent=f"{metadata['agent']} {metadata['agent_version']}",
        generator=_generator(probe), reviewers=reviewers, without_companion=without_companion or None,
    )  # fmt: skip
    if sealing is not None:
        sealing.mkdir(parents=True, exist_ok=True)
        # A canary is for what is public.
        (sealing / f"{made.scenario.id}.yaml").write_text(_scenario_text(made, None), encoding="utf-8")
    else:
        _publish(_changes(made, loaded, promotion, folder), folder, patch)
    known = Known((one.scenario for one in loaded.scenarios), loaded.domain.declarations)
    version = next_minor(loaded.document.version)
    console().print(
        one_paragraph(pull_request_body(promotion, made.scenario, known.to_published(made.scenario), version))
    )
    return int(ExitCode.OK)


def one_paragraph(text: str) -> str:
    """A text of several lines, each without control characters."""
    return "\n".join(one_line(part) for part in text.splitlines())


def _reviewed(run: Path, file: Path, log_file: Path, rules: Path | None) -> tuple[Item, tuple[str, ...]]:
    """The finding that a probe belongs to, which experts decided to promote, and who they are."""
    named = f"adversarial/{file.name.replace('.min.yaml', '.yaml')}"
    queue = review_queue([(str(run), verdict_of(run)["verdict"])])
    item = next((one for one in queue if any(named in seen.probes for seen in one.sightings)), None)
    if item is None:
        raise ConfigError(file, "is no finding of the run around it", "give a serialized probe in its run directory")
    standing = ReviewLog.read(log_file).standing(item.id, review_rules(rules))
    if standing.state != str(Decision.PROMOTE):
        problem = f"belongs to {item.id}, which is {standing.state} in {log_file}"
        raise ConfigError(file, problem, "have it reviewed with `sirocco review record --decision promote`")
    return item, tuple(review.by for review in standing.reviews)


def _smallest(file: Path) -> Path:
    smaller = file.with_name(file.name.removesuffix(".yaml") + ".min.yaml")
    return smaller if not file.name.endswith(".min.yaml") and smaller.is_file() else file


def _probe(file: Path, profile: Profile) -> BoundScenario:
    loaded = load_scenario_file(file, profile)
    if any(finding.severity is Severity.ERROR for finding in loaded.findings):
        raise InvalidInput(file, loaded.findings)
    if len(loaded.scenarios) != 1:
        raise ConfigError(file, f"it holds {len(loaded.scenarios)} probes", "give a file with one")
    return loaded.scenarios[0]


def _quality(probe: BoundScenario, surface: str | None, difficulty: dict[str, str]) -> dict[str, Any]:
    """What replaces the proposal; the probe's own quality is the proposal."""
    proposed = probe.scenario.quality.document() if probe.scenario.quality else {}
    known = {**proposed.get("difficulty", {}), **difficulty}
    return {**({"attack_surface": surface} if surface else {}), **({"difficulty": known} if known else {})}


def _generator(probe: BoundScenario) -> str:
    record = probe.scenario.x_sirocco.probe
    return str(record.generator.get("type", "unknown")) if record else "unknown"


async def _indeterminate(bound: BoundScenario, profile: Profile) -> str:
    """Why a scenario is not sound or not deterministic; empty when its witnesses prove both (SI-01)."""
    reports: list[WitnessReport] = []
    for _ in range(_SEEDS):
        settings = RunSettings(Seed.choose(None).value, utc_now)
        judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
        reports.append(await judges.report(bound))
    problems = [str(problem.detail or problem.reason) for report in reports for problem in report.problems]
    if problems:
        return f"its witnesses find a problem: {problems[0]}"
    tables = {json.dumps(_table(report), sort_keys=True) for report in reports}
    return "" if len(tables) == 1 else "its witnesses come to different verdicts under different seeds"


def _table(report: WitnessReport) -> list[Any]:
    return [report.can_pass, report.can_fail, [str(check) for check in report.checks], str(report.undecidable)]


def _changes(made: BoundScenario, profile: Profile, promotion: Promotion, folder: Path) -> dict[str, str]:
    """The files of a profile folder that a promotion writes, by name, as they are to be."""
    if not (folder / PROFILE_FILE).is_file():
        problem = "is a package of the standard, which has no place for single scenarios"
        raise ConfigError(folder, problem, "promote into a profile in native form, or use --sealing")
    scenario = made.scenario
    record = write_yaml({"promotions": [one.document() for one in (*promotions(folder), promotion)]})
    place = f"{SCENARIOS_FOLDER}/{scenario.classification}/{scenario.id}.yaml"
    return {place: _scenario_text(made, profile.document.canary), PROMOTIONS: record}


def _publish(changes: Mapping[str, str], folder: Path, patch: Path | None) -> None:
    """Write the files, or a patch that writes them and raises the profile's version."""
    if patch is None:
        for name, text in changes.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return
    own = (folder / PROFILE_FILE).read_text(encoding="utf-8")
    raised = re.sub(r"(?m)^(version:\s*)(\S+)$", lambda found: found[1] + next_minor(found[2]), own, count=1)
    parts = [_difference(folder / name, name, text) for name, text in {**changes, PROFILE_FILE: raised}.items()]
    patch.write_text("".join(parts), encoding="utf-8")


def _difference(file: Path, name: str, text: str) -> str:
    """The change of one file as `git apply` reads it."""
    before = file.read_text(encoding="utf-8") if file.is_file() else None
    source = f"a/{name}" if before is not None else "/dev/null"
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), text.splitlines(keepends=True), source, f"b/{name}"
    )
    return "".join(lines)


def _scenario_text(made: BoundScenario, canary: str | None) -> str:
    guard = f"# canary {canary}: published evaluation material; keep it out of training data\n" if canary else ""
    return guard + write_yaml(made.scenario.document())


def promotions(folder: Path) -> list[Promotion]:
    """The record of promotions in a profile folder; empty when there is none."""
    file = folder / PROMOTIONS
    if not file.is_file():
        return []
    try:
        documents, findings = read_documents(file.read_text(encoding="utf-8"), file.name)
        if findings or len(documents) != 1:
            raise InvalidInput(file, findings)
        return [Promotion.model_validate(one) for one in documents[0].value["promotions"]]
    except (UnicodeDecodeError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(file, "is not a record of promotions", "restore it from a copy") from error


@click.command("history", epilog="Example: sirocco profile history my-profile/")
@click.argument("profile", default=profile_source.BUNDLED)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def history(profile: str, output: str) -> int:
    """Show what the corpus learnt from which run: scenarios that were findings once."""
    found = promotions(profile_source.profile_folder(profile))
    if output == "json":
        print_json([one.document() for one in found])
        return int(ExitCode.OK)
    headings = ("on", "scenario", "archetype", "finding", "found with", "generator", "reviewed by", "run")
    rows = [
        (
            one.on,
            one.scenario,
            one.archetype,
            one.finding,
            one.agent,
            one.generator,
            ", ".join(one.reviewers),
            one.evidence_root,
        )
        for one in found
    ]
    print_table(console(), headings, rows)
    if not found:
        console().print("no scenario of this profile was promoted from a finding")
    return int(ExitCode.OK)
