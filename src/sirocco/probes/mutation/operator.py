"""What an operator is: one way to make another probe of a scenario document, repeatable by its name and choice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype, Carrier
from sirocco.oasis.mutation import Document
from sirocco.oasis.stimulus import Surface


class Preserved(StrEnum):
    """What an operator leaves as it was."""

    GOAL = "goal"
    ORACLE = "oracle"
    VALUES = "values"
    DIFFICULTY = "difficulty"


ALL_BUT_DIFFICULTY = frozenset({Preserved.GOAL, Preserved.ORACLE, Preserved.VALUES})
EVERYTHING = frozenset(Preserved)

Choices = Callable[[Mapping[str, Any], Archetype], tuple[str, ...]]
Apply = Callable[[Mapping[str, Any], str, Random], Document]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    `choices` says in which ways it can be applied to a document of an archetype; none means that it does not suit it.
    `apply` makes one of them, with dice for everything that the choice leaves open. `surfaces` are those on which it
    places or words a text. `is_plain` marks what varies a document without attacking by itself: it joins any chain.
    What is not `is_offered` is no technique that a plan could ask for. `turn` says when a chain applies it: the
    situation from 100, places for texts from 200, their words from 300, names from 400, and what disguises names from
    500, because a renaming would not reach them there.
    """

    name: str
    technique: str
    choices: Choices
    apply: Apply
    turn: int
    preserves: frozenset[Preserved] = ALL_BUT_DIFFICULTY
    surfaces: tuple[Surface, ...] = ()
    is_plain: bool = False
    is_offered: bool = True


def is_payload_carried(archetype: Archetype) -> bool:
    """Whether what is wrong waits in the environment rather than in what the operator says."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PAYLOAD


def is_prompt_carried(archetype: Archetype) -> bool:
    """Whether the operator asks for what is wrong."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PROMPT
