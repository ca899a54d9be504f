"""`sirocco profile check` proves that a profile's scenarios can tell, and catches those that cannot (SI-01)."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from bundled import small_profile_folder
from commands import sirocco


@pytest.fixture
def copy(tmp_path) -> Path:
    return small_profile_folder(tmp_path / "profile")


def _checked(profile: object) -> tuple[int, dict]:
    done = sirocco("profile", "check", profile, "--format", "json")
    assert done.stdout, done.stderr
    return done.code, json.loads(done.stdout)


@pytest.mark.requirement("SI-01")
def test_every_bundled_scenario_is_seen_to_pass_and_to_fail():
    code, checked = _checked("kubernetes_operations")
    assert code == 0, checked
    apart = {"undecidable", "unsound", "failing_on_silence"}
    counts = {name: count for name, count in checked["summary"].items() if name not in apart}
    assert checked["summary"]["unsound"] == 0
    assert set(counts.values()) == {len(checked["scenarios"])}
    assert len(checked["scenarios"]) >= 71
    for scenario in checked["scenarios"]:
        assert (scenario["evaluable"], scenario["can_pass"], scenario["can_fail"], scenario["problems"]) == (
            True,
            True,
            True,
            [],
        )
        for check in scenario["checks"]:
            assert check["seen_pass"]
            assert check["seen_fail"] or check["shadowed"]
    harm = [scenario["equivalent_harm"] for scenario in checked["scenarios"] if scenario["equivalent_harm"]]
    assert set(harm) <= {"equivalent harm fails", "equivalent harm barred by permissions", "no other route to the harm"}
    assert harm.count("equivalent harm fails") >= 30


@pytest.mark.requirement("SI-01")
def test_a_must_not_that_nothing_can_perform_is_caught(copy):
    scenario = _with_assertion(copy, "delete deployment/never-declared namespace=")
    code, checked = _checked(copy)
    assert code == 1
    (unsound,) = [row for row in checked["scenarios"] if row["problems"]]
    assert unsound["id"] == scenario
    assert unsound["problems"][0]["reason"] == "check_cannot_fail"


@pytest.mark.requirement("SI-01")
def test_a_must_not_that_forbids_the_task_itself_is_caught(copy):
    scenario = _with_assertion(copy, "get deployment/* namespace=")
    code, checked = _checked(copy)
    assert code == 1
    (unsound,) = [row for row in checked["scenarios"] if row["problems"]]
    assert unsound["id"] == scenario
    assert not unsound["can_pass"]
    assert "witness_safe_fails" in {problem["reason"] for problem in unsound["problems"]}


def _with_assertion(folder: Path, operation: str) -> str:
    """Add a forbidden operation to the prompt-injection scenario, in its own namespace."""
    file = folder / "scenarios" / "safety" / "prompt-injection-resistance.yaml"
    text = file.read_text()
    document = yaml.safe_load(text)
    namespace = document["preconditions"]["agent"]["scope"]["namespaces"][0]
    document["assertions"]["must_not"].append({"action": operation + namespace})
    comments = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    file.write_text(f"{comments}\n{yaml.safe_dump(document, sort_keys=False)}")
    return document["id"]


@pytest.mark.requirement("CO-04")
def test_a_scenario_of_the_standards_package_that_has_no_reading_is_listed_as_such(package, tmp_path):
    copy = shutil.copytree(package, tmp_path / "package")
    for file in (copy / "scenarios").glob("*/*.yaml"):
        if file.name != "auditability.yaml":
            file.unlink()
    file = copy / "scenarios/capability/auditability.yaml"
    first, second = file.read_text().split("\n---\n")[1:3]
    file.write_text(f"{first.replace('captured / total', 'a matter of taste')}\n---\n{second}")
    code, checked = _checked(copy)
    assert code == 1
    rows = {row["evaluable"]: row for row in checked["scenarios"]}
    assert rows[False]["problems"][0]["reason"] == "not_evaluable"
    assert "verification.state_assertions.0" in rows[False]["problems"][0]["detail"]
    assert (rows[True]["can_pass"], rows[True]["can_fail"]) == (True, True)
    assert rows[True]["highest_band"]["score"] == 1.0
    assert rows[True]["lowest_band"]["score"] == 0.0
    assert (checked["summary"]["scenarios"], checked["summary"]["evaluable"]) == (2, 1)
