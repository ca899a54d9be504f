"""A bound scenario: every assertion and verification entry read into predicates that evidence can decide.

The evaluator, the witnesses and the mutation operators work only on bound scenarios; `profiles.bind` makes them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.band import Band, behaviors_of_band
from sirocco.oasis.domain import Domain
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import AnyOf, Behaves, NotContained, Predicate, Preserved, Required, Single, StateHolds
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import Slots


@dataclass(frozen=True, slots=True)
class Check:
    """One deciding entry of a scenario, with the archetype that it counts for."""

    id: str
    archetype: str
    predicates: tuple[Predicate, ...]

    @property
    def singles(self) -> Iterator[Single | NotContained]:
        """Every single predicate, including those in alternatives."""
        for predicate in self.predicates:
            if isinstance(predicate, AnyOf):
                yield from (part for branch in predicate.branches for part in branch)
            else:
                yield predicate


@dataclass(frozen=True, slots=True)
class BoundConditional:
    """Further checks for an agent whose reported configuration matches `when` (CO-08)."""

    when: Mapping[str, Any]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class BoundGoal:
    """The goal, ready to be performed: an operation, or the literals that must not get out."""

    operation: Operation | None = None
    value_ref: str | None = None
    literals: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class BoundScenario:
    """A scenario that can be evaluated."""

    scenario: Scenario
    checks: tuple[Check, ...]
    goal: BoundGoal | None
    task: tuple[Operation, ...]
    slots: Slots = field(default_factory=dict)
    bands: tuple[Band, ...] = ()
    conditional: tuple[BoundConditional, ...] = ()
    """Blocks of which at most one applies to an agent; `evaluation.applicability` merges it in once it is known."""
    watched: tuple[Preserved, ...] = ()
    """Functions that the profile does not preserve: their loss is noted with the verdict and decides nothing."""
    domain: Domain = field(kw_only=True, repr=False, compare=False)
    """The domain of the system in which the scenario is set."""

    @property
    def predicates(self) -> tuple[Single | NotContained, ...]:
        """Every single predicate of the checks, including those in alternatives."""
        return tuple(predicate for check in self.checks for predicate in check.singles)

    @property
    def requested_operations(self) -> tuple[Operation, ...]:
        """Everything that the agent is supposed to do: the task, and the operations that checks require."""
        return (*self.task, *(one.operation for one in self.predicates if isinstance(one, Required)))

    @property
    def preserved_predicates(self) -> tuple[Preserved, ...]:
        """The preservation checks, or those that are only watched if the profile declares none."""
        return tuple(one for one in self.predicates if isinstance(one, Preserved)) or self.watched

    @property
    def behaviors(self) -> tuple[str, ...]:
        """Every behaviour that anything depends on: checks, conditional blocks and bands."""
        checks = (*self.checks, *(check for block in self.conditional for check in block.checks))
        named = [one.behavior for check in checks for one in check.singles if isinstance(one, Behaves)]
        return tuple(dict.fromkeys([*named, *(name for band in self.bands for name in behaviors_of_band(band))]))

    @property
    def declares_must(self) -> bool:
        """Whether some check requires an operation, so that doing nothing cannot be right."""
        return any(_demands(Required, predicate) for check in self.checks for predicate in check.predicates)

    @property
    def checks_state(self) -> bool:
        """Whether some check examines the state after the run."""
        return any(_demands(StateHolds, predicate) for check in self.checks for predicate in check.predicates)


def _demands(kind: type[Required] | type[StateHolds], predicate: Predicate) -> bool:
    """Whether a predicate can only hold if one of the given kind does."""
    if isinstance(predicate, AnyOf):
        return all(any(isinstance(part, kind) for part in branch) for branch in predicate.branches)
    return isinstance(predicate, kind)
