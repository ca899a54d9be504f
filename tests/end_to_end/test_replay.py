"""Verdicts come from recorded evidence: they can be recomputed from it, and any change of it is noticed."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from bundled import FEW
from commands import RunFiles, evaluated, sirocco
from tampering import INDEX, SEGMENT, tamper

SHORT = ("--probes", "2", "--twins", "0", "--confirm", "1")


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> RunFiles:
    """A run with few scenarios and probes: replay reads all of it, many times."""
    return evaluated(tmp_path_factory.mktemp("short"), "ref:memorizer", *FEW, *SHORT)


@pytest.fixture
def copy(short, tmp_path) -> Path:
    return shutil.copytree(short.path, tmp_path / "copy")


def _replayed(path: Path) -> tuple[int, dict]:
    done = sirocco("replay", path, "--format", "json")
    return done.code, json.loads(done.stdout)


def test_replay_finds_every_unit_identical(copy, short):
    code, replayed = _replayed(copy)
    assert (code, replayed["different"]) == (0, [])
    assert replayed["units"] == replayed["identical"] == len(short.units) >= 10


def test_replay_recomputes_all_verdicts_after_the_stored_ones_were_deleted(copy, short):
    for name in ("verdict.yaml", "verdict.json", "core.yaml", "report.html"):
        (copy / name).unlink()
    code, replayed = _replayed(copy)
    assert (code, replayed["different"], replayed["stored_verdicts"]) == (0, [], False)
    stored = {row["scenario_id"]: row["status"] for row in short.verdict["scenario_details"]}
    stored |= {row["probe"]: row["status"] for row in short.block["probe_details"]}
    assert {unit: replayed["verdicts"][unit] for unit in stored} == stored


def test_flipping_one_audit_verb_is_noticed_in_every_unit(copy, short):
    flipped = set()

    def flip(line: str) -> str:
        unit = json.loads(line)
        if unit["evidence"]["audit_log"]["data"]["entries"]:
            unit["evidence"]["audit_log"]["data"]["entries"][0]["verb"] = "create"
            flipped.add(unit["unit"])
        return json.dumps(unit)

    tamper(copy, flip)
    code, replayed = _replayed(copy)
    assert code == 1
    assert len(flipped) >= 10
    assert flipped <= {difference["unit"] for difference in replayed["different"]}


def test_a_unit_that_disappears_is_noticed(copy):
    index = json.loads((copy / INDEX).read_text())
    last = max(index["units"], key=lambda unit: index["units"][unit]["offset"])
    segment = (copy / SEGMENT).read_bytes()
    (copy / SEGMENT).write_bytes(segment[: index["units"][last]["offset"]])
    code, replayed = _replayed(copy)
    assert code == 1
    unread = [one["unit"] for one in replayed["different"] if "cannot be read" in one["problem"]]
    assert unread == [last]


@pytest.mark.requirement("SI-07")
def test_a_unit_that_disappears_from_the_index_as_well_is_noticed(copy):
    index = json.loads((copy / INDEX).read_text())
    index["units"].popitem()
    (copy / INDEX).write_text(json.dumps(index))
    code, replayed = _replayed(copy)
    assert code == 1
    assert any("Merkle root" in difference["problem"] for difference in replayed["different"])


def test_the_record_of_another_unit_is_not_taken_for_the_one_asked_for(copy):
    index = json.loads((copy / INDEX).read_text())
    first, second, *_ = index["units"]
    index["units"][first] |= {key: index["units"][second][key] for key in ("offset", "length")}
    (copy / INDEX).write_text(json.dumps(index))
    code, replayed = _replayed(copy)
    assert code == 1
    assert first in {difference["unit"] for difference in replayed["different"]}


def test_a_verdict_that_was_edited_is_noticed(copy, short):
    document = yaml.safe_load((copy / "verdict.yaml").read_text())
    failed = next(
        row for row in document["verdict"]["adversarial_verification"]["probe_details"] if row["status"] == "FAIL"
    )
    failed["status"] = "PASS"
    (copy / "verdict.yaml").write_text(yaml.safe_dump(document))
    code, replayed = _replayed(copy)
    assert code == 1
    assert failed["probe"] in {difference["unit"] for difference in replayed["different"]}


@pytest.mark.parametrize(
    "damage", ["not json", '{"unit": "x"}', '{"unit": 1, "kind": 2, "attempt": 0, "scenario": 3, "evidence": 4}', ""]
)
def test_evidence_that_is_none_is_noticed_in_every_unit(copy, short, damage):
    tamper(copy, lambda line: damage)
    code, replayed = _replayed(copy)
    assert code == 1
    assert {unit["unit"] for unit in short.units} <= {difference["unit"] for difference in replayed["different"]}


@pytest.mark.parametrize("damage", [b"", b"no gzip at all", b"\x1f\x8b\x08" + bytes(1000)])
def test_a_damaged_segment_is_noticed_in_every_unit(copy, short, damage):
    (copy / SEGMENT).write_bytes(damage)
    code, replayed = _replayed(copy)
    assert code == 1
    assert {unit["unit"] for unit in short.units} <= {difference["unit"] for difference in replayed["different"]}


def test_evidence_that_does_not_fit_its_scenario_is_an_error_that_says_where(copy):
    tamper(copy, lambda line: json.dumps(json.loads(line) | {"scenario": {"id": 3}}))
    done = sirocco("replay", copy)
    assert done.code == 2
    assert "does not load" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_of_the_form_that_was_once_is_an_error_that_says_so(copy):
    (copy / SEGMENT).rename(copy / "evidence" / "segment-0001.jsonl")
    done = sirocco("replay", copy)
    assert done.code == 2
    assert "older version" in done.stderr


def test_a_run_that_was_killed_is_not_replayed_but_resumed(copy):
    (copy / INDEX).unlink()
    done = sirocco("replay", copy)
    assert done.code == 2
    assert "--resume" in done.stderr


FORGERIES = {
    "the verdict": ("verdict.yaml", lambda verdict: verdict.update(safety="FAIL")),
    "a category": ("verdict.yaml", lambda verdict: verdict["safety_details"]["category_results"].popitem()),
    "the digest": ("verdict.yaml", lambda verdict: verdict["metadata"].update(core_digest="sha256:0")),
    "the headline signal": (
        "verdict.yaml",
        lambda verdict: verdict["adversarial_verification"]["safety_results"].update(any_safety_violation=False),
    ),
    "how often the agent acted": ("verdict.yaml", lambda verdict: verdict["participation"].update(acted=0)),
    "how it took part in probes": (
        "verdict.yaml",
        lambda verdict: verdict["adversarial_verification"].pop("participation"),
    ),
    "how it took part in a scenario": (
        "verdict.yaml",
        lambda verdict: verdict["scenario_details"][0]["participation"].update(reads=0),
    ),
    "the copy": ("verdict.json", lambda verdict: verdict["safety_details"].update(passed=99)),
}


@pytest.mark.requirement("SI-07", "SI-12")
@pytest.mark.parametrize(("name", "forge"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_verdict_is_noticed_although_the_evidence_is_whole(copy, name, forge):
    document = yaml.safe_load((copy / name).read_text())
    forge(document["verdict"])
    (copy / name).write_text(json.dumps(document))
    code, replayed = _replayed(copy)
    assert code == 1
    assert replayed["different"]


@pytest.mark.requirement("SI-07")
def test_a_forged_core_file_is_noticed(copy):
    core = yaml.safe_load((copy / "core.yaml").read_text())
    core["safety_details"]["passed"] = 99
    (copy / "core.yaml").write_text(yaml.safe_dump(core))
    assert _replayed(copy)[0] == 1


@pytest.mark.parametrize("name", ["evidence/index.json", "verdict.yaml"])
@pytest.mark.parametrize("content", [b"[]", b"\xff\xfe", b"{"])
def test_damaged_documents_are_an_error_and_never_a_traceback(copy, name, content):
    (copy / name).write_bytes(content)
    done = sirocco("replay", copy)
    assert done.code == 2
    assert "Traceback" not in done.stderr
