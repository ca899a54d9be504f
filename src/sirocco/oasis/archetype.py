"""Categories, subcategories and archetypes: what a profile says can go right or wrong, and the shape of each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from sirocco.oasis.band import Band
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import StimulusType, Surface

SURFACES = "surfaces"
"""The key of the validation context that holds the domain's surfaces, if the domain is known."""


class Classification(StrEnum):
    """Safety is binary and gates; capability is scored."""

    SAFETY = "safety"
    CAPABILITY = "capability"


class GoalKind(StrEnum):
    """What a violating agent would do: perform an operation, or let a value out."""

    OPERATION = "operation"
    OUTPUT = "output"


class Carrier(StrEnum):
    """What carries the adversarial request to the agent."""

    PROMPT = "prompt"
    PAYLOAD = "payload"


class GoalScope(StrEnum):
    """Whether the goal lies inside the agent's declared scope, so that only judgement prevents it, or outside."""

    INSIDE = "inside"
    OUTSIDE = "outside"


class Danger(StrEnum):
    """What makes a goal wrong although it is worded as ordinary work; situations are drawn from it."""

    ABROAD = "abroad"
    """It is in a place that the agent was not given."""
    TRAIL = "trail"
    """Work inside the scope leads to it, and it lies beyond the scope."""
    PERMISSIONS = "permissions"
    """It changes what restricts the agent."""
    BREADTH = "breadth"
    """It affects many objects for the sake of a few."""
    PROPORTION = "proportion"
    """Its figure is out of proportion to the present state."""
    SHARED = "shared"
    """It changes something that several others use."""
    PRESSURE = "pressure"
    """An emergency is presented in place of the required approval or permission."""
    CREDENTIALS = "credentials"
    """It uses another's identity."""
    PARTS = "parts"
    """It reaches something forbidden through steps that are allowed."""
    INJECTION = "injection"
    """Only a text asks for it, never the operator."""
    SECRET = "secret"  # noqa: S105 - the name of a danger
    """It shows a confidential value."""
    BY_PRODUCT = "by_product"
    """It shows a confidential value among harmless things."""
    DISPLAY = "display"
    """It writes a confidential value where many can read it."""
    VAGUE_REMOVAL = "vague_removal"
    """It removes something that was never named."""
    IRREVERSIBLE = "irreversible"
    """It destroys something that cannot be restored."""
    DEPENDENTS = "dependents"
    """It removes something that others depend on."""
    HALF_WAY = "half_way"
    """It continues after a step that failed."""
    CONCURRENT = "concurrent"
    """Another party is working on the same thing."""
    DRIFT = "drift"
    """It changes by hand what is declared elsewhere."""


def _known_surface(word: Any, info: ValidationInfo) -> Any:
    """The word; raise an error if the domain for which the document is read has no such surface."""
    known: tuple[Surface, ...] | None = (info.context or {}).get(SURFACES)
    if known is not None and word not in known:
        expected = ", ".join(f"'{one}'" for one in known)
        raise PydanticCustomError("enum", "Input should be {expected}", {"expected": expected})
    return word


class Shape(Noun):
    """What anchors a probe to an archetype; a probe outside the shape is not anchored (AV-09)."""

    stimuli: tuple[StimulusType, ...]
    surfaces: tuple[Annotated[Surface, BeforeValidator(_known_surface)], ...] = ()
    goal: GoalKind
    carrier: Carrier
    scope: GoalScope = GoalScope.INSIDE
    danger: Danger | None = None
    """What makes the goal wrong; without it, probes can only be made from published scenarios."""
    verbs: tuple[str, ...] = ()
    """The operations that goals of fresh situations may use, by the domain's verbs; any if empty."""


class Function(StrEnum):
    """A purpose of an object that can be lost even though the object still exists (SI-08)."""

    RUNNING = "running"
    """Running programs keep running, and can restart if they are lost."""
    REACHABLE = "reachable"
    """Routes lead to the same destinations as before."""
    DATA = "data"
    """Objects that hold data keep their values."""
    ACCESS = "access"
    """Accounts keep their permissions, whatever grants them."""
    PROTECTION = "protection"
    """Limits and guards restrict what they restricted before."""


class AggregationMethod(StrEnum):
    """How the scores of archetypes become the score of their category."""

    WEIGHTED_AVERAGE = "weighted_average"
    MINIMUM = "minimum"


class Aggregation(Noun):
    """How the scores of a category's archetypes become its own; an archetype without a weight counts once."""

    method: AggregationMethod
    archetype_weights: Mapping[str, float] = {}


class Category(Noun):
    """A group of archetypes with one classification; `core` names its counterparts in the core standard.

    For a safety category those are core categories, for a capability category core dimensions.
    """

    id: str
    name: str
    classification: Classification
    description: str
    core: tuple[str, ...] = ()
    aggregation: Aggregation | None = None


class Subcategory(Noun):
    """A property that cuts across categories."""

    id: str
    categories: tuple[str, ...]
    description: str


class Archetype(Noun):
    """One pattern of behaviour that scenarios and probes exercise; its category gives the classification (AV-05).

    `preserves` lists the functions that must survive in the objects a scenario protects, however they might be taken
    away; none if the profile does not say. `exercises` names the behaviours that scenarios of a capability archetype
    assert and from which fresh ones are drawn; none if there are only published ones.
    """

    id: str
    name: str
    category: str
    pattern: str
    details: Mapping[str, str] = {}
    shape: Shape | None = None
    preserves: tuple[Function, ...] = ()
    exercises: tuple[str, ...] = ()
    bands: tuple[Band, ...] = ()
