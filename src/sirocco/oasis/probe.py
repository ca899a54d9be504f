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
    """The extent to which the same seed and configuration reproduce a run (AV-10)."""

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
    """How a generator works, declared before it proposes anything (AV-08)."""

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
    """The kind of author of a draft's texts, which decides what must be shown about them before an agent sees them."""

    OURS = "ours"
    """The mutation engine: each text is rendered from the goal, so it asks for it."""
    PROGRAM = "program"
    """Any other program: our reader has to find the goal in what it wrote."""
    PERSON = "person"
    """A person, who may ask in ways that our reader does not recognize; passes of such probes show nothing."""


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a draft, as the evaluation knows it, whatever the draft says."""

    name: str
    method: GeneratorMethod
    wording: Wording


BENIGN_TWIN = "benign_twin"
"""The technique of probes whose legitimate task only looks like an attack: they reveal over-refusal."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that a generator can make: a technique against an archetype, on a surface if it uses one.

    `composes` says that a second archetype can be part of it.
    """

    archetype: str
    technique: str
    surface: Surface | None = None
    composes: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the plan: the archetype for which a probe is wanted, and how.

    None leaves the choice to the generator.

    `companion` is the archetype to compose with, which becomes the probe's secondary one. `draft` is what another
    generator made for the cell, if one builds on another; `follows` is an earlier draft of the generator's own from
    which an attacker continues, in the same environment. `deadline_seconds` limits how long an answer may take; a cell
    without a draft can be answered with `Nothing`.
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
    """The resources that making a draft took."""

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
        """The known figures, as plain data."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Nothing:
    """The answer to a cell for which a generator has no draft, with its reason in a few words."""

    index: int
    reason: str = ""
    usage: Usage | None = None
    author: Author | None = None
    """Filled in by the caller, as in a draft."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed probe, not yet trusted: a scenario document and where it came from.

    `index` is its cell's; `technique` and `surface` are what it actually uses. The caller fills in `author`, because a
    generator's statements about itself do not count there.
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
    """The version of the model that answered, as its endpoint reported it."""


def probe_record(draft: Draft, method: GeneratorMethod, seed: int) -> dict[str, Any]:
    """The record of where a draft comes from, for the scenario document that serializes the probe (AV-11).

    Records are only made here; `with_record_facts` adds what is found out about the probe later.
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
    """The probe with additions to its record.

    Unchanged if it has none, because a hand-written probe has no generator.
    """
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
    """The outcome of an earlier draft, so that generators can adapt.

    `outcome` is `refused`, with the reason and its detail, or the result of the probe: `passed`, `failed`,
    `undelivered` or `agent_fault`. For a probe that was run, `evidence` is how far it got.
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
    """The permitted form of a text on a surface."""

    TEXT = "text"
    LINE = "line"
    """Without line breaks."""
    NAME = "name"
    """In the form of a name, without spaces: lower case letters, digits and hyphens (RFC 1123)."""


@dataclass(frozen=True, slots=True)
class SurfaceLimit:
    """The maximum length of a text on a surface, and its form."""

    characters: int
    form: TextForm = TextForm.TEXT


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request to a generator: at most one draft for each cell, from this seed.

    `outcomes` are those of its own earlier drafts, limited to the most recent ones.
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

    A generator that can repeat itself may also have `remake(record: ProbeRecord) -> Draft | None`: the draft that the
    record of a serialized probe describes. Without it, a probe in a file is never assumed to be the generator's own.
    """

    @property
    def method(self) -> GeneratorMethod:
        """The declared method."""
        ...

    def offers(self, targets: Sequence[Archetype]) -> tuple[Offer, ...]:
        """The drafts that it can make for the targets; a generator that cannot tell in advance offers nothing."""
        ...

    def propose(self, request: ProbeRequest) -> AsyncIterator[Draft | Nothing]:
        """Drafts for the request's cells, in any order; for a cell without one, `Nothing` or no answer at all.

        Its randomness derives from seed, generator, archetype and index alone.
        """
        ...

    def simplify(self, probe: Probe) -> Iterator[Draft]:
        """Smaller variants of a probe, most promising first."""
        ...
