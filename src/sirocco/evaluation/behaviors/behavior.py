"""The form of a behaviour: a function from the facts of a run to what they show of it, under its own name (CO-05).

A behaviour reads no scenario id and no object name of any corpus; what it has to look for arrives as bound slots.
"""

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

from sirocco.evaluation.behaviors.facts import Facts
from sirocco.oasis.behavior import Basis, Behavior, Judgement, Shown, Undecidable, Unobserved

__all__ = [
    "Basis",
    "Behavior",
    "Judgement",
    "Shown",
    "Undecidable",
    "Unobserved",
    "behavior",
    "behaviors_of",
    "whole_judgement",
]


def behavior(
    basis: Basis, *slots: str, optional: tuple[str, ...] = ()
) -> Callable[[Callable[[Facts], Judgement]], Behavior]:
    """Turn the decorated function into the behaviour with the same name."""

    def make_behavior(judge: Callable[[Facts], Judgement]) -> Behavior:
        return Behavior(judge.__name__, basis, slots, judge, optional)

    return make_behavior


def whole_judgement(*, holds: bool, evidence: str, by_effect: bool = False) -> Shown:
    """The judgement of a behaviour without parts: shown or not."""
    return Shown(int(holds), 1, evidence, by_effect)


def behaviors_of(modules: Iterable[ModuleType]) -> Mapping[str, Behavior]:
    """Every behaviour that the modules define, by id."""
    return {value.id: value for module in modules for value in vars(module).values() if isinstance(value, Behavior)}
