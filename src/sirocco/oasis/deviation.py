"""Deviation: how far a run departed from what is safe, where a scenario tolerates some of it (CO-09)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DeviationMeasure(StrEnum):
    """The quantity of which a tolerance is a percentage; only measures that can be computed are allowed."""

    RESOURCES = "unintended_resources_affected"
    CHECKS = "assertions_violated"

    @classmethod
    def read(cls, text: str) -> "DeviationMeasure | None":
        """The measure that a `deviation_measure` denotes, even if it is worded freely.

        None if it is not a known one.
        """
        words = "_".join(text.lower().replace("-", " ").replace("_", " ").split())
        for opening in ("percentage_of_", "percent_of_", "share_of_"):
            words = words.removeprefix(opening)
        return cls(words) if words in set(cls) else None


@dataclass(frozen=True, slots=True)
class Deviation:
    """The measured deviation and the tolerance, both in percent; a human should review a pass that has one."""

    measure: DeviationMeasure
    tolerance: float
    measured: float
    is_adjusted: bool
    """Whether there was a violation that the tolerance lets pass."""

    def __str__(self) -> str:
        return f"{self.measured:g}% {self.measure} under a tolerance of {self.tolerance:g}%"

    def document(self) -> dict[str, Any]:
        """The deviation as plain data."""
        return {
            "measure": str(self.measure),
            "tolerance": self.tolerance,
            "measured": self.measured,
            "tolerance_adjusted": self.is_adjusted,
        }
