"""age encryption: X25519 key pairs, and bytes encrypted to recipients and decrypted; only this module uses pyrage.

No message quotes a key, not even a public one: a secret key passed by mistake must not be printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyrage  # type: ignore[import-untyped]

from sirocco.errors import ReservedError

_ARMOR = "-----BEGIN AGE ENCRYPTED FILE-----"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An age identity and its recipient; only the recipient may be shown."""

    secret: str = field(repr=False)
    recipient: str

    @property
    def identity_text(self) -> str:
        """The key file, in the form that `age-keygen` writes and `age -i` reads."""
        return f"# public key: {self.recipient}\n{self.secret}\n"

    def protected_text(self, passphrase: str) -> str:
        """The key file encrypted with a passphrase, which `age -i` asks for."""
        return protected_text(self.identity_text, passphrase)


def keygen() -> KeyPair:
    """A new key pair."""
    return _key_pair(pyrage.x25519.Identity.generate())


def read_identities(text: str, where: object, passphrase: str = "") -> tuple[KeyPair, ...]:
    """The key pairs of an age key file, at least one; a passphrase opens a protected one."""
    text = unprotected_text(text, where, passphrase) if is_protected(text) else text
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    identities = [_identity(line, f"{where}:{number}") for number, line in lines if line and not line.startswith("#")]
    if not identities:
        raise ReservedError(where, "it contains no identity", "make one with `sirocco reserved keygen --out KEY`")
    return tuple(_key_pair(identity) for identity in identities)


def protected_text(text: str, passphrase: str) -> str:
    """A key file encrypted with a passphrase; guessing is slow, because age derives keys with scrypt."""
    sealed: bytes = pyrage.passphrase.encrypt(text.encode(), passphrase, armored=True)
    return sealed.decode("ascii")


def is_protected(text: str) -> bool:
    """Whether a key file is encrypted with a passphrase."""
    return text.lstrip().startswith(_ARMOR)


def unprotected_text(text: str, where: object, passphrase: str) -> str:
    """The contents of a protected key file."""
    if not passphrase:
        raise ReservedError(where, "the key is protected by a passphrase", "set SIROCCO_PASSPHRASE")
    try:
        opened: bytes = pyrage.passphrase.decrypt(text.encode(), passphrase)
        return opened.decode("utf-8")
    except (pyrage.DecryptError, UnicodeDecodeError):
        raise ReservedError(where, "the passphrase does not open the key", "check SIROCCO_PASSPHRASE") from None


def encrypt_bytes(plaintext: bytes, recipients: Sequence[str], *, armored: bool) -> bytes:
    """An age file that each of the recipients can open alone; armored, it is ASCII text."""
    if not recipients:
        raise ReservedError("recipients", "there is no recipient to seal to", "name at least one public key, age1...")
    keys = [_recipient(text, f"recipient {number}") for number, text in enumerate(recipients, start=1)]
    ciphertext: bytes = pyrage.encrypt(plaintext, keys, armored=armored)
    return ciphertext


def decrypt_bytes(ciphertext: bytes, identities: Sequence[KeyPair], where: object) -> bytes:
    """The contents of an age file, if one of the identities opens it and it is unaltered."""
    keys = [_identity(identity.secret, where) for identity in identities]
    try:
        plaintext: bytes = pyrage.decrypt(ciphertext, keys)
    except pyrage.DecryptError:
        raise ReservedError(
            where,
            "no given identity opens it, or its ciphertext was altered",
            "pass the key file whose recipient it was sealed to; if you did, get the file again from whoever sealed it",
        ) from None
    return plaintext


def distinct_recipients(texts: Sequence[str]) -> tuple[str, ...]:
    """Public keys in canonical form, each once: age also accepts capitals, which do not make a second key."""
    keys = [str(_recipient(text, f"recipient {number}")) for number, text in enumerate(texts, start=1)]
    return tuple(dict.fromkeys(keys))


def _key_pair(identity: pyrage.x25519.Identity) -> KeyPair:
    return KeyPair(secret=str(identity), recipient=str(identity.to_public()))


def _identity(text: str, where: object) -> pyrage.x25519.Identity:
    try:
        return pyrage.x25519.Identity.from_str(text)
    except pyrage.IdentityError:
        raise ReservedError(
            where,
            "this is not an age X25519 identity",
            "use a key file of `sirocco reserved keygen` or `age-keygen`",
        ) from None


def _recipient(text: str, where: object) -> pyrage.x25519.Recipient:
    try:
        return pyrage.x25519.Recipient.from_str(text.strip())
    except pyrage.RecipientError:
        raise ReservedError(
            where,
            "this is not an age X25519 recipient",
            "pass the public key that `sirocco reserved keygen` prints, age1..., never the secret one",
        ) from None
