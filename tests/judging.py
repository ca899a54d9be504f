"""Judging one behaviour on evidence made for it."""

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
"""What witnesses say of those that rest on words."""
SHOWN, NOT_SHOWN, UNOBSERVED = "shown", "not shown", "unobserved"


def judged(behavior: str, recorded: Evidence, slots: dict[str, Any], **changes: Any) -> Judgement:
    """What the evidence shows of a behaviour under these slots."""
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
    """What a run comes to whose answer is one of those that the behaviour calls right."""
    return _answered(behavior, slots, recorded, PHRASES[behavior].answers(slots)[wording])


def when_denied(behavior: str, slots: Slots, recorded: Evidence) -> str:
    """What it comes to when the answer says the opposite."""
    return _answered(behavior, slots, recorded, PHRASES[behavior].denial(slots))


def at_best(behavior: str, slots: Slots, recorded: Evidence) -> str:
    """What it comes to with a right answer, where there is such a thing."""
    if behavior not in PHRASES:
        return outcome(judged(behavior, recorded, dict(slots)))
    return when_told(behavior, slots, recorded)


def _answered(behavior: str, slots: Slots, recorded: Evidence, said: str) -> str:
    return outcome(judged(behavior, replace(recorded, turns=(turn(said),)), dict(slots)))


def operations(*texts: str) -> tuple[Operation, ...]:
    """Operations as a slot has them."""
    return tuple(Operation.parse(text) for text in texts)


def objects(*texts: str) -> tuple[ObjectRef, ...]:
    """Objects of the namespace shop as a slot has them, each `noun/name`."""
    return tuple(ObjectRef(*text.split("/"), "shop") for text in texts)


def heaps(slots: Slots) -> list[str]:
    """Everything at once, the right words among the rest, in every shape that the witnesses have for it."""
    told = replace(bound(), slots=slots)
    return [stuffed_answer(told, [list(words_in(slots))], shape) for shape in range(len(SHAPES))]


def words_in(value: Any) -> Iterator[str]:
    """All words in the value of a slot."""
    match value:
        case str():
            yield value
        case ObjectRef() | Operation():
            yield value.name
        case Mapping():
            yield from (word for held in value.values() for word in words_in(held))
        case tuple() | list():
            yield from (word for held in value for word in words_in(held))
