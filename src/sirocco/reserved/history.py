"""The public history of reserved scenarios: an append-only file of signed entries, and the rules it must satisfy.

Each entry contains the digest of the previous one, so that none can be changed or left out. Anyone can check it without
a decryption key (SI-06, AV-20).
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import PositiveInt, ValidationError, model_validator

from sirocco.errors import ReservedError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.oasis.noun import Noun
from sirocco.reserved.bundle import Digest
from sirocco.reserved.manifest import Counts, Manifest
from sirocco.reserved.signing import Signature, Signer

Action = Literal["seal", "rotate", "publish", "revoke"]
_FIRST = "sha256:" + "0" * 64
_PURPOSE = "history"
_COMPARE = "compare it with the maintainer's copy of the history"


_FIELDS: Mapping[Action, frozenset[str]] = {
    "seal": frozenset({"manifest"}),
    "rotate": frozenset({"manifest", "retired"}),
    "publish": frozenset({"published"}),
    "revoke": frozenset({"evaluator"}),
}
"""The fields of each action. A field of another action would change the record and evade that action's rule (AV-20)."""


class Event(Noun):
    """An action of a maintainer; its fields depend on the action."""

    action: Action
    on: date
    manifest: Manifest | None = None
    """The edition that was sealed."""
    retired: tuple[Digest, ...] = ()
    """Commitments of the previous edition that are no longer in use."""
    published: tuple[Digest, ...] = ()
    """Commitments whose scenarios are public from now on."""
    evaluator: Digest | None = None
    """The fingerprint of an evaluator to whom no later bundle is sealed."""

    @model_validator(mode="after")
    def _tells_of_its_action_only(self) -> Self:
        told = {name for name in ("manifest", "retired", "published", "evaluator") if getattr(self, name)}
        if not told <= _FIELDS[self.action]:
            raise ValueError("it has fields of another action")
        return self


class Entry(Noun):
    """One signed line of the history."""

    number: PositiveInt
    previous: Digest
    event: Event
    signature: Signature

    @property
    def statement(self) -> dict[str, Any]:
        """What is signed."""
        return {"number": self.number, "previous": self.previous, "event": self.event.document()}

    def line(self) -> str:
        """The only form in which the entry may be stored."""
        return canonical_json(self.document())


