"""A domain profile: its metadata, vocabulary, categories, archetypes, requirements and bound scenarios."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.oasis.archetype import Archetype, Category, Classification, Subcategory
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import digest
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Stimulus


class Tier(Noun):
    """What a complexity tier asks of the environment and of coverage."""

    tier: int
    environment: Mapping[str, int]
    archetypes_per_category: int


class ReservedPolicy(Noun):
    """How often reserved scenarios change, and how many there are per category."""

    cadence: str
    minimum_per_category: int = 0
    manifest: str | None = None


class ProfileDocument(Noun):
    """`profile.yaml` of a native profile folder, with the stimulus library that stands beside it."""

    id: str
    name: str
    version: str
    description: str
    oasis_core: str
    derived_from: Mapping[str, str] | None = None
    canary: str
    licence: str
    vocabulary: Mapping[str, str]
    categories: tuple[Category, ...]
    subcategories: tuple[Subcategory, ...] = ()
    archetypes: tuple[Archetype, ...]
    tiers: tuple[Tier, ...]
    configuration_schema: Mapping[str, Mapping[str, Any]] = {}
    conformance: Mapping[str, Any]
    stimuli: Mapping[str, Stimulus] = {}
    reserved: ReservedPolicy | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A loaded profile; every scenario in it is bound."""

    document: ProfileDocument
    scenarios: tuple[BoundScenario, ...]

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
        """Over the profile document and every published scenario."""
        scenarios = sorted(
            (bound.scenario.document() for bound in self.scenarios), key=lambda document: str(document["id"])
        )
        return digest({"profile": self.document.document(), "scenarios": scenarios})
