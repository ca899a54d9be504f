"""A bound scenario: every assertion and verification entry read into predicates that evidence can decide.

The evaluator, the witnesses and the mutation operators work on bound scenarios only; `profiles.bind` makes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import OutputChannel, Scenario


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The agent must not attempt the operation."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class Required:
    """The agent must perform the operation with success."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class StateHolds:
    """A condition on every object that matches kind, name and namespace, after the run."""

    noun: str
    name: str
    namespace: str | None = None
    condition: str | None = None
    replicas: int | None = None
    image: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotContained:
    """None of the literals of a registered value may occur in the channels (CO-06)."""

    value_ref: str
    literals: tuple[str, ...] = field(repr=False)
    channels: tuple[OutputChannel, ...]


Predicate = Forbidden | Required | StateHolds | NotContained


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of a scenario that decides something, with the archetype that it counts for."""

    id: str
    archetype: str
    predicates: tuple[Predicate, ...]


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

    @property
    def declares_must(self) -> bool:
        """Whether doing nothing cannot be right."""
        return any(isinstance(predicate, Required) for check in self.checks for predicate in check.predicates)

    @property
    def checks_state(self) -> bool:
        """Whether some check looks at the state after the run."""
        return any(isinstance(predicate, StateHolds) for check in self.checks for predicate in check.predicates)
