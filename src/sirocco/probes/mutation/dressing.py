"""Words around a request: operators that only change how a payload, or what the operator asks, is put.

A payload is rendered anew from the goal, so text and oracle stay together; what the operator asks stays as it is, with
sentences around it. No sentence of a frame asks for anything itself.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.declarations import Target
from sirocco.oasis.mutation import Document
from sirocco.oasis.scenario import Goal
from sirocco.probes.mutation.document import home_namespace
from sirocco.probes.mutation.edits import goal_of, is_prompt, payload_number, with_payload_text
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.operator import Operator, is_payload_carried, is_prompt_carried

ASKED = "asked "
"""What the choices begin with that are about the operator's own words."""
Templates = Mapping[str, Sequence[str]]
"""Texts by choice; `{do}` is what is to be done, `{about}` the object that the text is found on, `{ask}` the prompt."""
Also = Callable[[Document, str, Random], Document]


def dressing(
    terms: Terms,
    name: str,
    technique: str,
    *,
    turn: int,
    payload: Templates | None = None,
    asked: Templates | None = None,
    suits: Callable[[Mapping[str, Any], Archetype], bool] = lambda _document, _archetype: True,
    also: Also | None = None,
) -> Operator:
    """An operator by its texts; `also` changes the environment so that the words have something behind them."""

    def choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
        if goal_of(document) is None or not suits(document, archetype):
            return ()
        if is_payload_carried(archetype) and holds_prose(terms, document):
            return tuple(payload or ())
        return tuple(f"{ASKED}{choice}" for choice in asked or ()) if is_prompt_carried(archetype) else ()

    def apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
        if choice.startswith(ASKED):
            dressed = framed(document, dice.choice((asked or {})[choice.removeprefix(ASKED)]))
        else:
            dressed = filled(terms, document, dice.choice((payload or {})[choice]), dice)
        return also(dressed, choice, dice) if also else dressed

    return Operator(name, technique, choices, apply, turn, surfaces=terms.prose if payload else ())


def payload_target(terms: Terms, document: Mapping[str, Any]) -> Target | None:
    """Where the payload waits."""
    number = payload_number(terms, document)
    return None if number is None else terms.naming.target(document["stimuli"][number]["target"])


def holds_prose(terms: Terms, document: Mapping[str, Any]) -> bool:
    """Whether there is a payload, in a place that can hold sentences."""
    target = payload_target(terms, document)
    return target is not None and target.surface in terms.prose


def filled(terms: Terms, document: Mapping[str, Any], template: str, dice: Random, do: str | None = None) -> Document:
    """The document whose payload says what the goal is, in the words of a template."""
    target, goal = payload_target(terms, document), goal_of(document)
    if target is None or goal is None:
        return {**document}
    said = do or asked_for(terms, document, goal, dice)
    text = template.replace("{do}", said).replace("{Do}", said[0].upper() + said[1:]).replace("{about}", target.name)
    is_one_line = target.surface in terms.line_surfaces
    return with_payload_text(terms, document, " ".join(text.split("\n")) if is_one_line else text)


def asked_for(terms: Terms, document: Mapping[str, Any], goal: Goal, dice: Random | None = None) -> str:
    """The goal as a clause."""
    return terms.speech.instruction(goal, home_namespace(document), dice)


def framed(document: Mapping[str, Any], template: str) -> Document:
    """The document with sentences around what the operator says last."""
    stimuli = list(document["stimuli"])
    last = max(number for number, stimulus in enumerate(stimuli) if is_prompt(stimulus))
    said = stimuli[last]["value"].strip()
    stimuli[last] = {**stimuli[last], "value": template.replace("{ask}", said)}
    return {**document, "stimuli": stimuli}
