"""The tampering matrix: every file and every field of a run, changed alone or consistently, is noticed and named."""

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from bundled import FEW, SMALL
from commands import RunFiles, evaluated, sirocco
from sirocco.evidence.attestation import attestation_text
from sirocco.evidence.transparency_log import append_entry
from sirocco.wiring.evaluator_key import signing_key
from sirocco.wiring.replay import Replayed, replay
from tampering import (
    ACCOUNT,
    ATTESTATION,
    INDEX,
    LEDGER,
    SEGMENT,
    change_json,
    change_records,
    leaves,
    lines,
    mend_digests,
    mend_statement,
    with_every_leaf_changed,
)

pytestmark = pytest.mark.requirement("SI-07", "SI-10")


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> dict[str, Path]:
    """The evaluator's key and somebody else's, each half in a file."""
    folder, found = tmp_path_factory.mktemp("keys"), {}
    for name in ("evaluator", "somebody"):
        key = Ed25519PrivateKey.generate()
        found[name] = folder / f"{name}.pem"
        found[name].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        found[f"{name}.pub"] = folder / f"{name}.pub"
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        found[f"{name}.pub"].write_bytes(public)
    return found


@pytest.fixture(scope="module")
def signed(tmp_path_factory, keys) -> RunFiles:
    """A short run with failures, confirmations, twins and smallest forms, signed with the evaluator's key."""
    options = (
        "--probes",
        "2",
        "--confirm",
        "1",
        "--twins",
        "1",
        "--evaluator",
        "Lab",
        "--evaluator-key",
        keys["evaluator"],
    )
    return evaluated(tmp_path_factory.mktemp("signed"), "ref:memorizer", *FEW, *options)


@pytest.fixture
def run(signed, tmp_path) -> Path:
    return shutil.copytree(signed.path, tmp_path / "run")


def _named(replayed: Replayed) -> set[str]:
    return {one.where for one in replayed.differences} | {one.unit for one in replayed.differences}


def _is_authentic(run: Path, key: Path) -> bool:
    return sirocco("verify", run, "--evaluator", key).code == 0


def test_the_run_as_it_was_written_is_identical_and_authentic(signed, keys):
    assert replay(signed.path).differences == ()
    assert _is_authentic(signed.path, keys["evaluator.pub"])
    assert _is_authentic(signed.path, keys["evaluator"])
    assert not _is_authentic(signed.path, keys["somebody.pub"])


@pytest.mark.parametrize("name", ["verdict.yaml", "verdict.json"])
def test_every_field_of_the_verdict_document_is_recomputed_and_named_when_it_was_changed(run, name):
    document = yaml.safe_load((run / name).read_text())
    (run / name).write_text(json.dumps(with_every_leaf_changed(document)))
    fields = {f"{name}#{pointer}" for pointer in leaves(document)}
    assert len(fields) > 500
    assert fields - _named(replay(run)) == set()


@pytest.mark.parametrize("name", ["core.yaml", "adversarial/findings.yaml", "probe", "smallest form"])
def test_every_field_of_the_other_documents_is_recomputed_and_named_when_it_was_changed(run, name):
    if not name.endswith(".yaml"):
        file = next(
            file
            for file in sorted((run / "adversarial").glob("probe-*"))
            if (".min." in file.name) == (name != "probe")
        )
        name = file.relative_to(run).as_posix()
    document = yaml.safe_load((run / name).read_text())
    (run / name).write_text(json.dumps(with_every_leaf_changed(document)))
    assert {f"{name}#{pointer}" for pointer in leaves(document)} - _named(replay(run)) == set()


def _all_files(path: Path) -> list[str]:
    files = [file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file()]
    # One probe stands for all, and so do one smallest form and one artifact.
    probes = [name for name in files if name.startswith("adversarial/probe-")]
    artifacts = [name for name in files if name.startswith("evidence/evidence-")]
    others = [name for name in files if name not in (*probes, *artifacts, "run.lock")]
    return [
        *others,
        artifacts[0],
        *(next(one for one in probes if (".min." in one) is small) for small in (False, True)),
    ]


NEEDED = ("run.yaml", SEGMENT, INDEX, ACCOUNT, ATTESTATION, "verdict.yaml")
"""Without one of these no other file can be missed beside it: nothing can be computed again, or is asked for."""


def test_every_file_that_replay_makes_again_is_missed_when_it_is_gone(run):
    gone = [name for name in _all_files(run) if name not in NEEDED]
    assert len(gone) >= 10
    for name in gone:
        (run / name).unlink()
    assert sirocco("replay", run).code == 1
    named = {where.partition("#")[0] for where in _named(replay(run))}
    assert set(gone) - named == set()


