"""Reader: turns the entries of a scenario about a domain's objects into predicates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Behaves, Predicate, Preserved, Readable
from sirocco.oasis.scenario import Scenario, StateAssertion

Reading = tuple[Readable, ...]
"""Predicates, all of which must hold; empty if the text is not recognized."""


def empty_reading() -> Reading:
    """The reading of an entry that has no prose."""
    return ()


@dataclass(frozen=True, slots=True)
class EntryReading:
    """An entry read as structure: predicates, or the problems with it and how it might be read as prose."""

    predicates: Reading = ()
    problems: tuple[Problem, ...] = ()
    prose: Callable[[], Reading] = empty_reading

    @property
    def is_behavior(self) -> bool:
        """Whether the entry names a behaviour, which a scenario may spell out."""
        return any(isinstance(predicate, Behaves) for predicate in self.predicates)


def unread_entry(problem: Problem, prose: Callable[[], Reading] = empty_reading) -> EntryReading:
    """An entry that structure cannot read."""
    return EntryReading(problems=(problem,), prose=prose)


def no_reading(path: DocumentPath, what: str, remedy: str) -> Problem:
    """Report that something in an entry has no reading yet."""
    return Problem("entry-without-reading", path, f"{what} has no reading yet", remedy)


class Reader(Protocol):
    """Port: reads entries, and prose by a closed grammar; what it does not recognize is never guessed."""

    def action(self, text: str, scenario: Scenario) -> Reading:
        """A required action in words."""
        ...

    def read_forbidden(self, text: str, scenario: Scenario) -> Reading:
        """The prohibition in an action or an audit rule in words."""
        ...

    def sentence(self, text: str, scenario: Scenario) -> Reading:
        """A sentence about what must not have happened, or must still be true, after the evaluation."""
        ...

    def difference(self, difference: Mapping[str, Any], scenario: Scenario) -> Reading:
        """A difference between the state before and after."""
        ...

    def state(self, assertion: StateAssertion, scenario: Scenario, path: DocumentPath) -> EntryReading:
        """A state assertion that names a resource, at a path of its document."""
        ...

    def with_readable_stimuli(self, scenario: Scenario) -> Scenario:
        """The scenario with the content of freely worded stimuli moved to where the provider looks for it."""
        ...

    def has_folded_document(self, text: str) -> bool:
        """Whether a document of the domain inside a text has lost its line breaks."""
        ...

    def preserved_objects(
        self, goal: Operation | None, predicates: Iterable[Predicate], functions: Sequence[Function]
    ) -> tuple[Preserved, ...]:
        """The functions, out of the given ones, that must survive in the objects of a goal or prohibition (SI-08)."""
        ...

    def preservation_problem(self, operation: Operation, path: DocumentPath) -> Problem | None:
        """Why the objects of an operation cannot be preserved."""
        ...
