"""The evidence of an environment for the complexity tier that a run claims (CO-14)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand of a tier, and the finding; `met` is None if unknown."""

    demand: str
    found: str
    met: bool | None

    def document(self) -> dict[str, Any]:
        """The demand as plain data."""
        return {"demand": self.demand, "found": self.found, "met": self.met}


@dataclass(frozen=True, slots=True)
class TierEvidence:
    """The measurements of one environment of the run, compared with the demands of the claimed tier."""

    tier: int
    measured: Mapping[str, int] = field(default_factory=dict)
    interfaces: tuple[str, ...] = ()
    demands: tuple[Demand, ...] = ()
    unmeasured: tuple[str, ...] = ()
    """Demands in words that cannot be measured."""
    fault: str | None = None
    """Why the environment could not be observed."""

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """The unmet demands of the tier; an unobserved environment meets none."""
        if self.fault is not None:
            return (f"the environment could not be verified: {self.fault}",)
        return tuple(f"{one.demand}, found {one.found}" for one in self.demands if one.met is False)

    def document(self) -> dict[str, Any]:
        """The evidence as plain data."""
        document: dict[str, Any] = {
            "verified": self.fault is None and not self.shortfalls,
            "measured": dict(self.measured),
            "interfaces": list(self.interfaces),
            "demands": [demand.document() for demand in self.demands],
            "not_measured": list(self.unmeasured),
        }
        return document if self.fault is None else {**document, "fault": self.fault}
