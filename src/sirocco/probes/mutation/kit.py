"""What the engine asks of a domain besides its documents' terms: goals as words, places for them, and operators."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Protocol

from sirocco.evaluation.behaviors.behavior import Behavior
from sirocco.oasis.declarations import Target
from sirocco.oasis.domain import Domain
from sirocco.oasis.mutation import Document, Entry, Naming, Operations
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Goal
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.vocabulary import Vocabulary
from sirocco.probes.mutation.operator import Operator


class Speech(Protocol):
    """Port: a goal in words; only structured values go in, so that text and goal cannot drift apart."""

    def instruction(self, goal: Goal, home: str, dice: Random | None = None) -> str:
        """The goal as a clause, without dice the plainest; `home` is the namespace of a goal without one."""
        ...

    def note(self, goal: Goal, surface: Surface, about: str, home: str, dice: Random) -> str:
        """An instruction to do what the goal says, worded as text that is found on `surface` of the object `about`."""
        ...

    def name_of_words(self, goal: Goal, home: str) -> str:
        """The instruction as a name can hold it: its words with hyphens, as many as there is room for."""
        ...

    def target(self, goal: Goal) -> str:
        """What the goal is about, for a sentence: kind and name."""
        ...

    def is_sayable(self, goal: Goal) -> bool:
        """Whether a text that somebody comes across can ask for it."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a payload can wait: the document with what the place needs to exist, and the target there."""

    document: Document
    target: Target
    namespace: str
    is_beside: bool = False
    """Whether the text is an object of its own, beside the one that the target names."""


class Places(Protocol):
    """Port: where in an environment a text can wait so that whoever does the task comes across it."""

    def phrase(self, surface: Surface) -> str:
        """What a text on the surface is called."""
        ...

    def host(self, document: Mapping[str, Any], surface: Surface) -> Entry | None:
        """The object on or beside which a payload on `surface` would wait; None where the document has none."""
        ...

    def place(self, document: Mapping[str, Any], surface: Surface, owner: Entry, dice: Random) -> Place:
        """The place on `surface` of an object that `host` gave for it."""
        ...


class Surroundings(Protocol):
    """Port: declared environments that change as a whole."""

    def with_host(self, document: Document) -> Document:
        """The document with something in the agent's scope on and around which a payload can wait."""
        ...

    def single_entries(self, entry: Mapping[str, Any]) -> Iterator[Document]:
        """An entry that counts objects as one entry for each of them; any other as it is."""
        ...

    def entry_in_host(self, entry: Mapping[str, Any], namespace: str) -> Document | None:
        """An entry of another scenario as it stands in a host's namespace; None for one that the host has itself."""
        ...

    def without_mentions(self, entry: Mapping[str, Any], name: str) -> Document:
        """A declared object without texts of several words that name what a goal is about."""
        ...


@dataclass(frozen=True, slots=True)
class Terms:
    """All that operators ask of a domain."""

    vocabulary: Vocabulary
    words: frozenset[str]
    parsed: Callable[[str], Operation | None]
    naming: Naming
    operations: Operations
    speech: Speech
    places: Places
    surroundings: Surroundings
    surfaces: tuple[Surface, ...]
    """Those that payloads are moved to, in the order of the vocabulary."""
    name_surfaces: frozenset[Surface]
    """Those whose texts are written as names are, without blanks."""
    line_surfaces: frozenset[Surface]
    """Those whose texts are of one line."""
    first_surfaces: frozenset[Surface]
    """Those whose texts are there from the start, or never."""
    behaviors: Mapping[str, Behavior]
    """The behaviours that only the domain can judge."""

    @property
    def prose(self) -> tuple[Surface, ...]:
        """Surfaces that can hold sentences."""
        return tuple(surface for surface in self.surfaces if surface not in self.name_surfaces)


@dataclass(frozen=True)
class Kit:
    """What a domain brings for the engine."""

    terms: Terms
    operators: tuple[Operator, ...]
    """In the order in which a chain applies them, which `discovery.in_turn` makes: the situation, the place, its words,
    names, and what disguises names. `transplant` and `corroborate`, which put texts into places, are always among them.
    """
    folder: Path
    """Where the domain's own part of the engine lies, whose text decides what a draft says as the engine's does."""

    @cached_property
    def by_name(self) -> Mapping[str, Operator]:
        """The operators by their names."""
        return {operator.name: operator for operator in self.operators}


def kit_of(domain: Domain) -> Kit:
    """The domain's kit."""
    kit = domain.mutation
    if not isinstance(kit, Kit):
        raise TypeError(f"the domain of {domain.environment_type} has no kit for the mutation engine")
    return kit
