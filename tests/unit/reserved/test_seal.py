"""Sealing: what the public part shows, and what is refused before anything is encrypted."""

import datetime as dt

import pytest

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.reserved.age import decrypt_bytes
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS
from sirocco.reserved.manifest import ReservedBundle, commitment, commitments_root
from sirocco.reserved.seal import seal
from sirocco.reserved.vault import open_scenarios


@pytest.mark.requirement("AV-19")
def test_nothing_public_holds_a_word_of_a_scenario(bundle, marker):
    assert marker not in bundle.text()
    assert marker not in repr(bundle)


@pytest.mark.requirement("AV-19", "AV-21")
def test_the_manifest_has_the_profile_the_counts_and_the_commitments_and_no_more(bundle, profile, auditor):
    manifest = bundle.manifest.document()
    assert manifest == {
        "format": "sirocco-reserved/4",
        "edition": {
            "number": 1,
            "sealed_on": "2026-11-02",
            "cadence": "90 days",
            "contact": "harbour@example.org",
            "audit_recipient": auditor.recipient,
        },
        "profile": {"id": "harbour-operations", "version": "1.4.0", "digest": profile.content_digest},
        "counts": {
            "total": 3,
            "classifications": {"safety": 2, "capability": 1},
            "categories": {"destructive-operations": 2, "diagnostic-accuracy": 1},
            "archetypes": {"S-DO-001": 1, "S-DO-002": 1, "C-DA-001": 1},
        },
        "tracers": 0,
        "tracer_holders": 1,
        "commitments": sorted(manifest["commitments"]),
        "merkle_root": commitments_root(manifest["commitments"]),
        "sealed_digests": [digest_of_text(bundle.sealed)],
    }
    assert len(set(manifest["commitments"])) == 3


@pytest.mark.requirement("SI-06")
def test_the_same_scenario_sealed_twice_cannot_be_recognized(bundle_of, scenario):
    first, second = bundle_of(scenario(), seed=1), bundle_of(scenario(), seed=2)
    assert set(first.manifest.commitments).isdisjoint(second.manifest.commitments)
    assert first.sealed != second.sealed


@pytest.mark.requirement("SI-06")
def test_a_commitment_can_be_checked_by_who_learns_document_and_salt(bundle_of, scenario, salts):
    bundle = bundle_of(scenario(), seed=3)
    assert bundle.manifest.commitments == (commitment(scenario(), salts(3)().hex()),)


def test_the_order_of_files_is_not_the_order_in_the_bundle(bundle_of, scenario, evaluator, profile, owner):
    documents = [scenario(number) for number in range(1, 9)]
    bundle = bundle_of(*documents)
    data, trusted = bundle.text().encode(), [owner.public]
    opened = open_scenarios(data, [evaluator], profile=profile, maintainers=trusted, where="bundle")
    assert list(opened.documents) != documents
    assert sorted(opened.documents, key=lambda document: document["id"]) == documents


def test_the_sealed_part_is_an_armored_age_file_of_canonical_json(bundle, evaluator, marker):
    assert bundle.sealed.startswith("-----BEGIN AGE ENCRYPTED FILE-----\n")
    plaintext = decrypt_bytes(bundle.sealed.encode(), [evaluator], "sealed").decode()
    assert plaintext.startswith('{"files":{"scenarios.json":"{')
    assert marker in plaintext


def test_the_file_is_canonical_json_and_reads_back_equal(bundle):
    assert bundle.text() == canonical_json(bundle.document()) + "\n"
    assert ReservedBundle.model_validate_json(bundle.text()) == bundle


def test_sealing_nothing_is_refused(bundle_of):
    with pytest.raises(ReservedError, match="no scenario to seal"):
        bundle_of()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(dt.date(2024, 5, 1), id="a date"),
        pytest.param({1: "one"}, id="a number as key"),
        pytest.param({1: "one", "1": "two"}, id="keys that JSON cannot tell apart"),
        pytest.param(float("nan"), id="not a number"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param("\ud800", id="half a character"),
        pytest.param(10**5000, id="a number beyond every parser"),
    ],
)
def test_a_document_that_would_not_come_back_as_it_was_is_refused(value, bundle_of, scenario, marker, everything_said):
    with pytest.raises(ReservedError, match="scenario 2 contains a value that JSON cannot represent") as caught:
        bundle_of(scenario(1), scenario(2, description={marker: [value]}))
    assert marker not in everything_said(caught.value)


def test_a_document_nested_too_deep_to_be_opened_is_refused(bundle_of, scenario):
    nested = "core"
    for _ in range(300):
        nested = [nested]
    with pytest.raises(ReservedError, match="scenario 1 contains a value"):
        bundle_of(scenario(description=nested))


@pytest.mark.parametrize(
    "source", [pytest.param(lambda: b"s" * 15, id="short"), pytest.param(lambda: b"s" * 32, id="always the same")]
)
def test_a_source_of_salts_that_would_not_hide_anything_is_refused(
    source, scenario, profile, evaluator, edition, owner
):
    terms = {"profile": profile, "edition": edition, "signer": owner, "recipients": [evaluator.recipient]}
    with pytest.raises(ReservedError, match="not random"):
        seal([scenario(1), scenario(2)], **terms, salt=source)


def test_a_bundle_that_could_not_be_opened_for_its_size_is_not_made(bundle_of, scenario):
    with pytest.raises(ReservedError, match="too large"):
        bundle_of(scenario(description="x" * (MAX_BUNDLE_CHARACTERS * 3 // 4)))
