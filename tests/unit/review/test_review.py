"""The queue of findings over many runs, and the signed log of what became of them."""

import pytest
from pydantic import ValidationError

from recorded_run import adversarial_block, minimal_verdict
from sirocco.errors import ConfigError
from sirocco.reserved.signing import Signer
from sirocco.review.log import Decision, Dispute, Novelty, Review, ReviewLog, ReviewRules, Severity
from sirocco.review.queue import ItemKind, review_queue
from sirocco.wiring.review import said

F = "F-0123456789ab"
ADA, BEN, EVE = Signer.generate(), Signer.generate(), Signer.generate()


def review(decision: Decision = Decision.PROMOTE, reason: str = "because", by: str = "Ada") -> Review:
    return Review(
        finding=F, by=by, on="2026-01-01", severity=Severity.HIGH, novelty=Novelty.NEW, decision=decision, reason=reason
    )


def verdict(**changes):
    block = {**adversarial_block(probes={"probe-a": "FAIL"}), **changes}
    return {**minimal_verdict(), "adversarial_verification": block}


@pytest.mark.requirement("AV-24")
def test_the_same_failure_in_two_runs_is_one_finding_whatever_its_checks_are_numbered():
    first, second = verdict(), verdict()
    for one in second["adversarial_verification"]["findings"]:
        one["failing_checks"] = ["must_not.7"]
    queue = [one for one in review_queue([("a", first), ("b", second)]) if one.kind is not ItemKind.TOLERANCE]
    assert len(queue) == 1
    assert [one.run for one in queue[0].sightings] == ["a", "b"]
    assert queue[0].checks == ("must_not",)
    for one in second["adversarial_verification"]["findings"]:
        one["surface"] = "elsewhere"
    assert len({one.id for one in review_queue([("a", first), ("b", second)])}) > len(queue)


@pytest.mark.requirement("CO-09", "AV-24")
def test_tolerated_passes_and_violations_beside_are_in_the_same_queue():
    beside = {
        "probe": "p",
        "primary_archetype": "C-DA-001",
        "archetype": "S-DE-001",
        "probe_serialized": "adversarial/p.yaml",
    }
    found = verdict(
        secondary_violations=[beside],
        human_review=[{"probe": "q", "primary_archetype": "S-BR-001", "reason": "3% under a tolerance of 5%"}],
    )
    found["safety_details"]["human_review"] = [{"scenario_id": "x.safety.br.pods-001", "result": "PASS", "reason": "r"}]
    kinds = [one.kind for one in review_queue([("a", found)])]
    assert kinds.count(ItemKind.TOLERANCE) == 2
    assert ItemKind.SECONDARY in kinds


@pytest.mark.requirement("AV-24")
def test_a_finding_is_decided_when_enough_experts_agree_and_contested_when_they_do_not(tmp_path):
    rules = ReviewRules(sign_offs=2, reviewers={"Ada": ADA.public, "Ben": BEN.public})
    log = ReviewLog.read(tmp_path / "log.jsonl")
    assert log.standing(F, rules).state == "open"
    log = log.append(review(), ADA)
    assert (log.standing(F, rules).state, log.standing(F, rules).missing) == ("open", 1)
    log = log.append(review(), ADA).append(review(by="Ben"), EVE)
    assert log.standing(F, rules).missing == 1, "one expert twice, or a stranger, is no second sign-off"
    log = log.append(review(Decision.REJECT, by="Ben"), BEN)
    assert log.standing(F, rules).state == "contested"
    log = log.append(review(by="Ben"), BEN)
    assert log.standing(F, rules).state == "promote"
    assert ReviewLog.read(tmp_path / "log.jsonl") == log


@pytest.mark.requirement("AV-24")
def test_a_reviewer_goes_by_the_name_of_the_key_and_not_by_the_one_that_was_signed(tmp_path):
    rules = ReviewRules(sign_offs=1, reviewers={"Ada": ADA.public, "Ben": BEN.public})
    log = ReviewLog.read(tmp_path / "log.jsonl").append(review(by="Ada"), BEN).append(review(by="ada"), ADA)
    assert [one.by for one in log.standing(F, rules).reviews] == ["Ben (signed as Ada)", "ada"]
    assert [one.by for one in log.standing(F, ReviewRules()).reviews] == ["Ada", "ada"]


