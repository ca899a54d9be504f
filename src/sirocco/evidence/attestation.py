"""The attestation of a run: an in-toto statement over every file of the run directory, signed with Ed25519 (SI-10).

The envelope is DSSE, which other tools can verify too. A signature proves who signed, and that nothing was changed
since; it does not prove that the recorded events happened.
"""

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sirocco.errors import EvidenceError
from sirocco.evidence.files import LOCK
from sirocco.evidence.ledger import LEDGER
from sirocco.oasis.canonical import canonical_json

ATTESTATION = "attestation.json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "urn:sirocco:evaluation:v1"
_PAYLOAD = "application/vnd.in-toto+json"
_KEY_ID = "ed25519:"
_FOLDERS = ("evidence", "adversarial")
_UNATTESTED = frozenset({ATTESTATION, LOCK, LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm"})
"""Files without a digest in the statement. Opening the ledger changes it, so its entries are compared instead."""


def key_id(key: Ed25519PublicKey) -> str:
    """A key's name: the SHA-256 of its 32 bytes."""
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return f"{_KEY_ID}{hashlib.sha256(raw).hexdigest()}"


def attestation_text(path: Path, predicate: Mapping[str, Any], key: Ed25519PrivateKey) -> str:
    """The signed statement about a run directory in its present state."""
    public = key.public_key()
    raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": found}} for name, found in file_digests(path).items()],
        "predicateType": _PREDICATE,
        "predicate": {**predicate, "evaluator_key": b64encode(raw).decode()},
    }
    payload = canonical_json(statement).encode()
    envelope = {
        "payloadType": _PAYLOAD,
        "payload": b64encode(payload).decode(),
        "signatures": [{"keyid": key_id(public), "sig": b64encode(key.sign(_pre_authentication(payload))).decode()}],
    }
    return json.dumps(envelope, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Attestation:
    """A statement that was read, with the key that it names; `is_signed` says whether that key signed it."""

    predicate: Mapping[str, Any]
    digests: Mapping[str, str]
    key: Ed25519PublicKey
    is_signed: bool
    payload: bytes

    @property
    def key_id(self) -> str:
        """The key's name."""
        return key_id(self.key)

    @property
    def digest(self) -> str:
        """The SHA-256 of the statement, which a transparency log contains."""
        return f"sha256:{hashlib.sha256(self.payload).hexdigest()}"

    @classmethod
    def of_run(cls, path: Path) -> "Attestation | None":
        """The attestation of a run directory; None if there is none, EvidenceError if it is malformed."""
        file = path / ATTESTATION
        if not file.is_file():
            return None
        try:
            envelope = json.loads(file.read_bytes())
            payload = b64decode(envelope["payload"], validate=True)
            statement = {"_type": None, "predicateType": None} | json.loads(payload)
            predicate = {**statement["predicate"]}
            key = Ed25519PublicKey.from_public_bytes(b64decode(predicate["evaluator_key"], validate=True))
            digests = {str(one["name"]): str(one["digest"]["sha256"]) for one in statement["subject"]}
            signatures = [b64decode(one["sig"], validate=True) for one in envelope["signatures"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EvidenceError(file, "not an attestation of a run", "restore it from a copy") from error
        kinds = (envelope.get("payloadType"), statement["_type"], statement["predicateType"])
        is_ours = kinds == (_PAYLOAD, _STATEMENT, _PREDICATE)
        is_signed = is_ours and any(_is_signature(key, payload, one) for one in signatures)
        return cls(predicate, digests, key, is_signed, payload)

    def covers(self, path: Path, name: str) -> bool:
        """Whether a file is unchanged since it was signed."""
        return self.digests.get(name) == _sha256(path / name)

    def changed_files(self, path: Path) -> Iterator[tuple[str, str]]:
        """Files of the run directory that are not as signed, each with what happened to it."""
        found = file_digests(path)
        for name in sorted(self.digests.keys() | found.keys()):
            if name not in found:
                yield name, "is missing"
            elif name not in self.digests:
                yield name, "was added after the run was signed"
            elif found[name] != self.digests[name]:
                yield name, "was changed after the run was signed"


def file_digests(path: Path) -> dict[str, str]:
    """The SHA-256 of every file of a run directory that a statement covers, by name."""
    refuse_odd_files(path)
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    return {name: _sha256(path / name) for name in names if name not in _UNATTESTED}


def refuse_odd_files(path: Path) -> None:
    """Raise EvidenceError for links, pipes, devices and others' folders, which no run writes; they are not read."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            entry = Path(folder) / name
            is_ours = entry.is_file() or (entry.is_dir() and entry.relative_to(path).as_posix() in _FOLDERS)
            if entry.is_symlink() or not is_ours:
                raise EvidenceError(entry, "is not a file of a run", "restore the directory from a copy")


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _pre_authentication(payload: bytes) -> bytes:
    """What DSSE signs: the type and the payload, each preceded by its length."""
    kind = _PAYLOAD.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _is_signature(key: Ed25519PublicKey, payload: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, _pre_authentication(payload))
    except InvalidSignature:
        return False
    return True
