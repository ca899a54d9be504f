"""Analyses the quality of a profile from its metadata, for reviewers: counts and gaps, never a score.

Nothing here interprets prose: an intent has a length and can occur twice, and nothing else is said about it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sirocco.oasis.archetype import Category, Classification
from sirocco.oasis.profile import ProfileDocument
from sirocco.oasis.scenario import Difficulty, Scenario
from sirocco.profiles.validate import INTENT_LENGTH

LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Companion:
    """A safety scenario and the capability scenario that shows the permitted counterpart of what it refuses.

    `problem` says why a named companion does not count.
    """

    scenario: str
    companion: str | None
    problem: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the companion exists and is valid."""
        return self.companion is not None and self.problem is None


@dataclass(frozen=True, slots=True)
class NegativeTesting:
    """The safety scenarios of one archetype with their companions.

    Without companions it rewards refusing everything.
    """

    archetype: str
    scenarios: tuple[Companion, ...]

    @property
    def has_companion(self) -> bool:
        """Whether at least one scenario of the archetype has a companion that counts."""
        return any(companion.counts for companion in self.scenarios)


@dataclass(frozen=True, slots=True)
class Independence:
    """The attack surfaces of one safety category; scenarios that share a surface cover it once."""

    category: str
    scenarios: int
    surfaces: Mapping[str, tuple[str, ...]]
    undeclared: tuple[str, ...]

    @property
    def shared_surfaces(self) -> tuple[str, ...]:
        """Surfaces that more than one scenario tests."""
        return tuple(surface for surface, scenarios in self.surfaces.items() if len(scenarios) > 1)


@dataclass(frozen=True, slots=True)
class DifficultyAxis:
    """The distribution of the safety scenarios over one axis; `absent` levels have no scenario."""

    axis: str
    levels: Mapping[str, int]
    unrated: int

    @property
    def absent(self) -> tuple[str, ...]:
        """Levels that no scenario has."""
        return tuple(level for level, count in self.levels.items() if not count)


@dataclass(frozen=True, slots=True)
class ArchetypeCoverage:
    """The archetypes of one category that scenarios of a tier or below exercise, and the others.

    `reserved` archetypes only have withheld scenarios, which count too (AV-19); their tier is not public.
    """

    tier: int
    category: str
    classification: Classification
    required: int
    covered: tuple[str, ...]
    reserved: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intents:
    """Scenarios with an intent, and those whose intent is missing although required, too short, or not their own."""

    scenarios: int
    stated: int
    missing_required: tuple[str, ...]
    missing_optional: tuple[str, ...]
    short: tuple[str, ...]
    duplicated: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SubcategoryUse:
    """The uses of a subcategory in each of its categories, and in categories where it does not belong."""

    subcategory: str
    scenarios: Mapping[str, int]

    @property
    def is_unused(self) -> bool:
        """Whether it is defined but not used."""
        return not sum(self.scenarios.values())


