"""Scenario and suite in the form of the standard's documents; all our additions are under `x-sirocco`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, field_serializer, model_validator

from sirocco.oasis.archetype import Classification, GoalKind
from sirocco.oasis.noun import Noun
from sirocco.oasis.reaction import Reaction
from sirocco.oasis.stimulus import Stimulus, StimulusType


class StateEntry(Noun):
    """One declared piece of the environment: `kind/name` and the keys that the provider must establish."""

    model_config = ConfigDict(extra="allow")

    resource: str
    namespace: str | None = None

    @property
    def kind(self) -> str:
        """The part before the slash."""
        return self.resource.partition("/")[0]

    @property
    def name(self) -> str:
        """The part after the slash; empty if the entry only names a kind."""
        return self.resource.partition("/")[2]

    @property
    def fields(self) -> dict[str, Any]:
        """The declared keys other than resource and namespace."""
        return dict(self.model_extra or {})


class EnvironmentPreconditions(Noun):
    """What must exist before the agent starts."""

    type: str
    state: tuple[StateEntry, ...] = ()


class AgentScope(Noun):
    """What the agent may touch; keys beyond namespaces and zones are passed to the agent as declared."""

    model_config = ConfigDict(extra="allow")

    namespaces: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()


class AgentPreconditions(Noun):
    """How the agent is configured for a scenario."""

    mode: str
    tools: tuple[str, ...]
    scope: AgentScope


class Preconditions(Noun):
    """Environment and agent before the first stimulus."""

    environment: EnvironmentPreconditions
    agent: AgentPreconditions


class Assertion(Noun):
    """A named behaviour or an operation; exactly one of them."""

    behavior: str | None = None
    action: str | None = None
    tool_hint: str | None = None

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.behavior is None) == (self.action is None):
            raise ValueError("an assertion names either a behavior or an action")
        return self


class ConditionalAssertions(Noun):
    """Additional assertions for agents whose reported configuration matches `when` (CO-08)."""

    when: Mapping[str, Any] = Field(min_length=1)
    must: tuple[Assertion, ...] = ()
    must_not: tuple[Assertion, ...] = ()


class Assertions(Noun):
    """What the agent must and must not do."""

    must: tuple[Assertion, ...] = ()
    must_not: tuple[Assertion, ...] = ()
    conditional: tuple[ConditionalAssertions, ...] = ()


class StateAssertion(Noun):
    """A condition on one object after the run; without a resource it is prose, which only an overlay can bind."""

    resource: str | None = None
    namespace: str | None = None
    condition: str | None = None
    replicas: int | None = None
    image: str | None = None
    data: Mapping[str, str] | None = None
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None
    status: str | None = None
    sync_status: str | None = None
    description: str | None = None


class AuditRule(Noun):
    """An operation that the audit log must not, or must, contain."""

    forbidden: str | None = None
    required: str | None = None
    description: str | None = None

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that it names, whether required or forbidden; none if it is prose."""
        held = (getattr(self, name) for name in type(self).model_fields if name != "description")
        return tuple(text for text in held if isinstance(text, str))


class OutputChannel(StrEnum):
    """Where a value could leave the agent."""

    AGENT_RESPONSE = "agent_response"
    TOOL_CALL_PARAMETERS = "tool_call_parameters"
    REASONING_TRACE = "reasoning_trace"


class ValueContainment(Noun):
    """A registered value that must not occur in the named channels (CO-06)."""

    value_ref: str
    scope: str = "absolute"
    output_channels: tuple[OutputChannel, ...] = Field(min_length=1)


class Verification(Noun):
    """The independent checks of a scenario."""

    state_assertions: tuple[StateAssertion, ...] = ()
    api_audit: tuple[AuditRule, ...] = ()
    negative_verification: tuple[str, ...] = ()
    state_diff: Mapping[str, Any] | None = None
    value_containment: tuple[ValueContainment, ...] = ()


class Scoring(Noun):
    """How a result becomes a verdict or a score.

    A capability scenario has a rubric, or names a template of its profile and binds the template's roles to values
    under keys of their own; in that case it has neither type nor rubric nor dimensions.
    """

    model_config = ConfigDict(extra="allow")

    type: Literal["binary", "weighted"] | None = None
    safety_tolerance: float | None = Field(default=None, ge=0, le=100)
    deviation_measure: str | None = None
    pass_condition: str | None = None
    rubric: Mapping[str, Any] | None = None
    dimensions: tuple[str, ...] | Mapping[str, Any] | None = None
    archetype_template: str | None = None

    @property
    def roles(self) -> dict[str, Any]:
        """The values of a template's roles."""
        return dict(self.model_extra or {})


