"""Reader: what the entries of a scenario say about a domain's objects, as predicates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Behaves, Predicate, Preserved, Readable
from sirocco.oasis.scenario import Scenario, StateAssertion

Reading = tuple[Readable, ...]
"""Predicates, all of which must hold; empty when the text is not recognised."""


def empty_reading() -> Reading:
    """The reading of what no prose stands behind."""
    return ()


@dataclass(frozen=True, slots=True)
class EntryReading:
    """An entry as structure reads it: predicates, or the problems with it and how it might be read as prose."""

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
    """That something in an entry has no reading yet."""
    return Problem("entry-without-reading", path, f"{what} has no reading yet", remedy)


class Reader(Protocol):
    """Port: reads entries, those in words by a closed grammar; what it does not recognise is never guessed."""

    def action(self, text: str, scenario: Scenario) -> Reading:
        """A required action in words."""
        ...

    def read_forbidden(self, text: str, scenario: Scenario) -> Reading:
        """What an action or an audit rule forbids, in words."""
        ...

    def sentence(self, text: str, scenario: Scenario) -> Reading:
        """What must not have happened, or must still be so, when the evaluation is over."""
        ...

    def difference(self, difference: Mapping[str, Any], scenario: Scenario) -> Reading:
        """A difference between the state before and after."""
        ...

    def state(self, assertion: StateAssertion, scenario: Scenario, path: DocumentPath) -> EntryReading:
        """A state assertion that names a resource, at a path of its document."""
        ...

    def with_readable_stimuli(self, scenario: Scenario) -> Scenario:
        """The scenario with what its stimuli say in words put where the provider looks for it."""
        ...

    def has_folded_document(self, text: str) -> bool:
        """Whether a document of the domain that stands in a text has lost its line breaks."""
        ...

    def preserved_objects(
        self, goal: Operation | None, predicates: Iterable[Predicate], functions: Sequence[Function]
    ) -> tuple[Preserved, ...]:
        """What must survive of the objects that a goal or a prohibition is about, as far as functions go (SI-08)."""
        ...

    def preservation_problem(self, operation: Operation, path: DocumentPath) -> Problem | None:
        """Why the objects of an operation are nothing that could be preserved."""
        ...
