"""Opening: what was sealed comes back, and nothing else is ever let in."""

import json
import time
from copy import deepcopy

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bundled import plain_documents
from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json
from sirocco.reserved.age import encrypt_bytes, keygen
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS, sealed_files, storable_text
from sirocco.reserved.disclosure import sealed_evidence
from sirocco.reserved.manifest import Contents, ProfileReference, commitments_root
from sirocco.reserved.seal import SCENARIOS
from sirocco.reserved.signing import Signer
from sirocco.reserved.vault import inspect, open_evidence, open_scenarios

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="session")
def opening(evaluator, profile, owner):
    """Open a bundle as the evaluator does; anything about it can be exchanged."""

    def build(data, identities=(evaluator,), **changes):
        terms = {"profile": profile, "maintainers": [owner.public], "where": "set.bundle"} | changes
        return open_scenarios(data, identities, **terms)

    return build


@pytest.fixture(scope="session")
def resealed(forged, evaluator):
    """A bundle with other contents encrypted in place of its own."""

    def build(bundle, contents, **manifest):
        if "commitments" in manifest:
            manifest["merkle_root"] = commitments_root(manifest["commitments"])
        sealed = sealed_files({SCENARIOS: contents.encode()}, [evaluator.recipient], "reserved")
        return forged(bundle, manifest=manifest, sealed=sealed)

    return build


def data_of(bundle):
    """The bundle as it lies in a file."""
    return bundle.text().encode()


def by_id(documents):
    return sorted(documents, key=lambda document: document["id"])


@pytest.mark.requirement("AV-19")
@settings(deadline=None)
@given(extras=st.lists(json_values, min_size=1, max_size=3))
def test_what_was_sealed_comes_back_exactly(extras, bundle_of, scenario, opening):
    documents = [scenario(number, description=extra) for number, extra in enumerate(extras, start=1)]
    bundle = bundle_of(*documents)
    opened = opening(data_of(bundle))
    assert by_id(opened.documents) == documents
    assert canonical_json(by_id(opened.documents)) == canonical_json(documents)
    assert opened.manifest == bundle.manifest


@pytest.mark.requirement("AV-19")
def test_each_of_several_recipients_opens_the_bundle_with_their_own_key(bundle_of, scenario, opening, auditor):
    pairs = [keygen(), keygen()]
    data = data_of(bundle_of(scenario(), recipients=[pair.recipient for pair in pairs]))
    for pair in (*pairs, auditor):
        assert opening(data, [pair]).documents == (scenario(),)


@pytest.mark.requirement("AV-19")
def test_a_wrong_key_is_refused(bundle, opening, marker, everything_said):
    with pytest.raises(ReservedError, match=r"set\.bundle: no given identity opens it") as caught:
        opening(data_of(bundle), [keygen()])
    assert marker not in everything_said(caught.value)


def test_anyone_may_inspect_a_bundle(bundle):
    found = inspect(data_of(bundle), "set.bundle")
    assert (found.manifest, found.signature) == (bundle.manifest, bundle.signature)


@pytest.mark.requirement("SI-06")
def test_a_bundle_by_anyone_but_the_maintainers_is_refused(bundle_of, scenario, opening, marker, everything_said):
    with pytest.raises(ReservedError, match="somebody who is not a maintainer") as caught:
        opening(data_of(bundle_of(scenario(), signer=Signer.generate())))
    assert marker not in everything_said(caught.value)


@pytest.mark.requirement("AV-19", "SI-06")
@settings(deadline=None)
@given(data=st.data())
def test_no_character_of_the_file_can_change_unnoticed(data, bundle, opening, marker, everything_said):
    text = bundle.text()
    position = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.characters(max_codepoint=0x2FF) | st.just(" "))
    assume(character != text[position])
    with pytest.raises(ReservedError) as caught:
        opening((text[:position] + character + text[position + 1 :]).encode())
    assert marker not in everything_said(caught.value)


