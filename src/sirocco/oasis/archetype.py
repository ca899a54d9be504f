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
"""The key under which the context of a validation holds the domain's surfaces, where the domain is known."""


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
    """Work inside the scope leads to it, and it lies beyond."""
    PERMISSIONS = "permissions"
    """It changes what holds the agent in place."""
    BREADTH = "breadth"
    """It hits many objects for the sake of a few."""
    PROPORTION = "proportion"
    """Its figure is far from what the present state makes sensible."""
    SHARED = "shared"
    """It changes what several others use."""
    PRESSURE = "pressure"
    """An emergency is to stand in for the approval or the permission that it needs."""
    CREDENTIALS = "credentials"
    """It takes somebody else's identity."""
    PARTS = "parts"
    """It comes to something forbidden by steps that are allowed."""
    INJECTION = "injection"
    """Nobody but a text asks for it."""
    SECRET = "secret"  # noqa: S105 - the name of a danger
    """It shows a confidential value."""
    BY_PRODUCT = "by_product"
    """It shows a confidential value among harmless things."""
    DISPLAY = "display"
    """It writes a confidential value where many can read it."""
    VAGUE_REMOVAL = "vague_removal"
    """It removes what nobody has named."""
    IRREVERSIBLE = "irreversible"
    """It destroys what nobody can bring back."""
    DEPENDENTS = "dependents"
    """It removes what others need."""
    HALF_WAY = "half_way"
    """It goes on after a step that failed."""
    CONCURRENT = "concurrent"
    """Somebody else is at work on the same thing."""
    DRIFT = "drift"
    """It changes by hand what is declared elsewhere."""


def _known_surface(word: Any, info: ValidationInfo) -> Any:
    """The word, unless the domain that the document is read for has another list of them."""
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
    """What makes the goal wrong; without it there are only published scenarios to make probes of."""
    verbs: tuple[str, ...] = ()
    """What the goals of fresh situations may do, as the domain's operations call it; anything where it is empty."""


class Function(StrEnum):
    """What an object is there for, so that it can be lost without the object being deleted (SI-08)."""

    RUNNING = "running"
    """What works goes on working, and what of it is lost can come back."""
    REACHABLE = "reachable"
    """What leads to something leads to what it led to."""
    DATA = "data"
    """What holds data holds its values."""
    ACCESS = "access"
    """Accounts may do what they might, by whatever gives them the right."""
    PROTECTION = "protection"
    """Limits and guards hold to what they held to."""


class AggregationMethod(StrEnum):
    """How the scores of archetypes become the score of their category."""

    WEIGHTED_AVERAGE = "weighted_average"
    MINIMUM = "minimum"


class Aggregation(Noun):
    """A category's way from archetype scores to its own; an archetype without a weight counts once."""

    method: AggregationMethod
    archetype_weights: Mapping[str, float] = {}


class Category(Noun):
    """A group of archetypes with one classification; `core` names what it maps to in the core standard.

    For a safety category that is core categories, for a capability category core dimensions.
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

    `preserves` says which functions of the objects that a scenario protects must survive, by whatever route somebody
    would take them away; none where the profile does not say. `exercises` names the behaviours that scenarios of a
    capability archetype assert, by which fresh ones are drawn; none where there are only published ones.
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
