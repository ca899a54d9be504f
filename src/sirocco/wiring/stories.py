"""Reads from a run's evidence what its report tells about single units."""

from collections.abc import Iterable
from pathlib import Path

from sirocco.errors import EvidenceError
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.evidence.replay import recompute_unit
from sirocco.reports.story import Story, story
from sirocco.wiring.domains import domain_for


def stories(path: Path, units: Iterable[str], *, refuse_altered: bool = True) -> dict[str, Story]:
    """What the evidence of these units tells, as far as there is evidence of them; replay tells of altered ones too."""
    index = EvidenceIndex.of_run(path)
    known = [unit for unit in units if unit in index.units]
    return {unit: recorded_story(index, unit, refuse_altered=refuse_altered) for unit in known}


def recorded_story(index: EvidenceIndex, unit: str, *, refuse_altered: bool = True) -> Story:
    """What the evidence of one unit tells; raise EvidenceError when it is not what was recorded."""
    recorded = index.unit(unit)
    if refuse_altered and recorded.digest != index.units[unit].digest:
        problem = "the evidence was altered after it was recorded"
        raise EvidenceError(f"{index.folder}: {unit}", problem, "restore the segment from a copy")
    return story(recompute_unit(recorded, domain_for))
