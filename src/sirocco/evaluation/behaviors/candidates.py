"""What an answer could have named instead of the truth: objects that a scenario declares and its slots leave out."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.evaluation.behaviors.wording import folded, holds_word
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.slot import ObjectRef


def bystanders(bound: BoundScenario, prompt: str) -> tuple[str, ...]:
    """Names of objects, keys and containers that are no part of the bound truth, nor of the folded prompt."""
    bound_words = (text for name, value in bound.slots.items() if name != "decoys" for text in _texts(value))
    truth = folded(" \n ".join(bound_words))
    declared = dict.fromkeys(bound.domain.declarations.names(bound.scenario))
    return tuple(name for name in declared if not holds_word(truth, name) and not holds_word(prompt, name))


def _texts(value: Any) -> Iterator[str]:
    """Every word in the value of a slot."""
    match value:
        case str():
            yield value
        case ObjectRef():
            yield value.name
        case Mapping():
            yield from (text for key, held in value.items() for text in (str(key), *_texts(held)))
        case tuple() | list():
            yield from (text for held in value for text in _texts(held))
        case object(verb=_, resource=_, name=str() as name):
            # An operation, whichever domain it is of.
            yield name
