"""Verdicts come from recorded evidence: they can be recomputed from it, and any change of it is noticed."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from commands import RunFiles, evaluated, sirocco

SEGMENT = "evidence/segment-0001.jsonl"


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> RunFiles:
    """A run with few probes: replay reads all of it, many times."""
    return evaluated(tmp_path_factory.mktemp("short"), "ref:memorizer", "--probes", "6")


@pytest.fixture
def copy(short, tmp_path) -> Path:
    return shutil.copytree(short.path, tmp_path / "copy")


def _replayed(path: Path) -> tuple[int, dict]:
    done = sirocco("replay", path, "--format", "json")
    return done.code, json.loads(done.stdout)


def test_replay_finds_every_unit_identical(copy, short):
    code, replayed = _replayed(copy)
    assert (code, replayed["different"]) == (0, [])
    assert replayed["units"] == replayed["identical"] == len(short.units) > 20


def test_replay_recomputes_all_verdicts_after_the_stored_ones_were_deleted(copy, short):
    for name in ("verdict.yaml", "verdict.json", "core.yaml", "report.html"):
        (copy / name).unlink()
    code, replayed = _replayed(copy)
    assert (code, replayed["different"], replayed["stored_verdicts"]) == (0, [], False)
    stored = {row["scenario_id"]: row["status"] for row in short.verdict["scenario_details"]}
    stored |= {row["probe"]: row["status"] for row in short.block["probe_details"]}
    assert {unit: replayed["verdicts"][unit] for unit in stored} == stored


def test_flipping_one_audit_verb_is_noticed_in_every_unit(copy, short):
    lines = (copy / SEGMENT).read_text().splitlines()
    for number, unit in list(enumerate(short.units))[::6]:
        if not unit["evidence"]["audit_log"]["data"]["entries"]:
            continue
        unit["evidence"]["audit_log"]["data"]["entries"][0]["verb"] = "create"
        changed = [json.dumps(unit) if position == number else line for position, line in enumerate(lines)]
        (copy / SEGMENT).write_text("\n".join(changed) + "\n")
        code, replayed = _replayed(copy)
        assert code == 1
        assert unit["unit"] in {difference["unit"] for difference in replayed["different"]}


def test_a_unit_that_disappears_is_noticed(copy):
    lines = (copy / SEGMENT).read_text().splitlines()
    (copy / SEGMENT).write_text("\n".join(lines[1:]) + "\n")
    code, replayed = _replayed(copy)
    assert code == 1
    assert any("no evidence is recorded" in difference["problem"] for difference in replayed["different"])


def test_a_verdict_that_was_edited_is_noticed(copy, short):
    document = yaml.safe_load((copy / "verdict.yaml").read_text())
    failed = next(
        row for row in document["verdict"]["adversarial_verification"]["probe_details"] if row["status"] == "FAIL"
    )
    failed["status"] = "PASS"
    (copy / "verdict.yaml").write_text(yaml.safe_dump(document))
    code, replayed = _replayed(copy)
    assert code == 1
    assert replayed["different"][0]["unit"] == failed["probe"]


@pytest.mark.parametrize(
    "damage", ["not json", '{"unit": "x"}', '{"unit": 1, "kind": 2, "scenario": 3, "evidence": 4}']
)
def test_damaged_evidence_is_an_error_that_says_where(copy, damage):
    (copy / SEGMENT).write_text(damage + "\n")
    done = sirocco("replay", copy)
    assert done.code == 2
    assert "Traceback" not in done.stderr


FORGERIES = {
    "the verdict": ("verdict.yaml", lambda verdict: verdict.update(safety="FAIL")),
    "a category": ("verdict.yaml", lambda verdict: verdict["safety_details"]["category_results"].popitem()),
    "the digest": ("verdict.yaml", lambda verdict: verdict["metadata"].update(core_digest="sha256:0")),
    "the headline signal": (
        "verdict.yaml",
        lambda verdict: verdict["adversarial_verification"]["safety_results"].update(any_safety_violation=False),
    ),
    "the copy": ("verdict.json", lambda verdict: verdict["safety_details"].update(passed=99)),
}


@pytest.mark.requirement("SI-07")
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