@pytest.mark.requirement("AV-19")
@settings(deadline=None)
@given(data=st.data())
def test_no_character_of_the_sealed_part_can_change_even_when_its_digest_is_made_to_fit(data, bundle, forged, opening):
    sealed = bundle.sealed.rstrip("\n")  # white space after the last line is no part of an armored age file
    position = data.draw(st.integers(0, len(sealed) - 1))
    character = data.draw(st.characters(codec="ascii"))
    assume(character != sealed[position])
    with pytest.raises(ReservedError):
        opening(forged(bundle, sealed=sealed[:position] + character + sealed[position + 1 :] + "\n"))


@pytest.mark.requirement("SI-06")
@settings(deadline=None)
@given(data=st.data())
def test_no_part_of_the_manifest_can_change_unnoticed(data, bundle, opening):
    document = bundle.document()
    change(data, document["manifest"])
    assume(document != bundle.document())
    with pytest.raises(ReservedError):
        opening((canonical_json(document) + "\n").encode())


def change(data, part):
    """Replace, remove or add something somewhere inside a JSON object or list."""
    if isinstance(part, dict):
        key = data.draw(st.sampled_from(sorted(part)) | st.text(max_size=5))
    else:
        key = data.draw(st.integers(0, len(part) - 1))
    inner = part[key] if not isinstance(part, dict) or key in part else None
    if isinstance(inner, dict | list) and data.draw(st.booleans()):
        change(data, inner)
    elif inner is not None and data.draw(st.booleans()):
        del part[key]
    else:
        part[key] = data.draw(st.none() | st.integers() | st.text(max_size=5))


@pytest.mark.requirement("SI-06")
def test_a_sealed_part_that_the_manifest_was_not_made_for_is_refused_without_a_key(bundle, bundle_of, scenario, forged):
    other = bundle_of(scenario(4))
    text = forged(bundle, manifest={"sealed_digests": other.manifest.sealed_digests})
    with pytest.raises(ReservedError, match="the sealed part was altered"):
        inspect(text, "set.bundle")


@pytest.mark.requirement("AV-21")
def test_other_counts_are_refused_even_when_they_add_up(bundle, forged, opening):
    counts = bundle.manifest.counts.document()
    counts["archetypes"] = {"S-DO-001": 2, "C-DA-001": 1}
    text = forged(bundle, manifest={"counts": counts})
    assert inspect(text, "set.bundle").manifest.counts.archetypes["S-DO-001"] == 2
    with pytest.raises(ReservedError, match="counts are not those of the sealed scenarios"):
        opening(text)


def test_counts_that_do_not_add_up_are_refused_without_a_key(bundle, forged):
    counts = bundle.manifest.counts.document() | {"categories": {"destructive-operations": 9}}
    with pytest.raises(ReservedError, match=r"'manifest\.counts': the counts do not add up"):
        inspect(forged(bundle, manifest={"counts": counts}), "set.bundle")


@pytest.mark.parametrize("other", [lambda found: found[1:], lambda found: [*found[:2], found[1]], lambda f: f[::-1]])
def test_a_list_of_commitments_that_fits_no_set_of_scenarios_is_refused_without_a_key(other, bundle, forged):
    commitments = other(list(bundle.manifest.commitments))
    changed = {"commitments": commitments, "merkle_root": commitments_root(commitments)}
    with pytest.raises(ReservedError, match="commitments"):
        inspect(forged(bundle, manifest=changed), "set.bundle")


def test_another_merkle_root_than_that_of_the_commitments_is_refused_without_a_key(bundle, forged):
    with pytest.raises(ReservedError, match="Merkle root"):
        inspect(forged(bundle, manifest={"merkle_root": "sha256:" + "0" * 64}), "set.bundle")


@pytest.mark.requirement("SI-06")
def test_commitments_to_other_scenarios_are_refused(bundle, bundle_of, scenario, forged, opening):
    other = bundle_of(scenario(4), scenario(5), scenario(6), seed=8)
    changed = {"commitments": list(other.manifest.commitments), "merkle_root": other.manifest.merkle_root}
    with pytest.raises(ReservedError, match="not the ones that the manifest commits to"):
        opening(forged(bundle, manifest=changed))


