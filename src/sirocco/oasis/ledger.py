"""The port to the store of finished units, so that none is lost and none is run twice."""

from dataclasses import dataclass
from typing import Protocol

from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.report import UnitResult


@dataclass(frozen=True, slots=True)
class UnitKey:
    """Identifies one unit of a run: a scenario, a probe or a confirmation, and the attempt."""

    kind: str
    unit: str
    attempt: int = 0


class UnitLedger(Protocol):
    """Port: where finished units are stored."""

    def recorded_evidence(self, key: UnitKey, bound: BoundScenario) -> Evidence | None:
        """The recorded evidence of the unit; None if it has not been run.

        Raise EvidenceError if the record is damaged, or belongs to another scenario of the same name.
        """
        ...

    @property
    def is_recounting(self) -> bool:
        """Whether units of an earlier session still have to be counted again."""
        ...

    def keep(self, key: UnitKey, result: UnitResult) -> None:
        """Record a finished unit; returns only when it is durable."""
        ...


class FactStore(Protocol):
    """Port: where facts about a run are stored, so that nothing has to be asked for twice."""

    def note(self, name: str, value: str) -> None:
        """Store a fact; returns only when it is durable."""
        ...

    def run_fact(self, name: str) -> str | None:
        """A stored fact; None if there is none."""
        ...


class SealedStore(Protocol):
    """Port: where sealed evidence is stored, under a label that reveals nothing about it (AV-19)."""

    def sealed_bytes(self, label: str) -> bytes | None:
        """The content stored under the label; None if there is none."""
        ...

    def keep_sealed(self, label: str, sealed: bytes) -> None:
        """Store sealed evidence; returns only when it is durable."""
        ...
