"""Reserved scenarios between people who do not trust each other: sealed, run, rotated, published, verified."""

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
import yaml

from commands import Finished, sirocco
from reserved_parties import CATEGORIES, NO_PROBES, Parties, made_key, reserved_document, write_scenarios
from sirocco.errors import ReservedError
from sirocco.reserved.age import decrypt_bytes
from sirocco.reserved.disclosure import sealed_evidence
from sirocco.reserved.history import fingerprint
from sirocco.reserved.vault import open_evidence
from sirocco.wiring.audit import audited_commitments
from sirocco.wiring.reserved_keys import identities_in

NOTE = " (grey-egret-under-the-pier-8213)"
AGE = shutil.which("age")


def documents(*names: str) -> list[dict]:
    """One withheld scenario for each name, over the two categories by turns."""
    return [reserved_document(CATEGORIES[number % 2], name, NOTE) for number, name in enumerate(names)]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory) -> Parties:
    """Two parties with a sealed bundle, to be copied by those who change something."""
    parties = Parties.in_folder(tmp_path_factory.mktemp("sealed"))
    parties.seal(*documents("a", "b"))
    return parties


@pytest.fixture(scope="module")
def evaluated(sealed, tmp_path_factory) -> Parties:
    """The same with a run of the evaluator's."""
    parties = _copied(sealed, tmp_path_factory.mktemp("evaluated") / "parties")
    run = parties.run(parties.evaluator / "b1.json")
    assert run.code == 0, run.stderr
    return parties


def _copied(parties: Parties, home: Path) -> Parties:
    shutil.copytree(parties.profile.parent, home)
    return Parties(home / "public", home / "maintainer", home / "evaluator", parties.recipient)


@pytest.fixture
def parties(sealed, tmp_path) -> Parties:
    return _copied(sealed, tmp_path / "parties")


@pytest.fixture
def parties_with_run(evaluated, tmp_path) -> Parties:
    return _copied(evaluated, tmp_path / "parties")


def rotated(parties: Parties, *arguments: object, recipient: str = "") -> Finished:
    """Take the first scenario out, and put another of the same category in."""
    new = write_scenarios(parties.maintainer / "new", *documents("c"))
    given = arguments or ("--retire", "withheld.a", "--add", new)
    out = parties.maintainer / "b2.json"
    bundle = parties.maintainer / "b1.json"
    return parties.maintain("rotate", bundle, *given, "--recipient", recipient or parties.recipient, "--out", out)


def refused(done: Finished, problem: str) -> None:
    """A clear error, exit code 2, and nothing of the contents."""
    assert done.code == 2, done.stdout + done.stderr
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    for content in ("grey-egret", "withheld.", "scan-archive"):
        assert content not in done.stdout + done.stderr


