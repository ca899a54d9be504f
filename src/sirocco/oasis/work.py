"""Work: the port to acting in a domain as a witness does.

A witness knows what it wants: an operation, a value, the destruction of everything. How that is done, and what to use
where a scenario leaves something open, only the domain can tell.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import NotContained, Single
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import ObjectRef


class Goal(Protocol):
    """An attacker's goal, if it is an operation."""

    @property
    def operation(self) -> Operation | None:
        """The operation; None if the goal is a value."""
        ...


class Situation(Protocol):
    """The part of a bound scenario that is needed in order to act: declarations, checks, goal and task."""

    @property
    def scenario(self) -> Scenario:
        """The scenario with its preconditions and stimuli."""
        ...

    @property
    def predicates(self) -> tuple[Single | NotContained, ...]:
        """Every single predicate of its checks."""
        ...

    @property
    def goal(self) -> Goal | None:
        """The goal, which must not be reached."""
        ...

    @property
    def task(self) -> tuple[Operation, ...]:
        """The legitimate task."""
        ...


class Reply(Protocol):
    """The environment's answer to one request."""

    @property
    def status(self) -> int | str:
        """The status code of its interface."""
        ...

    @property
    def succeeded(self) -> bool:
        """Whether it carried the request out."""
        ...


class Books(Protocol):
    """An agent's own record of its work, kept while it works."""

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """Its audit trail: actions, reasons and changes."""
        ...

    @property
    def read(self) -> Sequence[Any]:
        """The content that the environment returned."""
        ...

    async def perform(self, operation: Operation) -> Sequence[Reply]:
        """Carry an operation out, and record each request that it took."""
        ...

    async def look_around(self, namespaces: Iterable[str]) -> None:
        """Read what an operator would read to find out what is going on in these places; no secret values."""
        ...


class Work(Protocol):
    """Port: acting in an environment of the domain through its agent's access.

    What cannot be done at all is an AgentFault; a refusal by the environment is a reply like any other.
    """

    @property
    def read_verbs(self) -> frozenset[str]:
        """The read-only verbs in entries of an agent's own trail."""
        ...

    async def perform(self, operation: Operation, access: EnvironmentAccess) -> Sequence[Reply]:
        """Carry an operation out; returns the replies to its requests."""
        ...

    async def own_account(self, access: EnvironmentAccess) -> str:
        """The account that the environment itself sees behind the access; empty if it does not tell."""
        ...

    async def attempt(self, pattern: Operation, access: EnvironmentAccess, situation: Situation) -> None:
        """Carry out a pattern once for each object that it matches: existing ones, or else declared ones."""
        ...

    def books(self, access: EnvironmentAccess, triggers: Mapping[str, tuple[str, ...]]) -> Books:
        """An agent's record of its work; `triggers` names what sets off work besides the operator, with its words."""
        ...

    def with_observer(self, access: EnvironmentAccess, see: Callable[[Any], None]) -> EnvironmentAccess:
        """The same access, with `see` called with the content of each answer before the agent gets it."""
        ...

    def concrete_operation(self, pattern: Operation, situation: Situation) -> Operation | None:
        """One operation that a pattern matches, on a declared object; None if there is none."""
        ...

    async def referenced_value(self, value_ref: str, access: EnvironmentAccess, situation: Situation) -> str:
        """The value that a reference of a scenario resolves to, in plain text; AgentFault if it is not shown."""
        ...

    async def send_as_parameter(self, value: str, access: EnvironmentAccess) -> None:
        """Leak a value as a parameter of an otherwise harmless call."""
        ...

    async def values_of(self, reference: ObjectRef, access: EnvironmentAccess) -> Mapping[str, str | None]:
        """Every value in an object, by its key, in plain text; empty if it is not shown."""
        ...

    async def destroy_everything(self, access: EnvironmentAccess, situation: Situation) -> None:
        """Delete everything reachable in the places that the scenario names, continuing after refusals."""
        ...

    def has_another_route(self, operation: Operation) -> bool:
        """Whether there is another route to take away what an operation takes away."""
        ...

    async def take_away_otherwise(self, operation: Operation, access: EnvironmentAccess) -> None:
        """Take away what the operation would take away, by another operation, continuing after refusals."""
        ...

    async def delegate(self, operation: Operation, access: EnvironmentAccess) -> bool:
        """Have something in the environment carry an operation out on the agent's behalf.

        Returns whether that is possible.
        """
        ...

    def ways_to_change(self, reference: ObjectRef) -> Iterator[Operation]:
        """Concrete operations that change an object, the mildest first: examples, unlike `Record.changes_of`."""
        ...

    @property
    def never_legitimate(self) -> Iterable[Operation]:
        """Operations that some behaviours forbid in any scenario: another's identity, more authority."""
        ...
