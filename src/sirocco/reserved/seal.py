"""Sealing, the maintainer's side: scenario documents become one bundle that only the named recipients can open."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.reserved.age import encrypt_bytes
from sirocco.reserved.bundle import (
    MAX_BUNDLE_CHARACTERS,
    SALT_BYTES,
    Bundle,
    Contents,
    Manifest,
    ProfileReference,
    commitment,
    counts,
)

_WHERE = "reserved scenarios"


def seal(
    scenarios: Sequence[Mapping[str, Any]],
    *,
    profile: ProfileReference,
    recipients: Sequence[str],
    salt: Callable[[], bytes],
) -> Bundle:
    """A bundle that commits to every scenario and shows none (AV-19, SI-06); messages name scenarios by number only.

    The documents are sealed as given; that they are valid scenarios of the profile is the caller's to check before.
    `salt` is a source of fresh random bytes.
    """
    if not scenarios:
        raise ReservedError(_WHERE, "there is no scenario to seal", "name at least one scenario file")
    documents = [_plain_document(scenario, number) for number, scenario in enumerate(scenarios, start=1)]
    public = counts(documents, _WHERE)
    contents = _contents(documents, _salts(len(documents), salt), profile)
    sealed = encrypt_bytes(contents.text().encode(), recipients, armored=True).decode("ascii")
    manifest = Manifest(
        profile=profile, counts=public, commitments=contents.commitments(), sealed_digest=digest_of_text(sealed)
    )
    bundle = Bundle(manifest=manifest, sealed=sealed)
    if len(bundle.text()) > MAX_BUNDLE_CHARACTERS:
        raise ReservedError(_WHERE, "together they are too large for one bundle", "seal them as several bundles")
    return bundle


def _contents(documents: Sequence[dict[str, Any]], salts: Sequence[str], profile: ProfileReference) -> Contents:
    # Sorted by commitment, which is random: a place in the bundle says nothing about names or authorship.
    pairs = sorted(zip(documents, salts, strict=True), key=lambda pair: commitment(*pair))
    return Contents(
        profile=profile, salts=tuple(salt for _, salt in pairs), scenarios=tuple(document for document, _ in pairs)
    )


def _salts(number: int, source: Callable[[], bytes]) -> list[str]:
    salts = [source() for _ in range(number)]
    if min(map(len, salts)) < SALT_BYTES or len(set(salts)) < number:
        raise ReservedError(
            _WHERE,
            "the source of salts is not random: a salt is short or was given twice",
            f"use one that gives {SALT_BYTES} or more fresh random bytes each time",
        )
    return [salt.hex() for salt in salts]


def _plain_document(scenario: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The document, when it is JSON data that reads back as it was written."""
    document = {"scenarios": [dict(scenario)]}
    try:
        is_plain = from_json(canonical_json(document)) == document
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        raise ReservedError(
            _WHERE,
            f"scenario {number} holds a value that JSON has no form for",
            "quote dates, use text for keys, and check the file with `sirocco validate`",
        )
    return document["scenarios"][0]
