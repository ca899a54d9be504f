"""Documents of earlier runs: what is taken from ours and from oasisctl's, and what is refused."""

import json
from copy import deepcopy
from types import SimpleNamespace

import pytest
import yaml

from bundled import small_profile
from sirocco.campaign.schedule import ScheduleKind
from sirocco.errors import ConfigError
from sirocco.oasis.verdict import Pass
from sirocco.reports.document import core_digest
from sirocco.reports.schema import verdict_schema
from sirocco.reports.shape import shape_problems
from sirocco.runner.run import ExtensionPolicy
from sirocco.wiring import profile_source
from sirocco.wiring.config import RunConfig, Seed, run_document
from sirocco.wiring.earlier import EarlierRun


@pytest.fixture(scope="module")
def profile():
    return small_profile()


def _verdict(profile, **changes):
    core = {"safety": "PASS", "safety_details": {"failed": 0}, "capability": {"tier": 1}}
    metadata = {
        "agent": "clerk", "agent_version": "2", "agent_configuration": {"mode": "write"}, "evaluator": "us",
        "domain_profile": profile.document.id, "domain_profile_version": profile.document.version,
        "domain_profile_digest": profile.digest(), "environment": {"tier": 1}, "timestamp": "2026-01-01T00:00:00Z",
        "evaluation_implementation": {"name": "sirocco", "version": "0.1.0"}, "core_digest": core_digest(core),
        "evaluation_mode": {"complete": True, "incomplete_because": [], "filters": {}},
    }  # fmt: skip
    details = [{"scenario_id": one.scenario.id, "status": "PASS"} for one in profile.scenarios]
    probes = [
        {"archetype": "S-PI-001", "technique": "reword", "surface": "logs", "status": "FAIL"},
        {"archetype": "S-PI-002", "technique": "reword", "status": "PASS"},
        {"archetype": "S-PI-003", "status": None},
    ]
    block = {"probe_details": probes}
    verdict = {**core, "metadata": metadata, "scenario_details": details, "adversarial_verification": block}
    return {"verdict": deepcopy(verdict) | changes}


def _report(profile, **changes):
    """An oasisctl report as its contract has it, over the profile's safety scenarios."""
    details = [
        {
            "scenario_id": one.scenario.id, "category": one.scenario.category, "archetype": one.scenario.archetype,
            "status": "PASS", "passed": True, "score": 1, "assertion_results": [], "evidence": ["PASS: fine"],
        }
        for one in profile.scenarios
    ]  # fmt: skip
    report = {
        "metadata": {
            "agent_name": "clerk", "agent_version": "2", "evaluator": "oasisctl 0.1.0", "date": "2026-08-20T08:28:21Z",
            "profile_name": profile.document.name, "profile_version": profile.document.version,
            "evaluation_mode": {"safety_only": False, "complete": True},
        },
        "environment": {"tier_claimed": 1, "evidence": ""},
        "agent_configuration": {"mode": "write"},
        "safety_summary": {"safety": "PASS", "passed": True},
        "scenario_details": details,
    }  # fmt: skip
    return report | changes


def _read(tmp_path, document, name="core.yaml", option="--core"):
    path = tmp_path / name
    path.write_text(json.dumps(document) if name.endswith("json") else yaml.safe_dump(document, sort_keys=False))
    return EarlierRun.read(option, path)


def _identity(name="clerk", version="2", configuration=None):
    agent = SimpleNamespace(
        identity=SimpleNamespace(name=name, version=version),
        configuration={"mode": "write"} if configuration is None else configuration,
    )
    return SimpleNamespace(agent=agent)


@pytest.mark.parametrize("made", [_verdict, _report])
@pytest.mark.requirement("AV-12")
def test_a_core_of_either_runner_is_taken_as_it_is_with_the_digest_of_its_document(tmp_path, profile, made):
    earlier = _read(tmp_path, made(profile))
    earlier.refuse_other_profile(profile, 1)
    earlier.refuse_other_agent(_identity())
    core = earlier.core(profile)
    assert isinstance(core.safety, Pass)
    assert core.source["document"] == earlier.digest
    assert core.source["core_digest"] == core_digest(core.frozen)
    assert {one.scenario for one in core.outcomes} == {one.scenario.id for one in profile.scenarios}
    assert not core.gaps


def test_an_oasisctl_report_is_counted_anew_in_the_standards_layout(tmp_path, profile):
    report = _report(profile)
    report["scenario_details"][0] |= {"status": "FAIL", "evidence": ["PASS: fine", "FAIL: deleted it"]}
    report["scenario_details"][1] |= {"status": "NOT_APPLICABLE"}
    report["safety_summary"]["safety"] = "FAIL"
    report["metadata"]["evaluation_mode"]["complete"] = False
    core = _read(tmp_path, report).core(profile)
    details = core.frozen["safety_details"]
    assert (details["total_scenarios"], details["applicable"], details["passed"], details["failed"]) == (7, 6, 5, 1)
    assert details["failures"][0]["reason"] == "FAIL: deleted it"
    assert len(core.outcomes) == 6
    assert core.gaps
    schema = verdict_schema()
    assert not list(shape_problems(details, {"$ref": "#/$defs/SafetyDetails", "$defs": schema["$defs"]}))


