"""The public history of reserved scenarios: signed, chained, and never in favour of fewer scenarios."""

from datetime import date

import pytest
from pydantic import ValidationError

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.profile import ReservedPolicy
from sirocco.reserved.age import distinct_recipients, keygen
from sirocco.reserved.history import Event, History, fingerprint
from sirocco.reserved.manifest import SignedManifest
from sirocco.reserved.publication import Opening, Publication, verified_openings
from sirocco.reserved.seal import seal
from sirocco.reserved.signing import Signature, Signer
from sirocco.reserved.vault import open_scenarios

DAY = date(2026, 11, 2)
DIAGNOSIS = {"classification": "capability", "category": "diagnostic-accuracy", "archetype": "C-DA-001"}


@pytest.fixture
def sealed(scenario, profile, edition, evaluator, owner, salts):
    """Seal some scenarios as an edition."""

    def build(number, *documents):
        (bundle,) = seal(
            documents,
            profile=profile,
            edition=edition.model_copy(update={"number": number}),
            recipients=[evaluator.recipient],
            signer=owner,
            salt=salts(number),
        )
        return bundle

    return build


@pytest.fixture
def first(sealed, scenario):
    return sealed(1, scenario(1), scenario(2), scenario(3, **DIAGNOSIS))


@pytest.fixture
def history(tmp_path, first, owner):
    """A history with one edition."""
    return History(tmp_path / "history.jsonl").append(event("seal", manifest=first.manifest), owner)


def event(action, **fields):
    return Event(action=action, on=DAY, **fields)


def rotation(before, after, retired=1):
    return event("rotate", manifest=after.manifest, retired=before.manifest.commitments[:retired])


@pytest.mark.requirement("AV-20", "SI-06")
def test_a_history_reads_back_as_it_was_written(history, first, sealed, scenario, owner):
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    written = history.append(rotation(first, second), owner)
    assert History.read(history.path, [owner.public]) == written
    assert written.current == second.manifest
    assert written.retired_commitments == {first.manifest.commitments[0]}


@pytest.mark.requirement("AV-20")
def test_a_category_never_shrinks_even_when_another_one_grows(history, first, sealed, scenario, owner):
    fewer = sealed(2, scenario(1), scenario(3, **DIAGNOSIS), scenario(5, **DIAGNOSIS))
    with pytest.raises(ReservedError, match="fewer scenarios than before in: destructive-operations"):
        history.append(rotation(first, fewer), owner)
    assert len(history.path.read_text().splitlines()) == 1


@pytest.mark.requirement("AV-20")
def test_a_signed_history_that_breaks_a_rule_is_refused_all_the_same(
    history, first, sealed, scenario, owner, lawless_append
):
    fewer = sealed(2, scenario(1), scenario(3, **DIAGNOSIS))
    lawless_append(history, rotation(first, fewer), owner)
    with pytest.raises(ReservedError, match=r"history\.jsonl:2: fewer scenarios"):
        History.read(history.path, [owner.public])


@pytest.fixture
def lawless_append(monkeypatch):
    """Append an entry as a maintainer with a program of their own would, whatever the rules say."""

    def append(history, forbidden, owner):
        with monkeypatch.context() as patch:
            patch.setattr(History, "require_possible", lambda *_: None)
            history.append(forbidden, owner)

    return append


@pytest.mark.requirement("AV-20", "SI-06")
def test_an_entry_that_no_maintainer_signed_is_refused(history, owner):
    history.append(event("revoke", evaluator=fingerprint(keygen().recipient)), Signer.generate())
    with pytest.raises(ReservedError, match=r"history\.jsonl:2: it is signed by somebody who is not a maintainer"):
        History.read(history.path, [owner.public])


@pytest.mark.requirement("AV-20", "SI-06")
def test_no_character_of_an_entry_can_change(history, owner):
    line = history.path.read_text()
    history.path.write_text(line.replace("harbour@example.org", "harbour@example.com"))
    with pytest.raises(ReservedError, match="signature does not hold"):
        History.read(history.path, [owner.public])
    history.path.write_text(line.replace(",", ", ", 1))
    with pytest.raises(ReservedError, match="not an entry"):
        History.read(history.path, [owner.public])


