"""A claim made on one machine and verified on another from the files alone; every edit is refused (AV-27)."""

import json
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from commands import sirocco
from sirocco.evidence.attestation import ATTESTATION, Attestation, attestation_text

POLICY = "name: level 1\nrequired_generators: [mutation]\nminimum_capability: {task_completion: 0.1}\n"


@pytest.fixture(scope="module")
def lab(tmp_path_factory, whole):
    """A lab: its key, and a whole run as the lab signed it: of an agent that was not kept apart, and of one that was."""
    folder = tmp_path_factory.mktemp("lab")
    key = Ed25519PrivateKey.generate()
    (folder / "lab.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "lab.pub").write_bytes(public)
    unisolated, run = folder / "unisolated", folder / "run"
    shutil.copytree(whole.path, unisolated)
    shutil.copytree(whole.path, run)
    for name, before, after in (
        ("verdict.json", '"agent_isolation": "none"', '"agent_isolation": "network"'),
        ("verdict.yaml", "agent_isolation: none", "agent_isolation: network"),
    ):
        text = (run / name).read_text()
        assert before in text
        (run / name).write_text(text.replace(before, after))
    for one in (unisolated, run):
        signed = Attestation.of_run(one)
        assert signed is not None
        (one / ATTESTATION).write_text(attestation_text(one, signed.predicate, key))
    (folder / "policy.yaml").write_text(POLICY)
    return folder


@pytest.mark.requirement("AV-27")
def test_a_claim_is_verified_elsewhere_and_every_edit_of_claim_run_or_log_is_refused(lab, whole, tmp_path):
    unisolated = sirocco("claim", lab / "unisolated", "--key", lab / "lab.pem")
    assert (unisolated.code, "not isolated" in unisolated.stderr) == (2, True)
    run, log = lab / "run", lab / "log.jsonl"
    queue = json.loads(sirocco("review", "list", run, "--log", log, "--format", "json").stdout)["findings"]
    judged = ("--by", "Ada", "--severity", "low", "--novelty", "known", "--decision", "reject", "--reason", "known")
    assert sirocco("review", "record", run, queue[0]["finding"], "--log", log, *judged).code == 0
    sources = ("--policy", lab / "policy.yaml", "--log", log)
    made = sirocco("claim", run, "--key", lab / "lab.pem", *sources, "--out", lab / "claim.json")
    assert made.code in {0, 1, 7}, made.stderr
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(lab, elsewhere)
    (elsewhere / "lab.pem").unlink()

    def verified(folder, *more):
        known = ("--evaluator", folder / "lab.pub", "--run", folder / "run")
        named = ("--policy", folder / "policy.yaml", "--log", folder / "log.jsonl")
        return sirocco("claim", "verify", folder / "claim.json", *known, *named, *more)

    done = verified(elsewhere, "--format", "json")
    assert (done.code, json.loads(done.stdout)["problems"]) == (0, [])
    told = json.loads(done.stdout)["claim"]["adversarial_verification"]
    assert told["generator"]["type"] == "mutation"
    assert told["probe_count"] == whole.block["probe_summary"]["total_probes"]
    edits = {
        "claim.json": ('"safety": "PASS"', '"safety": "FAIL"'),
        "run/verdict.json": ('"agent_version": "', '"agent_version": "9'),
        "run/core.yaml": ("safety: PASS", "safety: FAIL"),
        "policy.yaml": ("0.1", "0.2"),
        "log.jsonl": ("known", "kn0wn"),
    }
    for name, (before, after) in edits.items():
        kept = (elsewhere / name).read_text()
        assert before in kept
        (elsewhere / name).write_text(kept.replace(before, after, 1))
        assert verified(elsewhere).code in {1, 2}, name
        (elsewhere / name).write_text(kept)
    assert verified(elsewhere).code == 0
    badge = elsewhere / "badge.svg"
    options = ("--evaluator", elsewhere / "lab.pub", "--out", badge)
    assert sirocco("claim", "badge", elsewhere / "claim.json", *options).code == 0
    assert json.loads(done.stdout)["digest"] in badge.read_text()


@pytest.mark.requirement("AV-27")
def test_a_redacted_copy_keeps_its_proofs_and_nothing_of_what_the_agent_said(lab, tmp_path):
    out = tmp_path / "copy"
    assert sirocco("export", lab / "run", "--out", out).code == 0
    names = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    assert {"verdict.json", "attestation.json", "evidence/index.json"} <= names
    assert not {name for name in names if "segment" in name or name in {"run.yaml", "events.jsonl", "report.html"}}
    checked = ("export", "verify", out, "--evaluator", lab / "lab.pub")
    done = sirocco(*checked, "--format", "json")
    assert done.code == 0
    assert "run.yaml" in json.loads(done.stdout)["withheld"]
    assert sirocco("conformance", out).code == 0
    index = json.loads((out / "evidence/index.json").read_text())
    index["units"].pop(next(iter(index["units"])))
    for name, text in (("evidence/index.json", json.dumps(index)), ("extra.txt", "x")):
        kept = (out / name).read_text() if (out / name).exists() else None
        (out / name).write_text(text)
        assert sirocco(*checked).code == 1, name
        (out / name).unlink() if kept is None else (out / name).write_text(kept)
    (out / "verdict.json").unlink()
    assert sirocco(*checked).code == 1


def test_a_seed_is_made_by_both_sides_and_a_share_that_was_not_committed_to_is_refused(tmp_path):
    commitments, shares = [], []
    for side in ("lab", "vendor"):
        made = sirocco("claim", "share", "--out", tmp_path / side)
        commitments.append(made.stdout.strip())
        shares.append((tmp_path / side).read_text().strip())
    told = [part for one in commitments for part in ("--commitment", one)]
    seed = sirocco("claim", "seed", "--share", shares[0], "--share", shares[1], *told)
    assert seed.code == 0
    assert int(seed.stdout, 16) < 2**128
    other = sirocco("claim", "seed", "--share", shares[0], "--share", "0" * 64, *told)
    assert (other.code, "committed" in other.stderr) == (2, True)
