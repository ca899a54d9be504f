"""Admission: a draft becomes a probe only when it is anchored, valid and witnessed; the rest is counted by reason."""

from collections.abc import Sequence
from dataclasses import dataclass

from sirocco.campaign.overruling import overruled
from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Archetype
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
        document, warnings = overruled(draft, self.profile)
        try:
            bound = load_scenario(document, self.profile, f"draft {draft.index}")
        except InvalidInput as error:
            return Rejection(draft, "invalid", str(error))
        report = await self.witnesses.report(bound)
        if report.problems:
            return Rejection(draft, report.problems[0].reason, "; ".join(p.detail for p in report.problems))
        probe = Probe(bound.scenario.id, draft.primary_archetype, draft.secondary_archetypes, bound, draft)
        return Admitted(probe, warnings)
