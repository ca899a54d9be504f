"""Phase 3 beside a core that another run came to, renamed pairs, rules to stop by, and what earlier runs found."""

import json
from pathlib import Path

import pytest
import yaml

from bundled import SMALL, small_profile
from commands import RunFiles, evaluated, sirocco
from json_schema import violations as schema_violations
from sirocco import __version__
from sirocco.reports.schema import verdict_schema

QUICK = (*SMALL, "--archetype", "S-PI-001", "--archetype", "S-BE-001", "--confirm", 0, "--twins", 0)


@pytest.fixture(scope="module")
def core(tmp_path_factory) -> RunFiles:
    """A core of the memorizer, with one probe beside it."""
    return evaluated(tmp_path_factory.mktemp("core"), "ref:memorizer", *QUICK, "--probes", 1, "--reruns", 0)


@pytest.fixture(scope="module")
def beside(core, tmp_path_factory) -> RunFiles:
    """Phase 3 of another run beside that core, which ends with the first finding."""
    choices = ("--core", core.path / "verdict.json", "--probes", 40, "--pairs", 5, "--until", "findings>=1")
    return evaluated(tmp_path_factory.mktemp("beside"), "ref:memorizer", *QUICK, *choices, "--seed", 8)


@pytest.mark.requirement("AV-12", "AV-17")
def test_the_core_is_the_attached_one_and_nothing_of_it_is_run_again(core, beside):
    assert beside.finished.code == 0, beside.finished.stderr
    for key in ("safety", "safety_details", "capability", "coverage"):
        assert beside.verdict.get(key) == core.verdict.get(key), key
    assert beside.verdict["metadata"]["core_digest"] == core.verdict["metadata"]["core_digest"]
    assert yaml.safe_load((beside.path / "core.yaml").read_text()) == yaml.safe_load(
        (core.path / "core.yaml").read_text()
    )
    source = beside.verdict["metadata"]["attached_core"]
    assert source["document"].startswith("sha256:")
    assert source["runner"].startswith("sirocco ")
    kinds = {unit["kind"] for unit in beside.units}
    assert kinds == {"probe", "rerun", "renamed"}
    assert "another run" in beside.finished.stdout
    assert "only the adversarial phase was run here" in (beside.path / "report.html").read_text()


def test_a_dry_run_beside_another_core_plans_no_scenario_of_it(core, tmp_path):
    given = ("--core", core.path / "verdict.json", "--probes", 4, "--pairs", 2, "--dry-run", "--format", "json")
    plan = json.loads(evaluated(tmp_path, "ref:memorizer", *QUICK, *given).finished.stdout)
    assert [(one["phase"], one["units"]) for one in plan["phases"]] == [
        ("safety", 0), ("capability", 0), ("adversarial", 8),
    ]  # fmt: skip


def test_such_a_run_is_a_whole_verdict_document(beside):
    document = json.loads((beside.path / "verdict.json").read_text())
    assert not list(schema_violations(document, verdict_schema()))


@pytest.mark.requirement("AV-12", "SI-07")
def test_such_a_run_with_pairs_follows_from_its_evidence(beside):
    replayed = sirocco("replay", beside.path)
    assert replayed.code == 0, replayed.stdout


@pytest.mark.requirement("SI-04")
def test_a_run_ends_with_the_rule_that_it_was_given_and_its_pairs_are_all_run(beside):
    block = beside.block
    assert block["until"] == {"rules": ["findings>=1"], "met": "findings>=1"}
    assert block["executed"] == 16 < block["planned"]
    assert block["complete"]
    assert block["generalization"]["method"] == "confidence_sequence"
    assert block["generator"]["reproducibility"] == "partially_reproducible"
    assert (block["pairs"]["compared"], block["pairs"]["worse"]) == (5, 5)
    for text in (beside.finished.stdout, sirocco("report", beside.path, "--format", "markdown").stdout):
        assert "The agent has learned published names or wording" in text
        assert "because findings" in text


@pytest.mark.requirement("AV-17")
def test_the_core_of_another_agent_profile_or_tier_is_refused_with_exit_code_2(core, tmp_path):
    given = ("--core", core.path / "verdict.json", "--probes", 1)
    other = evaluated(tmp_path / "agent", "ref:careful", *QUICK, *given).finished
    assert other.code == 2
    assert "is about the agent memorizer" in other.stderr
    profile = evaluated(tmp_path / "profile", "ref:memorizer", *given).finished
    assert profile.code == 2
    assert "different contents" in profile.stderr
    tier = evaluated(tmp_path / "tier", "ref:memorizer", *QUICK, *given, "--tier", 2).finished
    assert tier.code == 2
    assert "tier 1, here it is tier 2" in tier.stderr


def test_phase_3_stands_beside_a_report_of_oasisctl(tmp_path):
    profile = small_profile()
    details = [
        {
            "scenario_id": one.scenario.id, "category": one.scenario.category, "archetype": one.scenario.archetype,
            "status": "PASS", "passed": True, "score": 1, "assertion_results": [], "evidence": ["PASS: fine"],
        }
        for one in profile.scenarios
    ]  # fmt: skip
    report = {
        "metadata": {
            "agent_name": "careful", "agent_version": __version__, "evaluator": "oasisctl 0.1.0",
            "date": "2026-08-20T08:28:21.4Z", "profile_name": profile.document.name,
            "profile_version": profile.document.version,
            "evaluation_mode": {"safety_only": True, "complete": False}, "evaluation_note": "safety only",
        },
        "environment": {"tier_claimed": 1, "evidence": ""},
        "safety_summary": {"safety": "PASS", "passed": True},
        "scenario_details": details,
    }  # fmt: skip
    file = Path(tmp_path / "report.yaml")
    file.write_text(yaml.safe_dump(report))
    run = evaluated(tmp_path / "run", "ref:careful", *QUICK, "--core", file, "--probes", 2, "--reruns", 1)
    assert run.finished.code == 0, run.finished.stderr
    assert run.verdict["safety"] == "PASS"
    assert run.verdict["safety_details"]["passed"] == len(details)
    assert run.verdict["metadata"]["evaluation_mode"]["incomplete_because"] == ["safety only"]
    assert run.verdict["metadata"]["attached_core"]["runner"] == "oasisctl 0.1.0"
    assert run.block["reruns"]["different"] == 0
    assert not list(schema_violations(json.loads((run.path / "verdict.json").read_text()), verdict_schema()))
    assert "attached report has no capability scores" in run.verdict["capability"]["note"]
    assert sirocco("replay", run.path).code == 0


@pytest.mark.requirement("AV-10")
def test_what_an_earlier_run_found_is_learned_only_from_the_same_agent(beside, tmp_path):
    learn = ("--schedule", "adaptive", "--learn", beside.path / "verdict.json", "--dry-run", "--probes", 100)
    assert evaluated(tmp_path / "one", "ref:memorizer", *QUICK, *learn).finished.code == 0
    other = evaluated(tmp_path / "two", "ref:careful", *QUICK, *learn[:4], "--probes", 1).finished
    assert other.code == 2
    assert "is about the agent memorizer" in other.stderr
