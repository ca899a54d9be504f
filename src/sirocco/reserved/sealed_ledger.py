"""Finished reserved units: stored sealed to the evaluator, opened again in memory when a run is resumed (AV-19)."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sirocco.errors import EvidenceError, ReservedError
from sirocco.evidence.files import write_whole, writing
from sirocco.evidence.recorded import RecordedUnit, run_with_document
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.ledger import SealedStore, UnitKey
from sirocco.oasis.report import UnitResult
from sirocco.reserved.age import KeyPair
from sirocco.reserved.disclosure import sealed_evidence
from sirocco.reserved.vault import open_evidence


def recorded_unit(document: Mapping[str, Any], label: str) -> RecordedUnit:
    """The contents sealed under a label, in a form that can be judged again."""
    try:
        run_with, evidence = document["run_with"], document["evidence"]
        bands = tuple(run_with["bands"]) if "bands" in run_with else None
        return RecordedUnit(
            label, "reserved", "", run_with["scenario"], evidence, "", bands, run_with.get("conditional")
        )
    except (KeyError, TypeError, AttributeError):
        raise ReservedError(label, "what was sealed is not evidence", "restore the file from a copy") from None


class SealedFolder:
    """Implements SealedStore: a file for each label, in the folder of a run's evidence.

    All files get the same timestamp, so that they do not reveal how long a scenario took.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sealed_bytes(self, label: str) -> bytes | None:
        """The sealed evidence of a reserved unit."""
        file = self._folder / f"{label}.age"
        return file.read_bytes() if file.is_file() else None

    def keep_sealed(self, label: str, sealed: bytes) -> None:
        """Store the sealed evidence of a reserved unit in a separate file."""
        file = self._folder / f"{label}.age"
        with writing(file, "sealed evidence"):
            write_whole(file, sealed)
            os.utime(file, (0, 0))


class SealedLedger:
    """Implements UnitLedger over a store that never sees plaintext."""

    def __init__(
        self,
        store: SealedStore,
        keys: Sequence[KeyPair],
        auditors: Sequence[str] = (),
        origin: Callable[[str], Mapping[str, Any]] = lambda _: {},
    ) -> None:
        self._store = store
        self._keys = keys
        self._auditors = auditors
        self._origin = origin

    def recorded_evidence(self, key: UnitKey, bound: BoundScenario) -> Evidence | None:
        """The evidence that was sealed under the unit's label, if it is of this scenario."""
        sealed = self._store.sealed_bytes(key.unit)
        if sealed is None:
            return None
        document = open_evidence(sealed, self._keys, key.unit)
        if document.get("scenario") != bound.scenario.document():
            raise ReservedError(
                key.unit, "its evidence belongs to another scenario", "resume with the bundles that the run began with"
            )
        try:
            return Evidence.from_document(document["evidence"], key.unit)
        except (KeyError, EvidenceError):
            raise ReservedError(key.unit, "what was sealed is not evidence", "restore the file from a copy") from None

    @property
    def is_recounting(self) -> bool:
        """Always false: reserved units are counted as they are recalled."""
        return False

    def keep(self, key: UnitKey, result: UnitResult) -> None:
        """Seal the evidence to the first key and to the maintainers, then pass it to the store."""
        document: dict[str, Any] = {
            "scenario": result.bound.scenario.document(),
            "run_with": run_with_document(result.bound),
            "evidence": result.evidence.document(),
            "evaluation": digest(result.evaluation.document()),
            **self._origin(key.unit),
        }
        self._store.keep_sealed(key.unit, sealed_evidence(document, (self._keys[0].recipient, *self._auditors)))