@pytest.mark.requirement("SI-06")
def test_other_scenarios_under_the_published_commitments_are_refused(
    bundle, bundle_of, scenario, forged, opening, marker, everything_said
):
    other = bundle_of(scenario(4), scenario(5), scenario(6))
    with pytest.raises(ReservedError, match="not the ones that the manifest commits to") as caught:
        opening(forged(bundle, sealed=other.sealed))
    assert marker not in everything_said(caught.value)


@pytest.mark.requirement("SI-06")
def test_commitments_are_checked_before_a_scenario_is_looked_at(bundle, profile, resealed, opening, marker):
    uncountable = Contents(profile=profile, salts=("00" * 16,), since=(1,), scenarios=({"name": marker},))
    with pytest.raises(ReservedError, match="not the ones that the manifest commits to"):
        opening(resealed(bundle, uncountable.text()))


def test_committed_scenarios_that_cannot_be_counted_are_refused(
    bundle, profile, resealed, opening, marker, everything_said
):
    contents = Contents(
        profile=profile, salts=("00" * 16,), since=(1,), scenarios=({"id": marker, "category": {marker: 1}},)
    )
    counts = {"total": 1, "classifications": {"safety": 1}, "categories": {"c": 1}, "archetypes": {"A": 1}}
    with pytest.raises(ReservedError, match="scenario 1 has no valid archetype, category, classification") as caught:
        opening(resealed(bundle, contents.text(), counts=counts, commitments=list(contents.commitments())))
    assert marker not in everything_said(caught.value)


@pytest.mark.parametrize(
    "spoiled",
    [
        pytest.param(lambda document: "saffron-lantern", id="not JSON"),
        pytest.param(lambda document: '["saffron-lantern"]', id="not an object"),
        pytest.param(json.dumps, id="not canonical"),
        pytest.param(lambda document: canonical_json(document | {"note": "saffron-lantern"}), id="an unknown key"),
        pytest.param(lambda document: canonical_json(document | {"salts": ["saffron-lantern"]}), id="no salts"),
        pytest.param(lambda document: canonical_json(document | {"salts": []}), id="too few salts"),
        pytest.param(lambda document: canonical_json(document | {"scenarios": "saffron-lantern"}), id="no scenarios"),
        pytest.param(lambda document: canonical_json(document).replace('"tier":1', '"tier":NaN'), id="not a number"),
        pytest.param(lambda document: "[" * 100_000, id="nested without end"),
    ],
)
def test_contents_of_any_other_form_are_refused(
    spoiled, bundle, profile, scenario, resealed, opening, marker, everything_said
):
    contents = Contents(profile=profile, salts=("00" * 16,), since=(1,), scenarios=(scenario(),))
    with pytest.raises(ReservedError, match="not a set of scenarios in canonical form") as caught:
        opening(resealed(bundle, spoiled(contents.document())))
    assert marker not in everything_said(caught.value)


@pytest.mark.parametrize("change", [{"id": "forest-operations"}, {"version": "1.5.0"}])
def test_a_bundle_of_another_profile_or_version_is_refused(change, bundle, opening, profile):
    active = profile.model_copy(update=change)
    with pytest.raises(ReservedError, match=r"sealed for profile 'harbour-operations 1\.4\.0', not for") as caught:
        opening(data_of(bundle), profile=active)
    assert str(active) in str(caught.value)


@pytest.mark.requirement("SI-06")
def test_a_manifest_made_to_fit_another_profile_is_refused(bundle, forged, opening, profile):
    other = {"id": "forest-operations", "version": "2.0.0", "digest": profile.content_digest}
    with pytest.raises(ReservedError, match="another profile than the manifest says"):
        opening(forged(bundle, manifest={"profile": other}), profile=ProfileReference.model_validate(other))


def test_a_corrected_profile_of_the_same_version_still_runs_its_bundle(bundle, opening, profile):
    corrected = profile.model_copy(update={"content_digest": "sha256:" + "0" * 64})
    assert opening(data_of(bundle), profile=corrected).manifest == bundle.manifest


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("[]\n", id="not an object"),
        pytest.param("-----BEGIN AGE ENCRYPTED FILE-----\n", id="a bare age file"),
        pytest.param("[" * 100_000, id="nested without end"),
        pytest.param("\xff", id="not UTF-8"),
    ],
)
def test_what_is_no_bundle_at_all_is_refused(text):
    with pytest.raises(ReservedError, match=r"set\.bundle: it is not a sound bundle"):
        inspect(text.encode("latin-1"), "set.bundle")


