"""Sealing, the maintainer's side: scenario documents become one bundle that only the named recipients can open."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.reserved.bundle import sealed_files, signed_manifest, storable_text
from sirocco.reserved.manifest import (
    SALT_BYTES,
    Contents,
    Edition,
    Manifest,
    ProfileReference,
    ReservedBundle,
    commitment,
    commitments_root,
    counts,
)
from sirocco.reserved.signing import Signer

SCENARIOS = "scenarios.json"
"""The file of the bundle that holds the scenarios and their salts."""
_WHERE = "reserved scenarios"


def seal(
    scenarios: Sequence[Mapping[str, Any]],
    *,
    profile: ProfileReference,
    edition: Edition,
    recipients: Sequence[str],
    signer: Signer,
    salt: Callable[[], bytes],
    since: Sequence[int] = (),
) -> ReservedBundle:
    """A bundle that commits to every scenario and shows none (AV-19, SI-06); messages name scenarios by number only.

    The documents are sealed as given; that they are valid scenarios of the profile is the caller's to check before.
    The maintainer can open it too. `salt` is a source of fresh random bytes; `since` says in which edition each
    scenario was first sealed, and is this one for all unless it is given.
    """
    if not scenarios:
        raise ReservedError(_WHERE, "there is no scenario to seal", "name at least one scenario file")
    documents = [_plain_document(scenario, number) for number, scenario in enumerate(scenarios, start=1)]
    public = counts(documents, _WHERE)
    first = since or [edition.number] * len(documents)
    contents = _contents(list(zip(documents, _salts(len(documents), salt), first, strict=True)), profile)
    sealed = sealed_files({SCENARIOS: contents.text().encode()}, (*recipients, edition.audit_recipient), "reserved")
    manifest = Manifest(
        profile=profile,
        edition=edition,
        counts=public,
        commitments=contents.commitments(),
        merkle_root=commitments_root(contents.commitments()),
        sealed_digest=digest_of_text(sealed),
    )
    signature = signed_manifest(manifest, "reserved", signer)
    bundle = ReservedBundle(manifest=manifest, signature=signature, sealed=sealed)
    storable_text(bundle)
    return bundle


def _contents(rows: Sequence[tuple[dict[str, Any], str, int]], profile: ProfileReference) -> Contents:
    # Sorted by commitment, which is random: a place in the bundle says nothing about names or authorship.
    placed = sorted(rows, key=lambda row: commitment(row[0], row[1]))
    documents, salts, since = zip(*placed, strict=True)
    return Contents(profile=profile, salts=salts, scenarios=documents, since=since)


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