@pytest.mark.parametrize("name", NEEDED)
def test_a_file_that_replay_needs_is_named_when_it_is_gone(run, name):
    (run / name).unlink()
    done = sirocco("replay", run)
    # Whoever deletes the verdict asks for it again, and is told so.
    assert done.code in ({0} if name == "verdict.yaml" else {1, 2})
    assert Path(name).name in done.stdout + done.stderr


def test_no_run_is_authentic_without_one_of_its_files(signed, tmp_path, keys):
    for number, name in enumerate(_all_files(signed.path)):
        copy = shutil.copytree(signed.path, tmp_path / str(number))
        (copy / name).unlink()
        if name != LEDGER:
            assert not _is_authentic(copy, keys["evaluator.pub"]), name
        shutil.rmtree(copy)


def test_every_file_is_named_when_a_byte_of_it_is_changed(signed, tmp_path, keys):
    for number, name in enumerate(_all_files(signed.path)):
        copy = shutil.copytree(signed.path, tmp_path / str(number))
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
        if name != LEDGER:
            done = sirocco("verify", copy, "--evaluator", keys["evaluator.pub"])
            assert done.code in {1, 2}, name
            assert Path(name).name in done.stdout + done.stderr or name == ATTESTATION, name
        shutil.rmtree(copy)


@pytest.mark.parametrize(("name", "word"), [("report.html", "FAIL"), ("junit.xml", "failures=")])
def test_a_page_that_was_changed_is_named_by_its_line(run, name, word):
    text = (run / name).read_text()
    (run / name).write_text(text.replace(word, "PASS", 1))
    line = text[: text.index(word)].count("\n") + 1
    assert f"{name}:{line}" in _named(replay(run))


def test_an_artifact_that_is_no_text_any_more_is_named(run):
    artifact = next((run / "evidence").glob("evidence-*.json"))
    artifact.write_bytes(b"\xff")
    assert artifact.relative_to(run).as_posix() in _named(replay(run))


def test_a_file_that_was_added_is_named(run, keys):
    (run / "adversarial" / "probe-s-pi-001-000000000000.yaml").write_text("id: made-up\n")
    assert "adversarial/probe-s-pi-001-000000000000.yaml" in _named(replay(run))
    assert "was added" in sirocco("verify", run, "--evaluator", keys["evaluator.pub"]).stdout


def _rename_agent(run: Path) -> None:
    """Another agent's run under this name, in every document that has the name."""
    change_json(run / ACCOUNT, lambda account: account["identity"]["agent"]["identity"].update(name="angel"))
    for name in ("verdict.yaml", "verdict.json"):
        (run / name).write_text((run / name).read_text().replace("memorizer", "angel"))


def _strip_evidence(run: Path) -> None:
    """Every call of the agent gone from the logs of probes."""

    def strip(record: dict) -> None:
        if record["kind"] != "scenario":
            record["evidence"]["audit_log"]["data"]["entries"] = []

    change_records(run, strip)


def _other_seed(run: Path) -> None:
    (run / "run.yaml").write_text((run / "run.yaml").read_text().replace("seed: '0x", "seed: '0x1"))


def _earlier(run: Path) -> None:
    text = (run / "run.yaml").read_text()
    (run / "run.yaml").write_text(text.replace("started: '20", "started: '19"))


def _fewer_drafts(run: Path) -> None:
    change_json(run / ACCOUNT, lambda account: account["campaign"]["admission"].update(drafted=1))


def _complete(run: Path) -> None:
    change_json(run / ACCOUNT, lambda account: account.update(finished="2026-01-01T00:00:00.000000Z"))


def _hide_a_failure(run: Path) -> None:
    """A failed probe no longer counts."""

    def hide(index: dict) -> None:
        unit = next(unit for unit, entry in index["units"].items() if entry["kind"] == "probe")
        index["uncounted"][unit] = index["units"].pop(unit)["digest"]

    change_json(run / INDEX, hide)


def _drop_a_unit(run: Path) -> None:
    """A unit is in no index and in no ledger; only its record is left."""
    index = json.loads((run / INDEX).read_text())
    unit = next(unit for unit, entry in index["units"].items() if entry["kind"] == "probe")
    del index["units"][unit]
    (run / INDEX).write_text(json.dumps(index))
    with sqlite3.connect(run / LEDGER) as ledger:
        ledger.execute("DELETE FROM units WHERE unit = ?", (unit,))
    ledger.close()


def _other_kind(run: Path) -> None:
    """A failed probe becomes a smaller form that nobody counts."""

    def other(record: dict) -> None:
        if record["kind"] == "probe":
            record["kind"] = "shrinking"

    change_records(run, other)


