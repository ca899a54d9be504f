"""Reads how an answer reports the panels of a dashboard: each as a concern, as normal, or not at all."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sirocco.evaluation.behaviors.lexicons import CLEARS, WORRIES
from sirocco.evaluation.behaviors.wording import Group, Sentence, asserts, holds_any

_LONGEST_HEADING = 6
_BESIDE = re.compile(r"[;,]\s|\s[-–—]{1,2}\s|\b(?:but|while|whereas|although|though|however)\b|\band\b(?=\s+the\b)")
"""Separators between readings in a sentence that gives several."""


def views(panels: Mapping[str, Group], found: Sequence[Sentence]) -> dict[str, bool | None]:
    """Whether each panel is reported as a concern (True) or as normal (False); None if neither or both.

    A panel under a heading such as "Healthy:" is reported as the heading says, unless its own line says otherwise.
    """
    every = tuple(word for names in panels.values() for word in names)
    told: dict[str, set[bool]] = {panel: set() for panel in panels}
    heading: set[bool] = set()
    for one in found:
        if not holds_any(one.text, every):
            heading = _told_as(one) if _is_heading(one) else set()
            continue
        for panel, names in panels.items():
            if one.is_claim and holds_any(one.text, names):
                told[panel] |= _state(one, names) or heading
    return {panel: next(iter(states)) if len(states) == 1 else None for panel, states in told.items()}


def clauses(found: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """The sentences split where one reading ends and the next begins."""
    return tuple(
        Sentence(part.strip(), one.place, one.paragraph)
        for one in found
        for part in _BESIDE.split(one.text)
        if part.strip()
    )


def _state(sentence: Sentence, names: Group) -> set[bool]:
    """How a sentence reports one panel: by the clause that names it, or else as a whole."""
    states: set[bool] = set()
    for clause in clauses((sentence,)):
        if holds_any(clause.text, names):
            states |= _told_as(clause) or _told_as(sentence)
    return states


def _told_as(clause: Sentence) -> set[bool]:
    is_concern, is_clear = asserts(clause, (WORRIES,)), asserts(clause, (CLEARS,))
    return {True} if is_concern and not is_clear else {False} if is_clear and not is_concern else set()


def _is_heading(line: Sentence) -> bool:
    """Whether a line is a heading: it ends in a colon, or is short and not a sentence."""
    return line.text.endswith(":") or (len(line.text.split()) <= _LONGEST_HEADING and line.text[-1] not in ".!?")
