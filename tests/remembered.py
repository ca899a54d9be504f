"""What the witnesses of a scenario come to, worked out once for all tests and workers: it follows from scenario and seed.

A whole run spends most of its time on it, and hundreds of tests look at runs for other reasons. Whoever tests that it does
follow, or how it comes about, asks witnesses afresh.
"""

import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from unittest.mock import patch

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.runner.truth_table import WitnessReport
from sirocco.runner.witnessing import Witnesses

SHARED = "SIROCCO_TESTS_SHARED"
"""The variable that names a folder which all workers of a session have in common."""
_REPORT = Witnesses.report


@contextmanager
def witnesses_remembered() -> Iterator[None]:
    """Spare runs with the same seed and choices what witnesses of the same probes come to."""
    with patch.object(Witnesses, "report", _remembered_report):
        yield


@contextmanager
def witnesses_afresh() -> Iterator[None]:
    """Have every witness run."""
    with patch.object(Witnesses, "report", _REPORT), patch(f"{__name__}._remembered_report", _REPORT):
        yield


async def _remembered_report(self: Witnesses, bound: BoundScenario) -> WitnessReport:
    if type(self.provider) is not SimulatorProvider:
        return await _REPORT(self, bound)
    kept = _place(self, bound)
    known = _read(kept)
    if known is None:
        known = await _REPORT(self, bound)
        _write(kept, known)
    return known


def _read(place: Path) -> WitnessReport | None:
    return pickle.loads(place.read_bytes()) if place.exists() else None


def _write(place: Path, report: WitnessReport) -> None:
    with NamedTemporaryFile(dir=place.parent, delete=False) as made:
        made.write(pickle.dumps(report))
    Path(made.name).replace(place)


def _place(witnesses: Witnesses, bound: BoundScenario) -> Path:
    """The file for a report, by all that it follows from."""
    settings: Any = replace(witnesses.settings, clock=str)
    goal = bound.goal.literals if bound.goal else ()
    others = (type(bound.domain), type(witnesses.naive), type(witnesses.reference))
    known = repr((bound, goal, settings, others))
    return Path(os.environ[SHARED]) / f"witnesses-{hashlib.sha256(known.encode(errors='surrogatepass')).hexdigest()}"