@pytest.mark.requirement("SI-06")
def test_an_entry_that_is_left_out_is_missed(history, owner):
    whole = history
    for _ in range(2):
        whole = whole.append(event("revoke", evaluator=fingerprint(keygen().recipient)), owner)
    lines = history.path.read_text().splitlines(keepends=True)
    history.path.write_text(lines[0] + lines[2])
    with pytest.raises(ReservedError, match="does not follow from the one before"):
        History.read(history.path, [owner.public])


@pytest.mark.requirement("AV-20")
def test_nothing_is_sealed_to_a_revoked_evaluator(history, owner, evaluator):
    history.require_recipients([evaluator.recipient])
    later = history.append(event("revoke", evaluator=fingerprint(evaluator.recipient)), owner)
    with pytest.raises(ReservedError, match="recipient 2: the evaluator is revoked") as caught:
        later.require_recipients([keygen().recipient, evaluator.recipient])
    assert evaluator.recipient not in str(caught.value)
    with pytest.raises(ReservedError, match="already revoked"):
        later.append(event("revoke", evaluator=fingerprint(evaluator.recipient)), owner)


@pytest.mark.parametrize("change", [{"retired": ("sha256:" + "0" * 64,)}, {"manifest": None}])
def test_a_rotation_that_does_not_follow_from_the_edition_before_is_refused(
    history, first, sealed, scenario, owner, change
):
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    with pytest.raises(ReservedError):
        history.append(rotation(first, second).model_copy(update=change), owner)
    with pytest.raises(ReservedError, match="begins with one sealed edition"):
        history.append(event("seal", manifest=second.manifest), owner)


@pytest.fixture
def published(history, first, sealed, scenario, owner, opened):
    """A history in which one scenario was retired and published, and that scenario with its salt."""
    document, salt = opened(first)
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    later = history.append(rotation(first, second), owner)
    later = later.append(event("publish", published=first.manifest.commitments[:1]), owner)
    return later, Opening(history.path.with_name("one.yaml"), document, salt)


@pytest.fixture
def opened(evaluator, profile, owner):
    """The first scenario of a bundle, and its salt."""

    def build(bundle):
        terms = {"profile": profile, "maintainers": [owner.public], "where": "bundle"}
        found = open_scenarios(bundle.text().encode(), [evaluator], **terms)
        return dict(found.documents[0]), found.salts[0]

    return build


@pytest.mark.requirement("SI-06", "AV-20")
def test_a_published_scenario_is_the_one_that_was_committed_to(published):
    history, opening = published
    assert verified_openings([opening], history) == 1
    swapped = Opening(opening.file, opening.document | {"name": "Another"}, opening.salt)
    for wrong in (swapped, Opening(opening.file, opening.document, "00" * 32)):
        with pytest.raises(ReservedError, match="not a scenario that was committed to"):
            verified_openings([wrong], history)
    with pytest.raises(ReservedError, match="1 scenario"):
        verified_openings([], history)


@pytest.mark.requirement("SI-06")
def test_only_the_bundle_whose_manifest_is_published_is_current(first, sealed, scenario, owner):
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    policy = ReservedPolicy(cadence="90 days", maintainers=(owner.public,))
    signed = SignedManifest(manifest=second.manifest, signature=second.signature)
    publication = Publication(policy, "1.4.0", signed, None)
    publication.require_current(second.manifest, "b2")
    with pytest.raises(ReservedError, match="b1: it is not the bundle of edition 2"):
        publication.require_current(first.manifest, "b1")


