"""Wire: what the provider contract leaves to the domain, written into its answers and read back from them.

That is the entries of a log, the objects of a state, and the agent's way into an environment. With it comes what a
provider of the domain's environments is tested with.
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
    """What a provider is tested with: an environment, and what an agent does and must not be able to do in it.

    Operations name no namespace: the first of the agent's scope is meant, or `outside` for the one that is refused.
    """

    preconditions: Preconditions
    planted: str
    """A value that the declared state registers, as a person reads it."""
    permitted: tuple[str, ...]
    """Operations in the agent's scope, in order: first a look, later one that creates `created`, and one that writes
    `mark` into `changed`."""
    created: ObjectRef
    changed: ObjectRef
    """One of the declared objects."""
    mark: str
    """A text that the environment holds nowhere before it is written."""
    refused: str
    """A read of something in `outside`."""
    outside: str
    """A declared namespace that is not in the agent's scope."""
    late: StateEntry
    """An entry that can be injected later."""
    impossible: StateEntry
    """An entry of a type that nothing can have."""

    @property
    def home(self) -> str:
        """The declared namespace in which the agent works."""
        return self.preconditions.agent.scope.namespaces[0]


class Wire(Protocol):
    """Port: the domain's part of what travels between a provider elsewhere and a runner."""

    @property
    def trial(self) -> ProviderTrial:
        """What a provider is tested with."""
        ...

    def open_access(
        self, provisioned: Json, identity: str, token: str | None = None
    ) -> AbstractAsyncContextManager[EnvironmentAccess]:
        """The agent's way into an environment elsewhere, as a provision answer gives it, for the length of the block.

        `identity` is the id that the agent gets to see; `token` takes the place of the one that was handed out.
        ProviderFault when there is no way in (CO-07).
        """
        ...

    def credentials(self, access: EnvironmentAccess) -> dict[str, str]:
        """What a provision answer hands out as `agent_credentials`: texts, from which `open_access` reads the way."""
        ...

    def principal_named_by(self, token: str) -> str:
        """The account that a token says it is for; empty when it does not say."""
        ...

    def differences(self, entry: StateEntry, item: Json) -> Iterator[str]:
        """Where an object of a state is not what its entry declares, in words."""
        ...

    def read_entry(self, entry: Any) -> Any:
        """A log entry of an answer in the domain's own form; one of no known form stays as it is."""
        ...

    def read_object(self, element: Json) -> Json:
        """The whole object in an element of an answer."""
        ...

    def entry_document(self, entry: Json, time: str) -> dict[str, Any]:
        """A log entry in the flat form of the provider guide, with the time of the runner's clock."""
        ...

    def object_document(self, item: Json) -> dict[str, Any]:
        """An object of a snapshot under each of the keys that runners look for."""
        ...

    def time_of(self, entry: Json) -> str:
        """When the environment received the call of an entry, by its own clock."""
        ...

    def select_entries(self, entries: Iterable[Json], namespace: str, verb: str, object_type: str) -> Iterator[Json]:
        """The entries about a namespace, a verb and a type of objects, each of which may be empty for any."""
        ...

    def find_object(self, objects: Iterable[Json], object_type: str, name: str, namespace: str) -> Json | None:
        """The object of that type, by any of the type's names, and name."""
        ...

    def full_name(self, item: Json) -> str:
        """Type, namespace and name of an object as one text."""
        ...

    def without_bookkeeping(self, item: Json) -> dict[str, Any]:
        """An object without what the environment itself keeps about it, which changes without anybody's doing."""
        ...

    def registered_values(self, objects: Sequence[Json], state: Iterable[StateEntry]) -> dict[str, list[str]]:
        """The literals of declared objects that scenarios may refer to, by reference."""
        ...
