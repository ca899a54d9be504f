"""Promotes a reviewed probe: its file, the run around it and the review log become a scenario of the corpus (AV-26)."""

import asyncio
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sirocco.campaign.novelty import Known
from sirocco.errors import ConfigError, InvalidInput, Severity
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario_file
from sirocco.profiles.read import PROFILE_FILE, SCENARIOS_FOLDER
from sirocco.profiles.yaml_text import read_documents, write_yaml
from sirocco.review.log import Decision, ReviewLog, ReviewRules
from sirocco.review.promotion import (
    PROMOTIONS,
    Promotion,
    Wording,
    next_minor,
    promoted_scenario,
    pull_request_body,
    remains_of_probe,
    with_version,
)
from sirocco.review.queue import Item, review_queue
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.truth_table import WitnessReport
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses
from sirocco.wiring.clock import today, utc_now
from sirocco.wiring.config import Seed
from sirocco.wiring.run_files import verdict_of

_SEEDS = 2
"""The number of seeds its witnesses are run under; a deterministic scenario has a single truth table."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a promoted scenario goes: into the profile's folder, unless a patch or a folder for sealing is named."""

    patch: Path | None = None
    sealing: Path | None = None


@dataclass(frozen=True, slots=True)
class Promoted:
    """The result of a promotion: the scenario's id and a message for the maintainers, or why it was refused."""

    scenario: str = ""
    body: str = ""
    refused: str = ""


def promote_probe(
    file: Path,
    log_file: Path,
    rules: ReviewRules,
    profile: str,
    wording: Wording,
    to: Destination,
    *,
    as_executed: bool = False,
) -> Promoted:
    """Turn a reviewed probe into a scenario; `refused` says why its witnesses do not permit that."""
    folder = profile_source.profile_folder(profile)
    run = file.resolve().parent.parent
    item, reviewers = _reviewed(run, file, log_file, rules)
    loaded, _ = profile_source.required_profile(profile)
    probe = _probe(file if as_executed else _smallest(file), loaded)
    made = promoted_scenario(probe, loaded, replace(wording, quality=_quality(probe, wording.quality)))
    if left := remains_of_probe(made.scenario, probe.scenario):
        raise ConfigError(file, f"traces of the probe remain: {', '.join(left)}", "remove them from the probe's texts")
    if problem := asyncio.run(_indeterminate(made, loaded)):
        return Promoted(refused=problem)
    metadata = verdict_of(run)["verdict"]["metadata"]
    promotion = Promotion(
        scenario=made.scenario.id, archetype=made.scenario.archetype, on=str(today()), finding=item.id,
        evidence_root=metadata["evidence_root"], agent=f"{metadata['agent']} {metadata['agent_version']}",
        generator=_generator(probe), reviewers=reviewers, without_companion=wording.without_companion or None,
        version=None if to.sealing is not None else next_minor(loaded.document.version),
    )  # fmt: skip
    if to.sealing is not None:
        to.sealing.mkdir(parents=True, exist_ok=True)
        # A canary is only for public texts.
        (to.sealing / f"{made.scenario.id}.yaml").write_text(_scenario_text(made, None), encoding="utf-8")
    else:
        _publish(_changes(made, loaded, promotion, folder), folder, to.patch)
    known = Known((one.scenario for one in loaded.scenarios), loaded.domain.declarations)
    body = pull_request_body(promotion, made.scenario, known.to_published(made.scenario))
    return Promoted(made.scenario.id, body)


def _reviewed(run: Path, file: Path, log_file: Path, rules: ReviewRules) -> tuple[Item, tuple[str, ...]]:
    """The finding that a probe belongs to, which experts decided to promote, and who they are."""
    named = f"adversarial/{file.name.replace('.min.yaml', '.yaml')}"
    queue = review_queue([(str(run), verdict_of(run)["verdict"])])
    item = next((one for one in queue if any(named in seen.probes for seen in one.sightings)), None)
    if item is None:
        raise ConfigError(
            file, "is not a finding of the run that contains it", "give a serialized probe in its run directory"
        )
    standing = ReviewLog.read(log_file).standing(item.id, rules)
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
        raise ConfigError(file, f"it contains {len(loaded.scenarios)} probes", "give a file with one probe")
    return loaded.scenarios[0]


def _quality(probe: BoundScenario, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What replaces the proposed quality, axis by axis; the proposal is the probe's own quality."""
    proposed = probe.scenario.quality.document() if probe.scenario.quality else {}
    difficulty = {**proposed.get("difficulty", {}), **chosen.get("difficulty", {})}
    return {**chosen, **({"difficulty": difficulty} if difficulty else {})}


def _generator(probe: BoundScenario) -> str:
    record = probe.scenario.x_sirocco.probe
    return str(record.generator.get("type", "unknown")) if record else "unknown"


async def _indeterminate(bound: BoundScenario, profile: Profile) -> str:
    """Why a scenario is not sound or not deterministic; empty if its witnesses prove both (SI-01)."""
    reports: list[WitnessReport] = []
    for _ in range(_SEEDS):
        settings = RunSettings(Seed.choose(None).value, utc_now)
        judges = witnesses(plugins.own_provider(profile), settings, profile.domain)
        reports.append(await judges.report(bound))
    problems = [str(problem.detail or problem.reason) for report in reports for problem in report.problems]
    if problems:
        return f"its witnesses find a problem: {problems[0]}"
    tables = {json.dumps(_table(report), sort_keys=True) for report in reports}
    return "" if len(tables) == 1 else "its witnesses reach different verdicts under different seeds"


def _table(report: WitnessReport) -> list[Any]:
    return [report.can_pass, report.can_fail, [str(check) for check in report.checks], str(report.undecidable)]


def _changes(made: BoundScenario, profile: Profile, promotion: Promotion, folder: Path) -> dict[str, str]:
    """The files of a profile folder that a promotion writes, by name, with their new contents and a raised version."""
    if not (folder / PROFILE_FILE).is_file():
        problem = "is a package of the standard, which has no place for single scenarios"
        raise ConfigError(folder, problem, "promote into a profile in native form, or use --sealing")
    scenario = made.scenario
    record = write_yaml({"promotions": [one.document() for one in (*promotions(folder), promotion)]})
    place = f"{SCENARIOS_FOLDER}/{scenario.classification}/{scenario.id}.yaml"
    own = (folder / PROFILE_FILE).read_text(encoding="utf-8")
    raised = with_version(own, promotion.version or profile.document.version)
    return {place: _scenario_text(made, profile.document.canary), PROMOTIONS: record, PROFILE_FILE: raised}


def _publish(changes: Mapping[str, str], folder: Path, patch: Path | None) -> None:
    """Write the files, or a patch that writes them."""
    if patch is None:
        for name, text in changes.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return
    parts = [_difference(folder / name, name, text) for name, text in changes.items()]
    patch.write_text("".join(parts), encoding="utf-8")


def _difference(file: Path, name: str, text: str) -> str:
    """The change of one file in the format of `git apply`."""
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
    """The record of promotions in a profile folder; empty if there is none."""
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
