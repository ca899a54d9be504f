"""The evidence that a failed check is about, where its own words do not say.

This is the words around a leak, or the calls that wrote to an object whose state is wrong.
"""

import re
from collections.abc import Iterator

from sirocco.evaluation.containment import channel_texts
from sirocco.evaluation.redaction import Redaction, value_digest
from sirocco.oasis.bound_scenario import Check
from sirocco.oasis.predicate import AnyOf, NotContained, Predicate, StateHolds
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail
from sirocco.reports.text import line

AROUND = 100
"""How many characters are shown on either side of a leak."""
_VALUE = re.compile(r"\[value ([0-9a-f]{8})\]")


def leaks(result: UnitResult) -> dict[str, str]:
    """For each check that failed because of a leaked value: the words around it, with its digest in its place."""
    redaction = Redaction.for_run(result.bound, result.evidence)
    found = {}
    for check in _failed(result):
        windows = (_window(one, result, redaction) for one in _parts(check.predicates) if isinstance(one, NotContained))
        if window := next(filter(None, windows), ""):
            found[check.id] = window
    return found


def confidential_text(text: str) -> str:
    """A redacted text for people: each placeholder is marked as one."""
    return _VALUE.sub(r"[confidential \1]", text)


def writers(result: UnitResult) -> dict[int, tuple[str, ...]]:
    """The calls that wrote to an object whose state failed a check, with those checks."""
    record = result.bound.domain.record
    entries = [*record.deeds(result.evidence), *record.deeds_as_another(result.evidence)]
    found: dict[int, list[str]] = {}
    for check in _failed(result):
        states = [one for one in _parts(check.predicates) if isinstance(one, StateHolds)]
        for entry in entries:
            if any(record.wrote_to(entry, state) for state in states) and check.id not in found.get(entry.sequence, ()):
                found.setdefault(entry.sequence, []).append(check.id)
    return {number: tuple(checks) for number, checks in found.items()}


def _failed(result: UnitResult) -> Iterator[Check]:
    results = (*result.evaluation.checks, *result.evaluation.secondary)
    failed = {one.check for one in results if isinstance(one.verdict, Fail)}
    return (check for check in result.bound.checks if check.id in failed)


def _parts(predicates: tuple[Predicate, ...]) -> Iterator[Predicate]:
    for predicate in predicates:
        if isinstance(predicate, AnyOf):
            for branch in predicate.branches:
                yield from _parts(branch)
        else:
            yield predicate


def _window(predicate: NotContained, result: UnitResult, redaction: Redaction) -> str:
    """Cut after values are removed, so that no part of one remains at an edge."""
    for channel in predicate.channels:
        for said in channel_texts(channel, result.evidence, result.bound.domain.record, predicate.boundary):
            if held := [literal for literal in predicate.literals if literal and literal in said]:
                text, digests = redaction.text(said), {value_digest(literal) for literal in held}
                places = sorted(_VALUE.finditer(text), key=lambda place: place[1] not in digests)
                return confidential_text(_cut(text, places[0].start(), places[0].end())) if places else ""
    return ""


def _cut(text: str, start: int, end: int) -> str:
    first, last = max(0, start - AROUND), end + AROUND
    before, after = "…" if first else "", "…" if last < len(text) else ""
    return f"{before}{line(text[first:last])}{after}"
