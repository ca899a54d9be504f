"""Words around a request: operators that only change how a payload, or the operator's request, is worded.

A payload is rendered again from the goal, so text and oracle stay consistent; the operator's request itself stays, with
sentences around it. The words are the material's; no sentence around a request asks for anything itself.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.declarations import Target, read_target
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.operation import ALL, ANY
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried, is_prompt_carried
from sirocco.probes.mutation.edits import payload, with_payload, with_sentence_about
from sirocco.probes.mutation.reading import goal_object, goal_operation

ASKED = "asked "
"""The prefix of choices that concern the operator's own words."""
_TOLD = ".tell"
"""The suffix of claims about a request to be told something."""
Also = Callable[[ScenarioDraft, str, Dice], ScenarioDraft]


def dressing_operator(
    terms: Terms,
    name: str,
    technique: str,
    *,
    turn: int,
    dress: str,
    payload: tuple[str, ...] = (),
    asked: tuple[str, ...] = (),
    suits: Callable[[ScenarioDraft, Archetype], bool] = lambda _draft, _archetype: True,
    also: Also | None = None,
) -> Operator:
    """An operator defined by the forms of the material that it uses, for payloads and for the operator's request.

    `dress` is the prefix of the forms' keys; `also` changes the environment so that the words are backed by it.
    """

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        if draft.goal is None or not suits(draft, archetype):
            return ()
        if is_payload_carried(archetype) and holds_prose(terms, draft):
            return payload
        return tuple(f"{ASKED}{choice}" for choice in asked) if is_prompt_carried(archetype) else ()

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        if choice.startswith(ASKED):
            dressed = frame_prompt(terms, draft, f"{dress}.{choice.removeprefix(ASKED)}", dice)
        else:
            dressed = dress_payload(terms, draft, f"{dress}.{choice}", dice)
        return also(dressed, choice, dice) if also else dressed

    return Operator(name, technique, choices, apply, turn, surfaces=terms.prose if payload else ())


def payload_target(terms: Terms, draft: ScenarioDraft) -> Target | None:
    """The target of the payload."""
    found = payload(terms, draft)
    return None if found is None else read_target(terms.declarations, found.target or "")


def holds_prose(terms: Terms, draft: ScenarioDraft) -> bool:
    """Whether there is a payload in a place that can hold sentences."""
    target = payload_target(terms, draft)
    return target is not None and target.surface in terms.prose


def dress_payload(terms: Terms, draft: ScenarioDraft, dress: str, dice: Dice) -> ScenarioDraft:
    """The scenario with its payload worded from the goal in a dress of the material."""
    target, goal = payload_target(terms, draft), draft.goal
    if target is None or goal is None:
        return draft
    return fill_payload(
        terms, draft, terms.speech.about(draft).note(goal, target.surface, target.name, draft.home, dice, dress)
    )


def fill_payload(terms: Terms, draft: ScenarioDraft, text: str) -> ScenarioDraft:
    """The scenario with another text in place of its payload."""
    target = payload_target(terms, draft)
    is_line = target is not None and target.surface in terms.line_surfaces
    line = " ".join(text.split("\n")) if is_line else text
    return with_payload(terms, draft, lambda stimulus: replace(stimulus, value=line))


def frame_prompt(terms: Terms, draft: ScenarioDraft, key: str, dice: Dice) -> ScenarioDraft:
    """The scenario with a sentence of the material next to the operator's request for the goal."""
    goal = draft.goal
    operation = goal_operation(terms, draft)
    is_look = operation is None or operation.is_read or not goal_object(terms, draft)
    is_told = goal is not None and is_look and key.startswith("claim.")
    said = terms.speech.about(draft).claim(key.removeprefix("claim.") + (_TOLD if is_told else ""), dice)
    return with_sentence_about(draft, said, _mentions(terms, draft))


def _mentions(terms: Terms, draft: ScenarioDraft) -> tuple[str, ...]:
    """Patterns of what a request for the goal contains, the surest first."""
    operation, name = goal_operation(terms, draft), goal_object(terms, draft)
    if name not in {ALL, ANY, ""}:
        return (re.escape(name),)
    if name == "":
        # What is not about an object is told by what it takes, such as a token.
        held = (draft.extension.slots or {}).values()
        return tuple(
            re.escape(str(one)) for value in held for one in (value if isinstance(value, list | tuple) else ())
        )
    labels = re.findall(r"labels=(\S+?):(\S+)", (draft.goal.operation or "") if draft.goal else "")
    noun = re.escape(operation.resource) if operation is not None else ""
    return (
        *(re.escape(f"{key}={value}") for key, value in labels),
        rf"(?i:\b(?:all|every|each)\b[^.!?]*\b{noun}s?\b)",
        r"(?i:\b(?:delete|remove|get rid of|clean up|clear out|drop)\b[^.!?]*\b(?:all|every|each)\b)",
    )
