"""Reserved scenarios in a run: counted, never disclosed."""

import json
from pathlib import Path

import pytest

from commands import RunFiles, sirocco
from tampering import ACCOUNT, mend_digests

CANARY = "blue-heron-over-the-estuary-4471"
"""Stands in the prompts of the bundle."""
QUICK = ("--seed", "20", "--confirm", "1", "--reruns", "0", "--twins", "0", "--max-agent-calls", "8")
QUICK += ("--archetype", "S-PI-001", "--probes", "1")


def _run(out: Path, agent: str, bundle: Path, key: Path, *arguments: object) -> RunFiles:
    parties = ("--profile", bundle.parent.parent / "public")
    command = ("run", "--agent", agent, "--out", out, "--reserved", bundle, "--identity", key)
    return RunFiles(out, sirocco(*command, *QUICK, *parties, *arguments))


@pytest.mark.requirement("AV-19", "AV-21")
def test_a_bundle_of_two_runs_and_the_report_gives_counts_only(bundle, key, tmp_path):
    run = _run(tmp_path / "run", "ref:careful", bundle, key)
    assert run.finished.code == 0, run.finished.stderr
    counts = run.block["reserved_scenarios"]
    assert (counts["executed"], counts["passed"], counts["failed"]) == (2, 2, 0)
    _assert_nothing_disclosed(run, bundle)


@pytest.mark.requirement("AV-19", "SI-07")
def test_a_reserved_violation_counts_for_the_exit_code_when_asked_and_is_not_disclosed(bundle, key, tmp_path):
    run = _run(tmp_path / "run", "ref:memorizer", bundle, key, "--fail-on", "adversarial")
    assert run.block["reserved_scenarios"]["failed"] == 2
    assert run.finished.code == 6
    assert run.verdict["safety"] == "PASS"
    _assert_nothing_disclosed(run, bundle)
    _replay_decides_with_the_key_alone(run.path, key)


def _assert_nothing_disclosed(run: RunFiles, bundle: Path) -> None:
    """Of the canary in the reserved prompts nothing is in the run directory, the output or the bundle."""
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert len(files) > 8
    for path in files:
        content = path.read_bytes()
        assert CANARY.encode() not in content, path
        assert b"withheld.0" not in content, path
    assert CANARY not in run.finished.stdout + run.finished.stderr
    assert CANARY not in bundle.read_text()


def _replay_decides_with_the_key_alone(run: Path, key: Path) -> None:
    """Counts that rest on sealed evidence are undecidable without its key, and recomputed with it (SI-07)."""
    replayed = json.loads(sirocco("replay", run, "--format", "json").stdout)
    assert replayed["different"] == []
    assert [one["where"].rpartition("/")[2] for one in replayed["undecidable"]] == ["reserved_scenarios"]
    opened = sirocco("replay", run, "--identity", key, "--format", "json")
    assert (opened.code, json.loads(opened.stdout)["undecidable"]) == (0, [])
    counts = '"failed": 2'
    account = run / ACCOUNT
    account.write_text(account.read_text().replace(counts, '"failed": 0'))
    mend_digests(run)
    named = [one["where"] for one in json.loads(sirocco("replay", run, "--format", "json").stdout)["different"]]
    assert f"{ACCOUNT}#/reserved/reserved_scenarios/failed" not in named
    named = [
        one["where"]
        for one in json.loads(sirocco("replay", run, "--identity", key, "--format", "json").stdout)["different"]
    ]
    assert f"{ACCOUNT}#/reserved/reserved_scenarios/failed" in named


def test_the_wrong_key_is_refused_before_anything_runs(bundle, tmp_path):
    sirocco("reserved", "keygen", "--out", tmp_path / "other.key")
    run = _run(tmp_path / "run", "ref:careful", bundle, tmp_path / "other.key")
    assert run.finished.code == 2
    assert "identity" in run.finished.stderr
    assert not run.path.exists()


@pytest.mark.parametrize("where", ["manifest", "sealed"])
def test_a_tampered_bundle_is_refused_before_anything_runs(bundle, key, tmp_path, where):
    document = json.loads(bundle.read_text())
    if where == "manifest":
        document["manifest"]["commitments"][0] = document["manifest"]["commitments"][1]
    else:
        document["sealed"] = document["sealed"].replace("A", "B", 1)
    bundle.write_text(json.dumps(document))
    run = _run(tmp_path / "run", "ref:careful", bundle, key)
    assert run.finished.code == 2
    assert not run.path.exists()


def test_anyone_can_inspect_a_bundle_and_learns_counts_and_commitments(bundle):
    done = sirocco("reserved", "inspect", bundle, "--format", "json")
    manifest = json.loads(done.stdout)["manifest"]
    assert manifest["counts"]["total"] == len(manifest["commitments"]) == 2
    assert CANARY not in done.stdout


def test_a_key_is_never_overwritten(key):
    assert sirocco("reserved", "keygen", "--out", key).code == 2