def fingerprint(recipient: str) -> str:
    """The history's name for an evaluator, however their key is spelled: age also accepts capitals."""
    return f"sha256:{hashlib.sha256(recipient.strip().lower().encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class History:
    """Every entry so far, checked against each other; the path is for messages."""

    path: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path, maintainers: Collection[str]) -> Self:
        """The history in a file; ReservedError for a line that no maintainer signed, or that breaks a rule."""
        history = cls(path)
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        except (OSError, UnicodeDecodeError):
            raise ReservedError(path, "the history cannot be read", "name the history of the profile") from None
        for number, line in enumerate(lines, start=1):
            history = history._with_line(line, f"{path}:{number}", maintainers)
        return history

    def _with_line(self, line: str, where: str, maintainers: Collection[str]) -> Self:
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError:
            entry = None
        if entry is None or entry.line() != line:
            raise ReservedError(where, "this is not an entry of a history", _COMPARE)
        if (entry.number, entry.previous) != (len(self.entries) + 1, self.head):
            raise ReservedError(where, "the entry does not follow from the one before: history was altered", _COMPARE)
        entry.signature.require(_PURPOSE, entry.statement, maintainers, where)
        self.require_possible(entry.event, where)
        return type(self)(self.path, (*self.entries, entry))

    @property
    def head(self) -> str:
        """The digest of the last entry, which determines the whole history."""
        return digest_of_text(self.entries[-1].line()) if self.entries else _FIRST

    def require_head(self, head: str, where: object) -> None:
        """Raise ReservedError unless this history continues the one whose head was kept (SI-06)."""
        if head not in {digest_of_text(entry.line()) for entry in self.entries}:
            problem = "the history does not continue from the head that was kept: it was truncated or rewritten"
            raise ReservedError(where, problem, _COMPARE)

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """The manifests of all editions, oldest first."""
        return tuple(entry.event.manifest for entry in self.entries if entry.event.manifest is not None)

    @property
    def current(self) -> Manifest | None:
        """The manifest of the edition in use."""
        return self.manifests[-1] if self.manifests else None

    @property
    def retired_commitments(self) -> frozenset[str]:
        """Commitments to scenarios that are no longer in use."""
        return frozenset(one for entry in self.entries for one in entry.event.retired)

    @property
    def published_commitments(self) -> frozenset[str]:
        """Commitments to scenarios that are public."""
        return frozenset(one for entry in self.entries for one in entry.event.published)

    @property
    def revoked_recipients(self) -> frozenset[str]:
        """Fingerprints of evaluators to whom nothing is sealed any longer."""
        return frozenset(entry.event.evaluator for entry in self.entries if entry.event.evaluator)

    def require_possible(self, event: Event, where: object) -> None:
        """Raise ReservedError for an event that must not follow: above all, a rotation that shrinks (AV-20)."""
        if self.entries and event.on < (last := self.entries[-1].event.on):
            problem = f"an entry of {event.on} would follow one of {last}"
            raise ReservedError(where, problem, "check the clock; days never go back in a history")
        match event.action:
            case "seal" if event.manifest is None or self.entries or event.manifest.edition.number != 1:
                raise ReservedError(where, "a history begins with one sealed edition", "rotate what is sealed already")
            case "rotate":
                self._require_rotation(event, where)
            case "publish" if not event.published or not set(event.published) <= self.retired_commitments:
                raise ReservedError(where, "only retired scenarios are published", "retire them in a rotation first")
            case "revoke" if event.evaluator is None or event.evaluator in self.revoked_recipients:
                raise ReservedError(where, "nobody is named, or they are already revoked", "name an age recipient")

    def _require_rotation(self, event: Event, where: object) -> None:
        before, after = self.current, event.manifest
        if before is None or after is None or after.edition.number != before.edition.number + 1:
            problem = "a rotation replaces the current edition by the next one"
            raise ReservedError(where, problem, "rotate the bundle of the last edition")
        if after.profile.id != before.profile.id:
            raise ReservedError(where, "the next edition belongs to another profile", _COMPARE)
        if not set(event.retired) <= set(before.commitments):
            raise ReservedError(where, "a retired scenario is not from the previous edition", _COMPARE)
        require_no_shrinking(before.counts, after.counts, where)

    def require_recipients(self, recipients: Iterable[str]) -> None:
        """Raise ReservedError, without naming a key, if one of the recipients is revoked."""
        for number, recipient in enumerate(recipients, start=1):
            if fingerprint(recipient) in self.revoked_recipients:
                problem = "the evaluator is revoked: no bundle is sealed to this key any more"
                raise ReservedError(f"recipient {number}", problem, "leave it out")

    def append(self, event: Event, signer: Signer) -> Self:
        """Sign an event and append it to the file."""
        self.require_possible(event, self.path)
        statement = {"number": len(self.entries) + 1, "previous": self.head, "event": event.document()}
        signature = Signature.from_signer(signer, _PURPOSE, statement)
        entry = Entry(number=len(self.entries) + 1, previous=self.head, event=event, signature=signature)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(entry.line() + "\n")
        return type(self)(self.path, (*self.entries, entry))


def require_no_shrinking(before: Counts, after: Counts, where: object) -> None:
    """Raise ReservedError if a category has fewer scenarios than before (AV-20)."""
    if shrunk := shrunken_categories(before.categories, after.categories):
        names = ", ".join(shrunk)
        problem = f"fewer scenarios than before in: {names}; the number in a category never shrinks"
        raise ReservedError(where, problem, "add as many new scenarios as you retire in each category")


def shrunken_categories(before: Mapping[str, int], after: Mapping[str, int]) -> Sequence[str]:
    """The categories that lose scenarios."""
    return [name for name, number in sorted(before.items()) if after.get(name, 0) < number]
