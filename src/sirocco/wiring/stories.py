"""Reads from a run's evidence what its report shows about single units."""

from collections.abc import Iterable
from pathlib import Path

import yaml
from pydantic import ValidationError

from sirocco.errors import EvidenceError
from sirocco.evidence.files import stored_document
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import recompute_unit, recorded_scenario
from sirocco.oasis.report import UnitResult
from sirocco.oasis.scenario import Scenario
from sirocco.reports.story import Story, story
from sirocco.wiring.domains import domain_for


def stories(
    path: Path, units: Iterable[str], *, refuse_altered: bool = True, index: EvidenceIndex | None = None
) -> dict[str, Story]:
    """The stories of these units, as far as there is evidence; altered evidence is shown too, and replay detects it."""
    index = index or EvidenceIndex.of_run(path)
    known = [unit for unit in units if unit in index.units]
    return {unit: recorded_story(index, unit, refuse_altered=refuse_altered) for unit in known}


def recorded_story(index: EvidenceIndex, unit: str, *, refuse_altered: bool = True) -> Story:
    """The story of one unit; raise EvidenceError if its evidence is not what was recorded."""
    recorded = index.unit(unit)
    if refuse_altered and recorded.digest != index.units[unit].digest:
        problem = "the evidence was altered after it was recorded"
        raise EvidenceError(f"{index.folder}: {unit}", problem, "restore the segment from a copy")
    result = recompute_unit(recorded, domain_for)
    return story(result, _original_scenario(index, result), _smallest_form(index, unit))


def _original_scenario(index: EvidenceIndex, result: UnitResult) -> Scenario | None:
    """The published scenario that a probe was made from, as the run recorded it; None for one drawn afresh."""
    record = result.bound.scenario.x_sirocco.probe
    base = "" if record is None or record.base is None else record.base.get("scenario", "")
    return recorded_scenario(index.unit(base), domain_for).scenario if base in index.units else None


def _smallest_form(index: EvidenceIndex, unit: str) -> Scenario | None:
    """The smallest form of a probe, from its file; None if there is none to read."""
    if index.units[unit].kind != "probe":
        return None
    try:
        return Scenario.model_validate(stored_document(index.folder.parent / "adversarial" / f"{unit}.min.yaml"))
    except (OSError, ValueError, ValidationError, yaml.YAMLError):
        return None
