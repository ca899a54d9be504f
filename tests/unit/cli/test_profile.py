"""`sirocco profile show` and `quality` as a user meets them."""

import json
import shutil
import time
from pathlib import Path

import pytest
import yaml

from commands import sirocco


def test_the_contents_of_a_profile_are_counted_and_listed(orchard):
    done = sirocco("profile", "show", orchard)
    assert done.code == 0
    head, _, scenario = done.stdout.splitlines()
    assert head.startswith("orchard-profile 1.0.0: 4 archetypes, ")
    assert head.endswith(", 1 scenario")
    assert scenario.split() == ["orchard.note-001", "safety", "prompt-injection-resistance", "S-PI-001", "1", "yes"]


@pytest.fixture
def cared_for(orchard):
    """The small profile with a capability scenario."""
    shutil.copy(Path(__file__).parents[1] / "profiles" / "care.yaml", orchard / "scenarios")
    return orchard


def test_one_archetype_is_shown_with_its_bands_and_what_its_scenarios_bind(cared_for):
    done = sirocco("profile", "show", cared_for, "--archetype", "C-OE-001")
    assert done.code == 0
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "C-OE-001 Repeat: capability, operational-execution",
        "band score met when",
        "cared_for 1.0 read_current_state_before_acting and the checks of verification hold",
        "half_done the share of execute_plan, times 0.8 at least 0.5 of execute_plan",
        "neglected 0.0 always",
        "scenario behaviours slots",
        "orchard.care-001 execute_plan, read_current_state_before_acting steps, target",
    ]


def test_one_archetype_is_shown_to_machines_too(cared_for):
    done = sirocco("profile", "show", cared_for, "--archetype", "C-OE-001", "--format", "json")
    shown = json.loads(done.stdout)
    assert [row["band"] for row in shown["bands"]] == ["cared_for", "half_done", "neglected"]
    assert shown["scenarios"][0]["slots"] == ["steps", "target"]


def test_an_archetype_that_is_not_there_is_an_error_that_names_the_closest(orchard):
    done = sirocco("profile", "show", orchard, "--archetype", "C-OE-01")
    assert done.code == 2
    assert "did you mean 'C-OE-001'?" in done.stderr


def test_the_standards_own_package_is_shown_and_all_of_it_can_be_evaluated(package):
    shown = json.loads(sirocco("profile", "show", package, "--format", "json").stdout)
    assert (len(shown["archetypes"]), len(shown["behaviors"]), len(shown["scenarios"])) == (50, 107, 50)
    kinds = [row["classification"] for row in shown["scenarios"]]
    assert (kinds.count("safety"), kinds.count("capability")) == (21, 29)
    assert all(row["evaluable"] for row in shown["scenarios"])
    assert all(row.get("bands") for row in shown["archetypes"] if row["id"].startswith("C-"))


def test_the_quality_of_the_standards_own_package_counts_all_its_scenarios(package):
    done = sirocco("profile", "quality", package, "--format", "json")
    report = json.loads(done.stdout)
    assert done.code == 0
    assert report["scenarios"] == {"safety": 21, "capability": 29}
    assert report["negative_testing"]["with_companion"] == 21
    assert [row["scenarios"] for row in report["coverage_independence"]] == [3] * 7
    for axis in report["difficulty"]:
        assert sum(axis["levels"].values()) + axis["unrated"] == 21
    used = sum(sum(row["scenarios"].values()) for row in report["subcategories"]["defined"])
    assert used + report["subcategories"]["scenarios_without"] == 50
    assert "warnings; to see them: sirocco validate" in done.stderr


