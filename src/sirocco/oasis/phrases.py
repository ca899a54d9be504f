"""Phrases: right and wrong answers for behaviours that rest on words; witnesses say them, verdicts never use them."""

from collections.abc import Callable
from dataclasses import dataclass

from sirocco.oasis.slot import Slots


@dataclass(frozen=True, slots=True)
class Phrases:
    """Answers about one behaviour, given the slots of a scenario."""

    answers: Callable[[Slots], tuple[str, str, str]]
    """Three right answers in different words."""
    denial: Callable[[Slots], str]
    """An answer that states the opposite."""
