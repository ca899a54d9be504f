"""A domain profile: its metadata, vocabulary, categories, archetypes, requirements and bound scenarios."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from sirocco.oasis.archetype import Archetype, Category, Classification, Subcategory
from sirocco.oasis.band import LearnedWords, ScoringTemplate
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.domain import Domain
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Stimulus


class Tier(Noun):
    """What a complexity tier requires of the environment and of coverage.

    `environment` and `at_most` bound what can be counted; `requirements` are in the profile's own words.
    """

    tier: int
    name: str | None = None
    environment: Mapping[str, int]
    at_most: Mapping[str, int] = {}
    requirements: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    archetypes_per_category: int
    every_archetype: bool = False
    coverage: tuple[str, ...] = ()

    def minimum_coverage(self, archetypes: int) -> int:
        """The minimum number of archetypes to evaluate in a category that has `archetypes` of them."""
        return archetypes if self.every_archetype else self.archetypes_per_category


class Behavior(Noun):
    """A named behaviour that assertions refer to, and how it is verified without asking the agent."""

    id: str
    group: str | None = None
    definition: str
    verification: str


class InterfaceType(Noun):
    """A class of tool that a scenario can ask for."""

    id: str
    description: str
    examples: tuple[str, ...] = ()


class ScoringModel(Noun):
    """How results become scores: the default tolerance, and the weights of categories in dimensions.

    `learned_words` belongs to the bands: what an answer to a probe forfeits; everything if not specified.
    """

    safety_tolerance: float = Field(default=0, ge=0, le=100)
    dimensions: Mapping[str, Mapping[str, float]] = {}
    learned_words: LearnedWords | None = None


class IntentPromotion(Noun):
    """For which classifications or categories a scenario must state its intent, and for which it should."""

    required_for: tuple[str, ...] = (Classification.SAFETY.value,)
    recommended_for: tuple[str, ...] = ()


class ProfileValidation(Noun):
    """What a profile requires of its scenarios beyond the core standard."""

    intent: IntentPromotion = IntentPromotion()


class ReservedPolicy(Noun):
    """What a profile promises about its reserved scenarios, and whose keys sign these promises."""

    cadence: str
    minimum_per_category: int = 0
    maintainers: tuple[str, ...] = ()
    """Public keys (`ssh-ed25519 ...`); a bundle or history that none of them signed is refused."""
    contact: str | None = None
    """Where evaluators can request the bundle."""
    manifest: str | None = None
    """The file with the manifest of the current edition."""
    history: str | None = None
    """The file with the signed history of all editions."""


def environment_type_in(conformance: Any) -> str | None:
    """The type of environments that a profile's conformance requirements name."""
    match conformance:
        case {"environment_type": str(kind) | {"expected": str(kind)}}:
            return kind
    return None


class ProfileDocument(Noun):
    """Everything in a profile except its scenarios, as written in `profile.yaml` or read from a Markdown package.

    The standard's own package has neither canary nor licence; a native profile must have both.
    """

    id: str
    name: str
    version: str
    description: str
    oasis_core: str
    derived_from: Mapping[str, str] | None = None
    canary: str | None = None
    licence: str | None = None
    vocabulary: Mapping[str, str]
    core_concepts: Mapping[str, str] = {}
    categories: tuple[Category, ...]
    subcategories: tuple[Subcategory, ...] = ()
    archetypes: tuple[Archetype, ...]
    behaviors: tuple[Behavior, ...] = ()
    interfaces: tuple[InterfaceType, ...] = ()
    verbs: Mapping[str, str] = {}
    resource_types: Mapping[str, str] = {}
    scoring: ScoringModel | None = None
    scoring_templates: Mapping[str, ScoringTemplate] = {}
    deviation_synonyms: Mapping[str, tuple[str, ...]] = {}
    """Words for a deviation, by its type; scenarios cannot have their own lists."""
    profile_validation: ProfileValidation | None = None
    tiers: tuple[Tier, ...]
    configuration_schema: Mapping[str, Mapping[str, Any]] = {}
    conformance: Mapping[str, Any]
    stimuli: Mapping[str, Stimulus] = {}
    reserved: ReservedPolicy | None = None

    @property
    def environment_type(self) -> str | None:
        """The type of environment that the profile requires of providers; None if not specified."""
        return environment_type_in(self.conformance)

    @property
    def learned_words(self) -> LearnedWords:
        """What learned words forfeit in probes; both rules apply unless the profile says otherwise."""
        return (self.scoring and self.scoring.learned_words) or LearnedWords()

    @property
    def intent_promotion(self) -> IntentPromotion:
        """For which scenarios an intent is required or recommended.

        For safety ones unless the profile says otherwise.
        """
        return self.profile_validation.intent if self.profile_validation else IntentPromotion()


@dataclass(frozen=True, slots=True)
class Profile:
    """A loaded profile; every scenario in it is bound."""

    document: ProfileDocument
    scenarios: tuple[BoundScenario, ...]
    domain: Domain = field(kw_only=True, repr=False, compare=False)
    """The domain of the system that the profile is about."""

    @property
    def archetypes(self) -> dict[str, Archetype]:
        """Archetypes by id."""
        return {archetype.id: archetype for archetype in self.document.archetypes}

    @property
    def categories(self) -> dict[str, Category]:
        """Categories by id."""
        return {category.id: category for category in self.document.categories}

    def classification(self, archetype: str) -> Classification:
        """The classification that an archetype inherits from its category (AV-05)."""
        return self.categories[self.archetypes[archetype].category].classification

    def digest(self) -> str:
        """A digest over the profile document and every published scenario."""
        scenarios = sorted(
            (bound.scenario.document() for bound in self.scenarios), key=lambda document: str(document["id"])
        )
        return digest({"profile": self.document.document(), "scenarios": scenarios})
