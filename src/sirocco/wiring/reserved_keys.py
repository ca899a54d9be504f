"""Key files of maintainers and evaluators: reading, writing and protection."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sirocco.errors import ConfigError
from sirocco.reserved.age import KeyPair, read_identities
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.signing import Signer

PASSPHRASE = "SIROCCO_PASSPHRASE"  # noqa: S105 - the name of a variable
"""The variable with the passphrase of protected keys, so that none appears on a command line."""


@dataclass(frozen=True, slots=True)
class Maintainer:
    """A maintainer, who signs bundles and can open them."""

    signer: Signer
    identities: tuple[KeyPair, ...] = field(repr=False)

    @classmethod
    def read(cls, key: Path) -> "Maintainer":
        """The keys in the file that `sirocco reserved keygen --role maintainer` wrote, and in the one next to it."""
        pem = signing_file(key)
        signer = Signer.from_pem(file_bytes(pem, "--key"), passphrase(), pem)
        return cls(signer, identities_in(key, "--key"))

    @property
    def recipient(self) -> str:
        """The recipient to whom bundles and evidence are sealed in addition."""
        return self.identities[0].recipient


def signing_file(key: Path) -> Path:
    """The location of the signing key that belongs to a maintainer's age key."""
    return key.with_name(f"{key.stem}.signing.pem")


def passphrase() -> str:
    """The passphrase of protected keys; empty if they need none."""
    return os.environ.get(PASSPHRASE, "")


def identities_in(path: Path, flag: str) -> tuple[KeyPair, ...]:
    """The age identities in a key file."""
    return read_identities(file_bytes(path, flag).decode("utf-8", "replace"), path, passphrase())


def write_key_files(contents: Mapping[Path, bytes]) -> None:
    """Write key files that only their owner can read; a key is never overwritten."""
    if taken := [path for path in contents if path.exists()]:
        raise ConfigError(taken[0], "exists already", "choose another file: a key is never overwritten")
    for path, content in contents.items():
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except OSError as error:
            raise ConfigError(path, f"the key cannot be written: {error.strerror}", "choose another file") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