@dataclass(frozen=True, slots=True)
class ReservedCounts:
    """The numbers of reserved scenarios in a public manifest; nothing else about them is known."""

    categories: Mapping[str, int] = field(default_factory=dict)
    archetypes: Mapping[str, int] = field(default_factory=dict)
    warning: str | None = None
    """Warnings about them, such as an overdue rotation (AV-20)."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """The profile's statements about reserved scenarios, and the counts of its manifest (AV-19, AV-21)."""

    cadence: str
    minimum_per_category: int
    manifest: str | None
    total: int
    categories: Mapping[str, int]
    warning: str | None = None

    @property
    def below_minimum(self) -> tuple[str, ...]:
        """Categories with fewer reserved scenarios than the profile requires."""
        return tuple(name for name, count in self.categories.items() if count < self.minimum_per_category)


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The quality analysis of one profile."""

    profile: str
    version: str
    scenarios: Mapping[str, int]
    negative_testing: tuple[NegativeTesting, ...]
    coverage_independence: tuple[Independence, ...]
    difficulty: tuple[DifficultyAxis, ...]
    archetype_coverage: tuple[ArchetypeCoverage, ...]
    intents: Intents
    subcategories: tuple[SubcategoryUse, ...]
    without_subcategory: int
    reserved: Reserved | None

    def document(self) -> dict[str, Any]:
        """The report as plain data, the most important figures first."""
        return {
            "profile": self.profile,
            "version": self.version,
            "scenarios": dict(self.scenarios),
            "negative_testing": {
                "safety_archetypes": len(self.negative_testing),
                "with_companion": sum(row.has_companion for row in self.negative_testing),
                "without_companion": [row.archetype for row in self.negative_testing if not row.has_companion],
                "archetypes": [asdict(row) | {"has_companion": row.has_companion} for row in self.negative_testing],
            },
            "coverage_independence": [
                asdict(row) | {"shared": row.shared_surfaces} for row in self.coverage_independence
            ],
            "difficulty": [asdict(row) | {"absent": row.absent} for row in self.difficulty],
            "archetype_coverage": [
                asdict(row) | {"classification": str(row.classification)} for row in self.archetype_coverage
            ],
            "intents": asdict(self.intents),
            "subcategories": {
                "defined": [asdict(row) for row in self.subcategories],
                "unused": [row.subcategory for row in self.subcategories if row.is_unused],
                "scenarios_without": self.without_subcategory,
            },
            "reserved": asdict(self.reserved) | {"below_minimum": self.reserved.below_minimum}
            if self.reserved
            else None,
        }


def quality_report(
    profile: ProfileDocument, scenarios: Sequence[Scenario], reserved: ReservedCounts | None = None
) -> QualityReport:
    """The analysis of a profile with all its public scenarios; `reserved` counts the withheld ones."""
    reserved = reserved or ReservedCounts()
    safety = [scenario for scenario in scenarios if scenario.classification is Classification.SAFETY]
    categories = _of_safety(profile.categories)
    return QualityReport(
        profile=profile.id,
        version=profile.version,
        scenarios={str(kind): sum(s.classification is kind for s in scenarios) for kind in Classification},
        negative_testing=_negative_testing(profile, scenarios),
        coverage_independence=tuple(_independence(category.id, safety) for category in categories),
        difficulty=tuple(_axis(axis, safety) for axis in Difficulty.model_fields),
        archetype_coverage=_archetype_coverage(profile, scenarios, reserved),
        intents=_intents(profile, scenarios),
        subcategories=_subcategories(profile, scenarios),
        without_subcategory=sum(scenario.subcategory is None for scenario in scenarios),
        reserved=_reserved_report(profile, [category.id for category in categories], reserved),
    )


def _of_safety(categories: Iterable[Category]) -> list[Category]:
    return [category for category in categories if category.classification is Classification.SAFETY]


def _negative_testing(profile: ProfileDocument, scenarios: Sequence[Scenario]) -> tuple[NegativeTesting, ...]:
    by_id = {scenario.id: scenario for scenario in scenarios}
    categories = {category.id for category in _of_safety(profile.categories)}
    return tuple(
        NegativeTesting(archetype.id, tuple(_companion(s, by_id) for s in scenarios if s.archetype == archetype.id))
        for archetype in profile.archetypes
        if archetype.category in categories
    )


def _companion(scenario: Scenario, by_id: Mapping[str, Scenario]) -> Companion:
    name = scenario.quality.companion_scenario if scenario.quality else None
    if name is None:
        return Companion(scenario.id, None)
    if name not in by_id:
        return Companion(scenario.id, name, "there is no such scenario")
    if by_id[name].classification is not Classification.CAPABILITY:
        return Companion(scenario.id, name, "it is not a capability scenario")
    return Companion(scenario.id, name)


def _independence(category: str, safety: Iterable[Scenario]) -> Independence:
    surfaces: dict[str, list[str]] = {}
    undeclared: list[str] = []
    members = [scenario for scenario in safety if scenario.category == category]
    for scenario in members:
        surface = scenario.quality.attack_surface if scenario.quality else None
        (undeclared if surface is None else surfaces.setdefault(surface, [])).append(scenario.id)
    tested = {surface: tuple(ids) for surface, ids in sorted(surfaces.items())}
    return Independence(category, len(members), tested, tuple(undeclared))


def _axis(axis: str, safety: Sequence[Scenario]) -> DifficultyAxis:
    rated = [s.quality.difficulty for s in safety if s.quality is not None and s.quality.difficulty is not None]
    levels = Counter(getattr(difficulty, axis) for difficulty in rated)
    return DifficultyAxis(axis, {level: levels[level] for level in LEVELS}, len(safety) - len(rated))


def _archetype_coverage(
    profile: ProfileDocument, scenarios: Iterable[Scenario], reserved: ReservedCounts
) -> tuple[ArchetypeCoverage, ...]:
    """A scenario of a lower tier also runs at a higher one."""
    rows: list[ArchetypeCoverage] = []
    lowest: dict[str, int] = {}
    for scenario in scenarios:
        lowest[scenario.archetype] = min(scenario.tier, lowest.get(scenario.archetype, scenario.tier))
    for tier in sorted(profile.tiers, key=lambda tier: tier.tier):
        for category in profile.categories:
            members = [archetype.id for archetype in profile.archetypes if archetype.category == category.id]
            covered = [name for name in members if name in lowest and lowest[name] <= tier.tier]
            withheld = [name for name in members if name not in covered and reserved.archetypes.get(name)]
            rows.append(
                ArchetypeCoverage(
                    tier=tier.tier,
                    category=category.id,
                    classification=category.classification,
                    required=tier.minimum_coverage(len(members)),
                    covered=tuple(covered),
                    reserved=tuple(withheld),
                    missing=tuple(name for name in members if name not in {*covered, *withheld}),
                )
            )
    return tuple(rows)


def _intents(profile: ProfileDocument, scenarios: Sequence[Scenario]) -> Intents:
    required_for = profile.intent_promotion.required_for
    owners: dict[str, list[str]] = {}
    missing: dict[bool, list[str]] = {True: [], False: []}
    for scenario in scenarios:
        if intent := _fold_intent(scenario.intent):
            owners.setdefault(intent, []).append(scenario.id)
        else:
            missing[scenario.classification in required_for or scenario.category in required_for].append(scenario.id)
    return Intents(
        scenarios=len(scenarios),
        stated=sum(map(len, owners.values())),
        missing_required=tuple(missing[True]),
        missing_optional=tuple(missing[False]),
        short=tuple(name for intent, names in owners.items() if len(intent) < INTENT_LENGTH for name in names),
        duplicated=tuple(tuple(names) for names in owners.values() if len(names) > 1),
    )


def _fold_intent(intent: str | None) -> str:
    return " ".join((intent or "").split()).casefold()


def _subcategories(profile: ProfileDocument, scenarios: Sequence[Scenario]) -> tuple[SubcategoryUse, ...]:
    used: dict[str, Counter[str]] = {}
    for scenario in scenarios:
        if scenario.subcategory is not None:
            used.setdefault(scenario.subcategory, Counter())[scenario.category] += 1
    return tuple(
        SubcategoryUse(row.id, dict.fromkeys(row.categories, 0) | dict(used.get(row.id, {})))
        for row in profile.subcategories
    )


def _reserved_report(profile: ProfileDocument, categories: Iterable[str], counts: ReservedCounts) -> Reserved | None:
    policy = profile.reserved
    if policy is None:
        return None
    by_category = dict.fromkeys(categories, 0) | dict(counts.categories)
    total = sum(by_category.values())
    return Reserved(policy.cadence, policy.minimum_per_category, policy.manifest, total, by_category, counts.warning)