@pytest.mark.parametrize(
    "name", ["", "   ", " Ada", "Ada\nBen", "A\0da", "Ada\u202e", "A\u200bda", "\u0410da", "Ad\u0430 Byron"]
)
def test_a_name_that_looks_like_another_is_refused(name):
    given = {"by": name, "severity": "low", "novelty": "known", "decision": "promote"}
    with pytest.raises(ConfigError, match="the name"):
        said(Review, F, given)


@pytest.mark.parametrize(
    "name", ["Ada Byron", "\u0410\u0434\u0430", "Zo\u00eb O'Neill-3", "\u5c71\u7530 \u306f\u306a\u5b50"]
)
def test_names_of_any_script_are_taken(name):
    assert said(Review, F, {"by": name, "severity": "low", "novelty": "known", "decision": "promote"}).by == name


@pytest.mark.requirement("AV-24")
def test_a_dispute_stands_beside_the_finding_and_decides_nothing(tmp_path):
    log = ReviewLog.read(tmp_path / "log.jsonl").append(review(), ADA)
    disputed = log.append(Dispute(finding=F, by="Vendor", on="2026-01-02", reason="the prompt was unfair"), EVE)
    before, after = log.standing(F, ReviewRules()), disputed.standing(F, ReviewRules())
    assert after.state == before.state == "promote"
    assert [one.reason for one in after.disputes] == ["the prompt was unfair"]


@pytest.mark.requirement("AV-24")
def test_every_edit_of_the_log_is_refused(tmp_path):
    file = tmp_path / "log.jsonl"
    ReviewLog.read(file).append(review(), ADA).append(review(Decision.REJECT), BEN).append(review(by="Cy"), EVE)
    lines = file.read_text().splitlines()
    edits = {
        "a word": [lines[0].replace("promote", "needs_work"), *lines[1:]],
        "a line left out": [lines[0], lines[2]],
        "another order": [lines[1], lines[0], lines[2]],
        "a line twice": [*lines, lines[-1]],
        "another key": [*lines[:2], lines[2].replace(EVE.public.split()[1], ADA.public.split()[1])],
        "white space": [lines[0].replace(",", ", ", 1), *lines[1:]],
        "a key more": [lines[0].replace("{", '{"x":1,', 1), *lines[1:]],
    }
    for edited in edits.values():
        file.write_text("\n".join(edited) + "\n")
        with pytest.raises(ConfigError):
            ReviewLog.read(file)


@pytest.mark.requirement("AV-24")
@pytest.mark.parametrize(
    "edit", [lambda t: t.replace("\n", "\r\n"), lambda t: t[:-1], lambda t: t + "\n", lambda t: "\ufeff" + t]
)
def test_a_log_that_was_saved_by_an_editor_is_refused(tmp_path, edit):
    file = tmp_path / "log.jsonl"
    ReviewLog.read(file).append(review(), ADA).append(review(by="Ben"), BEN)
    file.write_bytes(edit(file.read_text()).encode())
    with pytest.raises(ConfigError):
        ReviewLog.read(file)


@pytest.mark.parametrize("character", ["\n", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\u2029"])
def test_whatever_ends_a_line_elsewhere_may_stand_in_a_note(tmp_path, character):
    log = ReviewLog.read(tmp_path / "log.jsonl").append(review(reason=f"one{character}two"), ADA)
    assert ReviewLog.read(log.path) == log
    assert ReviewLog.read(log.path).append(review(), BEN).entries[0].event.reason == f"one{character}two"


def test_a_rejection_needs_its_reason():
    with pytest.raises(ValueError, match="needs a reason"):
        review(Decision.REJECT, reason=" ")


@pytest.mark.requirement("AV-24")
def test_two_who_read_the_log_at_once_do_not_lose_each_others_entries(tmp_path):
    path = tmp_path / "log.jsonl"
    one, other = ReviewLog.read(path), ReviewLog.read(path)
    one.append(review(), ADA)
    with pytest.raises(ConfigError, match="at the same time"):
        other.append(review(by="Ben"), BEN)
    ReviewLog.read(path).append(review(by="Ben"), BEN)
    assert [entry.event.by for entry in ReviewLog.read(path).entries] == ["Ada", "Ben"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reviewers": {"ada": "garbage"}}, "`sirocco review key` prints it"),
        ({"reviewers": {"ada": ADA.public, "again": ADA.public}}, "the same key"),
        ({"sign_offs": 2, "reviewers": {"ada": ADA.public}}, "can never be reached"),
    ],
)
def test_rules_that_nobody_could_meet_are_refused(given, said):
    with pytest.raises(ValidationError, match=said):
        ReviewRules.model_validate(given)
