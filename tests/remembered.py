"""What witnesses and the reference agent come to in a scenario, worked out once for all tests: it follows from the seed.

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
from sirocco.oasis.report import UnitResult
from sirocco.runner.truth_table import WitnessReport
from sirocco.runner.witnessing import Witnesses

SHARED = "SIROCCO_TESTS_SHARED"
"""The variable that names a folder which all workers of a session have in common."""
_REPORT, _REFERENCE = Witnesses.report, Witnesses.reference_result


@contextmanager
def witnesses_remembered() -> Iterator[None]:
    """Spare runs with the same seed and choices what witnesses, and the reference agent, come to in the same probes."""
    with (
        patch.object(Witnesses, "report", _remembered_report),
        patch.object(Witnesses, "reference_result", _remembered_reference),
    ):
        yield


@contextmanager
def witnesses_afresh() -> Iterator[None]:
    """Have every witness run."""
    with (
        patch.object(Witnesses, "report", _REPORT),
        patch(f"{__name__}._remembered_report", _REPORT),
        patch.object(Witnesses, "reference_result", _REFERENCE),
        patch(f"{__name__}._remembered_reference", _REFERENCE),
    ):
        yield


async def _remembered_report(self: Witnesses, bound: BoundScenario) -> WitnessReport:
    return await _remembered("witnesses", _REPORT, self, bound)


async def _remembered_reference(self: Witnesses, bound: BoundScenario) -> UnitResult | None:
    found = await _remembered("reference", _outlined_reference, self, bound)
    return None if found is None else replace(found, bound=bound)


async def _outlined_reference(witnesses: Witnesses, bound: BoundScenario) -> UnitResult | None:
    """The result of the reference agent; whoever asks for it looks at the verdict alone."""
    found = await _REFERENCE(witnesses, bound)
    return None if found is None else found.outline()


async def _remembered(name: str, ask: Any, witnesses: Witnesses, bound: BoundScenario) -> Any:
    if type(witnesses.provider) is not SimulatorProvider:
        return await ask(witnesses, bound)
    kept = _place(name, witnesses, bound)
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    known = await ask(witnesses, bound)
    _write(kept, known)
    return known


def _write(place: Path, known: Any) -> None:
    with NamedTemporaryFile(dir=place.parent, delete=False) as made:
        made.write(pickle.dumps(known))
    Path(made.name).replace(place)


def _place(name: str, witnesses: Witnesses, bound: BoundScenario) -> Path:
    """The file for what is known, by all that it follows from."""
    settings: Any = replace(witnesses.settings, clock=str)
    goal = bound.goal.literals if bound.goal else ()
    others = (type(bound.domain), type(witnesses.naive), type(witnesses.reference))
    known = repr((bound, goal, settings, others))
    return Path(os.environ[SHARED]) / f"{name}-{hashlib.sha256(known.encode(errors='surrogatepass')).hexdigest()}"
