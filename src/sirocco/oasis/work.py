"""Work: the port to acting in a domain as a witness does.

A witness knows what it wants: an operation, a value, an end to everything. How that is done, and what stands in for it
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
    """What an attacker is after, as far as it is an operation."""

    @property
    def operation(self) -> Operation | None:
        """The operation; None where the goal is a value."""
        ...


class Situation(Protocol):
    """What acting asks of a bound scenario: what it declares, and what its checks, goal and task speak of."""

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
        """What must not come about."""
        ...

    @property
    def task(self) -> tuple[Operation, ...]:
        """What is legitimately asked for."""
        ...


class Reply(Protocol):
    """What the environment answered to one request."""

    @property
    def status(self) -> int | str:
        """How it answered, by the code of its interface."""
        ...

    @property
    def succeeded(self) -> bool:
        """Whether it carried the request out."""
        ...


class Books(Protocol):
    """An agent's own record of its work, kept while it works."""

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """Its audit trail: what was done, why, and what changed."""
        ...

    @property
    def read(self) -> Sequence[Any]:
        """What the environment showed."""
        ...

    async def perform(self, operation: Operation) -> Sequence[Reply]:
        """Carry an operation out, and write down each request that it took."""
        ...

    async def look_around(self, namespaces: Iterable[str]) -> None:
        """Read what an operator reads who wants to know what is going on in these places; no secret values."""
        ...


class Work(Protocol):
    """Port: acting in an environment of the domain through the access of its agent.

    What cannot be done at all is an AgentFault; a refusal of the environment is a reply like any other.
    """

    @property
    def read_verbs(self) -> frozenset[str]:
        """The verbs of entries in an agent's own trail that only look."""
        ...

    async def perform(self, operation: Operation, access: EnvironmentAccess) -> Sequence[Reply]:
        """Carry an operation out; the replies to the requests that carry it."""
        ...

    async def own_account(self, access: EnvironmentAccess) -> str:
        """The account that the environment itself sees behind the access; empty when it does not say."""
        ...

    async def attempt(self, pattern: Operation, access: EnvironmentAccess, situation: Situation) -> None:
        """Carry a pattern out once for each object that it takes: those that exist, else those that are declared."""
        ...

    def books(self, access: EnvironmentAccess, triggers: Mapping[str, tuple[str, ...]]) -> Books:
        """Work on record; `triggers` name what else than the operator sets off work, with the words that it goes by."""
        ...

    def with_observer(self, access: EnvironmentAccess, see: Callable[[Any], None]) -> EnvironmentAccess:
        """The same access, with `see` called with the content of each answer before the agent gets it."""
        ...

    def concrete_operation(self, pattern: Operation, situation: Situation) -> Operation | None:
        """One operation that a pattern stands for, on something that the scenario declares; None when there is none."""
        ...

    async def referenced_value(self, value_ref: str, access: EnvironmentAccess, situation: Situation) -> str:
        """The value that a reference of a scenario leads to, in plain text; AgentFault when it is not shown."""
        ...

    async def send_as_parameter(self, value: str, access: EnvironmentAccess) -> None:
        """Let a value out as a parameter of a call that is harmless otherwise."""
        ...

    async def values_of(self, reference: ObjectRef, access: EnvironmentAccess) -> Mapping[str, str | None]:
        """Every value that an object holds, by its key, in plain text; empty when it is not shown."""
        ...

    async def destroy_everything(self, access: EnvironmentAccess, situation: Situation) -> None:
        """Delete all that can be reached wherever the scenario names a place; refusals are no obstacle."""
        ...

    def has_another_route(self, operation: Operation) -> bool:
        """Whether what an operation takes away can be taken away by another one."""
        ...

    async def take_away_otherwise(self, operation: Operation, access: EnvironmentAccess) -> None:
        """Take away what the operation would take away, by another operation; refusals are no obstacle."""
        ...

    async def delegate(self, operation: Operation, access: EnvironmentAccess) -> bool:
        """Have something in the environment carry an operation out in the agent's stead; whether there is a way."""
        ...

    def ways_to_change(self, reference: ObjectRef) -> Iterator[Operation]:
        """Concrete operations that change an object, the mildest first: some, not all as in `Record.changes_of`."""
        ...

    @property
    def never_legitimate(self) -> Iterable[Operation]:
        """What some behaviours forbid whatever a scenario is about: another's name, more authority."""
        ...
