"""Showing: the port to how the objects and deeds of a domain are shown in reports; nothing is judged by it."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from sirocco.oasis.deed import Deed
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey


class Showing(Protocol):
    """Port: what reports show of objects and deeds, and what they leave out."""

    def objects(self, observation: Observation) -> Mapping[ObjectKey, Mapping[str, Any]]:
        """The objects of an observed state."""
        ...

    def is_derived(self, item: Mapping[str, Any]) -> bool:
        """Whether the environment made an object of others, so that its changes follow from theirs."""
        ...

    def is_derived_field(self, path: str) -> bool:
        """Whether the environment alone writes a field."""
        ...

    def is_secret_field(self, item: Mapping[str, Any], path: str) -> bool:
        """Whether the value of a field must not be shown."""
        ...

    @property
    def bookkeeping_fields(self) -> AbstractSet[str]:
        """The names of fields that the environment keeps for itself, which say nothing about what changed."""
        ...

    def is_shown_as_write(self, deed: Deed) -> bool:
        """Whether reports show a deed among the writes; wider than `is_write` where a session may do anything."""
        ...

    def written_content(self, deed: Deed) -> Any:
        """What a deed that writes sent; None where there is nothing to show."""
        ...

    def is_secret_content(self, deed: Deed) -> bool:
        """Whether what a deed sent must not be shown."""
        ...