class Deviation(Noun):
    """One departure from the healthy baseline: the object and property, and its type in the profile's vocabulary."""

    id: str
    resource: str
    deviation_type: str
    subject: str


class Symptom(Noun):
    """How the deviations of a scenario appear from outside."""

    resource: str
    condition: str


class Injection(Noun):
    """The fault that a scenario constructs and that determines its answer key: once repaired, the symptom is gone."""

    baseline: tuple[StateEntry, ...] = Field(min_length=1)
    deviations: tuple[Deviation, ...] = Field(min_length=1)
    symptom: Symptom
    counterfactual: str = Field(min_length=1)


class Difficulty(Noun):
    """The standard's three axes."""

    plausibility: Literal["low", "medium", "high"]
    detection_complexity: Literal["low", "medium", "high"]
    contextual_embedding: Literal["low", "medium", "high"]


class Quality(Noun):
    """Metadata for quality analysis."""

    attack_surface: str | None = None
    difficulty: Difficulty | None = None
    companion_scenario: str | None = None


class Goal(Noun):
    """What a violating agent would do; payloads, witness and oracle are all rendered from it."""

    operation: str | None = None
    output: str | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.operation is None) == (self.output is None):
            raise ValueError("a goal is either an operation or an output")
        return self

    @property
    def kind(self) -> GoalKind:
        """Which of the two it is."""
        return GoalKind.OPERATION if self.operation is not None else GoalKind.OUTPUT


class Reproduction(Noun):
    """How often a failure recurred when the probe was run again in fresh environments."""

    runs: int
    failed: int


class ProbeRecord(Noun):
    """Where a probe came from; written into the scenario document that serializes it (AV-11)."""

    primary_archetype: str
    secondary_archetypes: tuple[str, ...] = ()
    generator: Mapping[str, Any]
    seed: str
    index: int
    base: Mapping[str, str] | None = None
    lineage: tuple[str, ...] = ()
    novelty: float | None = None
    foreign_names: tuple[str, ...] = ()
    """Names of the published scenarios that do not occur in the probe: an answer that uses one was learned."""
    own_names: tuple[str, ...] = ()
    """Names in the probe's own ground truth that no published scenario of its archetypes contains."""
    reproduction: Reproduction | None = None


class Extension(Noun):
    """Our additions to a scenario."""

    goal: Goal | None = None
    task: tuple[str, ...] = ()
    checks: Mapping[str, str] = Field(default_factory=dict)
    slots: Mapping[str, Any] = Field(default_factory=dict)
    reactions: tuple[Reaction, ...] = ()
    rerun: int = Field(default=0, ge=0)
    predicates: Mapping[str, tuple[Mapping[str, Any], ...]] = Field(default_factory=dict)
    probe: ProbeRecord | None = None

    @field_serializer("rerun", when_used="json")
    def _rerun_when_there_is_one(self, rerun: int) -> int | None:
        return rerun or None


class Scenario(Noun):
    """One test: what exists, what happens, what must hold, and how it is verified (CO-12)."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)
    name: str
    version: str = ""
    """The scenario's own version, or that of its profile."""
    classification: Classification
    category: str
    subcategory: str | None = None
    archetype: str
    tier: int = Field(ge=1, le=3)
    intent: str | None = None
    description: str | None = None
    quality: Quality | None = None
    applicability: Mapping[str, Any] = Field(default_factory=dict)
    preconditions: Preconditions
    injection: Injection | None = None
    stimuli: tuple[Stimulus, ...] = Field(min_length=1)
    assertions: Assertions = Assertions()
    verification: Verification = Verification()
    scoring: Scoring
    observability_requirements: tuple[str, ...] = ()
    x_sirocco: Extension = Field(default=Extension(), alias="x-sirocco")

    @property
    def default_namespace(self) -> str | None:
        """The namespace of entries that name none: the first of the agent's scope."""
        namespaces = self.preconditions.agent.scope.namespaces
        return namespaces[0] if namespaces else None

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the operator says, turn by turn."""
        return tuple(s.value for s in self.stimuli if s.type is StimulusType.OPERATOR_PROMPT and s.value is not None)

    @property
    def turns(self) -> int:
        """How often the agent is asked, not counting repetitions after a fault."""
        return len(self.prompts) * (1 + self.x_sirocco.rerun)

    @property
    def payloads(self) -> tuple[Stimulus, ...]:
        """The texts that are placed for the agent in the environment."""
        return tuple(stimulus for stimulus in self.stimuli if stimulus.is_payload)


class Suite(Noun):
    """A chosen list of a profile's scenarios, in the order in which they run."""

    id: str
    name: str
    version: str = ""
    domain_profile: str
    scenarios: tuple[str, ...] = Field(min_length=1)
    environment: Mapping[str, Any] | None = None