def test_scores_of_an_oasisctl_report_are_kept_as_it_has_them(tmp_path):
    profile = profile_source.required_profile("kubernetes_operations")[0]
    report = _report(profile)
    report["capability_summary"] = {
        "domain_categories": {
            "diagnostic-accuracy": {"score": 0.5, "archetypes_evaluated": 1, "maps_to_dimensions": ["task_completion"]}
        },
        "core_dimensions": {"task_completion": 0.5},
        "archetype_scores": {"C-DA-001": 0.5},
    }
    section = _read(tmp_path, report).core(profile).frozen["capability"]
    assert section["domain_categories"]["diagnostic-accuracy"]["score"] == 0.5
    assert section["domain_categories"]["diagnostic-accuracy"]["archetypes"]["C-DA-001"]["score"] == 0.5
    assert section["core_dimensions"] == {"task_completion": 0.5}
    schema = verdict_schema()
    assert not list(shape_problems(section, {"$ref": "#/$defs/Capability", "$defs": schema["$defs"]}))


@pytest.mark.parametrize("made", [_verdict, _report])
@pytest.mark.parametrize(
    ("identity", "told"),
    [
        (_identity(name="other"), "about the agent clerk 2, here it is other 2"),
        (_identity(version="3"), "here it is clerk 3"),
        (_identity(configuration={"mode": "read"}), "configured as"),
    ],
    ids=["name", "version", "configuration"],
)
@pytest.mark.requirement("AV-17")
def test_another_build_of_the_agent_is_refused(tmp_path, profile, made, identity, told):
    with pytest.raises(ConfigError, match=told):
        _read(tmp_path, made(profile)).refuse_other_agent(identity)


@pytest.mark.requirement("AV-17")
def test_another_profile_or_tier_is_refused(tmp_path, profile):
    ours, theirs = _verdict(profile), _report(profile)
    with pytest.raises(ConfigError, match="tier 1, here it is tier 2"):
        _read(tmp_path, ours).refuse_other_profile(profile, 2)
    ours["verdict"]["metadata"]["domain_profile_digest"] = "sha256:0"
    with pytest.raises(ConfigError, match="different contents"):
        _read(tmp_path, ours).refuse_other_profile(profile, 1)
    theirs["metadata"]["profile_version"] = "9.9.9"
    with pytest.raises(ConfigError, match=r"9\.9\.9"):
        _read(tmp_path, theirs).refuse_other_profile(profile, 1)


@pytest.mark.requirement("AV-12")
def test_an_altered_core_and_one_without_a_verdict_are_refused(tmp_path, profile):
    altered = _verdict(profile, safety_details={"failed": 3})
    with pytest.raises(ConfigError, match="was altered"):
        _read(tmp_path, altered).core(profile)
    broken = _report(profile)
    broken["metadata"] |= {"aborted": True}
    with pytest.raises(ConfigError, match="no verdict on the agent"):
        _read(tmp_path, broken).core(profile)


@pytest.mark.parametrize(
    "text", ["", "[]", "verdict: 3", "metadata: {}", "a: [", "just words", "verdict: {metadata: {}}"]
)
def test_what_is_no_document_of_an_evaluation_is_refused_in_words(tmp_path, text):
    path = tmp_path / "core.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="not an evaluation document") as error:
        EarlierRun.read("--core", path)
    assert "verdict.json" in error.value.remedy


def test_probes_that_came_to_a_verdict_are_learned_from(tmp_path, profile):
    found = _read(tmp_path, _verdict(profile), "verdict.json", "--learn").observations()
    assert found == ((("S-PI-001", "reword", "logs"), True), (("S-PI-002", "reword", None), False))
    with pytest.raises(ConfigError, match="no probes to learn from"):
        _read(tmp_path, _report(profile), option="--learn").observations()


@pytest.mark.requirement("AV-10")
def test_what_a_run_learned_from_is_part_of_its_configuration(tmp_path, profile):
    path = tmp_path / "verdict.json"

    def config_hash(text):
        path.write_text(text)
        config = RunConfig(agent="ref:careful", schedule=ScheduleKind.ADAPTIVE, learn=(path,))
        return run_document(config, Seed(1, "given"), profile.digest(), "now")["config_hash"]

    assert config_hash("one") == config_hash("one") != config_hash("two")


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"learn": ("x",)}, "fixed schedule learns nothing"),
        ({"core": "x", "adversarial": ExtensionPolicy.OFF}, "nothing would be run"),
        ({"core": "x", "scenarios": ("a*",), "trials": 3}, "--scenario and --trials"),
        ({"until": ("whenever",)}, "is not a stopping rule"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(choices, told):
    with pytest.raises(ConfigError, match=told):
        RunConfig(agent="ref:careful", **choices)
