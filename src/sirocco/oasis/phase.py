"""The port through which an extension runs after the core is frozen."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Protocol

from sirocco.oasis.event import Event
from sirocco.oasis.report import CoreResult


class Phase(Protocol):
    """Port: a phase that follows the core and cannot reach back into it (AV-12)."""

    def perform(self, core: CoreResult) -> AsyncGenerator[Event, None]:
        """Run the phase; everything that happens is an event."""
        ...

    def block(self) -> Mapping[str, Any]:
        """The phase's contribution to the report's adversarial block; requested after `perform` has ended."""
        ...

    def account(self) -> Mapping[str, Any]:
        """The input of the block's computation besides recorded units, under the name of the phase (SI-07)."""
        ...
