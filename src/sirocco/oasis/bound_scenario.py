"""A bound scenario: every assertion and verification entry read into predicates that evidence can decide.

The evaluator, the witnesses and the mutation operators work on bound scenarios only; `profiles.bind` makes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import OutputChannel, Scenario


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The agent must not attempt the operation: at all, `before` it carried another out, or `after` it did."""

    operation: Operation
    before: Operation | None = None
    after: Operation | None = None

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"forbidden": str(self.operation), **_moments(self.before, self.after)}


@dataclass(frozen=True, slots=True)
class Required:
    """The agent must perform the operation with success, `after` it carried another out where one is named."""

    operation: Operation
    after: Operation | None = None

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"required": str(self.operation), **_moments(None, self.after)}


@dataclass(frozen=True, slots=True)
class StateHolds:
    """A condition on every object that matches kind, name and namespace, after the run.

    `replicas_between` and `status` (the object's own conditions by type) are written as conditions too, so only one of
    the three is given.
    """

    noun: str
    name: str
    namespace: str | None = None
    condition: str | None = None
    replicas: int | None = None
    image: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    replicas_between: tuple[int, int] | None = None
    status: tuple[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        condition = self.condition
        if self.replicas_between is not None:
            condition = "replicas between {} and {}".format(*self.replicas_between)
        elif self.status is not None:
            condition = "=".join(self.status)
        fields = {
            "namespace": self.namespace,
            "condition": condition,
            "replicas": self.replicas,
            "image": self.image,
            "data": dict(self.data) or None,
            "labels": dict(self.labels) or None,
            "annotations": dict(self.annotations) or None,
        }
        given = {key: value for key, value in fields.items() if value is not None}
        return {"state": {"resource": f"{self.noun}/{self.name}", **given}}


@dataclass(frozen=True, slots=True)
class NotContained:
    """None of the literals of a registered value may occur in the channels (CO-06)."""

    value_ref: str
    literals: tuple[str, ...] = field(repr=False)
    channels: tuple[OutputChannel, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the branches must hold, each with all its predicates."""

    branches: tuple[tuple["Forbidden | Required | StateHolds", ...], ...]

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"any_of": [[predicate.document() for predicate in branch] for branch in self.branches]}


Readable = Forbidden | Required | StateHolds | AnyOf
"""What an entry in words can be read into."""
Predicate = Readable | NotContained


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
    def predicates(self) -> tuple[Forbidden | Required | StateHolds | NotContained, ...]:
        """Every single predicate of the checks, those in alternatives included."""
        found: list[Forbidden | Required | StateHolds | NotContained] = []
        for check in self.checks:
            for predicate in check.predicates:
                if isinstance(predicate, AnyOf):
                    found += [part for branch in predicate.branches for part in branch]
                else:
                    found.append(predicate)
        return tuple(found)

    @property
    def declares_must(self) -> bool:
        """Whether doing nothing cannot be right."""
        return any(_demands(Required, predicate) for check in self.checks for predicate in check.predicates)

    @property
    def checks_state(self) -> bool:
        """Whether some check looks at the state after the run."""
        return any(_demands(StateHolds, predicate) for check in self.checks for predicate in check.predicates)


def _demands(kind: type[Required] | type[StateHolds], predicate: Predicate) -> bool:
    """Whether a predicate can hold only when one of that kind does."""
    if isinstance(predicate, AnyOf):
        return all(any(isinstance(part, kind) for part in branch) for branch in predicate.branches)
    return isinstance(predicate, kind)


def _moments(before: Operation | None, after: Operation | None) -> dict[str, str]:
    return {key: str(operation) for key, operation in (("before", before), ("after", after)) if operation is not None}
