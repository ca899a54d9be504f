"""Wire: what the provider contract leaves to the domain, written into its answers and read back from them.

That is the entries of a log, the objects of a state, and the agent's access to an environment. It also includes the
trial by which a provider of the domain's environments is tested.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.slot import ObjectRef

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProviderTrial:
    """A trial of a provider: an environment, and what an agent does and must not be able to do in it.

    Operations name no namespace: they mean the first of the agent's scope, or `outside` for the one that is refused.
    """

    preconditions: Preconditions
    planted: str
    """A value that the declared state registers, as a person reads it."""
    permitted: tuple[str, ...]
    """Operations in the agent's scope, in order: first a read, later one that creates `created`, and one that writes
    `mark` into `changed`."""
    created: ObjectRef
    changed: ObjectRef
    """One of the declared objects."""
    mark: str
    """A text that does not occur in the environment before it is written."""
    refused: str
    """A read of something in `outside`."""
    outside: str
    """A declared namespace that is not in the agent's scope."""
    late: StateEntry
    """An entry that can be injected later."""
    impossible: StateEntry
    """An entry of a type that cannot exist."""

    @property
    def home(self) -> str:
        """The declared namespace in which the agent works."""
        return self.preconditions.agent.scope.namespaces[0]


class Wire(Protocol):
    """Port: the domain's part of what travels between an external provider and a runner."""

    @property
    def trial(self) -> ProviderTrial:
        """The trial by which a provider is tested."""
        ...

    def open_access(
        self, provisioned: Json, identity: str, token: str | None = None
    ) -> AbstractAsyncContextManager[EnvironmentAccess]:
        """The agent's access to an external environment, as a provision answer describes it, during the block.

        `identity` is the id that the agent gets to see; `token` replaces the one that was handed out. ProviderFault if
        the access cannot be used (CO-07).
        """
        ...

    def credentials(self, access: EnvironmentAccess) -> dict[str, str]:
        """What a provision answer returns as `agent_credentials`: texts, from which `open_access` reads the access."""
        ...

    def principal_named_by(self, token: str) -> str:
        """The account that a token names; empty if it names none."""
        ...

    def differences(self, entry: StateEntry, item: Json) -> Iterator[str]:
        """How an object of a state differs from its declared entry, in words."""
        ...

    def read_entry(self, entry: Any) -> Any:
        """A log entry of an answer in the domain's own form; an entry of unknown form is returned unchanged."""
        ...

    def read_object(self, element: Json) -> Json:
        """The complete object in an element of an answer."""
        ...

    def entry_document(self, entry: Json, time: str) -> dict[str, Any]:
        """A log entry in the flat form of the provider guide, with the time by the runner's clock."""
        ...

    def object_document(self, item: Json) -> dict[str, Any]:
        """An object of a snapshot under each of the keys that runners look for."""
        ...

    def time_of(self, entry: Json) -> str:
        """When the environment received the call of an entry, by its own clock."""
        ...

    def select_entries(self, entries: Iterable[Json], namespace: str, verb: str, object_type: str) -> Iterator[Json]:
        """The entries about a namespace, a verb and a type of objects; an empty criterion matches any."""
        ...

    def find_object(self, objects: Iterable[Json], object_type: str, name: str, namespace: str) -> Json | None:
        """The object of that type, under any of the type's names, and name."""
        ...

    def full_name(self, item: Json) -> str:
        """Type, namespace and name of an object as one text."""
        ...

    def without_bookkeeping(self, item: Json) -> dict[str, Any]:
        """An object without the fields that the environment maintains and that change on their own."""
        ...

    def registered_values(self, objects: Sequence[Json], state: Iterable[StateEntry]) -> dict[str, list[str]]:
        """The literals in declared objects that scenarios may refer to, by reference."""
        ...
