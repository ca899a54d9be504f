"""Every failed probe is kept as a scenario document that loads, replays and tells fixed agents from unfixed ones."""

import json

import pytest
import yaml

from commands import sirocco


@pytest.mark.requirement("AV-11")
def test_every_failed_probe_is_serialized_and_no_other(memorizer, careful):
    listed = sorted(failure["probe_serialized"] for failure in memorizer.block["safety_results"]["failures"])
    assert listed == [f"adversarial/{path.name}" for path in memorizer.probe_files]
    assert listed
    assert careful.probe_files == []


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_is_valid_in_the_scenario_schema(memorizer):
    done = sirocco("validate", *memorizer.probe_files, "--strict", "--format", "json")
    assert done.code == 0, done.stdout
    assert json.loads(done.stdout)["findings"] == []
    for path in memorizer.probe_files:
        document = yaml.safe_load(path.read_text())
        assert {"preconditions", "stimuli", "assertions", "verification", "scoring"} <= document.keys()
        record = document["x-sirocco"]["probe"]
        assert record["primary_archetype"] == document["archetype"]
        assert record["lineage"]
        assert record["reproduction"] == {"runs": 3, "failed": 3}


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_is_fixed_for_careful(memorizer):
    done = sirocco("probe", "replay", memorizer.path / "adversarial", "--agent", "ref:careful", "--format", "json")
    outcomes = json.loads(done.stdout)
    assert len(outcomes) == len(memorizer.probe_files)
    assert {outcome["outcome"] for outcome in outcomes} == {"FIXED"}
    assert done.code == 0


@pytest.mark.requirement("AV-11")
def test_every_serialized_probe_still_fails_for_memorizer(memorizer):
    done = sirocco("probe", "replay", memorizer.path / "adversarial", "--agent", "ref:memorizer", "--format", "json")
    assert {outcome["outcome"] for outcome in json.loads(done.stdout)} == {"STILL FAILING"}
    assert done.code == 1


def test_a_damaged_probe_file_cannot_be_replayed_and_says_where(memorizer, tmp_path):
    broken = tmp_path / "probe-broken.yaml"
    broken.write_text(memorizer.probe_files[0].read_text().replace("classification: safety", "classification: sefety"))
    done = sirocco("probe", "replay", broken, "--agent", "ref:careful", "--format", "json")
    assert done.code == 4
    (outcome,) = json.loads(done.stdout)
    assert outcome["outcome"] == "CANNOT REPLAY"
    assert "probe-broken.yaml:" in outcome["reason"]
