"""Every failed probe is kept as a scenario document that loads, replays and tells fixed agents from unfixed ones."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from commands import sirocco


@pytest.mark.requirement("AV-11")
def test_every_failed_probe_is_serialized_and_no_other(memorizer, careful):
    for run in (memorizer, careful):
        block = run.block
        failures = block["safety_results"]["failures"] + block["capability_results"]["failures"]
        listed = {failure["probe_serialized"] for failure in failures + block["secondary_violations"]}
        listed |= {f"adversarial/{twin}.yaml" for twin in block["generalization"]["over_refusal"]["probes"]}
        assert listed == {f"adversarial/{path.name}" for path in run.probe_files}
    assert len(memorizer.block["safety_results"]["failures"]) == memorizer.block["safety_results"]["failed"] > 0
    assert careful.block["safety_results"]["failures"] == []


def _size(path: Path) -> tuple[int, int]:
    """By how many edits a probe was made, and how long it is."""
    text = path.read_text()
    return len(yaml.safe_load(text)["x-sirocco"]["probe"]["lineage"]), len(text)


@pytest.mark.requirement("SI-03")
def test_confirmed_findings_are_reduced_to_a_smallest_form_that_is_a_probe_itself(memorizer):
    smallest = sorted((memorizer.path / "adversarial").glob("*.min.yaml"))
    listed = {f["minimal"] for f in memorizer.block["findings"] if "minimal" in f}
    assert listed == {f"adversarial/{path.name}" for path in smallest}
    assert len(smallest) > 0
    for path in smallest:
        whole = path.with_name(path.name.replace(".min.yaml", ".yaml"))
        # Without an operator's edit the text may be as long as with it.
        assert _size(path) < _size(whole)
    done = sirocco("probe", "check", smallest[0], "--format", "json")
    assert [row["admitted"] for row in json.loads(done.stdout)] == [True]
    again = sirocco("probe", "replay", smallest[0], "--agent", "ref:memorizer", "--format", "json")
    assert [row["outcome"] for row in json.loads(again.stdout)] == ["STILL FAILING"]
    findings = yaml.safe_load((memorizer.path / "adversarial" / "findings.yaml").read_text())["findings"]
    assert findings == memorizer.block["findings"]
    for finding in findings:
        file = finding.get("minimal", finding["probes"][0])
        assert finding["replay"] == f"sirocco probe replay {file} --agent ref:memorizer"


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_is_valid_in_the_scenario_schema(memorizer):
    done = sirocco("validate", *memorizer.probe_files, "--strict", "--format", "json")
    assert done.code == 0, done.stdout
    assert json.loads(done.stdout)["findings"] == []
    for path in memorizer.probe_files:
        document = yaml.safe_load(path.read_text())
        assert {"preconditions", "stimuli", "scoring"} <= document.keys()
        record = document["x-sirocco"]["probe"]
        assert record["primary_archetype"] == document["archetype"]
        assert record["lineage"]
    for failure in memorizer.block["safety_results"]["failures"]:
        document = yaml.safe_load((memorizer.path / failure["probe_serialized"]).read_text())
        assert document["x-sirocco"]["probe"]["reproduction"] == failure["reproduction"] == {"runs": 2, "failed": 2}


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_is_fixed_for_careful(memorizer):
    done = sirocco("probe", "replay", memorizer.path / "adversarial", "--agent", "ref:careful", "--format", "json")
    outcomes = {row["probe"]: row["outcome"] for row in json.loads(done.stdout)}
    assert len(outcomes) == len(memorizer.probe_files)
    safety = {path: outcome for path, outcome in outcomes.items() if path.startswith("probe-s-")}
    assert safety
    assert set(safety.values()) == {"FIXED"}
    assert done.code == (0 if set(outcomes.values()) == {"FIXED"} else 1)


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_still_fails_for_memorizer_and_is_run_once_wherever_it_lies(memorizer, tmp_path):
    again = tmp_path / memorizer.probe_files[0].name
    again.write_text(memorizer.probe_files[0].read_text().replace("failed: 2", "failed: 1"))
    where, junit = (memorizer.path, memorizer.path / "adversarial", again), tmp_path / "replay.xml"
    options = ("--agent", "ref:memorizer", "--junit", junit, "--format", "json")
    done = sirocco("probe", "replay", *where, *options)
    outcomes = json.loads(done.stdout)
    assert {outcome["outcome"] for outcome in outcomes} == {"STILL FAILING"}
    assert sorted(outcome["probe"] for outcome in outcomes) == [path.name for path in memorizer.probe_files]
    assert done.code == 1
    cases = list(ET.parse(junit).getroot().iter("testcase"))
    assert len([case for case in cases if case.find("failure") is not None]) == len(cases) == len(outcomes)


def test_a_damaged_probe_file_cannot_be_replayed_and_says_where(memorizer, tmp_path):
    broken = tmp_path / "probe-broken.yaml"
    text = memorizer.probe_files[0].read_text()
    broken.write_text(text.replace("classification: ", "classification: s"))
    done = sirocco("probe", "replay", broken, "--agent", "ref:careful", "--format", "json")
    assert done.code == 4
    (outcome,) = json.loads(done.stdout)
    assert outcome["outcome"] == "CANNOT REPLAY"
    assert "probe-broken.yaml:" in outcome["reason"]
