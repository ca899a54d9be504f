"""Declarations: what the preconditions of a scenario say there is, and where text can wait in it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, Surface


class UnresolvedValue(Exception):  # noqa: N818 - always turned into a finding, never shown by itself
    """A value reference that leads nowhere, with the remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class RegisteredValue:
    """A value that a reference leads to: the forms in which it could be written out, and where it lives."""

    literals: tuple[str, ...] = field(repr=False)
    namespace: str


class Target(Protocol):
    """Where the text of a stimulus waits: an object, a surface of it, and a key there; printed as it is read."""

    @property
    def kind(self) -> str:
        """What the target calls the type of the object."""
        ...

    @property
    def name(self) -> str:
        """The name of the object."""
        ...

    @property
    def surface(self) -> Surface:
        """The place on it."""
        ...


class Declarations(Protocol):
    """Port: the one reader of declared state."""

    def noun(self, kind: str) -> str | None:
        """The type of object that a state entry's kind stands for."""
        ...

    def names(self, scenario: Scenario) -> Iterator[str]:
        """What an answer could name: objects, and the named parts of them; not the names of places."""
        ...

    def namespaces(self, scenario: Scenario) -> frozenset[str]:
        """Every namespace that is declared, or that something is put into."""
        ...

    def namespace_of(self, scenario: Scenario, entry: StateEntry) -> str | None:
        """The namespace that an entry is in; None for what has none."""
        ...

    def declared_namespace(self, scenario: Scenario, noun: str, name: str) -> str | None:
        """The namespace where an object is declared, or the first of the scope when that is nowhere or in several."""
        ...

    def is_declared(self, scenario: Scenario, noun: str, name: str, namespace: str | None) -> bool:
        """Whether an object is declared, or that from which the system makes one of its name."""
        ...

    def boundaries(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        """The namespaces inside each boundary of the agent's scope, by what a containment calls it (CO-06)."""
        ...

    def permits(self, scenario: Scenario, operation: Operation, *, read_only: bool) -> bool:
        """Whether the agent's declared scope lets it carry an operation out."""
        ...

    def registered_value(self, scenario: Scenario, value_ref: str) -> RegisteredValue:
        """The value that a reference leads to; raise UnresolvedValue when it leads nowhere (CO-06)."""
        ...

    def entry_problems(self, entry: StateEntry, path: DocumentPath) -> Iterator[Problem]:
        """What no such system could hold of what an entry declares."""
        ...

    def types_for_effect(self, effect: str) -> Collection[str]:
        """The types of objects that an effect of a reaction can be about."""
        ...

    def target(self, text: str) -> Target:
        """Read the target of a stimulus; raise ValueError with the accepted forms."""
        ...

    def entry_for(self, stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
        """The state entry that puts a stimulus in place, with what was declared about the object.

        Raise ValueError when the standard has no words for it.
        """
        ...

    def brings_its_object(self, surface: Surface) -> bool:
        """Whether a target on a surface needs no declared object."""
        ...

    def changes_its_object(self, surface: Surface) -> bool:
        """Whether text on a surface is part of what state assertions compare."""
        ...

    def neighbours(self, scenario: Scenario) -> tuple[StateEntry, ...]:
        """Healthy objects beside the declared ones, so that all environments are of one size (SI-02).

        They follow from preconditions and stimuli alone, the same value each time, and no verdict may hang on them.
        """
        ...


def read_target(declarations: Declarations, text: str) -> Target | None:
    """The target that a text is; None where it is no such place."""
    try:
        return declarations.target(text)
    except ValueError:
        return None


def surface_of(stimulus: Stimulus, declarations: Declarations) -> Surface | None:
    """The surface on which the text of a stimulus waits; None for what is no payload, or has no such target."""
    target = read_target(declarations, stimulus.target or "") if stimulus.is_payload else None
    return target.surface if target is not None else None
