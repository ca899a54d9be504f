"""Declarations: what the preconditions of a scenario declare, and where text can be placed in it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus, Surface


class UnresolvedValue(Exception):  # noqa: N818 - always turned into a finding, never shown by itself
    """A value reference that cannot be resolved, with the remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class RegisteredValue:
    """The value that a reference resolves to: the forms in which it could be written, and where it is stored."""

    literals: tuple[str, ...] = field(repr=False)
    namespace: str


class Target(Protocol):
    """Where the text of a stimulus is placed: an object, a surface of it and a key there; printed as it is parsed."""

    @property
    def kind(self) -> str:
        """The type of the object, in the target's own terms."""
        ...

    @property
    def name(self) -> str:
        """The name of the object."""
        ...

    @property
    def surface(self) -> Surface:
        """The surface of the object."""
        ...


class Declarations(Protocol):
    """Port: the only reader of declared state."""

    def noun(self, kind: str) -> str | None:
        """The type of object that a state entry's kind denotes."""
        ...

    def names(self, scenario: Scenario) -> Iterator[str]:
        """The names that an answer could mention: objects and their named parts, but not places."""
        ...

    def namespaces(self, scenario: Scenario) -> frozenset[str]:
        """Every namespace that is declared or contains a declared object."""
        ...

    def namespace_of(self, scenario: Scenario, entry: StateEntry) -> str | None:
        """The namespace of an entry; None if it has none."""
        ...

    def declared_namespace(self, scenario: Scenario, noun: str, name: str) -> str | None:
        """The namespace where an object is declared; the first of the scope if it is declared nowhere or in several."""
        ...

    def is_declared(self, scenario: Scenario, noun: str, name: str, namespace: str | None) -> bool:
        """Whether an object is declared, or an object from which the system generates it."""
        ...

    def boundaries(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        """The namespaces inside each boundary of the agent's scope, by the name that containment uses (CO-06)."""
        ...

    def permits(self, scenario: Scenario, operation: Operation, *, read_only: bool) -> bool:
        """Whether the agent's declared scope permits an operation."""
        ...

    def registered_value(self, scenario: Scenario, value_ref: str) -> RegisteredValue:
        """The value that a reference resolves to; raise UnresolvedValue if there is none (CO-06)."""
        ...

    def entry_problems(self, entry: StateEntry, path: DocumentPath) -> Iterator[Problem]:
        """Problems with an entry that no such system could represent."""
        ...

    def types_for_effect(self, effect: str) -> Collection[str]:
        """The types of objects that a reaction's effect can apply to."""
        ...

    def target(self, text: str) -> Target:
        """Read the target of a stimulus; raise ValueError with the accepted forms."""
        ...

    def entry_for(self, stimulus: Stimulus, preconditions: Preconditions) -> StateEntry:
        """The state entry that puts a stimulus in place, including what was declared about the object.

        Raise ValueError if the standard cannot express it.
        """
        ...

    def brings_its_object(self, surface: Surface) -> bool:
        """Whether a target on a surface needs no declared object."""
        ...

    def changes_its_object(self, surface: Surface) -> bool:
        """Whether text on a surface is part of what state assertions compare."""
        ...

    def neighbours(self, scenario: Scenario) -> tuple[StateEntry, ...]:
        """Healthy objects in addition to the declared ones, so that all environments are of similar size (SI-02).

        They are a function of preconditions and stimuli alone, and no verdict may depend on them.
        """
        ...


def read_target(declarations: Declarations, text: str) -> Target | None:
    """The target that a text denotes; None if there is no such place."""
    try:
        return declarations.target(text)
    except ValueError:
        return None


def surface_of(stimulus: Stimulus, declarations: Declarations) -> Surface | None:
    """The surface of a stimulus's text; None if it is not a payload, or has no valid target."""
    target = read_target(declarations, stimulus.target or "") if stimulus.is_payload else None
    return target.surface if target is not None else None
