"""Coverage: how much of a profile a run evaluated, given the claimed tier and the agent's configuration.

Below the tier's minimum, an evaluation is incomplete and supports no claim (CO-11); there is a warning about a safety
category that is mostly not applicable to the agent (CO-08).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.evaluation.applicability import unknown_dimensions
from sirocco.oasis.archetype import Classification
from sirocco.oasis.profile import Tier
from sirocco.oasis.report import CoreResult
from sirocco.oasis.verdict import Fail, ProviderFailure

_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Coverage:
    """The archetypes of one classification: evaluated and required by category, and why the others were not."""

    evaluated: Mapping[str, int]
    required: Mapping[str, int]
    skipped: Mapping[str, str]
    unmeasured: tuple[str, ...] = ()

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """The categories below the tier's minimum."""
        return tuple(
            f"{category}: {self.evaluated[category]} of {required} archetypes evaluated"
            for category, required in self.required.items()
            if self.evaluated[category] < required
        )

    def document(self) -> dict[str, Any]:
        """The coverage in the form of the report."""
        return {
            "required_archetypes": sum(self.required.values()),
            "evaluated_archetypes": sum(self.evaluated.values()),
            "complete": not self.shortfalls,
            "by_category": dict(self.evaluated),
            "required_by_category": dict(self.required),
            "incomplete_because": list(self.shortfalls),
            "skipped_archetypes": [{"archetype": name, "reason": reason} for name, reason in self.skipped.items()],
            "not_measured": list(self.unmeasured),
        }


def coverage(core: CoreResult, classification: Classification) -> Coverage:
    """The coverage of one classification; archetypes to which no scenario could apply are not required."""
    profile = core.identity.profile
    tier = next((tier for tier in profile.tiers if tier.tier == core.identity.tier), None)
    done = {one.archetype for one in core.outcomes if one.status not in {None, ProviderFailure.status}}
    excluded = _wholly_excluded(core)
    evaluated: dict[str, int] = {}
    required: dict[str, int] = {}
    skipped: dict[str, str] = {}
    for category in profile.categories:
        if category.classification is not classification:
            continue
        own = [archetype.id for archetype in profile.archetypes if archetype.category == category.id]
        evaluated[category.id] = len(done.intersection(own))
        required[category.id] = _minimum(tier, own, excluded)
        skipped |= {name: _reason(core, name) for name in own if name not in done}
    return Coverage(evaluated, required, skipped, tier.coverage if tier else ())


def _minimum(tier: Tier | None, archetypes: list[str], excluded: set[str]) -> int:
    least = tier.minimum_coverage(len(archetypes)) if tier else 1
    return min(least, len([name for name in archetypes if name not in excluded]))


def _wholly_excluded(core: CoreResult) -> set[str]:
    """The archetypes of which no scenario applies to the agent."""
    excluded = {one.unit for one in core.excluded}
    applicable = {scenario.archetype for scenario in core.scenarios if scenario.id not in excluded}
    return {one.archetype for one in core.excluded} - applicable


def _reason(core: CoreResult, archetype: str) -> str:
    """Why an archetype was not evaluated."""
    reasons = list(dict.fromkeys(_reasons(core, archetype)))
    if reasons:
        return "; ".join(reasons)
    if own := [scenario for scenario in core.scenarios if scenario.archetype == archetype]:
        is_phase_2 = own[0].classification is Classification.CAPABILITY
        return "not run, because safety failed" if is_phase_2 and _has_failed(core) else "the run ended before it"
    return "no scenario of it was selected" if core.identity.filters else "the profile has no scenario of it"


def _has_failed(core: CoreResult) -> bool:
    return isinstance(core.safety, Fail) and not (core.abort_reason or core.agent_fault or core.interrupted)


def _reasons(core: CoreResult, archetype: str) -> Iterator[str]:
    for excluded in core.excluded:
        if excluded.archetype == archetype:
            yield f"not applicable: {excluded.condition}"
    for skipped in core.skipped:
        if skipped.archetype == archetype:
            yield skipped.reason
    for result in core.results:
        if result.bound.scenario.archetype != archetype:
            continue
        if isinstance(result.verdict, ProviderFailure):
            yield f"the environment failed: {result.verdict.cause}"
        elif result.evaluation.undecidable is not None:
            yield f"nothing can decide it for this agent: {result.evaluation.undecidable}"
        elif result.agent_fault is not None:
            yield f"the agent broke: {result.agent_fault}"


@dataclass(frozen=True, slots=True)
class ConfigurationCoverage:
    """How many of the selected scenarios apply to the agent as it is configured."""

    total: int
    not_applicable: Mapping[str, int]
    warnings: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The counts in the standard's layout."""
        excluded = sum(self.not_applicable.values())
        return {
            "total_scenarios": self.total,
            "applicable": self.total - excluded,
            "not_applicable": excluded,
            "not_applicable_by_category": dict(self.not_applicable),
            "warnings": list(self.warnings),
        }


def configuration_coverage(core: CoreResult) -> ConfigurationCoverage:
    """How many of the scenarios apply, given the agent's configuration (CO-08).

    It warns if that is not the majority, and about what the agent reports in vain.
    """
    total = Counter(scenario.category for scenario in core.scenarios)
    excluded = Counter(one.category for one in core.excluded)
    safety = [one.id for one in core.identity.profile.categories if one.classification is Classification.SAFETY]
    warnings = tuple(
        f"{excluded[name]} of {total[name]} scenarios of {name} are not applicable to the agent as it is configured"
        for name in safety
        if excluded[name] > _MOST * total[name]
    )
    unknown = unknown_dimensions(core.identity.agent.configuration, core.identity.profile.configuration_schema)
    return ConfigurationCoverage(len(core.scenarios), dict(sorted(excluded.items())), (*unknown, *warnings))
