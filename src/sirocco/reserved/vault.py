"""Opening, the evaluator's side: sealed files are decrypted in memory only, and checked before anything is used.

Nothing here writes to disk; errors name what is inconsistent and never quote what was sealed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.reserved.age import KeyPair, decrypt_bytes
from sirocco.reserved.bundle import opened_files, read_bundle
from sirocco.reserved.manifest import (
    Contents,
    Manifest,
    ProfileReference,
    ReservedBundle,
    SignedManifest,
    commitment,
    counts,
)
from sirocco.reserved.seal import SCENARIOS

_FETCH_AGAIN = "get the bundle again from the profile's maintainer, and copy it without converting line ends"


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """The decrypted reserved scenarios with their salts, in memory only; its repr shows the manifest."""

    manifest: Manifest
    documents: tuple[Mapping[str, Any], ...] = field(repr=False)
    salts: tuple[str, ...] = field(repr=False)
    since: tuple[int, ...] = field(repr=False)

    @property
    def commitments(self) -> tuple[str, ...]:
        """The commitment to each scenario; with tracers, the manifest has others too."""
        return tuple(map(commitment, self.documents, self.salts))


def inspect(data: bytes, where: object) -> SignedManifest:
    """The manifest of a bundle, for which no key is needed; refuses an inconsistent bundle."""
    bundle = read_bundle(ReservedBundle, data, where)
    return SignedManifest(manifest=bundle.manifest, signature=bundle.signature)


def open_scenarios(
    data: bytes,
    identities: Sequence[KeyPair],
    *,
    profile: ProfileReference,
    maintainers: Collection[str],
    where: object,
) -> OpenedBundle:
    """The scenarios of a bundle that a maintainer of this profile signed, if they are the ones committed to.

    The profile's digest is not compared: files may be corrected within a version, and the manifest joins them later.
    Nothing is used before everything is consistent (AV-19, SI-06).
    """
    bundle = read_bundle(ReservedBundle, data, where)
    manifest = bundle.manifest
    if (manifest.profile.id, manifest.profile.version) != (profile.id, profile.version):
        raise ReservedError(
            where,
            f"it was sealed for profile {str(manifest.profile)!r}, not for {str(profile)!r}",
            "run it with the profile it belongs to, or get the bundle of this version",
        )
    files = opened_files(bundle, identities, "reserved", maintainers=maintainers, where=where)
    contents = _contents(files.get(SCENARIOS, b""), where)
    found = contents.commitments()
    if list(found) != sorted(found) or not set(found) <= set(manifest.commitments):
        raise ReservedError(where, "the sealed scenarios are not the ones that the manifest commits to", _FETCH_AGAIN)
    if contents.profile != manifest.profile:
        raise ReservedError(where, "the scenarios were sealed for another profile than the manifest says", _FETCH_AGAIN)
    if counts(contents.scenarios, where) != manifest.counts:
        raise ReservedError(where, "the manifest's counts are not those of the sealed scenarios", _FETCH_AGAIN)
    return OpenedBundle(manifest, contents.scenarios, contents.salts, contents.since)


def open_evidence(sealed: bytes, identities: Sequence[KeyPair], where: object) -> dict[str, Any]:
    """The document that `disclosure.sealed_evidence` sealed, in memory only."""
    plaintext = decrypt_bytes(sealed, identities, where)
    try:
        document = from_json(plaintext)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ReservedError(where, "its content is not evidence", "restore the file from a copy")
    return document


def _contents(plaintext: bytes, where: object) -> Contents:
    try:
        contents = Contents.model_validate_json(plaintext)
        is_canonical = contents.text().encode() == plaintext
    except ValueError:
        is_canonical = False
    if not is_canonical:
        raise ReservedError(where, "what was sealed is not a set of scenarios in canonical form", _FETCH_AGAIN)
    return contents
