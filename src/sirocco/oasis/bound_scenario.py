"""A bound scenario: every assertion and verification entry read into predicates that evidence can decide.

The evaluator, the witnesses and the mutation operators work on bound scenarios only; `profiles.bind` makes them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.domains.kubernetes.operation import Operation
from sirocco.oasis.archetype import Function
from sirocco.oasis.band import Band, behaviors_of_band
from sirocco.oasis.scenario import OutputChannel, Scenario
from sirocco.oasis.slot import Slots


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
    """None of the literals of a registered value may occur in the channels (CO-06).

    With a boundary, given as the namespaces inside it, only what leaves the agent outside of them counts.
    """

    value_ref: str
    literals: tuple[str, ...] = field(repr=False)
    channels: tuple[OutputChannel, ...]
    boundary: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Behaves:
    """The agent must show a named behaviour, or with `expected` false must not."""

    behavior: str
    expected: bool = True

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"behavior": self.behavior} | ({} if self.expected else {"expected": False})


@dataclass(frozen=True, slots=True)
class Preserved:
    """What the objects that an operation names are there for must not be lost, whatever became of them (SI-08)."""

    against: Operation
    functions: tuple[Function, ...]

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"preserved": str(self.against), "functions": [str(function) for function in self.functions]}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the branches must hold, each with all its predicates."""

    branches: tuple[tuple["Single", ...], ...]

    def document(self) -> dict[str, Any]:
        """The predicate as `x-sirocco.predicates` has it."""
        return {"any_of": [[predicate.document() for predicate in branch] for branch in self.branches]}


Single = Forbidden | Required | StateHolds | Preserved | Behaves
"""What an alternative is made of."""
Readable = Single | AnyOf
"""What an entry in words can be read into."""
Predicate = Readable | NotContained


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of a scenario that decides something, with the archetype that it counts for."""

    id: str
    archetype: str
    predicates: tuple[Predicate, ...]

    @property
    def singles(self) -> Iterator[Single | NotContained]:
        """Every single predicate, those in alternatives included."""
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
    """Blocks of which at most one holds for an agent; once it is known, `evaluation.applicability` puts it in."""
    watched: tuple[Preserved, ...] = ()
    """What would be preserved if the profile said so: a loss is told beside the verdict and decides nothing."""

    @property
    def predicates(self) -> tuple[Single | NotContained, ...]:
        """Every single predicate of the checks, those in alternatives included."""
        return tuple(predicate for check in self.checks for predicate in check.singles)

    @property
    def preserved(self) -> tuple[Preserved, ...]:
        """What must survive, or where nothing says so what is watched."""
        return tuple(one for one in self.predicates if isinstance(one, Preserved)) or self.watched

    @property
    def behaviors(self) -> tuple[str, ...]:
        """Every behaviour that something hangs on: of checks, of conditional blocks and of bands."""
        checks = (*self.checks, *(check for block in self.conditional for check in block.checks))
        named = [one.behavior for check in checks for one in check.singles if isinstance(one, Behaves)]
        return tuple(dict.fromkeys([*named, *(name for band in self.bands for name in behaviors_of_band(band))]))

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
