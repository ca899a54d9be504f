"""What a profile publishes about its reserved scenarios: who maintains them, the current manifest, the history.

Whatever opens, seals or verifies learns here what to trust; nothing in it is secret.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sirocco.errors import ReservedError
from sirocco.oasis.profile import ProfileDocument, ReservedPolicy
from sirocco.reserved.age import KeyPair
from sirocco.reserved.bundle import require_signature
from sirocco.reserved.history import History, fingerprint
from sirocco.reserved.manifest import Manifest, SignedManifest, commitment, read_manifest
from sirocco.reserved.signing import public_key

OPENINGS = "openings.json"
"""The file next to published scenarios with the salt of each, by which its earlier commitment can be checked."""
_PERIOD = re.compile(r"(?:(\d+)\s+)?\b(day|week|month|quarter|year)(?:s|ly)?\b", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
_VERSION = re.compile(r"\b(?:(major|minor)\s+)?(?:version|release)s?\b", re.IGNORECASE)
_PARTS = {"major": 1, "minor": 2, "": 3}
"""How many leading components of a version count: a change in them makes a rotation due."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The public side of reserved scenarios, as found in a profile folder."""

    policy: ReservedPolicy
    version: str
    manifest: SignedManifest | None
    history: History | None

    @classmethod
    def read(cls, folder: Path, document: ProfileDocument) -> "Publication":
        """What the profile in a folder publishes; ReservedError unless all of it is signed and consistent (SI-06)."""
        policy = require_policy(folder, document)
        manifest = read_manifest(folder / policy.manifest, document.id) if policy.manifest else None
        history = History.read(folder / policy.history, policy.maintainers) if policy.history else None
        if history is not None and not history.entries:
            raise ReservedError(history.path, "the history that the profile names is missing or empty", "publish it")
        found = cls(policy, document.version, manifest, history)
        found._require_agreement(folder)
        return found

    def _require_agreement(self, folder: Path) -> None:
        if self.manifest is None:
            return
        where = folder / str(self.policy.manifest)
        signed = self.manifest
        require_signature(signed.manifest, signed.signature, "reserved", self.policy.maintainers, where)
        if self.history is not None and self.history.current != signed.manifest:
            problem = "it is not the manifest of the last edition in the history"
            raise ReservedError(where, problem, "publish manifest and history together")

    @property
    def current(self) -> Manifest | None:
        """The manifest in use, from its own file or the last edition of the history; None if neither exists."""
        if self.manifest is not None:
            return self.manifest.manifest
        return self.history.current if self.history is not None else None

    @property
    def editions(self) -> tuple[Manifest, ...]:
        """The manifests of all editions that the profile publishes, oldest first."""
        if self.history is not None:
            return self.history.manifests
        return (self.manifest.manifest,) if self.manifest is not None else ()

    def require_current(self, manifest: Manifest, where: object) -> None:
        """Raise ReservedError for a bundle that is not the published one: another, or one of an earlier edition."""
        published = self.current
        if published is not None and manifest != published:
            number = published.edition.number
            problem = f"it is not the bundle of edition {number}, whose manifest the profile publishes"
            raise ReservedError(where, problem, "get the bundle of the current edition from the profile's maintainer")

    def require_evaluator(self, keys: Sequence[KeyPair], where: object) -> None:
        """Raise ReservedError if the history revokes the evaluator who wants to open a bundle."""
        revoked = self.history.revoked_recipients if self.history else frozenset()
        if any(fingerprint(pair.recipient) in revoked for pair in keys):
            raise ReservedError(where, "the evaluator with this key is revoked", "ask the profile's maintainer")

    def warning(self, today: date) -> str | None:
        """What a reader of a report must know: nothing is committed to, or a rotation is overdue (SI-06, AV-20)."""
        if self.current is None:
            return "the profile publishes no manifest: nobody can check that the reserved scenarios were fixed in time"
        edition, sealed_for = self.current.edition, self.current.profile.version
        days = (today - edition.sealed_on).days
        if days < 0:
            return f"reserved scenarios were sealed on {edition.sealed_on}, which is after today; a clock is wrong"
        periods = [int(number or 1) * _DAYS[unit.lower()] for number, unit in _PERIOD.findall(edition.cadence)]
        if periods and days > min(periods):
            told = f"reserved scenarios were sealed {days} days ago"
            return f"rotation is overdue: {told}; the declared cadence is {edition.cadence!r}"
        levels = [_PARTS[level.lower()] for level in _VERSION.findall(edition.cadence)]
        if any(sealed_for.split(".")[:parts] != self.version.split(".")[:parts] for parts in levels):
            told = f"reserved scenarios are still those of version {sealed_for}"
            return f"rotation is overdue: {told}; the declared cadence is {edition.cadence!r}"
        if not periods and not levels:
            return f"nobody can tell when a rotation is due: the declared cadence is {edition.cadence!r}"
        return None


def require_policy(folder: Path, document: ProfileDocument) -> ReservedPolicy:
    """The profile's statement about reserved scenarios; ReservedError if it names no maintainer."""
    policy = document.reserved
    if policy is None or not policy.maintainers:
        problem = "the profile names no maintainer, so nobody answers for reserved scenarios"
        remedy = "add the key that `sirocco reserved keygen --role maintainer` prints to reserved.maintainers"
        raise ReservedError(folder, problem, remedy)
    for number, key in enumerate(policy.maintainers):
        if public_key(key) is None:
            where = f"{folder}: reserved.maintainers.{number}"
            raise ReservedError(where, "this is not a public key", "write `ssh-ed25519 ...`")
    return policy


@dataclass(frozen=True, slots=True)
class Opening:
    """A published scenario and the salt that ties it to an earlier commitment."""

    file: Path
    document: dict[str, Any]
    salt: str

    @property
    def commitment(self) -> str:
        """The commitment made while the scenario was still reserved."""
        return commitment(self.document, self.salt)


def verified_openings(openings: Iterable[Opening], history: History) -> int:
    """How many published scenarios there are; ReservedError for one that the history did not commit to."""
    found: set[str] = set()
    known = {one for manifest in history.manifests for one in manifest.commitments}
    for opening in openings:
        if opening.commitment not in known:
            problem = "it is not a scenario that was committed to: it or its salt was changed"
            raise ReservedError(opening.file, problem, "get it again from the profile's maintainer")
        if opening.commitment not in history.published_commitments:
            raise ReservedError(opening.file, "the history does not say that it was published", "append the entry")
        found.add(opening.commitment)
    if missing := len(history.published_commitments - found):
        problem = f"{missing} scenario(s) that the history says are published are not there"
        raise ReservedError(history.path, problem, "add their files and salts to the profile")
    return len(found)


def openings_text(openings: Iterable[Opening]) -> str:
    """The contents of the file of salts next to published scenarios."""
    rows = [{"file": one.file.name, "salt": one.salt, "commitment": one.commitment} for one in openings]
    return json.dumps(sorted(rows, key=lambda row: row["file"]), indent=1) + "\n"


def salts_in(folder: Path) -> dict[str, str]:
    """The salt of each published file of a folder, by its name."""
    try:
        rows = json.loads((folder / OPENINGS).read_text(encoding="utf-8"))
        return {Path(str(row["file"])).name: str(row["salt"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        raise ReservedError(folder / OPENINGS, "this is not a list of salts", "restore it from the profile") from None
