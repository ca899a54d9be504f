"""The review queue: what waits for an expert in one or many runs, each thing once, however many runs show it (AV-24).

Pure: verdicts in, items out. Two failures are one finding when the same archetype failed in the same kinds of checks on
the same surface by the same technique; numbers of checks and names of objects differ from probe to probe.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sirocco.oasis.canonical import digest

_NUMBER = re.compile(r"\.\d+$")
_ID_DIGITS = 12
Detail = Mapping[str, Any]


class ItemKind(StrEnum):
    """Why something waits for an expert."""

    VIOLATION = "violation"
    """A safety probe failed."""
    SECONDARY = "secondary"
    """Safety was violated beside what a probe aimed at (AV-18)."""
    SHORTFALL = "shortfall"
    """A capability probe landed in the lowest band."""
    TOLERANCE = "tolerance"
    """A pass under a tolerance above zero (CO-09)."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One run that shows a finding, with the files and figures to look at."""

    run: str
    agent: str
    probes: tuple[str, ...] = ()
    minimal: str | None = None
    reproduced: int = 0
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to review: what failed and how, and where it was seen."""

    id: str
    kind: ItemKind
    archetype: str
    checks: tuple[str, ...]
    """The kinds of checks that failed, without their numbers."""
    surface: str
    techniques: tuple[str, ...]
    story: str
    sightings: tuple[Sighting, ...]

    @property
    def reproduction(self) -> tuple[int, int]:
        """How often the failure came back, of how many repeats in all runs."""
        return sum(one.reproduced for one in self.sightings), sum(one.repeats for one in self.sightings)

    @property
    def best_sighting(self) -> Sighting:
        """The run to tell the finding by: one with a smallest form, if there is one."""
        return next((one for one in self.sightings if one.minimal), self.sightings[0])

    @property
    def files(self) -> tuple[str, ...]:
        """The probes to look at, smallest forms first."""
        minimal = [f"{one.run}/{one.minimal}" for one in self.sightings if one.minimal]
        return (*minimal, *(f"{one.run}/{probe}" for one in self.sightings for probe in one.probes))

    def document(self) -> dict[str, Any]:
        """The item as plain data."""
        failed, repeats = self.reproduction
        return {
            "finding": self.id,
            "kind": str(self.kind),
            "archetype": self.archetype,
            "checks": list(self.checks),
            "surface": self.surface,
            "techniques": list(self.techniques),
            "story": self.story,
            "reproduction": {"failed": failed, "runs": repeats},
            "agents": sorted({one.agent for one in self.sightings}),
            "runs": [one.run for one in self.sightings],
            "files": list(self.files),
        }


def review_queue(verdicts: Sequence[tuple[str, Detail]]) -> tuple[Item, ...]:
    """What waits for an expert in the verdicts of runs, by the name of each run: safety first, then by archetype."""
    return merged_queue(item for run, verdict in verdicts for item in _items(run, verdict))


def merged_queue(items: Iterable[Item]) -> tuple[Item, ...]:
    """Items of several queues as one: each finding once, with every run that shows it."""
    found: dict[str, Item] = {}
    for item in items:
        known = found.get(item.id)
        found[item.id] = item if known is None else replace(known, sightings=(*known.sightings, *item.sightings))
    order = list(ItemKind)
    return tuple(sorted(found.values(), key=lambda item: (order.index(item.kind), item.archetype, item.id)))


def _items(run: str, verdict: Detail) -> Iterator[Item]:
    metadata, block = verdict["metadata"], verdict.get("adversarial_verification") or {}
    agent = f"{metadata['agent']} {metadata['agent_version']}"
    violations = {one["probe_serialized"]: one for one in block.get("safety_results", {}).get("failures", ())}
    shortfalls = {one["probe_serialized"]: one for one in block.get("capability_results", {}).get("failures", ())}
    for finding in block.get("findings", ()):
        first = str(finding["probes"][0])
        kind = ItemKind.VIOLATION if first in violations else ItemKind.SHORTFALL
        told = (violations | shortfalls).get(first, {})
        seen = finding.get("reproduction", {})
        sighting = Sighting(
            run, agent, tuple(map(str, finding["probes"])), finding.get("minimal"),
            int(seen.get("failed", 0)), int(seen.get("runs", 0)),
        )  # fmt: skip
        yield _item(kind, finding, finding.get("surface", ""), str(told.get("description", "")), sighting)
    for beside in block.get("secondary_violations", ()):
        sighting = Sighting(run, agent, (str(beside["probe_serialized"]),))
        yield _item(ItemKind.SECONDARY, beside, "", str(beside.get("evidence", "")), sighting)
    for review in verdict["safety_details"].get("human_review", ()):
        named = {"archetype": review["scenario_id"]}
        yield _item(ItemKind.TOLERANCE, named, "", str(review.get("reason", "")), Sighting(run, agent))
    for review in block.get("human_review", ()):
        named = {"archetype": review["primary_archetype"]}
        yield _item(ItemKind.TOLERANCE, named, "probe", str(review.get("reason", "")), Sighting(run, agent))


def _item(kind: ItemKind, found: Detail, surface: str, story: str, sighting: Sighting) -> Item:
    archetype = str(found["archetype"])
    checks = tuple(sorted({_NUMBER.sub("", str(check)) for check in found.get("failing_checks", ())}))
    techniques = tuple(sorted(map(str, found.get("techniques", ()))))
    mark = digest([str(kind), archetype, list(checks), surface, list(techniques)]).removeprefix("sha256:")
    return Item(f"F-{mark[:_ID_DIGITS]}", kind, archetype, checks, surface, techniques, story, (sighting,))
