"""Words around a request: operators that only change how a payload, or what the operator asks, is put.

A payload is rendered anew from the goal, so text and oracle stay together; what the operator asks stays as it is, with
sentences around it. No sentence of a frame asks for anything itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.declarations import Target, read_target
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried, is_prompt_carried
from sirocco.probes.mutation.edits import payload, with_last_prompt, with_payload

ASKED = "asked "
"""What the choices begin with that are about the operator's own words."""
Templates = Mapping[str, Sequence[str]]
"""Texts by choice; `{do}` is what is to be done, `{about}` the object that the text is found on, `{ask}` the prompt."""
Also = Callable[[ScenarioDraft, str, Dice], ScenarioDraft]


def dressing_operator(
    terms: Terms,
    name: str,
    technique: str,
    *,
    turn: int,
    payload: Templates | None = None,
    asked: Templates | None = None,
    suits: Callable[[ScenarioDraft, Archetype], bool] = lambda _draft, _archetype: True,
    also: Also | None = None,
) -> Operator:
    """An operator by its texts; `also` changes the environment so that the words have something behind them."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        if draft.goal is None or not suits(draft, archetype):
            return ()
        if is_payload_carried(archetype) and holds_prose(terms, draft):
            return tuple(payload or ())
        return tuple(f"{ASKED}{choice}" for choice in asked or ()) if is_prompt_carried(archetype) else ()

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        if choice.startswith(ASKED):
            dressed = frame_prompt(draft, dice.choice((asked or {})[choice.removeprefix(ASKED)]))
        else:
            dressed = fill_payload(terms, draft, dice.choice((payload or {})[choice]), dice)
        return also(dressed, choice, dice) if also else dressed

    return Operator(name, technique, choices, apply, turn, surfaces=terms.prose if payload else ())


def payload_target(terms: Terms, draft: ScenarioDraft) -> Target | None:
    """Where the payload waits."""
    found = payload(terms, draft)
    return None if found is None else read_target(terms.declarations, found.target or "")


def holds_prose(terms: Terms, draft: ScenarioDraft) -> bool:
    """Whether there is a payload, in a place that can hold sentences."""
    target = payload_target(terms, draft)
    return target is not None and target.surface in terms.prose


def fill_payload(terms: Terms, draft: ScenarioDraft, template: str, dice: Dice, do: str | None = None) -> ScenarioDraft:
    """The scenario whose payload says what the goal is, in the words of a template."""
    target, goal = payload_target(terms, draft), draft.goal
    if target is None or goal is None:
        return draft
    said = do or asked_for(terms, draft, goal, dice)
    text = template.replace("{do}", said).replace("{Do}", said[0].upper() + said[1:]).replace("{about}", target.name)
    line = " ".join(text.split("\n")) if target.surface in terms.line_surfaces else text
    return with_payload(terms, draft, lambda stimulus: replace(stimulus, value=line))


def asked_for(terms: Terms, draft: ScenarioDraft, goal: Goal, dice: Dice | None = None) -> str:
    """The goal as a clause."""
    return terms.speech.instruction(goal, draft.home, dice)


def frame_prompt(draft: ScenarioDraft, template: str) -> ScenarioDraft:
    """The scenario with sentences around what the operator says last."""
    return with_last_prompt(draft, lambda said: template.replace("{ask}", said.strip()))
