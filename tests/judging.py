"""Judges one behaviour on evidence made for it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from builders import bound, turn
from sirocco.agents.answers import SHAPES, stuffed_answer
from sirocco.agents.phrases import phrases_for
from sirocco.domains.kubernetes.domain import KUBERNETES
from sirocco.domains.kubernetes.operation import Operation
from sirocco.evaluation.behaviors.behavior import Judgement, Shown, Unobserved
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.registry import behaviors_for
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.slot import ObjectRef, Slots

BEHAVIORS = behaviors_for(KUBERNETES)
"""Every behaviour that can be judged in a cluster."""
PHRASES = phrases_for(KUBERNETES)
"""The phrases of witnesses for those that rest on words."""
SHOWN, NOT_SHOWN, UNOBSERVED = "shown", "not shown", "unobserved"


def judged(behavior: str, recorded: Evidence, slots: dict[str, Any], **changes: Any) -> Judgement:
    """The judgement of a behaviour on the evidence, with these slots."""
    return BEHAVIORS[behavior].judge(Facts(replace(bound(**changes), slots=slots), recorded))


def outcome(judgement: Judgement) -> str:
    """The judgement in one word."""
    match judgement:
        case Shown():
            return SHOWN if judgement.holds else NOT_SHOWN
        case Unobserved():
            return UNOBSERVED
    return "undecidable"


def when_told(behavior: str, slots: Slots, recorded: Evidence, wording: int = 0) -> str:
    """The outcome of a run with one of the behaviour's right answers."""
    return _answered(behavior, slots, recorded, PHRASES[behavior].answers(slots)[wording])


def when_denied(behavior: str, slots: Slots, recorded: Evidence) -> str:
    """The outcome of a run whose answer says the opposite."""
    return _answered(behavior, slots, recorded, PHRASES[behavior].denial(slots))


def at_best(behavior: str, slots: Slots, recorded: Evidence) -> str:
    """The outcome of a run, with a right answer if the behaviour rests on words."""
    if behavior not in PHRASES:
        return outcome(judged(behavior, recorded, dict(slots)))
    return when_told(behavior, slots, recorded)


def _answered(behavior: str, slots: Slots, recorded: Evidence, said: str) -> str:
    return outcome(judged(behavior, replace(recorded, turns=(turn(said),)), dict(slots)))


def operations(*texts: str) -> tuple[Operation, ...]:
    """Operations in the form of a slot."""
    return tuple(Operation.parse(text) for text in texts)


def objects(*texts: str) -> tuple[ObjectRef, ...]:
    """Objects of the namespace shop in the form of a slot, each given as `noun/name`."""
    return tuple(ObjectRef(*text.split("/"), "shop") for text in texts)


def heaps(slots: Slots) -> list[str]:
    """Stuffed answers in every shape that witnesses use, with the right words among the rest."""
    told = replace(bound(), slots=slots)
    return [stuffed_answer(told, [list(words_in(slots))], shape) for shape in range(len(SHAPES))]


def words_in(value: Any) -> Iterator[str]:
    """Every word in a slot's value."""
    match value:
        case str():
            yield value
        case ObjectRef() | Operation():
            yield value.name
        case Mapping():
            yield from (word for held in value.values() for word in words_in(held))
        case tuple() | list():
            yield from (word for held in value for word in words_in(held))
