"""Aggregates scenario results: safety by category and subcategory, scores by archetype, category and dimension.

Something without a result never enters a mean, least of all as zero (CO-02, CO-03).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from sirocco.oasis.archetype import Aggregation, AggregationMethod, Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Verdict, worst

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class LevelResult:
    """The combined result of a group of scenarios; units left unjudged by an agent fault give no verdict."""

    verdict: Verdict | None
    total: int
    passed: int
    failed: int
    provider_failure: int
    agent_fault: int

    def document(self) -> dict[str, Any]:
        """The result in the form of the report."""
        return {
            "status": self.verdict.status if self.verdict else None,
            "total": self.total,
            "passed": self.passed,
            "failed": self.failed,
            "provider_failure": self.provider_failure,
            "agent_fault": self.agent_fault,
        }


@dataclass(frozen=True, slots=True)
class SafetySummary:
    """The results at every level; a level without results has None, which never reads as PASS."""

    overall: Verdict | None
    categories: dict[str, LevelResult]
    subcategories: dict[tuple[str, str], LevelResult]


def of_classification(results: Iterable[UnitResult], classification: Classification) -> list[UnitResult]:
    """The results of one phase."""
    return [result for result in results if result.bound.scenario.classification is classification]


def safety_summary(results: Iterable[UnitResult]) -> SafetySummary:
    """Safety results by category and subcategory; FAIL wins over PROVIDER_FAILURE at every level (CO-02)."""
    categories: dict[str, list[UnitResult]] = {}
    subcategories: dict[tuple[str, str], list[UnitResult]] = {}
    for result in of_classification(results, Classification.SAFETY):
        scenario = result.bound.scenario
        categories.setdefault(scenario.category, []).append(result)
        if scenario.subcategory is not None:
            subcategories.setdefault((scenario.category, scenario.subcategory), []).append(result)
    return SafetySummary(
        overall=_level([result for members in categories.values() for result in members]).verdict,
        categories={category: _level(members) for category, members in categories.items()},
        subcategories={key: _level(members) for key, members in subcategories.items()},
    )


def _level(results: Sequence[UnitResult]) -> LevelResult:
    judged = [result.verdict for result in results if result.is_judged]
    kinds = [type(verdict) for verdict in judged]
    return LevelResult(
        verdict=worst(judged) if judged else None,
        total=len(results),
        passed=kinds.count(Pass),
        failed=kinds.count(Fail),
        provider_failure=kinds.count(ProviderFailure),
        agent_fault=len(results) - len(judged),
    )


@dataclass(frozen=True, slots=True)
class ArchetypeScore:
    """An archetype's mean, and the scenarios that it was computed from; those without a score are named separately."""

    score: float | None
    scenarios: Mapping[str, float]
    unscored: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The score in the form of the report."""
        return {"score": self.score, "scenarios": dict(self.scenarios), "unscored": list(self.unscored)}


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """A category's score, by the profile's aggregation over those of its archetypes that have one."""

    score: float | None
    aggregation: Aggregation
    archetypes: Mapping[str, ArchetypeScore]
    dimensions: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The score in the form of the report."""
        return {
            "score": self.score,
            "archetypes_evaluated": sum(one.score is not None for one in self.archetypes.values()),
            "maps_to_dimensions": list(self.dimensions),
            "aggregation": self.aggregation.document(),
            "archetypes": {name: one.document() for name, one in self.archetypes.items()},
        }


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """A core dimension's score over those of its categories that have one; the others are named as missing."""

    score: float | None
    weights: Mapping[str, float]
    missing: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The computation of the score, in the form of the report."""
        return {"score": self.score, "category_weights": dict(self.weights), "missing_categories": list(self.missing)}


@dataclass(frozen=True, slots=True)
class CapabilitySummary:
    """Scores at every level; a level where nothing was scored has None, which is not zero."""

    categories: Mapping[str, CategoryScore]
    dimensions: Mapping[str, DimensionScore]

    def document(self) -> dict[str, Any]:
        """The scores in the standard's layout, together with the figures that they are computed from (CO-03)."""
        return {
            "domain_categories": {name: one.document() for name, one in self.categories.items()},
            "core_dimensions": {name: one.score for name, one in self.dimensions.items()},
            "dimension_details": {name: one.document() for name, one in self.dimensions.items()},
        }


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """A profile's rules for combining archetypes into categories and core dimensions."""

    aggregations: Mapping[str, Aggregation] = field(default_factory=dict)
    dimensions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    mapped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_profile(cls, profile: ProfileDocument) -> "ScoringRules":
        """The rules that a profile declares."""
        capability = [one for one in profile.categories if one.classification is Classification.CAPABILITY]
        return cls(
            {category.id: category.aggregation for category in capability if category.aggregation},
            profile.scoring.dimensions if profile.scoring else {},
            {category.id: category.core for category in capability},
        )


def capability_summary(results: Iterable[UnitResult], rules: ScoringRules) -> CapabilitySummary:
    """Scenario scores to archetypes (mean), categories (profile's aggregation) and dimensions (its weights) (CO-03).

    Only categories and dimensions for which some scenario of the profile was run are included.
    """
    by_category: dict[str, dict[str, list[UnitResult]]] = {}
    for result in of_classification(results, Classification.CAPABILITY):
        if result.custom:
            continue
        scenario = result.bound.scenario
        by_category.setdefault(scenario.category, {}).setdefault(scenario.archetype, []).append(result)
    categories = {
        name: _category(name, {archetype: _archetype(own) for archetype, own in members.items()}, rules)
        for name, members in by_category.items()
    }
    scores = {name: one.score for name, one in categories.items() if one.score is not None}
    dimensions = {
        name: _dimension(weights, scores)
        for name, weights in rules.dimensions.items()
        if not categories.keys().isdisjoint(weights)
    }
    return CapabilitySummary(categories, dimensions)


def mean(scores: Mapping[str, float], weights: Mapping[str, float] | None = None) -> float | None:
    """The weighted mean, with weight one unless given; None over nothing. The order of the scores does not matter."""
    weight = {name: (weights or {}).get(name, 1.0) for name in scores}
    total = fsum(weight.values())
    if total <= 0:
        return None
    return round(fsum(weight[name] * score for name, score in scores.items()) / total, _DIGITS)


def _archetype(results: Sequence[UnitResult]) -> ArchetypeScore:
    scores = {result.unit: result.score for result in results if result.score is not None}
    unscored = tuple(result.unit for result in results if result.score is None)
    return ArchetypeScore(mean(scores), scores, unscored)


def _category(category: str, archetypes: Mapping[str, ArchetypeScore], rules: ScoringRules) -> CategoryScore:
    """Unless the profile says otherwise, a category is the plain mean of its archetypes."""
    aggregation = rules.aggregations.get(category, Aggregation(method=AggregationMethod.WEIGHTED_AVERAGE))
    scores = {name: one.score for name, one in archetypes.items() if one.score is not None}
    if aggregation.method is AggregationMethod.MINIMUM:
        score = min(scores.values(), default=None)
    else:
        score = mean(scores, aggregation.archetype_weights)
    return CategoryScore(score, aggregation, archetypes, rules.mapped.get(category, ()))


def _dimension(weights: Mapping[str, float], scores: Mapping[str, float]) -> DimensionScore:
    scored = {name: scores[name] for name in weights if name in scores}
    missing = tuple(name for name in weights if name not in scores)
    return DimensionScore(mean(scored, weights), weights, missing)
