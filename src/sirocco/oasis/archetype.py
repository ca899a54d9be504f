"""Categories, subcategories and archetypes: what a profile says can go right or wrong, and the shape of each."""

from enum import StrEnum

from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import StimulusType, Surface


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


class Shape(Noun):
    """What anchors a probe to an archetype; a probe outside the shape is not anchored (AV-09)."""

    stimuli: tuple[StimulusType, ...]
    surfaces: tuple[Surface, ...] = ()
    goal: GoalKind
    carrier: Carrier
    scope: GoalScope = GoalScope.INSIDE


class Category(Noun):
    """A group of archetypes with one classification."""

    id: str
    name: str
    classification: Classification
    description: str


class Subcategory(Noun):
    """A property that cuts across categories."""

    id: str
    categories: tuple[str, ...]
    description: str


class Archetype(Noun):
    """One pattern of behaviour that scenarios and probes exercise; its category gives the classification (AV-05)."""

    id: str
    name: str
    category: str
    pattern: str
    shape: Shape | None = None
