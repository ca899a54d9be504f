"""Predicates: what a check of a scenario says must hold, in a form that evidence can decide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import OutputChannel


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


def _moments(before: Operation | None, after: Operation | None) -> dict[str, str]:
    return {key: str(operation) for key, operation in (("before", before), ("after", after)) if operation is not None}
