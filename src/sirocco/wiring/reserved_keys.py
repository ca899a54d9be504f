"""Keys of maintainers and evaluators in files: how they are read, written and protected."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sirocco.errors import ConfigError
from sirocco.reserved.age import KeyPair, read_identities
from sirocco.reserved.phase import file_bytes
from sirocco.reserved.signing import Signer

PASSPHRASE = "SIROCCO_PASSPHRASE"  # noqa: S105 - the name of a variable
"""The variable that opens protected keys, so that no passphrase stands on a command line."""


@dataclass(frozen=True, slots=True)
class Maintainer:
    """Who signs bundles and can open them."""

    signer: Signer
    identities: tuple[KeyPair, ...] = field(repr=False)

    @classmethod
    def read(cls, key: Path) -> "Maintainer":
        """The keys that `sirocco reserved keygen --role maintainer` put into a file and the one beside it."""
        pem = signing_file(key)
        signer = Signer.from_pem(file_bytes(pem, "--key"), passphrase(), pem)
        return cls(signer, identities_in(key, "--key"))

    @property
    def recipient(self) -> str:
        """To whom bundles and evidence are sealed as well."""
        return self.identities[0].recipient


def signing_file(key: Path) -> Path:
    """Where the signing key lies that belongs to a maintainer's age key."""
    return key.with_name(f"{key.stem}.signing.pem")


def passphrase() -> str:
    """What opens protected keys; empty when they need nothing."""
    return os.environ.get(PASSPHRASE, "")


def identities_in(path: Path, flag: str) -> tuple[KeyPair, ...]:
    """The age identities in a key file."""
    return read_identities(file_bytes(path, flag).decode("utf-8", "replace"), path, passphrase())


def write_key_files(contents: Mapping[Path, bytes]) -> None:
    """Write key files that only their owner reads; a key is never overwritten."""
    if taken := [path for path in contents if path.exists()]:
        raise ConfigError(taken[0], "exists already", "choose another file: a key is never overwritten")
    for path, content in contents.items():
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except OSError as error:
            raise ConfigError(path, f"the key cannot be written: {error.strerror}", "choose another file") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
