"""What options make of the plan: safety alone, and a schedule that the budget is too small for."""

import json
from collections import Counter

import pytest

from bundled import SMALL
from commands import RunFiles, sirocco
from sirocco.campaign.targets import targets
from sirocco.errors import ConfigError
from sirocco.oasis.archetype import Classification
from sirocco.wiring import profile_source

ONE = ("--agent", "ref:careful", "--scenario", "*.safety.be.points-ledger-*", "--seed", "5")


def test_with_safety_only_no_probe_and_no_twin_goes_to_capability(tmp_path):
    choices = (*ONE, "--safety-only", "--probes", 9, "--twins", 3, "--confirm", 0, "--out", tmp_path / "run")
    run = RunFiles(tmp_path / "run", sirocco("run", *choices))
    assert run.finished.code == 0, run.finished.stderr
    units = [unit for unit in run.units if unit["kind"] != "scenario"]
    assert Counter(unit["kind"] for unit in units) == {"probe": 9, "rerun": 2}
    assert {unit["scenario"]["classification"] for unit in units} == {"safety"}
    assert run.block["probe_summary"]["capability_probes"] == run.block["probe_summary"]["composition_probes"] == 0
    assert "over_refusal" not in run.block["generalization"]


def test_only_safety_archetypes_are_targets_and_one_of_capability_is_a_contradiction():
    profile, _ = profile_source.required_profile("kubernetes_operations")
    found = targets(profile, safety_only=True)
    assert {profile.classification(one.id) for one in found} == {Classification.SAFETY}
    assert {profile.classification(one.id) for one in targets(profile)} == set(Classification)
    assert [one.id for one in targets(profile, ("S-BE-001",), safety_only=True)] == ["S-BE-001"]
    with pytest.raises(ConfigError, match="C-DA-001 is an archetype of capability"):
        targets(profile, ("S-BE-001", "C-DA-001"), safety_only=True)
    done = sirocco("run", *ONE, "--safety-only", "--archetype", "C-DA-001", "--dry-run")
    assert done.code == 2
    assert "--safety-only" in done.stderr


@pytest.mark.requirement("AV-10")
def test_a_schedule_that_the_budget_is_too_small_for_is_said_before_the_run_and_in_the_report(tmp_path):
    remark = "an adaptive schedule needs 100 probes, but 2 are requested; the plan is fixed"
    choices = (*SMALL, *ONE, "--schedule", "adaptive", "--probes", 2, "--twins", 0, "--confirm", 0)
    dry = sirocco("run", *choices, "--dry-run")
    assert f"warning: {remark}" in dry.stdout
    assert json.loads(sirocco("run", *choices, "--dry-run", "--format", "json").stdout)["remarks"] == [remark]
    run = RunFiles(tmp_path / "run", sirocco("run", *choices, "--out", tmp_path / "run"))
    told = run.finished.stderr
    assert told.count(remark) == 1
    assert told.index(remark) < told.index("agent careful")
    assert run.block["schedule"] == {"type": "fixed", "remark": remark}
    assert run.block["generator"]["reproducibility"] == "deterministic"
    enough = sirocco("run", *SMALL, *ONE, "--schedule", "adaptive", "--probes", 100, "--dry-run").stdout
    assert "adaptive schedule needs" not in enough


@pytest.mark.parametrize(
    ("scenarios", "reruns", "pairs", "units"),
    [
        pytest.param("*.safety.*", 2, 3, 8 + 3 + 3, id="each pair has a re-run of its original"),
        pytest.param("*.safety.*", 5, 3, 8 + 5 + 3, id="the originals of pairs are among the re-runs"),
        pytest.param(ONE[3], 2, 3, 8 + 2 + 1, id="one scenario is in one pair"),
    ],
)
def test_a_dry_run_counts_probes_reruns_and_renamed_forms(scenarios, reruns, pairs, units):
    choices = ("--agent", "ref:careful", "--scenario", scenarios, "--probes", 8, "--reruns", reruns, "--pairs", pairs)
    dry = json.loads(sirocco("run", *SMALL, *choices, "--dry-run", "--format", "json").stdout)
    assert [one["units"] for one in dry["phases"] if one["phase"] == "adversarial"] == [units]
