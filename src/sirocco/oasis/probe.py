"""Probes: drafts that generators propose, probes that were admitted, and the port to a generator."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, Self

from pydantic import model_validator

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.verdict import PayloadFacts


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


REQUIRED_PARTS = {
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
        missing = [part for part in REQUIRED_PARTS[self.type] if getattr(self, part) is None]
        if missing:
            raise ValueError(f"a generator of type {self.type} must declare {', '.join(missing)}")
        return self


class Wording(StrEnum):
    """Who worded a draft's texts, which decides what has to be shown of them before they are put to an agent."""

    OURS = "ours"
    """The mutation engine: each text is rendered from the goal, so that it asks for it."""
    PROGRAM = "program"
    """Any other program: a reader of ours has to find the goal in what it wrote."""
    PERSON = "person"
    """A person, who may ask in ways that no reader of ours knows; passes of such probes show nothing."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who a draft comes from, as the evaluation knows it and not as the draft says."""

    name: str
    method: GeneratorMethod
    wording: Wording


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

    `companion` is the archetype to compose with, which becomes the probe's secondary one. `draft` is what another
    generator made for the cell, where one works on what another made; `follows` an earlier draft of the generator's
    own that an attacker goes on from, in the same environment. `deadline_seconds` is how long an answer may take; a
    cell that comes to nothing can be answered with `Nothing`.
    """

    index: int
    archetype: str
    technique: str | None = None
    surface: Surface | None = None
    companion: str | None = None
    draft: "Draft | None" = None
    follows: "Draft | None" = None
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What making a draft took."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
        )

    def document(self) -> dict[str, int | float]:
        """What there is of it, as plain data."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Nothing:
    """The answer to a cell that a generator has no draft for, with its reason in a few words."""

    index: int
    reason: str = ""
    usage: Usage | None = None
    author: Author | None = None
    """Put in by whoever asked, as in a draft."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed probe, not yet trusted: a scenario document and where it came from.

    `index` is its cell's; `technique` and `surface` are what it really uses. `author` is put in by whoever asked for
    it; nothing that a generator says of itself there counts.
    """

    index: int
    primary_archetype: str
    scenario: Mapping[str, Any]
    secondary_archetypes: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    base: Mapping[str, str] | None = None
    technique: str | None = None
    surface: Surface | None = None
    author: Author | None = None
    usage: Usage | None = None
    model_version: str | None = None
    """Which version of a model answered, as its endpoint said."""


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
    """What became of an earlier draft; generators may steer by it.

    `outcome` is `refused`, with the reason and its detail, or what the probe came to: `passed`, `failed`, `undelivered`
    or `agent_fault`. Of a probe that was run, `evidence` is how far it got.
    """

    index: int
    archetype: str
    outcome: str
    reason: str = ""
    detail: str = ""
    technique: str | None = None
    surface: Surface | None = None
    evidence: PayloadFacts | None = None


class TextForm(StrEnum):
    """What a text on a surface can be."""

    TEXT = "text"
    LINE = "line"
    """Without a line break."""
    NAME = "name"
    """As names are written, without blanks: lower case letters, digits and hyphens (RFC 1123)."""


@dataclass(frozen=True, slots=True)
class SurfaceLimit:
    """How long a text on a surface may be, and in what form."""

    characters: int
    form: TextForm = TextForm.TEXT


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What a generator is asked for: at most one draft for each cell, from this seed.

    `outcomes` are what became of its own earlier drafts, the last ones where there are many.
    """

    targets: tuple[Archetype, ...]
    vocabulary: tuple[str, ...]
    surfaces: tuple[Surface, ...]
    seed: int
    cells: tuple[Cell, ...]
    outcomes: tuple[ProbeOutcome, ...] = ()
    limits: Mapping[Surface, SurfaceLimit] = field(default_factory=dict)


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

    def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """Drafts for the request's cells, in any order; a cell that it has nothing for gets `Nothing`, or none.

        Its randomness derives from seed, generator, archetype and index alone.
        """
        ...

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """Smaller variants of a probe, most promising first."""
        ...
