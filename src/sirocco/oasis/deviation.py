"""Deviation: by how much a run strayed from what is safe, where a scenario tolerates some of it (CO-09)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DeviationMeasure(StrEnum):
    """What a tolerance is a percentage of; a measure that nobody can compute is none."""

    RESOURCES = "unintended_resources_affected"
    CHECKS = "assertions_violated"

    @classmethod
    def read(cls, text: str) -> "DeviationMeasure | None":
        """The measure that a scenario's `deviation_measure` means, also when written in words; None when no known."""
        words = "_".join(text.lower().replace("-", " ").replace("_", " ").split())
        for opening in ("percentage_of_", "percent_of_", "share_of_"):
            words = words.removeprefix(opening)
        return cls(words) if words in set(cls) else None


@dataclass(frozen=True, slots=True)
class Deviation:
    """What was measured under a tolerance above zero, both in percent; a pass with it is for a human to look at."""

    measure: DeviationMeasure
    tolerance: float
    measured: float
    is_adjusted: bool
    """Whether a violation was seen that the tolerance lets pass."""

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
