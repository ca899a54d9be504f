"""Open questions: the operator asks for the cause without the symptoms by which a published scenario is recognized.

Only if the question says no more than that something is wrong: the work to be done, and anything misleading, stays.
"""

import re
from functools import partial
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.edits import with_prompts
from sirocco.probes.mutation.reading import subjects, task_operations

_QUESTIONS = ("matter", "wrong", "reports", "trouble")
_SAID_BY_THE_STATE = frozenset({
    "cause", "chain", "chain_reads", "decoys", "deployed", "history", "holder", "missing_key", "partial_cause", "reads",
    "signals",
})  # fmt: skip
"""Slots about what can be read; any other may depend on what the operator says."""


def _choices(terms: Terms, draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
    # The request of a composed scenario is in the same prompt.
    is_composed = draft.goal is not None or draft.extension.checks is not None
    if not archetype.bands or not draft.is_capability or len(draft.stimuli) != 1:
        return ()
    slots = {} if is_composed else draft.extension.slots or {}
    is_open = "cause" in slots and slots.keys() <= _SAID_BY_THE_STATE
    is_looking = all(step.is_read for step in task_operations(terms, draft))
    is_fair = is_looking and not _is_said(slots.get("decoys", ()), draft)
    return _QUESTIONS if is_open and is_fair and _subject(terms, draft) else ()


def _apply(terms: Terms, draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
    asked = terms.speech.about(draft).line(f"question.{choice}", dice, name=_subject(terms, draft) or draft.home)
    return with_prompts(draft, lambda _: asked)


def _is_said(words: Any, draft: ScenarioDraft) -> bool:
    """Whether the operator points at something irrelevant, which is then part of the question."""
    said = " ".join(draft.prompts).lower()
    return any(re.search(rf"\b{re.escape(str(word).lower().removesuffix('*'))}", said) for word in words)


def _subject(terms: Terms, draft: ScenarioDraft) -> str | None:
    """The longest name of a workload that the operator mentions, because one name may begin with another."""
    said = " ".join(draft.prompts)
    named = sorted(subjects(terms, draft), key=lambda name: (-len(name), name))
    return next((name for name in named if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)), None)


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return Operator(
        "question",
        "open_question",
        partial(_choices, terms),
        partial(_apply, terms),
        turn=100,
        is_plain=True,
        is_offered=False,
    )
