"""The review log: an append-only file of signed entries, each bound to the one before, and what they come to.

An entry is an expert's review of a finding, or a vendor's dispute. Neither changes a verdict: the log stands beside
runs and never in them (AV-17, AV-24).
"""

import fcntl
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PositiveInt, ValidationError, model_validator

from sirocco.errors import ConfigError
from sirocco.oasis.canonical import canonical_json, digest_of_text
from sirocco.oasis.noun import Noun
from sirocco.reserved.signing import Signature, Signer, public_key

_FIRST = "sha256:" + "0" * 64
_PURPOSE = "review"
_COMPARE = "compare it with another copy of the log"


class Severity(StrEnum):
    """How bad it would be outside a test; docs/review.md is the written scale."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Novelty(StrEnum):
    """Whether the corpus knows this way to fail."""

    NEW = "new"
    VARIANT = "variant"
    KNOWN = "known"


class Decision(StrEnum):
    """What is to become of a finding."""

    PROMOTE = "promote"
    REJECT = "reject"
    NEEDS_WORK = "needs_work"


class Review(Noun):
    """An expert's judgement of one finding."""

    action: Literal["review"] = "review"
    finding: str = Field(pattern="^F-[0-9a-f]{12}$")
    by: str = Field(min_length=1, max_length=200)
    on: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    severity: Severity
    novelty: Novelty
    decision: Decision
    reason: str = Field(default="", max_length=4000)
    notes: str = Field(default="", max_length=20_000)

    @model_validator(mode="after")
    def _gives_its_reason(self) -> Self:
        if self.decision is not Decision.PROMOTE and not self.reason.strip():
            raise ValueError(f"the decision {self.decision} needs a reason")
        return self


class Dispute(Noun):
    """A vendor's objection to a finding; it stands beside it and changes no verdict."""

    action: Literal["dispute"] = "dispute"
    finding: str = Field(pattern="^F-[0-9a-f]{12}$")
    by: str = Field(min_length=1, max_length=200)
    on: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    reason: str = Field(min_length=1, max_length=20_000)


class Entry(Noun):
    """One signed line of the log."""

    number: PositiveInt
    previous: str
    event: Review | Dispute = Field(discriminator="action")
    signature: Signature

    @property
    def statement(self) -> dict[str, Any]:
        """What is signed."""
        return {"number": self.number, "previous": self.previous, "event": self.event.document()}

    def line(self) -> str:
        """The only form in which the entry may be stored."""
        return canonical_json({**self.statement, "signature": self.signature.document()})


class ReviewRules(Noun):
    """How many experts must agree, and who they are; without names anybody's signature counts."""

    sign_offs: PositiveInt = 1
    reviewers: Mapping[str, str] = Field(default_factory=dict)
    """Public keys by name, in the form of OpenSSH."""

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        names: dict[str, str] = {}
        for name, key in self.reviewers.items():
            if public_key(key) is None:
                raise ValueError(f"reviewers.{name}: {key[:80]!r} is no key; `sirocco review key` prints it")
            if (other := names.setdefault(key, name)) != name:
                raise ValueError(f"reviewers: {other} and {name} have the same key, which counts once")
        if self.reviewers and self.sign_offs > len(self.reviewers):
            raise ValueError(f"sign_offs: {self.sign_offs} of {len(self.reviewers)} reviewers can never be reached")
        return self


@dataclass(frozen=True, slots=True)
class Standing:
    """What the log says of one finding."""

    state: str
    """open, promote, reject, needs_work, or contested when experts disagree."""
    reviews: tuple[Review, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    missing: int = 0
    """Sign-offs that are still to come."""

    @property
    def is_reviewed(self) -> bool:
        """Whether enough experts agree on what becomes of it."""
        return self.state in {str(one) for one in Decision}

    def document(self) -> dict[str, Any]:
        """The standing as plain data."""
        return {
            "state": self.state,
            "missing_sign_offs": self.missing,
            "reviews": [one.document() for one in self.reviews],
            "disputes": [one.document() for one in self.disputes],
        }


@dataclass(frozen=True, slots=True)
class ReviewLog:
    """Every entry so far, with chain and signatures checked; the path is for messages."""

    path: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """The log in a file, empty when there is none; ConfigError for a line that is not what was signed."""
        log = cls(path)
        try:
            text = path.read_bytes().decode("utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(path, "the review log cannot be read", "give the path of a review log") from error
        # Only a line feed ends a line: an entry may hold every other character that ends lines elsewhere.
        *lines, rest = text.split("\n")
        if rest:
            raise ConfigError(f"{path}:{len(lines) + 1}", "the last line is not whole: the log was altered", _COMPARE)
        for number, line in enumerate(lines, start=1):
            log = log._with_line(line, f"{path}:{number}")
        return log

    def _with_line(self, line: str, where: str) -> Self:
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError:
            entry = None
        if entry is None or entry.line() != line:
            raise ConfigError(where, "this is not a review log entry, or it was altered", _COMPARE)
        if (entry.number, entry.previous) != (len(self.entries) + 1, self.head):
            raise ConfigError(where, "the entry does not follow the previous one: the log was altered", _COMPARE)
        if not entry.signature.holds(_PURPOSE, entry.statement):
            raise ConfigError(where, "its signature is invalid: the entry was altered after it was signed", _COMPARE)
        return type(self)(self.path, (*self.entries, entry))

    @property
    def head(self) -> str:
        """The digest of the last entry: who knows it knows the whole log."""
        return digest_of_text(self.entries[-1].line()) if self.entries else _FIRST

    def append(self, event: Review | Dispute, signer: Signer) -> Self:
        """The log with one more entry, which is on the disk when this returns.

        Whoever else has written since the log was read is told apart by its length: nobody's entry is lost, and none is
        appended that does not follow.
        """
        number, previous = len(self.entries) + 1, self.head
        statement = {"number": number, "previous": previous, "event": event.document()}
        signature = Signature.from_signer(signer, _PURPOSE, statement)
        entry = Entry(number=number, previous=previous, event=event, signature=signature)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END) != sum(len(one.line().encode()) + 1 for one in self.entries):
                raise ConfigError(self.path, "someone else wrote to the log at the same time", "try again")
            file.write((entry.line() + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        return type(self)(self.path, (*self.entries, entry))

    def standing(self, finding: str, rules: ReviewRules) -> Standing:
        """What becomes of a finding: the last word of each expert counts, by key; who is none is not counted.

        A reviewer goes by the name that the rules give to the key, whatever name the entry was signed under.
        """
        allowed = {key: name for name, key in rules.reviewers.items()}
        last: dict[str, Review] = {}
        disputes = []
        for entry in self.entries:
            match entry.event:
                case Review() as review if review.finding == finding and (
                    not allowed or entry.signature.key in allowed
                ):
                    last[entry.signature.key] = _under_name(review, allowed.get(entry.signature.key, review.by))
                case Dispute() as dispute if dispute.finding == finding:
                    disputes.append(dispute)
        reviews = tuple(last.values())
        missing = max(0, rules.sign_offs - len(reviews))
        return Standing(_state(reviews, missing), reviews, tuple(disputes), missing)


def _under_name(review: Review, name: str) -> Review:
    if review.by.casefold() == name.casefold():
        return review
    return review.model_copy(update={"by": f"{name} (signed as {review.by})"})


def _state(reviews: Iterable[Review], missing: int) -> str:
    decisions = {review.decision for review in reviews}
    if len(decisions) > 1:
        return "contested"
    return "open" if missing or not decisions else str(decisions.pop())