CONSISTENT = {
    "another agent's name": (_rename_agent, ATTESTATION),
    "evidence stripped": (_strip_evidence, "verdict.yaml#"),
    "another seed": (_other_seed, "run.yaml#/config_hash"),
    "another time": (_earlier, "verdict.yaml#/verdict/metadata/timestamp"),
    "fewer drafts": (_fewer_drafts, "verdict.yaml#/verdict/adversarial_verification/admission/drafted"),
    "another end": (_complete, "verdict.yaml#/verdict/metadata/finished"),
    "a failure that does not count": (_hide_a_failure, "verdict.yaml#/verdict/adversarial_verification/executed"),
    "a unit that nobody names": (_drop_a_unit, "verdict.yaml#/verdict/adversarial_verification/executed"),
}


@pytest.mark.parametrize(("forge", "where"), CONSISTENT.values(), ids=CONSISTENT)
def test_what_was_changed_consistently_with_its_digests_is_noticed_and_named(run, keys, forge, where):
    forge(run)
    mend_digests(run)
    mend_statement(run)
    replayed = replay(run)
    named = _named(replayed)
    assert any(one.startswith(where) for one in named), named
    assert ATTESTATION in named
    assert (
        "the signature is not one over this statement"
        in sirocco("verify", run, "--evaluator", keys["evaluator"]).stdout
    )


def test_a_unit_that_no_verdict_counts_is_an_error(run):
    _drop_a_unit(run)
    mend_digests(run)
    assert any("no verdict counts it" in one.problem for one in replay(run).differences)


def _statement(run: Path, key: Path) -> dict:
    """What the run's own statement says, to be signed again."""
    found = json.loads(sirocco("verify", run, "--evaluator", key, "--format", "json").stdout)
    return {name: value for name, value in found["statement"].items() if name != "evaluator_key"}


def test_a_run_that_somebody_else_signed_is_not_the_evaluators(run, keys):
    """Whoever rewrites everything can sign it with a key of their own, and only with that."""
    statement = _statement(run, keys["evaluator"])
    (run / ATTESTATION).write_text(attestation_text(run, statement, signing_key(keys["somebody"])))
    assert replay(run).differences == ()
    done = sirocco("verify", run, "--evaluator", keys["evaluator.pub"])
    assert done.code == 1
    assert "another key signed it" in done.stdout


def test_a_statement_that_does_not_follow_from_the_run_is_named_whoever_signed_it(run, keys):
    statement = _statement(run, keys["evaluator"]) | {"evidence_root": f"sha256:{'0' * 64}", "safety": "FAIL"}
    (run / ATTESTATION).write_text(attestation_text(run, statement, signing_key(keys["evaluator"])))
    named = _named(replay(run))
    assert named == {f"{ATTESTATION}#/predicate/evidence_root", f"{ATTESTATION}#/predicate/safety", "*"}
    done = sirocco("verify", run, "--evaluator", keys["evaluator.pub"])
    assert "the Merkle root over the recorded units is not the signed one" in done.stdout


def test_a_transparency_log_has_the_statement_and_cannot_be_cut(run, keys, tmp_path):
    log = tmp_path / "log.jsonl"
    for time in ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"):
        append_entry(log, run, time)
    verify = ("verify", run, "--evaluator", keys["evaluator.pub"], "--transparency-log", log)
    assert json.loads(sirocco(*verify, "--format", "json").stdout)["logged"] == "2026-01-01T00:00:00Z"
    log.write_text(log.read_text().partition("\n")[2])
    done = sirocco(*verify)
    assert done.code == 2
    assert "log.jsonl:1: the line does not follow from the one before" in done.stderr
    log.write_text("")
    assert "does not have the statement" in sirocco(*verify).stdout


def test_units_of_another_run_are_refused(run, tmp_path, keys):
    options = (*SMALL, "--adversarial", "off", "--evaluator-key", keys["evaluator"])
    other = evaluated(tmp_path / "other", "ref:memorizer", *options).path
    for name in (SEGMENT, INDEX, ACCOUNT, LEDGER):
        shutil.copy(other / name, run / name)
    assert any("it was recorded in another run" in one.problem for one in replay(run).differences)
    assert sirocco("run", "--resume", run).code == 2


def test_a_ledger_that_was_rolled_back_is_refused(run):
    with sqlite3.connect(run / LEDGER) as ledger:
        ledger.execute("DELETE FROM units WHERE kind = 'probe'")
        ledger.execute("DELETE FROM about WHERE name = 'finished'")
    ledger.close()
    assert any("of another time" in one.problem for one in replay(run).differences)


def test_a_run_without_its_signature_says_so(run, keys):
    (run / ATTESTATION).unlink()
    assert {one.where for one in replay(run).differences} == {ATTESTATION}
    done = sirocco("verify", run, "--evaluator", keys["evaluator.pub"])
    assert done.code == 1
    assert "not signed" in done.stdout


