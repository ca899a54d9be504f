"""Sealing, the maintainer's side: scenario documents become bundles that only the named recipients can open."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.reserved.bundle import sealed_files, signed_manifest, storable_text
from sirocco.reserved.manifest import (
    SALT_BYTES,
    Contents,
    Counts,
    Edition,
    Manifest,
    ProfileReference,
    ReservedBundle,
    commitment,
    commitments_root,
    counts,
)
from sirocco.reserved.signing import Signer
from sirocco.reserved.tracers import distinct_tracers

SCENARIOS = "scenarios.json"
"""The file in the bundle that contains the scenarios and their salts."""
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
    tracers: Sequence[Sequence[Mapping[str, Any]]] = (),
    tracer_holders: int = 1,
) -> tuple[ReservedBundle, ...]:
    """A bundle for all recipients, or with tracers one for each, that reveals nothing of its contents (AV-19).

    The documents are sealed verbatim; the caller must check beforehand that they are valid scenarios of the profile,
    and messages name them by number only. The maintainer can open every bundle. `salt` is a source of fresh random
    bytes; `since` says in which edition each scenario was first sealed, by default this one; `tracers` are the
    scenarios that each recipient gets alone, or shares with others so that each has the given number of holders.
    Nothing in a bundle reveals which of its scenarios they are.
    """
    if not scenarios:
        raise ReservedError(_WHERE, "there is no scenario to seal", "name at least one scenario file")
    given = [*scenarios, *distinct_tracers(tracers)]
    documents = [_plain_document(scenario, number) for number, scenario in enumerate(given, start=1)]
    counts(documents, _WHERE)
    first = [*(since or [edition.number] * len(scenarios)), *[edition.number] * (len(given) - len(scenarios))]
    rows = list(zip(documents, _salts(len(documents), salt), first, strict=True))
    common, own = rows[: len(scenarios)], {row[0]["id"]: row for row in rows[len(scenarios) :]}
    contents = [_contents([*common, *(own[one["id"]] for one in share)], profile) for share in tracers or [()]]
    audiences = [(one,) for one in recipients] if tracers else [tuple(recipients)]
    auditor = edition.audit_recipient
    sealed = [
        sealed_files({SCENARIOS: one.text().encode()}, (*audience, auditor), "reserved")
        for one, audience in zip(contents, audiences, strict=True)
    ]
    commitments = sorted({found for one in contents for found in one.commitments()})
    manifest = Manifest(
        profile=profile,
        edition=edition,
        counts=_equal_counts(contents),
        tracers=len(tracers[0]) if tracers else 0,
        tracer_holders=tracer_holders if tracers else 1,
        commitments=tuple(commitments),
        merkle_root=commitments_root(commitments),
        sealed_digests=tuple(sorted(map(digest_of_text, sealed))),
    )
    signature = signed_manifest(manifest, "reserved", signer)
    bundles = tuple(ReservedBundle(manifest=manifest, signature=signature, sealed=one) for one in sealed)
    for bundle in bundles:
        storable_text(bundle)
    return bundles


def _equal_counts(contents: Sequence[Contents]) -> Counts:
    """The counts that every bundle must have, so that all evaluators' runs cover the same."""
    found, *others = [counts(one.scenarios, _WHERE) for one in contents]
    if any(other != found for other in others):
        problem = "evaluators would get different numbers of scenarios"
        raise ReservedError(_WHERE, problem, "give each as many tracers of every archetype as the others")
    return found


def _contents(rows: Sequence[tuple[dict[str, Any], str, int]], profile: ProfileReference) -> Contents:
    # Sorted by commitment, which is random: the position in the bundle reveals nothing about names or authorship.
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
    """The document, if it is JSON data that reads back exactly as it was written."""
    document = {"scenarios": [dict(scenario)]}
    try:
        is_plain = from_json(canonical_json(document)) == document
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        raise ReservedError(
            _WHERE,
            f"scenario {number} contains a value that JSON cannot represent",
            "quote dates, use text for keys, and check the file with `sirocco validate`",
        )
    return document["scenarios"][0]
