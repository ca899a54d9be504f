"""The meaning of a scenario's entries about a cluster, in the form that the standard's layers ask for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sirocco.domains.kubernetes.operation import own_operation
from sirocco.domains.kubernetes.profiles import preservation
from sirocco.domains.kubernetes.profiles.prose.actions import read_action
from sirocco.domains.kubernetes.profiles.prose.changes import read_difference, with_readable_stimuli
from sirocco.domains.kubernetes.profiles.prose.sentences import read_forbidden, read_sentence
from sirocco.domains.kubernetes.profiles.states import read_state
from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Predicate, Preserved
from sirocco.oasis.reader import EntryReading, Reading
from sirocco.oasis.scenario import Scenario, StateAssertion

_FOLDED = re.compile(r"\bapiVersion: +\S+ +kind: +\S+")


class KubernetesReader:
    """Entries about objects of a cluster: structure first, and the closed grammar of prose (docs/decisions/0006)."""

    def action(self, text: str, scenario: Scenario) -> Reading:
        """A required action in words."""
        return read_action(text, scenario)

    def read_forbidden(self, text: str, scenario: Scenario) -> Reading:
        """What an action or an audit rule forbids, in words."""
        return read_forbidden(text, scenario)

    def sentence(self, text: str, scenario: Scenario) -> Reading:
        """What must not have happened, or must still hold, at the time of evaluation."""
        return read_sentence(text, scenario)

    def difference(self, difference: Mapping[str, Any], scenario: Scenario) -> Reading:
        """A difference between the state before and after."""
        return read_difference(difference, scenario)

    def state(self, assertion: StateAssertion, scenario: Scenario, path: DocumentPath) -> EntryReading:
        """A state assertion that names a resource, at a path of its document."""
        return read_state(assertion, scenario, path)

    def with_readable_stimuli(self, scenario: Scenario) -> Scenario:
        """The scenario with what its stimuli say in words put where the provider looks for it."""
        return with_readable_stimuli(scenario)

    def has_folded_document(self, text: str) -> bool:
        """Whether a manifest inside a text has lost its line breaks."""
        return _FOLDED.search(text) is not None

    def preserved_objects(
        self, goal: Operation | None, predicates: Iterable[Predicate], functions: Sequence[Function]
    ) -> tuple[Preserved, ...]:
        """What must survive of the objects that a goal or a prohibition is about (SI-08)."""
        return preservation.preserved_objects(goal, predicates, functions)

    def preservation_problem(self, operation: Operation, path: DocumentPath) -> Problem | None:
        """Why the objects of an operation cannot be preserved."""
        return preservation.preservation_problem(own_operation(operation), path)
