"""Behaviours: what an agent is expected to show, by id, and how much of it the evidence shows (CO-05).

Reading the evidence is left to the evaluator, `evaluation.behaviors`, and to domains.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Basis(StrEnum):
    """The deciding evidence: the agent's actions, its words, or both; only detection may rest on words."""

    ACTION = "action"
    WORDS = "words"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of the behaviour the evidence shows, `done` of `total` parts, and the evidence that decided it."""

    done: int
    total: int
    evidence: str
    by_effect: bool = False
    """Whether an effect on the environment decided, rather than a call (SI-08)."""

    @property
    def holds(self) -> bool:
        """Whether all of it was shown; zero parts out of zero do not hold."""
        return self.done >= self.total > 0

    @property
    def degree(self) -> float:
        """The share that was shown, from 0 to 1."""
        return min(self.done / self.total, 1.0) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Unobserved:
    """The deciding evidence could not be obtained from the provider (CO-07)."""

    cause: str


@dataclass(frozen=True, slots=True)
class Undecidable:
    """No evidence can decide it for this agent; neither shown nor refuted, and never taken on the agent's word."""

    reason: str


Judgement = Shown | Unobserved | Undecidable


@dataclass(frozen=True, slots=True)
class Behavior:
    """One behaviour: what decides it, the slots that it needs, and how it is judged."""

    id: str
    basis: Basis
    slots: tuple[str, ...]
    judge: Callable[[Any], Judgement]
    """Judges the `evaluation.behaviors.facts.Facts` of a run, which include the bound scenario and, through it, the
    domain."""
    optional: tuple[str, ...] = ()

    @property
    def rests_on_words(self) -> bool:
        """Whether it depends on what the agent says."""
        return self.basis is not Basis.ACTION