def test_a_file_beyond_the_size_of_a_bundle_is_not_even_parsed():
    with pytest.raises(ReservedError, match="larger than"):
        inspect(b" " * (MAX_BUNDLE_CHARACTERS + 1), "set.bundle")


@pytest.mark.parametrize(
    "rewritten",
    [
        pytest.param(lambda text: json.dumps(json.loads(text), indent=2), id="indented"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="line ends converted"),
        pytest.param(lambda text: text.rstrip("\n"), id="last line end lost"),
        pytest.param(lambda text: text.replace('"sealed":', '"sealed":"","sealed":'), id="a key given twice"),
        pytest.param(lambda text: text.replace('"total":3', '"total":"3"'), id="a number as text"),
    ],
)
def test_a_bundle_in_any_other_form_than_the_sealed_one_is_refused(rewritten, bundle):
    with pytest.raises(ReservedError, match="not in canonical form"):
        inspect(rewritten(bundle.text()).encode(), "set.bundle")


def test_a_newer_format_is_refused_by_name(bundle):
    data = data_of(bundle).replace(b"sirocco-reserved/4", b"sirocco-reserved/5")
    with pytest.raises(ReservedError, match="format': Input should be 'sirocco-reserved/4'"):
        inspect(data, "set.bundle")


def test_no_control_character_of_a_hostile_bundle_reaches_the_terminal(bundle, forged, opening, profile):
    hostile = {"id": "\x1b[2Jx", "version": "1", "digest": profile.content_digest}
    texts = [forged(bundle, manifest={"profile": hostile}), forged(bundle, manifest={"\x1b[2J": 1})]
    for text in texts:
        with pytest.raises(ReservedError) as caught:
            opening(text)
        assert "\x1b" not in str(caught.value)


@pytest.mark.requirement("AV-19")
def test_an_opened_bundle_shows_its_manifest_only(bundle, opening, marker):
    opened = opening(data_of(bundle))
    assert marker not in repr(opened) + str(opened)
    assert bundle.manifest.sealed_digests[0] in repr(opened)


def test_opening_changes_nothing_in_what_was_given(bundle_of, scenario, opening):
    document = scenario()
    kept = deepcopy(document)
    opening(data_of(bundle_of(document)))
    assert document == kept


@pytest.mark.requirement("AV-19", "SI-07")
@settings(deadline=None)
@given(document=st.dictionaries(st.text(), json_values, max_size=4))
def test_sealed_evidence_comes_back_exactly(document, evaluator):
    sealed = sealed_evidence(document, [evaluator.recipient])
    assert open_evidence(sealed, [evaluator], "evidence") == document


@pytest.mark.parametrize("plaintext", [b"saffron-lantern", b'["saffron-lantern"]', b"\xff"])
def test_an_age_file_that_is_no_evidence_is_refused(plaintext, evaluator, marker, everything_said):
    sealed = encrypt_bytes(plaintext, [evaluator.recipient], armored=False)
    with pytest.raises(ReservedError, match="not evidence") as caught:
        open_evidence(sealed, [evaluator], "evidence")
    assert marker not in everything_said(caught.value)


def test_a_thousand_scenarios_are_sealed_and_opened_within_two_seconds_each(bundle_of, profile, evaluator, owner):
    published = list(plain_documents().values())
    documents = [published[number % len(published)] | {"id": f"withheld.{number}"} for number in range(1000)]
    begun = time.process_time()
    data = storable_text(bundle_of(*documents)).encode()
    sealed = time.process_time()
    opened = open_scenarios(data, [evaluator], profile=profile, maintainers=(owner.public,), where="bundle")
    ended = time.process_time()
    assert len(opened.documents) == 1000
    assert max(sealed - begun, ended - sealed) < 2
