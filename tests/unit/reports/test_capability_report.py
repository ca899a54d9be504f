"""Scores in a report: the standard's layout, the same again from evidence, and readable."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from commands import sirocco
from json_schema import violations
from recorded_run import recorded_core
from scored import SAFE, Scaler, capability, identity
from sirocco.errors import EvidenceError
from sirocco.evidence.replay import replay_unit
from sirocco.oasis.archetype import Aggregation
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile, ScoringModel
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Pass
from sirocco.reports.document import core_digest, core_document
from sirocco.reports.html import html_page
from sirocco.reports.schema import verdict_schema
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.domains import domain_for
from sirocco.wiring.replay import replay
from tampering import records, tamper

TIME = "2026-01-01T00:00:00.000000Z"
NEVER_READ = {"assertions": {"must": [{"action": "get deployment/stock-cache namespace=shop"}]}}
OTHERS = {"applicability": {"operational_mode": "read_only"}}
SCENARIOS = (
    SAFE,
    capability(1),
    capability(2, archetype="C-OE-002"),
    capability(3, archetype="C-DA-001", category="diagnostic-accuracy", **NEVER_READ),
    capability(4, **OTHERS),
)


def _profile() -> Profile:
    """The bundled profile with rules for two categories and two dimensions."""
    profile = profile_source.required_profile("kubernetes_operations")[0]
    minimum = Aggregation.model_validate({"method": "minimum"})
    weighted = Aggregation.model_validate({"method": "weighted_average", "archetype_weights": {"C-DA-001": 1.5}})
    aggregations = {"operational-execution": minimum, "diagnostic-accuracy": weighted}
    categories = [
        one.model_copy(update={"aggregation": aggregations.get(one.id), "core": ("task_completion",)})
        for one in profile.document.categories
    ]
    dimensions = {
        "task_completion": {"operational-execution": 0.6, "diagnostic-accuracy": 0.4},
        "reliability": {"operational-execution": 0.5, "multi-step-reasoning": 0.5},
    }
    update = {"categories": tuple(categories), "scoring": ScoringModel(dimensions=dimensions)}
    return replace(profile, document=profile.document.model_copy(update=update))


def _recorded(path: Path, agent: Scaler, scenarios: tuple[BoundScenario, ...] = SCENARIOS) -> Path:
    profile = replace(_profile(), scenarios=scenarios)
    execution = Execution(agent, plugins.provider("simulator", profile), RunSettings(1, lambda: TIME))
    core = Core(profile, scenarios, execution, 1, "given", policy=ExtensionPolicy.OFF)
    return recorded_core(path, core)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    agent = Scaler(replicas=2, configuration={"operational_mode": "autonomous"})
    return _recorded(tmp_path_factory.mktemp("scored") / "run", agent)


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


def _verdict(path: Path) -> dict[str, Any]:
    return yaml.safe_load((path / "verdict.yaml").read_text())["verdict"]


@pytest.mark.requirement("CO-03", "CO-11")
def test_scores_stand_beside_the_tier_at_every_level(finished: Path) -> None:
    section = _verdict(finished)["capability"]
    assert section["tier"] == 1
    assert section["core_dimensions"] == {"task_completion": 0.3, "reliability": 0.5}
    assert section["dimension_details"]["reliability"]["missing_categories"] == ["multi-step-reasoning"]
    execution = section["domain_categories"]["operational-execution"]
    assert (execution["score"], execution["archetypes_evaluated"]) == (0.5, 2)
    assert execution["maps_to_dimensions"] == ["task_completion"]
    assert execution["archetypes"]["C-OE-001"]["scenarios"] == {capability(1).scenario.id: 0.5}
    assert section["domain_categories"]["diagnostic-accuracy"]["score"] == 0.0
    assert section["scenarios"] == {"total": 3, "scored": 3, "undecidable": 0, "skipped": 0, "not_applicable": 1}
    assert "same tier" in section["statement"]


@pytest.mark.requirement("CO-11")
def test_scores_that_nobody_asked_for_are_not_said_to_be_missing_in_the_profile() -> None:
    whole = identity(_profile().document)
    chosen = replace(whole, filters={"safety_only": True})
    notes = [core_document(CoreResult(one, (), (), Pass()))["capability"]["note"] for one in (whole, chosen)]
    assert notes == [
        "this profile has no capability scenarios for this agent",
        "no capability scenario was selected",
    ]


@pytest.mark.requirement("CO-11")
def test_a_scored_verdict_follows_the_schema(finished: Path) -> None:
    document = json.loads((finished / "verdict.json").read_text())
    assert violations(document, verdict_schema()) == []
    del document["verdict"]["scenario_details"][1]["score"]
    assert violations(document, verdict_schema()) != []


def test_the_detail_of_a_scored_scenario_says_which_band_and_why(finished: Path) -> None:
    safety, scored, *_ = _verdict(finished)["scenario_details"]
    assert safety.keys().isdisjoint({"score", "band", "bands", "lowest_band"})
    assert (scored["score"], scored["band"], scored["status"]) == (0.5, "looked", "PASS")
    assert "must.0" in scored["score_evidence"]
    assert [band["band"] for band in scored["bands"]] == ["looked and scaled", "looked", "neither"]


@pytest.mark.requirement("CO-08")
def test_excluded_scenarios_are_listed_with_the_condition_and_counted(finished: Path) -> None:
    verdict = _verdict(finished)
    assert [one["scenario_id"] for one in verdict["excluded_scenarios"]] == [capability(4).scenario.id]
    assert "read_only" in verdict["excluded_scenarios"][0]["condition"]
    coverage = verdict["metadata"]["configuration_coverage"]
    assert (coverage["total_scenarios"], coverage["not_applicable"]) == (5, 1)
    assert verdict["metadata"]["scenario_count"] == {"safety": 1, "capability": 3}


@pytest.mark.requirement("SI-07")
def test_replay_gives_the_same_scores_from_the_evidence_alone(copy: Path) -> None:
    assert replay(copy).differences == ()
    for name in ("verdict.yaml", "verdict.json", "core.yaml", "report.html"):
        (copy / name).unlink()
    replayed = replay(copy)
    assert replayed.differences == ()
    assert list(replayed.verdicts.values()) == ["PASS", "PASS", "PASS", "FAIL"]


def _set(value: Any, *path: Any) -> Any:
    def edit(verdict: Any) -> None:
        *parents, key = path
        for part in parents:
            verdict = verdict[part]
        verdict[key] = value

    return edit


@pytest.mark.requirement("SI-07")
@pytest.mark.parametrize(
    "forge",
    [
        _set(1.0, "scenario_details", 1, "score"),
        _set(1.0, "capability", "core_dimensions", "task_completion"),
        _set(1.0, "capability", "domain_categories", "operational-execution", "score"),
        _set({}, "capability", "domain_categories"),
        _set(None, "capability"),
        _set(0.9, "capability", "dimension_details", "task_completion", "category_weights", "operational-execution"),
        _set({"method": "weighted_average"}, "capability", "domain_categories", "operational-execution", "aggregation"),
    ],
)
def test_a_forged_score_is_noticed_although_all_copies_and_digests_were_forged_with_it(copy: Path, forge: Any) -> None:
    verdict = _verdict(copy)
    forge(verdict)
    core = {key: verdict[key] for key in ("safety", "safety_details", "capability")}
    verdict["metadata"]["core_digest"] = core_digest(core)
    (copy / "core.yaml").write_text(json.dumps(core))
    for name in ("verdict.yaml", "verdict.json"):
        (copy / name).write_text(json.dumps({"verdict": verdict}))
    assert replay(copy).differences != ()


@pytest.mark.requirement("SI-07")
def test_better_bands_in_the_evidence_are_noticed(copy: Path) -> None:
    tamper(copy, lambda line: line.replace('"band":"looked","score":0.5', '"band":"looked","score":0.9'))
    assert {one.unit for one in replay(copy).differences} >= {capability(1).scenario.id}


@pytest.mark.parametrize("section", [[], 1, {"domain_categories": [], "core_dimensions": 1, "dimension_details": 2}])
def test_a_section_that_says_nothing_is_noticed(copy: Path, section: Any) -> None:
    document = yaml.safe_load((copy / "verdict.yaml").read_text())
    document["verdict"]["capability"] = section
    (copy / "verdict.yaml").write_text(json.dumps(document))
    assert replay(copy).differences != ()


def test_an_account_that_cannot_be_read_is_an_error_that_says_so(copy: Path) -> None:
    account = copy / "evidence/account.json"
    account.write_text(account.read_text().replace('"method": "minimum"', '"method": "best"'))
    with pytest.raises(EvidenceError, match="account"):
        replay(copy)


def test_bands_are_recorded_for_scored_units_only(finished: Path) -> None:
    units = records(finished)
    assert ["bands" in unit for unit in units] == [False, True, True, True]
    assert units[0].keys() - {"same"} == {"unit", "kind", "attempt", "run", "scenario", "evidence"}


@pytest.mark.requirement("SI-07", "CO-08")
@pytest.mark.parametrize("mode", ["read_only", "autonomous"])
def test_replay_judges_with_the_block_that_applied_to_the_agent(tmp_path: Path, mode: str) -> None:
    block = {"when": {"operational_mode": "read_only"}, "must": [{"action": "get deployment/stock-cache"}]}
    assertions = {"must": [{"action": "get deployment/stock namespace=shop"}], "conditional": [block]}
    agent = Scaler(configuration={"operational_mode": mode})
    path = _recorded(tmp_path / "run", agent, (SAFE, capability(1, assertions=assertions)))
    assert _verdict(path)["scenario_details"][1]["score"] == {"read_only": 0.0, "autonomous": 1.0}[mode]
    assert replay(path).differences == ()


@pytest.mark.requirement("SI-07")
def test_one_unit_can_be_replayed_by_itself(copy: Path) -> None:
    result, differences = replay_unit(copy, capability(1).scenario.id, domain_for)
    assert (result.score, differences) == (0.5, ())
    with pytest.raises(EvidenceError, match="no evidence"):
        replay_unit(copy, "another", domain_for)
    tamper(copy, lambda line: line.replace('"verb":"get"', '"verb":"list"'))
    assert replay_unit(copy, capability(1).scenario.id, domain_for)[1] != ()


PLACES = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "77", "TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0"},
]


@pytest.mark.requirement("SI-07", "CO-04")
def test_replay_says_the_same_under_any_hash_seed_time_zone_and_locale(finished: Path) -> None:
    said = set()
    for place in PLACES:
        command = [sys.executable, "-m", "sirocco", "replay", str(finished), "--format", "json"]
        done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **place})
        said.add(done.stdout)
    assert len(said) == 1
    assert sirocco("replay", finished, "--unit", capability(1).scenario.id).code == 0


def test_the_page_shows_every_level_of_the_scores(finished: Path) -> None:
    page = (finished / "report.html").read_text()
    _, _, section = page.partition('aria-labelledby="capability"')
    section, _, scenarios = section.partition("</section>")
    assert "Capability at tier 1" in section
    for part in ("task completion", "C-OE-001", "0.50", "0.30", "minimum", "×1.5"):
        assert part in section, part
    for part in ("looked and scaled", "state after", "Why 0.50?", capability(4).scenario.id):
        assert part in scenarios, part
    core, _, _ = page.partition('aria-labelledby="capability"')
    assert "C-OE-001" not in core


HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"


def test_no_text_in_the_scores_becomes_markup(finished: Path) -> None:
    verdict = _verdict(finished)
    harmless = html_page(verdict)

    def hostile(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: hostile(member) for key, member in value.items()}
        if isinstance(value, list):
            return [hostile(member) for member in value]
        return HOSTILE if value in {"looked", "evidence"} else value

    page = html_page({**verdict, "scenario_details": hostile(verdict["scenario_details"])})
    assert page.count("<") == harmless.count("<")
    assert "<script" not in page
