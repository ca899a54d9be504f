"""The bundle: files in one signed file that only its recipients can open, with a public part that anyone can read.

Everything withheld is distributed in this form: scenarios (`kind` reserved) and material that probes are made from
(material). Everything happens in memory, and errors never quote what was sealed.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, StringConstraints, ValidationError, model_validator

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.oasis.noun import Noun
from sirocco.reserved.age import KeyPair, decrypt_bytes, encrypt_bytes
from sirocco.reserved.signing import Signature, Signer

Format = Literal["sirocco-reserved/4"]
FORMAT: Format = "sirocco-reserved/4"
Kind = Literal["reserved", "material"]
MAX_BUNDLE_CHARACTERS = 16 * 1024 * 1024
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
_FETCH_AGAIN = "get the bundle again from the profile's maintainer, and copy it without converting line ends"
PURPOSE = "bundle"


class PublicPart(Noun):
    """The part of a bundle that anyone may read."""

    sealed_digests: tuple[Digest, ...]
    """The digest of each bundle's sealed part: one, unless evaluators get different ones under one public part."""
    about: Mapping[str, Any] = {}
    """The maintainer's statement about it; nothing depends on it."""


class Bundle(Noun):
    """One file: the public part, the sealed files, and the signature that covers both."""

    format: Format = FORMAT
    kind: Kind
    manifest: PublicPart
    signature: Signature
    sealed: str

    @model_validator(mode="after")
    def _manifest_belongs_to_the_sealed_part(self) -> Self:
        if digest_of_text(self.sealed) not in self.manifest.sealed_digests:
            raise ValueError("the sealed part was altered: it does not have a digest that the manifest states")
        return self

    def text(self) -> str:
        """The only form in which the bundle may be stored, so that no byte of it can change unnoticed."""
        return canonical_json(self.document()) + "\n"


class _Files(Noun):
    """What is encrypted."""

    model_config = ConfigDict(hide_input_in_errors=True)

    format: Format = FORMAT
    kind: Kind
    files: dict[str, str] = Field(repr=False)

    def text(self) -> str:
        return canonical_json(self.document())


AnyBundle = TypeVar("AnyBundle", bound=Bundle)


def seal_files(
    files: Mapping[str, bytes],
    recipients: Sequence[str],
    signer: Signer,
    kind: Kind,
    about: Mapping[str, Any] | None = None,
) -> bytes:
    """A bundle of text files that each recipient can open independently, signed by a maintainer."""
    sealed = sealed_files(files, recipients, kind)
    manifest = PublicPart(sealed_digests=(digest_of_text(sealed),), about=about or {})
    signature = signed_manifest(manifest, kind, signer)
    return storable_text(Bundle(kind=kind, manifest=manifest, signature=signature, sealed=sealed)).encode()


def open_bundle(
    data: bytes,
    identities: Sequence[KeyPair],
    kind: Kind,
    *,
    maintainers: Collection[str],
    where: object = "bundle",
) -> dict[str, bytes]:
    """The files of a bundle, in memory only, if one of the maintainers signed it and one of the identities opens it."""
    return opened_files(read_bundle(Bundle, data, where), identities, kind, maintainers=maintainers, where=where)


def sealed_files(files: Mapping[str, bytes], recipients: Sequence[str], kind: Kind) -> str:
    """Files encrypted to recipients, as armored text."""
    try:
        texts = {name: content.decode("utf-8") for name, content in files.items()}
    except UnicodeDecodeError:
        raise ReservedError("bundle", "a file that is to be sealed is not UTF-8 text", "seal text files only") from None
    return encrypt_bytes(_Files(kind=kind, files=texts).text().encode(), recipients, armored=True).decode("ascii")


def signed_manifest(manifest: PublicPart, kind: Kind, signer: Signer) -> Signature:
    """The maintainer's signature over the public part, which covers the sealed part by its digest."""
    return Signature.from_signer(signer, PURPOSE, _statement(manifest, kind))


def require_signature(
    manifest: PublicPart, signature: Signature, kind: Kind, maintainers: Collection[str], where: object
) -> None:
    """Raise ReservedError unless a maintainer signed the public part (SI-06)."""
    signature.require(PURPOSE, _statement(manifest, kind), maintainers, where)


def storable_text(bundle: Bundle) -> str:
    """A bundle's text; ReservedError if it is too large to be opened."""
    text = bundle.text()
    if len(text) > MAX_BUNDLE_CHARACTERS:
        raise ReservedError("bundle", "the files are together too large for one bundle", "seal them as several bundles")
    return text


def read_bundle(form: type[AnyBundle], data: bytes, where: object) -> AnyBundle:
    """A consistent bundle, for which no key is needed; who signed it is not checked here."""
    if len(data) > 4 * MAX_BUNDLE_CHARACTERS or len(text := data.decode("utf-8", "replace")) > MAX_BUNDLE_CHARACTERS:
        raise ReservedError(
            where, f"it is larger than the {MAX_BUNDLE_CHARACTERS} characters of a bundle", "check that it is a bundle"
        )
    try:
        bundle = form.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or "bundle"
        problem = first["msg"].removeprefix("Value error, ")
        raise ReservedError(where, f"it is not a sound bundle: {path!r}: {problem}", _FETCH_AGAIN) from None
    if bundle.text() != text:
        raise ReservedError(where, "it was changed after it was sealed: it is not in canonical form", _FETCH_AGAIN)
    return bundle


def opened_files(
    bundle: Bundle, identities: Sequence[KeyPair], kind: Kind, *, maintainers: Collection[str], where: object
) -> dict[str, bytes]:
    """The files of a bundle whose signature is valid; the encrypted part must be of the same kind."""
    if bundle.kind != kind:
        raise ReservedError(where, f"it is a bundle of kind {bundle.kind}, not {kind}", "give it where it belongs")
    require_signature(bundle.manifest, bundle.signature, kind, maintainers, where)
    plaintext = decrypt_bytes(bundle.sealed.encode(), identities, where)
    try:
        found = _Files.model_validate_json(plaintext)
        is_sound = found.kind == kind and found.text().encode() == plaintext
    except ValueError:
        is_sound = False
    if not is_sound:
        raise ReservedError(where, "what was sealed is not a set of files in canonical form", _FETCH_AGAIN)
    return {name: text.encode() for name, text in found.files.items()}


def _statement(manifest: PublicPart, kind: Kind) -> dict[str, Any]:
    return {"format": FORMAT, "kind": kind, "manifest": manifest.document()}
