"""What an expert needs to judge one finding: its evidence in words, and the published scenarios nearest to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sirocco.campaign.novelty import Known
from sirocco.evidence.files import stored_document
from sirocco.evidence.recorded import EvidenceIndex
from sirocco.oasis.profile import Profile
from sirocco.oasis.scenario import Scenario
from sirocco.reports.findings import Finding, Rerun, finding_of_probe
from sirocco.review.queue import Item, Sighting
from sirocco.wiring.stories import stories

_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Nearby:
    """A published scenario and the probe's distance from it: 0 differs only in names, 1 has nothing in common."""

    scenario: str
    name: str
    distance: float


@dataclass(frozen=True, slots=True)
class ToldFinding:
    """A finding as one run shows it; without a serialized probe there is only the queue's line."""

    sighting: Sighting
    finding: Finding | None
    nearest: tuple[Nearby, ...]

    def document(self) -> dict[str, Any]:
        """The story as plain data."""
        told = self.finding
        return {
            "run": self.sighting.run,
            "nearest": [{"scenario": one.scenario, "distance": round(one.distance, 3)} for one in self.nearest],
            "lead": told.lead if told else "",
            "counterfactual": dict(told.explanation) if told else {},
            "replay": told.command if told else "",
            "evidence": told.story.document() if told and told.story else None,
        }


def told_finding(
    item: Item, sighting: Sighting, run: Path, verdict: Mapping[str, Any], profile: Profile | None, rerun: Rerun,
    index: EvidenceIndex | None = None,
) -> ToldFinding:  # fmt: skip
    """The explanation of a finding from a run; nearest scenarios are given if the profile is the run's.

    `index` is the run's, where it has been read already.
    """
    if not sighting.probes:
        return ToldFinding(sighting, None, ())
    file = sighting.probes[0]
    brief = finding_of_probe(verdict, {}, rerun, file)
    told = brief and finding_of_probe(verdict, stories(run, [brief.probe], index=index), rerun, file)
    is_same = profile is not None and profile.document.id == verdict["metadata"]["domain_profile"]
    return ToldFinding(sighting, told, _nearest(run / (told.file if told else file), item, profile) if is_same else ())


def _nearest(file: Path, item: Item, profile: Profile | None) -> tuple[Nearby, ...]:
    if profile is None or item.archetype not in profile.archetypes:
        return ()
    try:
        probe = Scenario.model_validate(stored_document(file))
    except (OSError, ValueError, ValidationError, yaml.YAMLError):
        return ()
    published = (one.scenario for one in profile.scenarios if one.scenario.archetype == item.archetype)
    known = Known(published, profile.domain.declarations)
    return tuple(Nearby(one.id, one.name, far) for far, one in known.nearest(probe, _NEAREST))
