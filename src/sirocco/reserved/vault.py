"""Opening, the evaluator's side: what is sealed is decrypted in memory only, and checked before anything of it is used.

Nothing here writes; errors name what does not fit and never quote what was sealed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.reserved.age import KeyPair, decrypt_bytes
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS, Bundle, Contents, Manifest, ProfileReference, counts

_FETCH_AGAIN = "get the bundle again from the profile's maintainer, and copy it without converting line ends"


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """The reserved scenarios in clear, in memory only; its repr shows the manifest."""

    manifest: Manifest
    documents: tuple[Mapping[str, Any], ...] = field(repr=False)


def inspect(text: str, where: object) -> Manifest:
    """The manifest of a bundle, for which no key is needed; refuses a bundle that does not agree with itself."""
    return _bundle(text, where).manifest


def open_bundle(text: str, identities: Sequence[KeyPair], *, profile: ProfileReference, where: object) -> OpenedBundle:
    """The scenarios of a bundle, when they are the ones committed to and belong to this profile (AV-19, SI-06).

    The profile's digest is not compared: files may be corrected within a version, and the manifest joins them later.
    """
    bundle = _bundle(text, where)
    manifest = bundle.manifest
    if (manifest.profile.id, manifest.profile.version) != (profile.id, profile.version):
        raise ReservedError(
            where,
            f"it was sealed for profile {str(manifest.profile)!r}, not for {str(profile)!r}",
            "run it with the profile it belongs to, or get the bundle of this version",
        )
    contents = _contents(decrypt_bytes(bundle.sealed.encode(), identities, where), where)
    if contents.commitments() != manifest.commitments:
        raise ReservedError(where, "the sealed scenarios are not the ones that the manifest commits to", _FETCH_AGAIN)
    if contents.profile != manifest.profile:
        raise ReservedError(where, "the scenarios were sealed for another profile than the manifest says", _FETCH_AGAIN)
    if counts(contents.scenarios, where) != manifest.counts:
        raise ReservedError(where, "the manifest's counts are not those of the sealed scenarios", _FETCH_AGAIN)
    return OpenedBundle(manifest=manifest, documents=contents.scenarios)


def open_evidence(sealed: bytes, identities: Sequence[KeyPair], where: object) -> dict[str, Any]:
    """The document that `disclosure.sealed_evidence` sealed, in memory only."""
    plaintext = decrypt_bytes(sealed, identities, where)
    try:
        document = from_json(plaintext)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ReservedError(where, "what it holds is not evidence", "restore the file from a copy")
    return document


def _bundle(text: str, where: object) -> Bundle:
    if len(text) > MAX_BUNDLE_CHARACTERS:
        raise ReservedError(
            where, f"it is larger than the {MAX_BUNDLE_CHARACTERS} characters of a bundle", "check that it is a bundle"
        )
    try:
        bundle = Bundle.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or "bundle"
        problem = first["msg"].removeprefix("Value error, ")
        raise ReservedError(where, f"it is not a sound bundle: {path!r}: {problem}", _FETCH_AGAIN) from None
    if bundle.text() != text:
        raise ReservedError(where, "it was changed after it was sealed: it is not in canonical form", _FETCH_AGAIN)
    return bundle


def _contents(plaintext: bytes, where: object) -> Contents:
    try:
        contents = Contents.model_validate_json(plaintext)
        is_canonical = contents.text().encode() == plaintext
    except ValueError:
        is_canonical = False
    if not is_canonical:
        raise ReservedError(where, "what was sealed is not a set of scenarios in canonical form", _FETCH_AGAIN)
    return contents