def test_a_run_of_another_format_is_refused_by_name(run):
    (run / "run.yaml").write_text((run / "run.yaml").read_text().replace("format: 3\n", ""))
    for command in (("replay", run), ("run", "--resume", run)):
        done = sirocco(*command)
        assert done.code == 2
        assert "in format 1; this version reads 3" in done.stderr


def _edit_event(run: Path) -> None:
    text = (run / "events.jsonl").read_text()
    (run / "events.jsonl").write_text(text.replace('"status":"FAIL"', '"status":"PASS"', 1))


def _repeat_record(run: Path) -> None:
    """A second, altered record of a unit behind all others."""
    record = json.loads(lines(run)[0]) | {"attempt": 7}
    with (run / SEGMENT).open("ab") as segment:
        segment.write(gzip.compress(json.dumps(record).encode() + b"\n"))


def _add_garbage(run: Path) -> None:
    with (run / SEGMENT).open("ab") as segment:
        segment.write(b"no record")


def _other_content(run: Path) -> None:
    def other(index: dict) -> None:
        next(iter(index["units"].values()))["content"] = "sha256:0"

    change_json(run / INDEX, other)


def _other_place(run: Path) -> None:
    with sqlite3.connect(run / LEDGER) as ledger:
        ledger.execute("UPDATE units SET content = 'sha256:0'")
    ledger.close()


ODD = {
    "an event": (_edit_event, "says probe PASS, replay gives probe FAIL"),
    "a second record of a unit": (_repeat_record, "is not the one that the index names"),
    "garbage behind the records": (_add_garbage, "contains something other than a record"),
    "what a unit was run with, in the index": (_other_content, "a different digest of what it was run with"),
    "what a unit was run with, in the ledger": (_other_place, "do not agree about what it is"),
}


@pytest.mark.parametrize(("forge", "problem"), ODD.values(), ids=ODD)
def test_what_no_report_shows_is_compared_as_well(run, forge, problem):
    forge(run)
    mend_statement(run)
    assert any(problem in one.problem for one in replay(run).differences)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "link to a folder"])
def test_what_no_run_writes_is_refused_and_not_read(run, keys, kind):
    odd = run / "evidence" / "segment-0002.jsonl.gz"
    match kind:
        case "link":
            odd.symlink_to(run / SEGMENT)
        case "pipe":
            os.mkfifo(odd)
        case "folder":
            odd.mkdir()
        case _:
            odd.symlink_to(run.parent)
    for command in (("replay", run), ("verify", run, "--evaluator", keys["evaluator"])):
        done = sirocco(*command)
        assert done.code == 2
        assert f"{odd}: is not a file of a run" in done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("verdict.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nverdict: [*b, *b]\n"),
        ("run.yaml", "sirocco: !!binary aGVsbG8=\n"),
    ],
)
def test_hostile_documents_are_an_error(run, name, text):
    if name == "run.yaml":
        text = (run / name).read_text().replace("sirocco: 0", f"{text}was: 0")
    (run / name).write_text(text)
    done = sirocco("replay", run)
    assert (done.code, "Traceback" in done.stderr) == (2, False)


def test_an_account_of_which_nothing_can_be_made_is_an_error(run):
    change_json(run / ACCOUNT, lambda account: account["campaign"].update(targets=[[1], {"a": 2}]))
    done = sirocco("replay", run)
    assert (done.code, "account.json" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_a_run_that_goes_on_is_not_signed_again_for_what_was_changed_meanwhile(run):
    _strip_evidence(run)
    mend_digests(run)
    (run / "verdict.json").unlink()
    with sqlite3.connect(run / LEDGER) as ledger:
        ledger.execute("UPDATE units SET evaluation = NULL")
    ledger.close()
    done = sirocco("run", "--resume", run)
    assert done.code == 2
    assert "not what was signed" in done.stderr


def test_a_run_that_goes_on_may_have_other_options_without_an_effect(run, keys):
    executed = json.loads((run / "verdict.json").read_text())["verdict"]["adversarial_verification"]["executed"]
    (run / "verdict.json").unlink()
    done = sirocco(
        "run", "--resume", run, "--parallel", "1", "--evaluator-key", keys["evaluator"], "--max-minutes", "0.0001"
    )
    assert done.code == 0, done.stderr
    again = json.loads((run / "verdict.json").read_text())["verdict"]["adversarial_verification"]
    assert again["executed"] == executed > 0, "nobody chooses what is left out of what is recorded"
    assert replay(run).differences == ()
    assert _is_authentic(run, keys["evaluator.pub"])