def test_quality_is_for_reading_and_names_the_gaps(orchard):
    done = sirocco("profile", "quality", orchard)
    assert (done.code, done.stderr) == (0, "")
    for line in (
        "orchard-profile 1.0.0: 1 safety and 0 capability scenarios",
        "Negative testing: 0 of 3 safety archetypes have a companion",
        "no scenario at all: S-BE-001, S-DE-001",
        "no attack surface declared: orchard.note-001",
        "Difficulty: 0 of 1 safety scenario rated",
        "Archetype coverage: 1 of 4 archetypes have a scenario; covered/required",
        "no scenario: S-BE-001, S-DE-001, C-OE-001",
        "Intents: 1 of 1 scenario state one",
        "defined and unused: permission-boundary",
        "Reserved scenarios: the profile declares none",
    ):
        assert line in done.stdout.splitlines()


@pytest.fixture
def with_reserved(orchard: Path, tmp_path: Path) -> Path:
    """A profile that names the manifest of a bundle with one scenario."""
    made = sirocco("reserved", "keygen", "--role", "maintainer", "--out", tmp_path / "m.key", "--format", "json")
    public = json.loads(made.stdout)
    policy = f"""
reserved:
  cadence: 90 days
  minimum_per_category: 1
  contact: orchard@example.org
  maintainers: ["{public["maintainer"]}"]
  manifest: bundle.manifest.yaml
"""
    (orchard / "profile.yaml").write_text((orchard / "profile.yaml").read_text() + policy)
    withheld = Path(shutil.copy(orchard / "scenarios/notes.yaml", tmp_path / "withheld.yaml"))
    withheld.write_text(withheld.read_text().replace("orchard.note-001", "orchard.withheld-001"))
    seal = ("seal", withheld, "--recipient", public["recipient"], "--out", orchard / "bundle.json")
    terms = ("--profile", orchard, "--key", tmp_path / "m.key", "--history", tmp_path / "history.jsonl")
    done = sirocco("reserved", *seal, *terms)
    assert done.code == 0, done.stderr
    return orchard


@pytest.mark.requirement("AV-19", "AV-21")
def test_reserved_scenarios_are_counted_from_the_public_manifest(with_reserved):
    report = json.loads(sirocco("profile", "quality", with_reserved, "--format", "json").stdout)
    assert report["reserved"]["total"] == 1
    assert report["reserved"]["categories"]["prompt-injection-resistance"] == 1
    assert report["reserved"]["below_minimum"] == ["boundary-enforcement", "data-exfiltration-prevention"]
    text = sirocco("profile", "quality", with_reserved).stdout
    assert "Reserved scenarios: 1 (in bundle.manifest.yaml); rotation: 90 days" in text
    assert "fewer than 1: boundary-enforcement, data-exfiltration-prevention" in text
    assert "withheld-001" not in text


@pytest.mark.requirement("AV-20")
def test_a_rotation_that_is_overdue_is_told(with_reserved, monkeypatch):
    assert "warning" not in sirocco("profile", "quality", with_reserved).stdout
    monkeypatch.setattr("sirocco.wiring.clock.time_ns", lambda: time.time_ns() + 91 * 86_400 * 10**9)
    assert "reserved scenarios were sealed 91 days ago" in sirocco("profile", "quality", with_reserved).stdout
    report = json.loads(sirocco("profile", "quality", with_reserved, "--format", "json").stdout)
    assert "90 days" in report["reserved"]["warning"]


def test_a_manifest_that_cannot_be_used_is_a_finding_at_its_place(with_reserved):
    manifest = with_reserved / "bundle.manifest.yaml"
    document = yaml.safe_load(manifest.read_text())
    inner = document["manifest"]
    manifest.write_text(yaml.safe_dump(document | {"manifest": inner | {"commitments": "none"}}))
    done = sirocco("profile", "quality", with_reserved)
    assert (done.code, done.stdout) == (2, "")
    assert f"{manifest}:2:16 field-value manifest.commitments should be a list" in done.stderr
    other = inner | {"profile": {**inner["profile"], "id": "harbour"}}
    manifest.write_text(yaml.safe_dump(document | {"manifest": other}))
    assert "sealed for profile 'harbour'" in sirocco("profile", "quality", with_reserved).stderr
    manifest.unlink()
    done = sirocco("profile", "quality", with_reserved)
    assert done.code == 2
    assert "file-unreadable" in done.stderr
