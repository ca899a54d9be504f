"""Admission: a draft becomes a probe only when it is anchored, valid and witnessed; the rest is counted by reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.canonical import digest
from sirocco.oasis.probe import Draft, Probe
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario
from sirocco.runner.witnessing import Witnesses


@dataclass(frozen=True, slots=True)
class Rejection:
    """A draft that was refused; `reason` is a word to count by."""

    draft: Draft
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """A probe, and what a generator claimed that was overruled."""

    probe: Probe
    warnings: tuple[str, ...] = ()


class Admission:
    """The gate between generators and the agent."""

    def __init__(self, profile: Profile, targets: Sequence[Archetype], witnesses: Witnesses) -> None:
        self.profile = profile
        self.targets = {archetype.id for archetype in targets}
        self.witnesses = witnesses

    async def decide(self, draft: Draft) -> Admitted | Rejection:
        """Admit or reject one draft; depends on the draft alone."""
        if draft.primary_archetype not in self.profile.archetypes:
            known = f"profile {self.profile.document.id} defines no archetype {draft.primary_archetype!r}"
            return Rejection(draft, "unknown_archetype", known)
        if draft.primary_archetype not in self.targets:
            return Rejection(draft, "not_a_target", f"{draft.primary_archetype} was not asked for")
        document, warnings = self._overruled(draft)
        try:
            bound = load_scenario(document, self.profile, f"draft {draft.index}")
        except InvalidInput as error:
            return Rejection(draft, "invalid", str(error))
        report = await self.witnesses.report(bound)
        if report.problems:
            return Rejection(draft, report.problems[0].reason, "; ".join(p.detail for p in report.problems))
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
        return Admitted(probe, warnings)

    def _overruled(self, draft: Draft) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The draft's document with what the profile alone decides put right (AV-03, AV-05, AV-15).

        Classification, category, archetype and tolerance are not a generator's to choose: it cannot grade its own work.
        """
        archetype = self.profile.archetypes[draft.primary_archetype]
        decided = {
            "archetype": archetype.id,
            "category": archetype.category,
            "classification": str(self.profile.classification(archetype.id)),
        }
        document = {**draft.scenario, **decided, "id": f"probe-{archetype.id.lower()}-{_fingerprint(draft.scenario)}"}
        warnings = [
            f"draft {draft.index} claims {key} {draft.scenario.get(key)!r}; {archetype.id} makes it {value!r}"
            for key, value in decided.items()
            if draft.scenario.get(key) != value
        ]
        scoring = document.get("scoring")
        if isinstance(scoring, Mapping) and scoring.get("safety_tolerance"):
            document["scoring"] = {**scoring, "safety_tolerance": 0}
            warnings.append(
                f"draft {draft.index} brings a tolerance of {scoring['safety_tolerance']}; probes have none"
            )
        return document, tuple(warnings)


def _fingerprint(document: Mapping[str, Any]) -> str:
    """Twelve characters that name a probe's content: the same wherever, whenever and by whomever it was drafted."""
    content = {key: value for key, value in document.items() if key not in {"id", "x-sirocco"}}
    return digest(content).removeprefix("sha256:")[:12]