def edited(file: Path, change: Callable[[dict], None]) -> None:
    """Change a JSON or YAML file and write it in the form in which it was."""
    text = file.read_text()
    is_json = file.suffix == ".json"
    document = json.loads(text) if is_json else yaml.safe_load(text)
    change(document)
    if is_json:
        file.write_text(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")
    else:
        canary = text.splitlines(keepends=True)[0] if text.startswith("#") else ""
        file.write_text(canary + yaml.safe_dump(document, sort_keys=False))


@pytest.mark.requirement("AV-19", "AV-20", "AV-21", "SI-06")
def test_two_people_seal_run_audit_rotate_and_publish_and_a_third_verifies(parties_with_run, tmp_path):
    parties = parties_with_run
    for key in (parties.key, parties.maintainer / "m.key"):
        audit = sirocco("reserved", "audit", parties.evaluator / "run", "--identity", key, "--format", "json")
        assert audit.code == 0, audit.stderr
        assert json.loads(audit.stdout)["counts"]["executed"] == 2
    assert rotated(parties).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    out = parties.profile / "scenarios/retired"
    published = parties.maintain("publish", parties.maintainer / "b1.json", "--out", out)
    assert published.code == 0, published.stderr
    third = tmp_path / "third"
    shutil.copytree(parties.profile, third)
    verified = sirocco("reserved", "verify", third, "--format", "json")
    assert verified.code == 0, verified.stderr
    found = json.loads(verified.stdout)
    assert (found["editions"], found["retired"], found["published"]) == (2, 1, 1)
    assert sirocco("validate", third).code == 0
    second = parties.run(parties.evaluator / "b2.json", out="run2")
    assert second.code == 0, second.stderr


@pytest.mark.requirement("AV-15", "AV-21")
def test_the_core_has_its_report_when_the_provider_is_lost_before_the_reserved_scenarios(parties):
    out = parties.evaluator / "lost"
    serving = [sys.executable, "-m", "sirocco", "provider", "serve", "--profile", str(parties.profile)]
    with subprocess.Popen(serving, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as provider:
        try:
            served = json.loads(provider.stdout.readline())
            where = ("--provider", served["control"], "--provider-token", served["control_token"])
            command = ("run", "--agent", "ref:careful", *NO_PROBES, "--category", CATEGORIES[0], "--out", out, *where)
            command += ("--profile", parties.profile, "--fail-on", "adversarial")
            command += ("--reserved", parties.evaluator / "b1.json", "--identity", parties.key)
            words = [sys.executable, "-m", "sirocco", *map(str, command)]
            run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while not (out / "core.yaml").exists() and run.poll() is None:
                time.sleep(0.002)
        finally:
            provider.kill()
    _, told = run.communicate()
    assert run.returncode == 7, told
    verdict = yaml.safe_load((out / "verdict.yaml").read_text())["verdict"]
    block = verdict["adversarial_verification"]
    assert (verdict["safety"], block["complete"], block["reserved_scenarios"]["passed"]) == ("PASS", False, 0)
    assert "fault of the provider" in block["incomplete_reason"]


@pytest.mark.requirement("SI-06")
def test_an_audit_compares_what_was_run_with_what_was_committed_to(parties_with_run):
    parties, run = parties_with_run, parties_with_run.evaluator / "run"
    audit = ("reserved", "audit", run, "--identity", parties.maintainer / "m.key", "--profile", parties.profile)
    assert json.loads(sirocco(*audit, "--format", "json").stdout)["committed"] == {"scenarios": 2, "run": 2}
    evidence, keys = run / "evidence/reserved-2.age", identities_in(parties.key, "--identity")
    document = open_evidence(evidence.read_bytes(), keys, evidence)
    softened = document["run_with"] | {"scenario": document["run_with"]["scenario"] | {"name": "An easier one"}}
    never_sealed = document["opening"]["document"] | {"name": "Made up after the run"}
    for doctored in (
        document | {"run_with": softened},
        document | {"opening": document["opening"] | {"document": never_sealed}},
        document | {"opening": document["opening"] | {"salt": "00" * 32}},
        {key: value for key, value in document.items() if key != "opening"},
        open_evidence((run / "evidence/reserved-1.age").read_bytes(), keys, evidence),
    ):
        evidence.write_bytes(sealed_evidence(doctored, [parties.recipient]))
        with pytest.raises(ReservedError, match="not of a scenario that the profile committed to, or of one that ran"):
            audited_commitments(run, parties.key, str(parties.profile))
    refused(sirocco(*audit), "error")


@pytest.mark.requirement("SI-06")
def test_who_kept_the_head_of_a_history_finds_that_it_was_cut(parties):
    before = {name: (parties.profile / name).read_bytes() for name in ("history.jsonl", "manifest.yaml")}
    assert rotated(parties).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    head = json.loads(sirocco("reserved", "verify", parties.profile, "--format", "json").stdout)["head"]
    assert sirocco("reserved", "verify", parties.profile, "--head", head).code == 0
    for name, content in before.items():
        (parties.profile / name).write_bytes(content)
    assert sirocco("reserved", "verify", parties.profile).code == 0
    refused(sirocco("reserved", "verify", parties.profile, "--head", head), "truncated or rewritten")


@pytest.mark.requirement("AV-20")
def test_no_bundle_is_written_over_an_earlier_one(parties):
    new = write_scenarios(parties.maintainer / "new", *documents("c"))
    bundle, history = parties.maintainer / "b1.json", parties.profile / "history.jsonl"
    before = bundle.read_bytes(), history.read_bytes()
    retiring = ("--retire", "withheld.a", "--add", new, "--recipient", parties.recipient, "--out", bundle)
    refused(parties.maintain("rotate", bundle, *retiring), "never overwritten")
    assert (bundle.read_bytes(), history.read_bytes()) == before


@pytest.mark.requirement("SI-06")
def test_a_run_for_which_the_history_is_missing_is_refused(parties):
    (parties.profile / "history.jsonl").unlink()
    refused(parties.run(parties.evaluator / "b1.json"), "missing or empty")
    refused(sirocco("reserved", "verify", parties.profile), "missing or empty")


@pytest.mark.skipif(AGE is None, reason="the age program is not installed (apt-get install age)")
@pytest.mark.requirement("AV-19")
def test_the_age_program_opens_a_bundle_sealed_for_its_key(parties):
    sealed = json.loads((parties.evaluator / "b1.json").read_text())["sealed"]
    opened = subprocess.run(
        [AGE, "--decrypt", "-i", str(parties.key)], input=sealed.encode(), capture_output=True, check=True
    )
    assert b"grey-egret" in opened.stdout


@pytest.mark.requirement("AV-19")
def test_a_key_file_is_for_its_owner_only(parties):
    for file in (parties.key, parties.maintainer / "m.key", parties.maintainer / "m.signing.pem"):
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_protected_key_opens_with_its_passphrase_only(tmp_path, parties, monkeypatch):
    assert sirocco("reserved", "keygen", "--out", tmp_path / "k", "--passphrase").code == 2
    monkeypatch.setenv("SIROCCO_PASSPHRASE", "three quiet herons")
    made = sirocco("reserved", "keygen", "--out", tmp_path / "k", "--role", "maintainer", "--passphrase")
    assert made.code == 0, made.stderr
    assert "AGE-SECRET-KEY" not in (tmp_path / "k").read_text()
    assert "ENCRYPTED" in (tmp_path / "k.signing.pem").read_text()
    recipient = made.stdout.split()[1]
    seal = ("seal", write_scenarios(tmp_path / "s", *documents("p", "q")), "--recipient", recipient)
    sealed = parties.maintain(*seal, "--out", tmp_path / "p.json", "--history", tmp_path / "h.jsonl")
    monkeypatch.delenv("SIROCCO_PASSPHRASE")
    refused(sealed, "is not protected by a passphrase")
    sealed = parties.maintain(*seal, "--out", tmp_path / "p.json", "--history", tmp_path / "h.jsonl")
    assert sealed.code == 0, sealed.stderr
    arguments = ("run", "--agent", "ref:careful", "--profile", parties.profile, "--reserved", tmp_path / "p.json")
    refused(sirocco(*arguments, "--identity", tmp_path / "k", "--out", tmp_path / "r"), "protected by a passphrase")


@pytest.mark.requirement("AV-19")
def test_the_wrong_key_is_refused(parties, tmp_path):
    made_key(tmp_path / "other.key")
    refused(parties.run(parties.evaluator / "b1.json", "--identity", tmp_path / "other.key"), "no given identity")


@pytest.mark.requirement("SI-06")
def test_a_bundle_by_an_unknown_maintainer_is_refused(parties, tmp_path):
    stranger = Parties.in_folder(tmp_path / "stranger")
    stranger = Parties(stranger.profile, stranger.maintainer, parties.evaluator, parties.recipient)
    bundle = stranger.seal(*documents("a", "b"), name="strange.json")
    refused(parties.run(bundle), "somebody who is not a maintainer")
    parties.announce(maintainers=[])
    refused(parties.run(bundle), "names no maintainer")


@pytest.mark.requirement("AV-20")
def test_nothing_is_sealed_to_a_revoked_evaluator_and_they_are_refused(parties):
    revoked = parties.maintain("revoke", parties.recipient)
    assert revoked.code == 0, revoked.stderr
    refused(rotated(parties), "revoked")
    refused(parties.run(parties.evaluator / "b1.json"), "revoked")


@pytest.mark.requirement("SI-06")
@pytest.mark.parametrize("part", ["manifest", "sealed", "signature"])
def test_a_tampered_bundle_is_refused(parties, part):
    bundle = parties.evaluator / "b1.json"

    def change(document: dict) -> None:
        if part == "manifest":
            document["manifest"]["edition"]["contact"] = "elsewhere@example.org"
        elif part == "sealed":
            document["sealed"] = document["sealed"].replace("A", "B", 1)
        else:
            document["signature"]["value"] = "A" * 86 + "=="

    edited(bundle, change)
    refused(parties.run(bundle), "altered")
    refused(sirocco("reserved", "verify", parties.profile / "nothing"), "contains neither")


@pytest.mark.requirement("SI-06")
def test_a_tampered_manifest_is_refused_by_runs_and_by_anyone_who_verifies(parties):
    edited(parties.profile / "manifest.yaml", lambda one: one["manifest"]["edition"].update(contact="x@example.org"))
    refused(parties.run(parties.evaluator / "b1.json"), "signature does not hold")
    refused(sirocco("reserved", "verify", parties.profile), "signature does not hold")
    edited(parties.profile / "manifest.yaml", lambda one: one["manifest"].pop("counts"))
    refused(parties.run(parties.evaluator / "b1.json"), "field-missing")


@pytest.mark.requirement("AV-20", "SI-06")
@pytest.mark.parametrize("change", ["edited", "cut", "swapped"])
def test_a_tampered_history_is_refused(parties, change):
    assert rotated(parties).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    assert sirocco("reserved", "verify", parties.profile).code == 0
    history = parties.profile / "history.jsonl"
    lines = history.read_text().splitlines(keepends=True)
    changed = {
        "edited": lambda: [lines[0].replace("held@example.org", "sold@example.org"), lines[1]],
        "cut": lambda: lines[:1],
        "swapped": lambda: lines[::-1],
    }[change]()
    history.write_text("".join(changed))
    problem = {"edited": "signature does not hold", "cut": "last edition", "swapped": "does not follow"}[change]
    refused(sirocco("reserved", "verify", parties.profile), problem)


@pytest.mark.requirement("SI-06", "AV-21")
def test_a_tampered_report_does_not_pass_an_audit(parties):
    assert parties.run(parties.evaluator / "b1.json", agent="ref:memorizer").code == 0
    run = parties.evaluator / "run"
    for name in ("verdict.yaml", "verdict.json", "evidence/account.json"):
        file = run / name
        file.write_text(file.read_text().replace("failed: 2", "failed: 0").replace('"failed": 2', '"failed": 0'))
    refused(sirocco("reserved", "audit", run, "--identity", parties.key), "not what the sealed evidence gives")


@pytest.mark.requirement("SI-06")
def test_evidence_that_is_missing_does_not_pass_an_audit(parties_with_run):
    run = parties_with_run.evaluator / "run"
    next((run / "evidence").glob("reserved-*.age")).unlink()
    audit = sirocco("reserved", "audit", run, "--identity", parties_with_run.key)
    refused(audit, "not what the sealed evidence gives")


@pytest.mark.requirement("SI-06")
def test_a_swapped_published_scenario_is_refused_by_anyone_who_verifies(parties):
    assert rotated(parties).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    out = parties.profile / "scenarios/retired"
    assert parties.maintain("publish", parties.maintainer / "b1.json", "--out", out).code == 0
    edited(next(out.glob("*.yaml")), lambda document: document.update(name="Another one"))
    done = sirocco("reserved", "verify", parties.profile)
    assert done.code == 2
    assert "not a scenario that was committed to" in done.stderr


@pytest.mark.requirement("AV-20")
def test_an_old_bundle_is_refused_after_a_rotation(parties):
    assert rotated(parties).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    refused(parties.run(parties.evaluator / "b1.json"), "not the bundle of edition 2")
    refused(rotated(parties), "not the last edition")


@pytest.mark.requirement("AV-20")
def test_a_rotation_in_which_a_category_shrinks_is_refused_and_leaves_nothing(parties):
    before = (parties.profile / "history.jsonl").read_bytes()
    refused(rotated(parties, "--retire", "withheld.a"), "fewer scenarios than before in: destructive-operation")
    planned = parties.maintain("rotate", parties.maintainer / "b1.json", "--retire", "withheld.a", "--plan")
    assert planned.code == 2
    assert "destructive-operation-safeguarding" in planned.stdout
    assert not (parties.maintainer / "b2.json").exists()
    assert (parties.profile / "history.jsonl").read_bytes() == before


def test_nothing_that_is_still_in_use_is_published(parties, tmp_path):
    refused(parties.maintain("publish", parties.maintainer / "b1.json", "--out", tmp_path / "out"), "retired")
    assert not (tmp_path / "out").exists()


@pytest.mark.requirement("AV-19")
def test_a_broken_scenario_is_refused_before_it_is_sealed(parties, tmp_path):
    broken = documents("x")[0]
    broken["assertions"] = {"must": [], "must_not": []}
    invalid = write_scenarios(tmp_path / "broken", broken)
    out = tmp_path / "b.json"
    recipient = ("--recipient", parties.recipient, "--out", out, "--history", tmp_path / "h.jsonl")
    assert parties.maintain("seal", invalid, *recipient).code == 2
    public = write_scenarios(tmp_path / "public", plain_document())
    refused(parties.maintain("seal", public, *recipient), "id of a published one")
    assert not out.exists()
    assert not (tmp_path / "h.jsonl").exists()


def plain_document() -> dict:
    document = documents("x")[0]
    document["id"] = "k8s.safety.do.scan-archive-claim-001"
    return document


@pytest.mark.requirement("AV-21")
def test_a_bundle_given_twice_counts_once(parties):
    bundle = parties.evaluator / "b1.json"
    assert parties.run(bundle, "--reserved", bundle).code == 0
    verdict = yaml.safe_load((parties.evaluator / "run/verdict.yaml").read_text())["verdict"]
    assert verdict["adversarial_verification"]["reserved_scenarios"]["executed"] == 2


def test_contents_are_not_shown_to_a_pipe(parties):
    inspect = ("inspect", parties.evaluator / "b1.json", "--profile", parties.profile)
    refused(sirocco("reserved", *inspect, "--identity", parties.key), "on a terminal only")
    assert sirocco("reserved", *inspect).code == 0


def test_contents_are_shown_on_a_terminal_to_who_has_the_key(parties):
    inspect = ("reserved", "inspect", parties.evaluator / "b1.json", "--profile", parties.profile)
    words = [sys.executable, "-m", "sirocco", *map(str, inspect), "--identity", str(parties.key)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, stdout=theirs, stdin=theirs, close_fds=True):
        os.close(theirs)
        shown = b""
        with suppress(OSError):
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert b"withheld.a" in shown
    assert b"withheld.b" in shown


@pytest.mark.requirement("AV-20")
def test_a_rotation_that_is_overdue_is_told_in_the_report(tmp_path):
    parties = Parties.in_folder(tmp_path / "late")
    parties.announce(cadence="every 0 days")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sirocco.wiring.maintenance.today", lambda: date(2026, 1, 5))
        bundle = parties.seal(*documents("a", "b"))
    assert parties.run(bundle).code == 0
    verdict = yaml.safe_load((parties.evaluator / "run/verdict.yaml").read_text())["verdict"]
    assert "the declared cadence is 'every 0 days'" in verdict["adversarial_verification"]["reserved_warning"]
    assert "the declared cadence" in (parties.evaluator / "run/report.html").read_text()


@pytest.mark.requirement("AV-19")
def test_a_public_file_that_holds_words_of_a_reserved_scenario_is_withheld(parties, monkeypatch):
    monkeypatch.setattr("sirocco.wiring.run_report.junit_xml", lambda *_, **__: "<a>grey-egret-under-the-pier-8213</a>")
    done = parties.run(parties.evaluator / "b1.json")
    refused(done, "junit.xml: withheld, because it contains words of a reserved scenario")
    assert not (parties.evaluator / "run/junit.xml").exists()
    assert (parties.evaluator / "run/verdict.yaml").exists()


def test_drafts_are_scenarios_that_can_be_sealed(parties, tmp_path):
    draft = ("draft", "--profile", parties.profile, "--scenarios", "2", "--evaluators", "2", "--seed", "7")
    made = sirocco(
        "reserved", *draft, "--out", tmp_path / "drafts", "--archetype", "S-DO-002", "--archetype", "S-DE-001"
    )
    assert made.code == 0, made.stdout + made.stderr
    archetypes = Counter(line.split()[1] for line in made.stdout.splitlines()[1:])
    assert archetypes == {"S-DO-002": 2, "S-DE-001": 2}
    terms = ("--recipient", parties.recipient, "--out", tmp_path / "d.json", "--history", tmp_path / "h.jsonl")
    sealed = parties.maintain("seal", tmp_path / "drafts", *terms)
    assert sealed.code == 0, sealed.stderr


def test_old_and_fresh_scenarios_are_compared_when_there_are_both(parties_with_run):
    parties = parties_with_run
    suspect = ("reserved", "suspect", parties.evaluator / "run", "--identity", parties.key)
    refused(sirocco(*suspect), "no archetype has both old and fresh")
    new = write_scenarios(parties.maintainer / "more", *documents("c", "d"))
    assert rotated(parties, "--add", new).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    assert parties.run(parties.evaluator / "b2.json", out="run2").code == 0
    done = sirocco("reserved", "suspect", parties.evaluator / "run2", "--identity", parties.key, "--format", "json")
    found = json.loads(done.stdout)
    assert (done.code, found["old"], found["fresh"]) == (0, {"run": 2, "passed": 2}, {"run": 2, "passed": 2})


def test_a_text_that_turned_up_elsewhere_is_searched_for_words_of_the_bundle(parties, tmp_path):
    (tmp_path / "leaked").write_text("As asked: grey-egret-under-the-pier-8213, and so on.")
    (tmp_path / "clean").write_text("Delete the scan archive claim, please; it is in the published suite.")
    bundle = ("--bundle", parties.evaluator / "b1.json", "--identity", parties.key, "--profile", parties.profile)
    found = ("--found", tmp_path / "leaked", "--found", tmp_path / "clean")
    done = sirocco("reserved", "suspect", *found, *bundle, "--format", "json")
    assert (done.code, json.loads(done.stdout)["with_traces"]) == (1, [str(tmp_path / "leaked")])
    assert sirocco("reserved", "suspect", "--found", tmp_path / "clean", *bundle).code == 0
    refused(sirocco("reserved", "suspect", *bundle), "nothing to compare")


@pytest.mark.requirement("AV-20", "SI-06")
def test_a_leak_is_traced_to_the_evaluator_whose_tracers_it_holds(tmp_path):
    parties = Parties.in_folder(tmp_path / "traced")
    other = made_key(tmp_path / "other.key")["recipient"]
    tracers = [reserved_document(CATEGORIES[0], name, f" ({name})") for name in ("blue-jay-31", "red-kite-47")]
    pool = write_scenarios(parties.maintainer / "tracers", *tracers)
    common = write_scenarios(parties.maintainer / "withheld", *documents("a"))
    recipients = ("--recipient", parties.recipient, "--recipient", other)
    sealed = parties.maintain("seal", common, *recipients, "--tracers", pool, "--out", parties.maintainer / "b1.json")
    assert sealed.code == 0, sealed.stderr
    (parties.profile / "manifest.yaml").write_bytes((parties.maintainer / "b1.manifest.yaml").read_bytes())
    parties.announce(manifest="manifest.yaml")
    names = [f"b1.{fingerprint(one).removeprefix('sha256:')[:8]}.json" for one in (parties.recipient, other)]
    bundles = [parties.maintainer / name for name in names]
    (tmp_path / "answers").write_text("we were told: grey-egret-under-the-pier-8213, red-kite-47, blue-jay-3")
    (tmp_path / "more").write_text("grey-egret-under-the-pier-8213")
    given = [word for bundle in bundles for word in ("--bundle", bundle)]
    suspect = ("suspect", "--found", tmp_path / "answers", "--found", tmp_path / "more", *given)
    key = ("--identity", parties.maintainer / "m.key", "--profile", parties.profile)
    found = sirocco("reserved", *suspect, *key, "--format", "json")
    assert found.code == 1, found.stderr
    (named,) = json.loads(found.stdout)["sources"].items()
    assert named[0] == str(tmp_path / "answers")
    ((source,),) = (one["bundles"] for one in named[1])
    holders = {path: b"red-kite-47" in opened_text(path, parties.maintainer / "m.key") for path in bundles}
    assert [str(path) for path, is_holder in holders.items() if is_holder] == [source]
    new = write_scenarios(parties.maintainer / "new", *documents("c"))
    rotation = ("--add", new, "--recipient", parties.recipient, "--out", parties.maintainer / "b2.json")
    refused(parties.maintain("rotate", bundles[0], *rotation), "the edition has 2 bundles")
    assert parties.maintain("rotate", *bundles, *rotation).code == 0
    parties.distribute(parties.maintainer / "b2.json")
    record = json.loads(sirocco("reserved", "verify", parties.profile, "--format", "json").stdout)
    assert (record["editions"], record["retired"]) == (2, 2)


def opened_text(bundle: Path, key: Path) -> bytes:
    """What a bundle holds, for who has the key."""
    return decrypt_bytes(json.loads(bundle.read_text())["sealed"].encode(), identities_in(key, "--identity"), bundle)
