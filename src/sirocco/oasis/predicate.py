"""Predicates: what a check of a scenario requires, in a form that evidence can decide.

A kind of predicate defines here everything that needs no evidence: its document, its demand in words, which records
decide it, and the actions that would violate it. `profiles.bind` reads predicates, `evaluation.assertions` judges them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import OutputChannel

OPERATION_KEYS = ("forbidden", "required", "before", "after")
"""The keys under which documents of predicates and audit rules hold operations."""
_AUDIT_LOG, _STATE_BEFORE, _STATE_AFTER = "audit log", "state before", "state after"
_CHANNELS = {
    OutputChannel.AGENT_RESPONSE: "the agent's answer",
    OutputChannel.REASONING_TRACE: "the agent's reasoning",
    OutputChannel.TOOL_CALL_PARAMETERS: _AUDIT_LOG,
}


class _Statement:
    """Defaults for kinds of predicates."""

    __slots__ = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The records that decide it, by the names that reports use."""
        return (_AUDIT_LOG,)

    @property
    def misdeeds(self) -> tuple[tuple[Operation, ...], ...]:
        """Sequences of operations that violate it; all but the last operation only prepare for it."""
        return ()


@dataclass(frozen=True, slots=True)
class Forbidden(_Statement):
    """The agent must not attempt the operation: ever, `before` it carried out another, or `after` it did."""

    operation: Operation
    before: Operation | None = None
    after: Operation | None = None

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        return {"forbidden": str(self.operation), **_moments(self.before, self.after)}

    def demand(self) -> str:
        """The requirement, in the words of the operation vocabulary."""
        return f"must not {self.operation}{_timing_text(self.before, self.after)}"

    @property
    def misdeeds(self) -> tuple[tuple[Operation, ...], ...]:
        """The operation alone."""
        return ((self.operation,),)


@dataclass(frozen=True, slots=True)
class Required(_Statement):
    """The agent must successfully perform the operation, and `after` it carried out another if one is named."""

    operation: Operation
    after: Operation | None = None

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        return {"required": str(self.operation), **_moments(None, self.after)}

    def demand(self) -> str:
        """The requirement, in the words of the operation vocabulary."""
        return f"must {self.operation}{_timing_text(None, self.after)}"


@dataclass(frozen=True, slots=True)
class StateHolds(_Statement):
    """A condition on every object that matches kind, name and namespace, after the run.

    `fields` are further required values, by the names that documents give them. The domain's reader has made sure that
    its record can decide the condition and the fields.
    """

    noun: str
    name: str
    namespace: str | None = None
    condition: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        place = {} if self.namespace is None else {"namespace": self.namespace}
        condition = {} if self.condition is None else {"condition": self.condition}
        return {"state": {"resource": f"{self.noun}/{self.name}", **place, **condition, **self.fields}}

    def demand(self) -> str:
        """The requirement, field by field."""
        fields = dict(self.document()["state"])
        resource = fields.pop("resource")
        demanded = ", ".join(
            f"{key} {value if isinstance(value, str | int) else json.dumps(value, ensure_ascii=False, sort_keys=True)}"
            for key, value in fields.items()
        )
        return f"state of {resource}: {demanded}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The records that decide it, by the names that reports use."""
        return (_STATE_AFTER, _STATE_BEFORE) if self.condition == "unchanged" else (_STATE_AFTER,)


@dataclass(frozen=True, slots=True)
class NotContained(_Statement):
    """None of the literals of a registered value may occur in the channels (CO-06).

    With a boundary, given as the namespaces inside it, only what leaves the agent outside them counts.
    """

    value_ref: str
    literals: tuple[str, ...] = field(repr=False)
    channels: tuple[OutputChannel, ...]
    boundary: tuple[str, ...] | None = None

    def demand(self) -> str:
        """The requirement; the value itself is not shown."""
        where = " or ".join(str(channel) for channel in self.channels)
        outside = "" if self.boundary is None else f" outside {', '.join(self.boundary)}"
        return f"{self.value_ref} must not occur in {where}{outside}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The records that decide it, by the names that reports use."""
        return tuple(_CHANNELS[channel] for channel in self.channels)


@dataclass(frozen=True, slots=True)
class Behaves(_Statement):
    """The agent must show a named behaviour, or must not if `expected` is false."""

    behavior: str
    expected: bool = True

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        return {"behavior": self.behavior} | ({} if self.expected else {"expected": False})

    def demand(self) -> str:
        """The requirement."""
        return f"{'must' if self.expected else 'must not'} show {self.behavior}"


@dataclass(frozen=True, slots=True)
class Preserved(_Statement):
    """The functions of the objects that an operation names must survive, whatever the route of a loss (SI-08)."""

    against: Operation
    functions: tuple[Function, ...]

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        return {"preserved": str(self.against), "functions": [str(function) for function in self.functions]}

    def demand(self) -> str:
        """The requirement."""
        return f"{self.against.resource}/{self.against.name} must stay {', '.join(self.functions)}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The records that decide it, by the names that reports use."""
        return (_STATE_BEFORE, _STATE_AFTER)


@dataclass(frozen=True, slots=True)
class AnyOf(_Statement):
    """At least one of the branches must hold, each with all its predicates."""

    branches: tuple[tuple["Single", ...], ...]

    def document(self) -> dict[str, Any]:
        """The predicate in the form of `x-sirocco.predicates`."""
        return {"any_of": [[predicate.document() for predicate in branch] for branch in self.branches]}

    def demand(self) -> str:
        """The requirement, branch by branch."""
        return " or ".join("(" + "; ".join(part.demand() for part in branch) + ")" for branch in self.branches)


Single = Forbidden | Required | StateHolds | Preserved | Behaves
"""What an alternative can be composed of."""
Readable = Single | AnyOf
"""What an entry in words can be read as."""
Predicate = Readable | NotContained


def _moments(before: Operation | None, after: Operation | None) -> dict[str, str]:
    return {key: str(operation) for key, operation in (("before", before), ("after", after)) if operation is not None}


def _timing_text(before: Operation | None, after: Operation | None) -> str:
    return "".join(f" {moment} {operation}" for moment, operation in _moments(before, after).items())
