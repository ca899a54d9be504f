"""Sealed material: files of words and forms that only an evaluator can open, so that nobody can rehearse their probes.

They are data, opened in memory and never disclosed; errors name a file by its number and quote nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.oasis.noun import Noun
from sirocco.reserved.age import KeyPair, decrypt_bytes, encrypt_bytes
from sirocco.reserved.bundle import MAX_BUNDLE_CHARACTERS

Format = Literal["sirocco-material/1"]
FORMAT: Format = "sirocco-material/1"
_FETCH_AGAIN = "get the bundle again from whoever sealed it, and copy it without converting line ends"


class MaterialBundle(Noun):
    """One file: what is sealed, and its digest."""

    model_config = ConfigDict(hide_input_in_errors=True)

    format: Format = FORMAT
    sealed_digest: str
    sealed: str = Field(repr=False)

    @model_validator(mode="after")
    def _digest_belongs_to_the_sealed_part(self) -> Self:
        if self.sealed_digest != digest_of_text(self.sealed):
            raise ValueError("the sealed part does not have the digest that is stated")
        return self


def seal_material(files: Mapping[str, str], recipients: Sequence[str]) -> str:
    """The text of a bundle that each of the recipients can open alone."""
    if not files:
        raise ReservedError("material", "there is no file to seal", "name a folder with files of material")
    plaintext = canonical_json({"format": FORMAT, "files": dict(files)})
    sealed = encrypt_bytes(plaintext.encode(), recipients, armored=True).decode("ascii")
    text = canonical_json(MaterialBundle(sealed_digest=digest_of_text(sealed), sealed=sealed).document()) + "\n"
    if len(text) > MAX_BUNDLE_CHARACTERS:
        raise ReservedError("material", "the files are too large for one bundle", "seal them as several bundles")
    return text


def open_material(text: str, identities: Sequence[KeyPair], where: object) -> dict[str, str]:
    """The files of a bundle by their names, in memory only."""
    try:
        bundle = MaterialBundle.model_validate_json(text)
    except ValidationError:
        raise ReservedError(where, "it is not a sound bundle of material", _FETCH_AGAIN) from None
    found = from_json(decrypt_bytes(bundle.sealed.encode(), identities, where))
    files = found.get("files") if isinstance(found, dict) and found.get("format") == FORMAT else None
    is_text = isinstance(files, dict) and all(isinstance(part, str) for pair in files.items() for part in pair)
    if not isinstance(files, dict) or not is_text:
        raise ReservedError(where, "what was sealed is no material", "seal a folder with `sirocco material seal`")
    return files
