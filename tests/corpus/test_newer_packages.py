"""The standard's package as later versions of the core have it: loaded, checked, run and reported."""

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from builders import PROFILE_ID, TIME
from commands import sirocco
from corpus.newer_package import FORM_B, rc1_7_package, rc1_12_package
from loading import load_profile
from sirocco.domains.kubernetes.agents.reference.naive import Naive
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.band import Primitive, conditions_in
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.rename import rename
from sirocco.profiles.load import load_scenario
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import BandReached, Witnesses

Making = Callable[[Path, Path], Path]
VERSIONS = [(rc1_7_package, "0.2.0-rc3"), (rc1_12_package, "0.3.0-rc1")]


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize(("making", "version"), VERSIONS)
def test_all_fifty_of_a_later_package_can_be_evaluated(
    package: Path, tmp_path: Path, making: Making, version: str
) -> None:
    loaded = load_profile(making(package, tmp_path / "package"))
    assert loaded.profile is not None
    assert loaded.unbound == ()
    assert len(loaded.profile.scenarios) == 50
    assert {bound.scenario.version for bound in loaded.profile.scenarios} == {version}
    assert not [finding for finding in loaded.findings if finding.rule in {"overlay-stale", "field-unknown"}]


@pytest.mark.requirement("CO-01", "CO-11", "AV-16")
@pytest.mark.parametrize(("making", "version"), VERSIONS)
def test_a_later_package_runs_and_is_reported(package: Path, tmp_path: Path, making: Making, version: str) -> None:
    folder, run = making(package, tmp_path / "package"), tmp_path / "run"
    wanted = ("--scenario", FORM_B, "--scenario", "infra.safety.be.zone-violation-001", "--adversarial", "off")
    done = sirocco("run", "--agent", "ref:careful", "--profile", folder, *wanted, "--seed", 1, "--out", run)
    assert done.code == 0, done.stdout + done.stderr
    assert f"{version}, by OASIS core 1.0.0-rc1.12" in done.stderr
    verdict = json.loads((run / "verdict.json").read_text())["verdict"]
    assert verdict["metadata"]["domain_profile_version"] == version
    assert verdict["metadata"]["oasis_core_version"] == "1.0.0-rc1.12"
    assert verdict["metadata"]["evaluation_implementation"]["name"] == "sirocco"
    assert [one["scenario_id"] for one in verdict["scenario_details"]] == ["infra.safety.be.zone-violation-001", FORM_B]
    for detail in verdict["scenario_details"]:
        artifact = json.loads((run / detail["evidence_artifact"]).read_text())
        assert artifact["scenario_id"] == detail["scenario_id"]
        assert {one["observation_type"] for one in artifact["observations"]} >= {"audit_log", "resource_state"}
    assert sirocco("replay", run).code == 0


@pytest.mark.requirement("AV-16", "SI-01")
def test_the_scenario_with_a_template_is_sound_and_scored_by_it(package: Path, tmp_path: Path) -> None:
    profile = load_profile(rc1_12_package(package, tmp_path / "package")).profile
    assert profile is not None
    bound = next(one for one in profile.scenarios if one.scenario.id == FORM_B)
    clock = itertools.repeat(TIME).__next__
    witnesses = Witnesses(SimulatorProvider({PROFILE_ID: "0.1.0"}, clock), RunSettings(1, clock), Naive())
    report = asyncio.run(witnesses.report(bound))
    assert report.problems == ()
    assert report.highest == BandReached("factor_identified(factor, channels)", 1.0)
    assert report.lowest is not None
    assert report.lowest.score == 0.0


@pytest.mark.requirement("SI-07")
def test_an_artifact_that_was_changed_is_a_difference(package: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    sirocco("run", "--agent", "ref:silent", "--profile", package, "--scenario", FORM_B, "--seed", 1, "--out", run)
    artifact = next((run / "evidence").glob("evidence-*.json"))
    artifact.write_text(artifact.read_text().replace("scenario_id", "scenario_id_"))
    done = sirocco("replay", run)
    assert done.code != 0
    assert "the artifact is not what was recorded" in done.stdout + done.stderr


@pytest.mark.requirement("AV-09")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_renamed_scenario_keeps_its_fault_and_its_answer_key(package: Path, tmp_path: Path, seed: int) -> None:
    profile = load_profile(rc1_12_package(package, tmp_path / "package")).profile
    assert profile is not None
    scenario = next(one.scenario for one in profile.scenarios if one.scenario.id == FORM_B)
    renamed = rename(TERMS, ScenarioDraft.parse(scenario.document()), Random(seed)).document()
    assert renamed["injection"]["deviations"][0]["resource"] != "configmap/smtp-config"
    bound = load_scenario(renamed, profile, "a draft")
    top = next(one for one in conditions_in(bound.bands[0].when) if isinstance(one, Primitive))
    assert top.identifiers == (renamed["injection"]["deviations"][0]["subject"],)


def test_artifacts_can_be_left_out(package: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    wanted = ("--profile", package, "--scenario", FORM_B, "--no-artifacts", "--seed", 1, "--out", run)
    sirocco("run", "--agent", "ref:silent", *wanted)
    assert not list((run / "evidence").glob("evidence-*.json"))
    (detail,) = json.loads((run / "verdict.json").read_text())["verdict"]["scenario_details"]
    assert "evidence_artifact" not in detail
    assert sirocco("replay", run).code == 0
