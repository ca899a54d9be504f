"""Probes: drafts that generators propose, probes that were admitted, and the port to a generator."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, Self

from pydantic import model_validator

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Surface


class GeneratorType(StrEnum):
    """The standard's kinds of generator (AV-08)."""

    LLM = "llm"
    MUTATION = "mutation"
    RED_TEAM = "red_team"
    HYBRID = "hybrid"
    OTHER = "other"


class Reproducibility(StrEnum):
    """What the same seed and configuration give again (AV-10)."""

    DETERMINISTIC = "deterministic"
    PARTIALLY_REPRODUCIBLE = "partially_reproducible"
    NON_REPRODUCIBLE = "non_reproducible"


_REQUIRED_PARTS = {
    GeneratorType.LLM: ("model", "model_version"),
    GeneratorType.MUTATION: ("base", "strategy"),
    GeneratorType.RED_TEAM: ("team_size", "expertise"),
    GeneratorType.HYBRID: ("description",),
    GeneratorType.OTHER: ("description",),
}


class GeneratorMethod(Noun):
    """How a generator works, declared before it may propose anything (AV-08)."""

    type: GeneratorType
    reproducibility: Reproducibility
    config_hash: str
    base: Mapping[str, str] | None = None
    strategy: str | None = None
    model: str | None = None
    model_version: str | None = None
    team_size: int | None = None
    expertise: str | None = None
    description: str | None = None

    @model_validator(mode="after")
    def _declares_its_parts(self) -> Self:
        missing = [part for part in _REQUIRED_PARTS[self.type] if getattr(self, part) is None]
        if missing:
            raise ValueError(f"a generator of type {self.type} must declare {', '.join(missing)}")
        return self


BENIGN_TWIN = "benign_twin"
"""The technique of probes whose legitimate task only looks like an attack: they show over-refusal."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that a generator can make: a technique against an archetype, on a surface where it has one.

    `composes` says that a second archetype can be part of it.
    """

    archetype: str
    technique: str
    surface: Surface | None = None
    composes: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the plan: which archetype a probe is wanted for and how; what is None is left to the generator.

    `companion` is the archetype to compose with, which becomes the probe's secondary one.
    """

    index: int
    archetype: str
    technique: str | None = None
    surface: Surface | None = None
    companion: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed probe, not yet trusted: a scenario document and where it came from.

    `index` is its cell's; `technique` and `surface` are what it really uses.
    """

    index: int
    primary_archetype: str
    scenario: Mapping[str, Any]
    secondary_archetypes: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    base: Mapping[str, str] | None = None
    technique: str | None = None
    surface: Surface | None = None


def probe_record(draft: Draft, method: GeneratorMethod, seed: int) -> dict[str, Any]:
    """Where a draft comes from, as the scenario document holds it that serializes the probe (AV-11).

    This is the only place where a record is made; `with_record_facts` adds what is found out about the probe later.
    """
    return {
        "primary_archetype": draft.primary_archetype,
        "secondary_archetypes": list(draft.secondary_archetypes),
        "generator": method.document(),
        "seed": f"{seed:#x}",
        "index": draft.index,
        "base": dict(draft.base) if draft.base else None,
        "lineage": list(draft.lineage),
    }


def with_record_facts(bound: BoundScenario, **facts: Any) -> BoundScenario:
    """The probe with more in its record; unchanged without one: what was written by hand was made by nobody else."""
    extension = bound.scenario.x_sirocco
    if extension.probe is None:
        return bound
    extension = extension.model_copy(update={"probe": extension.probe.model_copy(update=facts)})
    return replace(bound, scenario=bound.scenario.model_copy(update={"x_sirocco": extension}))


@dataclass(frozen=True, slots=True)
class Probe:
    """An admitted probe: anchored, bound and witnessed."""

    id: str
    primary_archetype: str
    secondary_archetypes: tuple[str, ...]
    bound: BoundScenario
    draft: Draft


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What became of an earlier draft; generators may steer by it."""

    index: int
    archetype: str
    outcome: str


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What a generator is asked for: at most one draft for each cell, from this seed."""

    targets: tuple[Archetype, ...]
    vocabulary: tuple[str, ...]
    surfaces: tuple[Surface, ...]
    seed: int
    cells: tuple[Cell, ...]
    outcomes: tuple[ProbeOutcome, ...] = ()


class ProbeGenerator(Protocol):
    """Port: any process that produces probes (AV-07).

    One that can repeat itself may also have `remake(record: ProbeRecord) -> Draft | None`: the draft that the record of
    a serialized probe stands for. Without it no probe in a file is taken to be what the generator made.
    """

    @property
    def method(self) -> GeneratorMethod:
        """The declared method."""
        ...

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """What it can make for the targets; a generator that cannot tell beforehand offers nothing."""
        ...

    def propose(self, request: ProbeRequest) -> AsyncIterator[Draft]:
        """Drafts for the request's cells, in order; a cell that it has nothing for gets none.

        Its randomness derives from seed, generator, archetype and index alone.
        """
        ...

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """Smaller variants of a probe, most promising first."""
        ...
