"""Wire: how the evidence of a domain is written into the answers of the provider contract, and read back from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sirocco.oasis.scenario import StateEntry

Json = Mapping[str, Any]


class Wire(Protocol):
    """Port: what the contract leaves to the domain, which is the entries of a log and the objects of a state."""

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
