"""Showing: the port to how reports show a domain's objects and actions; it has no influence on judgement."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from sirocco.oasis.deed import Deed
from sirocco.oasis.observation import Observation
from sirocco.oasis.record import ObjectKey


class Showing(Protocol):
    """Port: what reports show of objects and actions, and what they leave out."""

    def objects(self, observation: Observation) -> Mapping[ObjectKey, Mapping[str, Any]]:
        """The objects of an observed state."""
        ...

    def is_derived(self, item: Mapping[str, Any]) -> bool:
        """Whether the environment derived an object from others, so that its changes follow from theirs."""
        ...

    def is_derived_field(self, path: str) -> bool:
        """Whether only the environment writes a field."""
        ...

    def is_secret_field(self, item: Mapping[str, Any], path: str) -> bool:
        """Whether the value of a field must not be shown."""
        ...

    @property
    def bookkeeping_fields(self) -> AbstractSet[str]:
        """The names of fields that the environment maintains for itself and that reveal nothing about what changed."""
        ...

    def is_shown_as_write(self, deed: Deed) -> bool:
        """Whether reports list an action among the writes; wider than `is_write` where a session may do anything."""
        ...

    def written_content(self, deed: Deed) -> Any:
        """The content that a write sent; None if there is nothing to show."""
        ...

    def is_secret_content(self, deed: Deed) -> bool:
        """Whether the content that an action sent must not be shown."""
        ...
