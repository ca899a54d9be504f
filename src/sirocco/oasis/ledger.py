"""The port to what keeps finished units, so that none is lost and none is run twice."""

from dataclasses import dataclass
from typing import Protocol

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import UnitResult


@dataclass(frozen=True, slots=True)
class UnitKey:
    """Names one unit of a run: a scenario, a probe or a confirmation, and which attempt at it."""

    kind: str
    unit: str
    attempt: int = 0


class UnitLedger(Protocol):
    """Port: where finished units are kept."""

    def recorded_evidence(self, key: UnitKey, bound: BoundScenario) -> Evidence | None:
        """What was recorded of the unit; None when it has not been run.

        Raise EvidenceError when the record is damaged, or is of another scenario under the same name.
        """
        ...

    @property
    def is_recounting(self) -> bool:
        """Whether units of an earlier session are still to be counted again."""
        ...

    def keep(self, key: UnitKey, result: UnitResult) -> None:
        """Record a unit that is finished; returns only when it is durable."""
        ...


class FactStore(Protocol):
    """Port: where facts of a run are kept, so that nobody has to be asked for them twice."""

    def note(self, name: str, value: str) -> None:
        """Keep a fact; returns only when it is durable."""
        ...

    def run_fact(self, name: str) -> str | None:
        """A fact that was kept; None when none was."""
        ...


class SealedStore(Protocol):
    """Port: where sealed evidence lies, by a label that says nothing about it (AV-19)."""

    def sealed_bytes(self, label: str) -> bytes | None:
        """What was kept under the label; None when nothing was."""
        ...

    def keep_sealed(self, label: str, sealed: bytes) -> None:
        """Keep sealed evidence; returns only when it is durable."""
        ...
