"""Signatures of maintainers: Ed25519 keys in files, their public halves as one line of text, and what they signed.

No message quotes a key: a private one passed by mistake must not be printed.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_ssh_public_key,
)

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.noun import Noun
from sirocco.reserved.age import is_protected, protected_text, unprotected_text

_PUBLIC = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]+={0,2}")
_NEW_KEY = "make one with `sirocco reserved keygen --role maintainer --out KEY`"


@dataclass(frozen=True, slots=True)
class Signer:
    """A maintainer's private key; only its public half may be shown."""

    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> Self:
        """A new key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes, passphrase: str, where: object) -> Self:
        """The key in a PEM file, which may be protected by a passphrase, through age or the format itself."""
        text = pem.decode("utf-8", "replace")
        if is_protected(text):
            pem, passphrase = unprotected_text(text, where, passphrase).encode(), ""
        password = passphrase.encode() or None
        try:
            key = load_pem_private_key(pem, password)
        except TypeError:
            problem = "is protected by a passphrase" if password is None else "is not protected by a passphrase"
            raise ReservedError(where, f"the key {problem}", "set SIROCCO_PASSPHRASE accordingly") from None
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            problem = "this is not an Ed25519 key in PEM, or it has another passphrase"
            raise ReservedError(where, problem, _NEW_KEY)
        return cls(key)

    def pem(self, passphrase: str = "") -> bytes:
        """The key file; it is protected like the age key next to it, since the weaker one would give both away."""
        plain = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return protected_text(plain.decode(), passphrase).encode() if passphrase else plain

    @property
    def public(self) -> str:
        """The public half in the form in which a profile lists it, which is OpenSSH's."""
        return self.key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


class Signature(Noun):
    """The signer of a document, and the proof."""

    key: str
    value: str

    @classmethod
    def from_signer(cls, signer: Signer, purpose: str, document: Mapping[str, Any]) -> Self:
        """Sign a document for one purpose: a signature is never valid for another one."""
        proof = signer.key.sign(_signed_bytes(purpose, document))
        return cls(key=signer.public, value=b64encode(proof).decode())

    def holds(self, purpose: str, document: Mapping[str, Any]) -> bool:
        """Whether the named key signed exactly this document for this purpose."""
        key = public_key(self.key)
        try:
            proof = b64decode(self.value, validate=True)
            if key is None or b64encode(proof).decode() != self.value:
                return False
            key.verify(proof, _signed_bytes(purpose, document))
        except (ValueError, InvalidSignature):
            return False
        return True

    def require(self, purpose: str, document: Mapping[str, Any], maintainers: Collection[str], where: object) -> None:
        """Raise ReservedError unless one of the maintainers signed the document (SI-06)."""
        if self.key not in maintainers:
            problem = "it is signed by somebody who is not a maintainer of the profile"
            remedy = "get it from a maintainer; the profile names their keys under reserved.maintainers"
            raise ReservedError(where, problem, remedy)
        if not self.holds(purpose, document):
            problem = "its signature does not hold: it was altered after it was signed"
            raise ReservedError(where, problem, "get it again from the profile's maintainer")


def public_key(text: str) -> Ed25519PublicKey | None:
    """The key that a line of text contains; None if it contains none."""
    if not _PUBLIC.fullmatch(text):
        return None
    try:
        key = load_ssh_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PublicKey) else None


def _signed_bytes(purpose: str, document: Mapping[str, Any]) -> bytes:
    return canonical_json({"purpose": purpose, "document": document}).encode()