@pytest.mark.requirement("AV-20", "SI-06")
@pytest.mark.parametrize(
    ("cadence", "version", "today", "told"),
    [
        ("90 days", "1.4.0", date(2027, 1, 31), ""),
        ("90 days", "1.4.0", date(2027, 2, 1), "overdue"),
        ("every 2 weeks", "1.4.0", date(2026, 11, 17), "overdue"),
        ("quarterly", "1.4.0", date(2027, 2, 2), ""),
        ("quarterly", "1.4.0", date(2027, 2, 3), "overdue"),
        ("each minor version", "1.4.7", date(2030, 1, 1), ""),
        ("each minor version of the profile", "1.5.0", date(2026, 11, 3), "overdue"),
        ("each release", "1.4.1", date(2026, 11, 3), "overdue"),
        ("each minor version, at the latest every 6 months", "1.4.0", date(2027, 6, 1), "overdue"),
        ("when the maintainers find time", "9.0.0", date(2030, 1, 1), "nobody can tell when a rotation is due"),
        ("90 days", "1.4.0", date(2026, 11, 1), "sealed on 2026-11-02, which is after today"),
    ],
)
def test_a_rotation_is_overdue_by_the_declared_cadence(sealed, scenario, cadence, version, today, told):
    bundle = sealed(1, scenario(1))
    edition = bundle.manifest.edition.model_copy(update={"cadence": cadence})
    manifest = bundle.manifest.model_copy(update={"edition": edition})
    signed = SignedManifest(manifest=manifest, signature=bundle.signature)
    warning = Publication(ReservedPolicy(cadence=cadence), version, signed, None).warning(today)
    assert (warning is not None) is bool(told)
    assert told in (warning or "")


@pytest.mark.requirement("SI-06")
def test_a_profile_that_publishes_nothing_commits_to_nothing_and_readers_are_told():
    warning = Publication(ReservedPolicy(cadence="90 days"), "1.4.0", None, None).warning(DAY)
    assert (
        warning == "the profile publishes no manifest: nobody can check that the reserved scenarios were fixed in time"
    )


@pytest.mark.requirement("SI-06")
def test_an_old_bundle_is_not_current_either_where_only_the_history_is_published(
    history, first, sealed, scenario, owner
):
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    written = history.append(rotation(first, second), owner)
    publication = Publication(ReservedPolicy(cadence="90 days"), "1.4.0", None, written)
    publication.require_current(second.manifest, "b2")
    with pytest.raises(ReservedError, match="b1: it is not the bundle of edition 2"):
        publication.require_current(first.manifest, "b1")


@pytest.mark.requirement("AV-20")
def test_no_edition_is_smuggled_in_by_an_entry_of_another_kind(history, sealed, scenario, owner):
    fewer = sealed(2, scenario(1))
    for smuggled in (
        {"evaluator": fingerprint("age1x"), "manifest": fewer.manifest},
        {"retired": ("sha256:" + "0" * 64,)},
    ):
        with pytest.raises(ValidationError, match="another action"):
            event("revoke", **smuggled)
    lawless = event("revoke", evaluator=fingerprint("age1x")).model_copy(update={"manifest": fewer.manifest})
    statement = {"number": 2, "previous": history.head, "event": lawless.document()}
    signature = Signature.from_signer(owner, "history", statement).document()
    with history.path.open("a") as file:
        file.write(canonical_json({**statement, "signature": signature}) + "\n")
    with pytest.raises(ReservedError, match=r"history\.jsonl:2: this is not an entry of a history"):
        History.read(history.path, [owner.public])


@pytest.mark.requirement("AV-20")
def test_a_revoked_key_is_the_same_key_in_capitals(history, owner, evaluator):
    revoked = history.append(event("revoke", evaluator=fingerprint(evaluator.recipient)), owner)
    for spelled in (evaluator.recipient.upper(), f" {evaluator.recipient}\n"):
        with pytest.raises(ReservedError, match="revoked"):
            revoked.require_recipients([spelled])
        assert distinct_recipients([spelled, evaluator.recipient]) == (evaluator.recipient,)


@pytest.mark.requirement("SI-06")
def test_days_do_not_go_back_in_a_history(history, owner):
    earlier = Event(action="revoke", on=date(2026, 11, 1), evaluator=fingerprint("age1x"))
    with pytest.raises(ReservedError, match="an entry of 2026-11-01 would follow one of 2026-11-02"):
        history.append(earlier, owner)


@pytest.mark.requirement("SI-06")
def test_a_history_that_was_cut_or_begun_anew_is_found_by_who_kept_its_head(history, first, sealed, scenario, owner):
    second = sealed(2, scenario(1), scenario(4), scenario(3, **DIAGNOSIS))
    written = history.append(rotation(first, second), owner)
    for head in (history.head, written.head):
        written.require_head(head, "--head")
    with pytest.raises(ReservedError, match="truncated or rewritten"):
        history.require_head(written.head, "--head")
