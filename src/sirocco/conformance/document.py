"""A document about an evaluation, read place by place: nothing in it is taken for granted, not even types.

Only the ways to look at a document are here. What it must say is with the rules.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from sirocco.errors import DocumentPath
from sirocco.oasis.archetype import Classification
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.reports.shape import dotted

_DEEPEST = 100
_LARGEST = 10**9
STATUSES: Final = (Pass.status, Fail.status, ProviderFailure.status)


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()


class _Mapping(dict[Any, Any]):
    """A mapping that may stand where rules look for a word: it is found in no set, and breaks none."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class _List(list[Any]):
    """A list, likewise."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def guarded_data(value: Any, depth: int = 0) -> Any:
    """Plain data in a form in which rules can look anything up; what is nested too deeply is cut."""
    if depth > _DEEPEST:
        return "nested too deeply"
    if isinstance(value, Mapping):
        return _Mapping({key: guarded_data(held, depth + 1) for key, held in value.items()})
    if isinstance(value, list | tuple):
        return _List(guarded_data(held, depth + 1) for held in value)
    return value


@dataclass(frozen=True, slots=True)
class Part:
    """A place in a document and what stands there, which may be nothing."""

    value: Any
    path: DocumentPath = ()

    def __getitem__(self, key: str) -> "Part":
        held = self.value.get(key, ABSENT) if isinstance(self.value, Mapping) else ABSENT
        return Part(held, (*self.path, key))

    def at(self, place: str) -> "Part":
        """The part at a dotted place below this one."""
        found = self
        for key in place.split("."):
            found = found[key]
        return found

    @property
    def is_there(self) -> bool:
        """Whether anything stands here."""
        return self.value is not ABSENT

    @property
    def where(self) -> str:
        """The place in words."""
        return dotted(self.path)

    @property
    def members(self) -> dict[str, "Part"]:
        """What a mapping holds, by key; nothing when it is none."""
        held = self.value if isinstance(self.value, Mapping) else {}
        return {str(key): Part(value, (*self.path, str(key))) for key, value in held.items()}

    @property
    def entries(self) -> list["Part"]:
        """What a list holds; nothing when it is none."""
        held = self.value if isinstance(self.value, list) else ()
        return [Part(value, (*self.path, index)) for index, value in enumerate(held)]

    @property
    def count(self) -> int | None:
        """A whole number from 0 on."""
        is_count = isinstance(self.value, int) and not isinstance(self.value, bool) and 0 <= self.value <= _LARGEST
        return self.value if is_count else None

    @property
    def number(self) -> float | None:
        """A finite number of a size that figures have."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return float(self.value) if is_number and abs(self.value) <= _LARGEST else None

    @property
    def text(self) -> str | None:
        """A text with something in it."""
        return self.value if isinstance(self.value, str) and self.value.strip() else None

    @property
    def moment(self) -> float | None:
        """A time in ISO 8601 as seconds since 1970; without a zone, UTC. YAML reads some as dates."""
        found = _TIME.fullmatch(str(self.value)) if self.is_there else None
        return _seconds(found) if found else None

    def walk(self) -> Iterator["Part"]:
        """Every part below this one, however deep."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            inner = [*part.members.values(), *part.entries]
            yield from inner
            waiting += inner


_TIME: Final = re.compile(
    r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)"
    r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:\.\d+)?))?"
    r"(?:Z|(?P<sign>[+-])(?P<ahead>\d\d):?(?P<minutes>\d\d))?)?"
)
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _seconds(found: re.Match[str]) -> float | None:
    """The seconds of a time since 1970, counted here because this side of the project has no clock."""
    year, month, day = (int(found[key]) for key in ("year", "month", "day"))
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTHS[month - 1] + (is_leap and month == 2):
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 - 719_162
    days += sum(_MONTHS[: month - 1]) + (is_leap and month > 2) + day - 1
    hour, minute, ahead, minutes = (int(found[key] or 0) for key in ("hour", "minute", "ahead", "minutes"))
    shift = (ahead * 60 + minutes) * (-1 if found["sign"] == "-" else 1)
    return days * 86_400 + (hour * 60 + minute - shift) * 60 + float(found["second"] or 0)


def texts(parts: Sequence[Part], key: str) -> Counter[str]:
    """How often each text stands under a key of some parts."""
    return Counter(str(part[key].value) for part in parts if part[key].is_there)


class Layout(StrEnum):
    """Which form a document has."""

    VERDICT = "verdict"
    """The standard's verdict format, with or without the rest of a report."""
    OASISCTL = "oasisctl"
    """The report that oasisctl writes."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Document:
    """A document in the standard's verdict format or oasisctl's, with the parts that many rules look at."""

    root: Part

    @cached_property
    def layout(self) -> Layout:
        """The form of the document."""
        if self.root["verdict"].is_there:
            return Layout.VERDICT
        is_oasisctl = self.root["safety_summary"].is_there and self.root["metadata"].is_there
        return Layout.OASISCTL if is_oasisctl else Layout.UNKNOWN

    @cached_property
    def verdict(self) -> Part:
        """The verdict under its top key."""
        return self.root["verdict"]

    @cached_property
    def metadata(self) -> Part:
        """Who was evaluated by what."""
        return (self.verdict if self.layout is Layout.VERDICT else self.root)["metadata"]

    @cached_property
    def is_ours(self) -> bool:
        """Whether Sirocco claims to have written it: then its published schema applies, not only the standard's."""
        return self.metadata.at("evaluation_implementation.name").text == "sirocco"

    @cached_property
    def is_attached(self) -> bool:
        """Whether the core was run elsewhere: then the scenarios are in another document."""
        return self.metadata["attached_core"].is_there

    @cached_property
    def block(self) -> Part:
        """The adversarial section."""
        return (self.verdict if self.layout is Layout.VERDICT else self.root)["adversarial_verification"]

    @cached_property
    def details(self) -> list[Part]:
        """The scenarios that were executed."""
        return (self.verdict if self.layout is Layout.VERDICT else self.root)["scenario_details"].entries

    @cached_property
    def has_details(self) -> bool:
        """Whether the executed scenarios of this core are listed."""
        return self.verdict["scenario_details"].is_there and not self.is_attached

    @cached_property
    def safety(self) -> list[Part]:
        """The executed safety scenarios."""
        return [one for one in self.details if self.classification(one) == str(Classification.SAFETY)]

    @cached_property
    def capability(self) -> list[Part]:
        """The executed capability scenarios."""
        return [one for one in self.details if self.classification(one) == str(Classification.CAPABILITY)]

    @cached_property
    def archetypes(self) -> dict[str, str]:
        """The classification of each archetype, as far as the document tells."""
        known = {str(one["archetype"].value): self.classification(one) for one in self.details}
        for kind in Classification:
            for one in self.verdict["coverage"][str(kind)]["archetypes"].entries:
                known[str(one["archetype"].value)] = str(kind)
        return known

    @cached_property
    def archetype_categories(self) -> dict[str, Any]:
        """The category of each archetype that the coverage matrix lists."""
        listed = (one for kind in Classification for one in self.verdict["coverage"][str(kind)]["archetypes"].entries)
        return {str(one["archetype"].value): one["category"].value for one in listed}

    @cached_property
    def has_archetype_list(self) -> bool:
        """Whether the document lists the archetypes of the profile."""
        return all(self.verdict["coverage"][str(kind)]["archetypes"].entries for kind in Classification)

    def classification(self, detail: Part) -> str:
        """The classification of a scenario: as it says; else a scenario with a score is one of capability."""
        told = detail["classification"].text
        if told is not None:
            return told
        in_scored_category = str(detail["category"].value) in self.verdict.at("capability.domain_categories").members
        is_scored = detail["score"].number is not None or in_scored_category
        return str(Classification.CAPABILITY if is_scored else Classification.SAFETY)

    @cached_property
    def is_broken_off(self) -> bool:
        """Whether the run is said to have ended before its end."""
        gaps = self.metadata.at("evaluation_mode.incomplete_because").entries
        return self.metadata["aborted"].value is True or any("interrupted" in str(gap.value) for gap in gaps)
