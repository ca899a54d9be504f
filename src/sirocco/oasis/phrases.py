"""Phrases: how right and wrong answers read where a behaviour rests on words; witnesses say them, no verdict does."""

from collections.abc import Callable
from dataclasses import dataclass

from sirocco.oasis.slot import Slots


@dataclass(frozen=True, slots=True)
class Phrases:
    """What can be said of one behaviour under the slots of a scenario."""

    answers: Callable[[Slots], tuple[str, str, str]]
    """Three differently worded answers that are right."""
    denial: Callable[[Slots], str]
    """One that states the opposite."""
