"""What was found out about one requirement: met, violated at a place, or not to be decided from a document."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sirocco.conformance.document import Layout, Part
from sirocco.errors import DocumentPath
from sirocco.reports.shape import dotted

_ROUNDING = 0.5
_EXACT = 5e-7


class Status(StrEnum):
    """How a document stands to a requirement."""

    MET = "met"
    VIOLATED = "violated"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True)
class Violation:
    """One place that contradicts a requirement, and what to do about it."""

    where: str
    problem: str
    remedy: str


Violations = Iterator[Violation]


@dataclass(frozen=True, slots=True)
class Ruling:
    """One requirement, decided or with the reason why not."""

    id: str
    title: str
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """The ruling as plain data; place and problem are those of the first violation, all are in the list."""
        first = self.violations[0] if self.violations else None
        return {
            "id": self.id,
            "title": self.title,
            "status": str(self.status),
            "where": first.where if first else None,
            "problem": first.problem if first else self.reason or None,
            "remedy": first.remedy if first else None,
            "violations": [asdict(one) for one in self.violations],
        }


@dataclass(frozen=True, slots=True)
class Rulings:
    """Every requirement, ruled on for one document."""

    layout: Layout
    core_version: str | None
    rulings: tuple[Ruling, ...]

    @property
    def is_conformant(self) -> bool:
        """Whether nothing in the document contradicts a requirement."""
        return not self.violated

    @property
    def violated(self) -> tuple[Ruling, ...]:
        """The requirements that the document contradicts."""
        return tuple(one for one in self.rulings if one.status is Status.VIOLATED)

    def count(self, status: Status) -> int:
        """How many requirements have a status."""
        return sum(one.status is status for one in self.rulings)

    def document(self) -> dict[str, Any]:
        """The rulings as plain data."""
        return {
            "layout": str(self.layout),
            "oasis_core_version": self.core_version,
            "conformant": self.is_conformant,
            "requirements": [one.document() for one in self.rulings],
        }


def violation(part: Part, problem: str, remedy: str) -> Violation:
    """A violation at a part."""
    return Violation(part.where, problem, remedy)


def violation_at(path: DocumentPath, problem: str, remedy: str) -> Violation:
    """A violation at a place."""
    return Violation(dotted(path), problem, remedy)


def unless_equal(part: Part, expected: object, source: str) -> Violations:
    """A violation when something else stands at a part than what `source` comes to; none when nothing stands there."""
    if part.is_there and (part.value != expected or isinstance(part.value, bool) != isinstance(expected, bool)):
        verb = "come" if source.endswith("s") else "comes"
        problem = f"is {quoted_value(part.value)}, but {source} {verb} to {quoted_value(expected)}"
        yield violation(part, problem, f"write {quoted_value(expected)}, or correct what it is computed from")


def unless_agrees(part: Part, expected: float | None, source: str, *, exact: bool) -> Violations:
    """The same for a figure, which others than Sirocco may have rounded to the digits that they give."""
    if not part.is_there:
        return
    value = part.number
    if value is None or expected is None:
        yield from unless_equal(part, expected, source)
        return
    digits = len(repr(value).partition(".")[2]) if "e" not in repr(value) else 6
    slack = _EXACT if exact else max(_EXACT, _ROUNDING * 10**-digits + 1e-9)
    if abs(value - expected) > slack:
        yield from unless_equal(Part(value, part.path), round(expected, 6), source)


def unless_alike(part: Part, expected: Any, source: str) -> Violations:
    """A violation at the first place where something else stands than what `source` comes to, or nothing does."""
    if not part.is_there:
        yield violation(part, f"is missing, but {source} comes to it", f"write {quoted_value(expected)}")
    elif isinstance(expected, Mapping) and isinstance(part.value, Mapping):
        for key, value in expected.items():
            yield from unless_alike(part[key], value, source)
        for key, own in part.members.items():
            if key not in expected:
                yield violation(own, f"is not among what {source} comes to", "leave it out")
    elif isinstance(expected, list) and isinstance(part.value, list) and len(expected) == len(part.value):
        for own, value in zip(part.entries, expected, strict=True):
            yield from unless_alike(own, value, source)
    else:
        yield from unless_equal(part, expected, source)


def unless_text(part: Part, why: str) -> Violations:
    """A violation unless a text with something in it stands at a part."""
    if part.text is None:
        yield violation(part, "is missing or empty" if not part.value or not part.is_there else "is not a text", why)


def quoted_value(value: object) -> str:
    """A value as a message has it, cut short."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
