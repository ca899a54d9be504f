"""The evaluator's key, with which every run is signed: Ed25519 in PEM, given or made on first use (SI-10)."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from sirocco.errors import ConfigError

_NEW_KEY = "make one with `openssl genpkey -algorithm ed25519 -out FILE`"


def default_key_file() -> Path:
    """Where the key of the evaluator on this machine is kept."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "sirocco" / "evaluator.pem"


def signing_key(given: Path | None, warn: Callable[[str], None] = lambda _: None) -> Ed25519PrivateKey:
    """The key to sign with: the given one, or the evaluator's own, which is made if there is none yet.

    If it cannot be stored, the run is signed with a throwaway key: that proves it unchanged, but nobody vouches for it.
    """
    file = given or default_key_file()
    if given is None and (problem := _make_key(file)):
        warn(f"no evaluator vouches for this run: {problem}; --evaluator-key FILE gives a key, {_NEW_KEY}")
        return Ed25519PrivateKey.generate()
    key = _private_key(file)
    if key is None:
        raise ConfigError(file, "not an Ed25519 key in PEM without a password", _NEW_KEY)
    return key


def _make_key(file: Path) -> str:
    """Make the key unless there is one; returns the reason if it cannot be stored."""
    key = Ed25519PrivateKey.generate()
    try:
        if file.exists():
            return ""
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _put_in_place(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.with_suffix(".pub").write_bytes(
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        )
    except FileExistsError:
        return ""  # Another run has just made it.
    except OSError as error:
        return f"a key cannot be kept in {file} ({error.strerror})"
    return ""


def _put_in_place(file: Path, content: bytes) -> None:
    """Write a file that nobody else can read, complete as soon as it exists; FileExistsError if it already does."""
    with NamedTemporaryFile(dir=file.parent, prefix=".key-") as made:
        made.write(content)
        made.flush()
        os.link(made.name, file)


def _private_key(file: Path) -> Ed25519PrivateKey | None:
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except OSError as error:
        raise ConfigError(file, f"the key cannot be read: {error.strerror}", _NEW_KEY) from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PrivateKey) else None


def public_key(file: Path) -> Ed25519PublicKey:
    """The public half of a key file that holds either half."""
    key = _private_key(file)
    if key is not None:
        return key.public_key()
    try:
        public = load_pem_public_key(file.read_bytes())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise ConfigError(file, "not an Ed25519 key in PEM", "give the evaluator's public key")
    return public
