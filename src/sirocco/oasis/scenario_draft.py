"""A draft's scenario as frozen values: parsed once from a document, edited by functions, printed once.

A part has a field for each key that operators read or edit; None stands for a key that the document does not have.
Every other key stays as it was read, and all keys keep their order, so that an unedited part is printed unchanged. What
only a domain can read stays a mapping behind a name: the keys of a declared object (`Declared`), slots, reactions, and
the readings of entries in words (`Reading`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

from sirocco.oasis.scenario import Goal
from sirocco.oasis.stimulus import SAID, StimulusType

Document = dict[str, Any]
Reading = Mapping[str, Any]
"""A predicate in the form of `x-sirocco.predicates`."""
Made = TypeVar("Made")
SITUATION = "situation"
"""The id of a freshly drawn scenario, until it becomes a probe with its own id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A mapping of the scenario schema.

    Subclasses with keys that hold more than texts define how they are read and printed.
    """

    KEYS: ClassVar[tuple[str, ...]] = ()
    """The keys that are fields, in the order in which an edit adds them to a document."""

    rest: Mapping[str, Any] = field(default_factory=dict)
    """The keys that no operator edits, as they were read."""
    order: tuple[str, ...] = ()
    """The keys that were read, in their order; keys that an edit adds come after them."""

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Parse the part from a valid document."""
        # A field that is null means the same as a missing key, but has to be printed again.
        rest = {key: value for key, value in given.items() if key not in cls.KEYS or value is None}
        return cls(**cls._fields(given), rest=rest, order=tuple(given))

    def document(self) -> Document:
        """The part as the schema has it."""
        held = {**self.rest, **{key: value for key, value in self._document_fields().items() if value is not None}}
        first = {key: held.pop(key) for key in self.order if key in held}
        return {**first, **held}

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields, parsed."""
        return {key: given.get(key) for key in cls.KEYS}

    def _document_fields(self) -> dict[str, Any]:
        """The values under the keys."""
        return {key: getattr(self, key) for key in self.KEYS}


def _make_each(make: Callable[[Any], Made], given: Iterable[Any] | None) -> tuple[Made, ...] | None:
    return None if given is None else tuple(map(make, given))


def _documents(parts: "Iterable[Part | Declared] | None") -> list[Document] | None:
    return None if parts is None else [part.document() for part in parts]


def _list_or_none(given: Collection[Any] | None) -> list[Any] | None:
    return None if given is None else list(given)


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared object, or a condition on one: a resource, its namespace, and the domain's own keys."""

    fields: Mapping[str, Any]

    @classmethod
    def for_object(cls, kind: str, name: str, namespace: str, **fields: Any) -> Self:
        """An object in a namespace."""
        return cls({"resource": f"{kind}/{name}", "namespace": namespace, **fields})

    @property
    def resource(self) -> str:
        """Type and name, as declared; empty for a condition in words."""
        return str(self.fields.get("resource") or "")

    @property
    def kind(self) -> str:
        """The type, as declared."""
        return self.resource.partition("/")[0]

    @property
    def name(self) -> str:
        """The name; empty if the entry only names a type."""
        return self.resource.partition("/")[2]

    @property
    def namespace(self) -> str | None:
        """The namespace, if the entry names it."""
        return self.fields.get("namespace")

    def having(self, **fields: Any) -> Self:
        """The same object with other keys."""
        return type(self)({**self.fields, **fields})

    def without_keys(self, *keys: str) -> Self:
        """The same object without some keys."""
        return type(self)({key: value for key, value in self.fields.items() if key not in keys})

    def document(self) -> Document:
        """The entry as the schema has it."""
        return dict(self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeDraft(Part):
    """The limits of what the agent may touch."""

    KEYS = ("namespaces", "zones")

    namespaces: tuple[str, ...] | None = None
    zones: tuple[str, ...] | None = None

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _make_each(str, given.get(key)) for key in cls.KEYS}

    def _document_fields(self) -> dict[str, Any]:
        return {"namespaces": _list_or_none(self.namespaces), "zones": _list_or_none(self.zones)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDraft(Part):
    """The agent's configuration."""

    KEYS = ("mode", "tools", "scope")

    mode: str
    tools: tuple[str, ...]
    scope: ScopeDraft

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"mode": given["mode"], "tools": tuple(given["tools"]), "scope": ScopeDraft.parse(given["scope"])}

    def _document_fields(self) -> dict[str, Any]:
        return {"mode": self.mode, "tools": list(self.tools), "scope": self.scope.document()}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentDraft(Part):
    """The objects that exist before the agent starts."""

    KEYS = ("state",)

    state: tuple[Declared, ...] | None = None

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"state": _make_each(Declared, given.get("state"))}

    def _document_fields(self) -> dict[str, Any]:
        return {"state": _documents(self.state)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionsDraft(Part):
    """Environment and agent before the first stimulus."""

    KEYS = ("environment", "agent")

    environment: EnvironmentDraft
    agent: AgentDraft

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "environment": EnvironmentDraft.parse(given["environment"]),
            "agent": AgentDraft.parse(given["agent"]),
        }

    def _document_fields(self) -> dict[str, Any]:
        return {"environment": self.environment.document(), "agent": self.agent.document()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StimulusDraft(Part):
    """One stimulus: its text, and how it is delivered."""

    KEYS = ("type", "description", "target", "namespace", "value", "timing", "library_ref")

    type: str
    description: str | None = None
    target: str | None = None
    namespace: str | None = None
    value: str | None = None
    timing: str | None = None
    library_ref: str | None = None

    @classmethod
    def from_operator(cls, text: str, kind: StimulusType = StimulusType.OPERATOR_PROMPT) -> Self:
        """A stimulus that reaches the agent through the operator."""
        return cls(type=kind.value, value=text)

    @property
    def is_prompt(self) -> bool:
        """Whether the operator says it."""
        return self.type == StimulusType.OPERATOR_PROMPT and bool(self.value)

    @property
    def is_waiting_text(self) -> bool:
        """Whether it is a text that is placed in the environment."""
        return bool(self.value) and bool(self.target) and self.type not in SAID

    @property
    def text(self) -> str:
        """The text; empty if there is none."""
        return self.value or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionDraft(Part):
    """A required or forbidden behaviour or action."""

    KEYS = ("behavior", "action", "tool_hint")

    behavior: str | None = None
    action: str | None = None
    tool_hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionsDraft(Part):
    """Demands and prohibitions on actions; a conditional block has the same form, with its condition in `rest`."""

    KEYS = ("must", "must_not", "conditional")

    must: tuple[AssertionDraft, ...] | None = None
    must_not: tuple[AssertionDraft, ...] | None = None
    conditional: "tuple[AssertionsDraft, ...] | None" = None

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "must": _make_each(AssertionDraft.parse, given.get("must")),
            "must_not": _make_each(AssertionDraft.parse, given.get("must_not")),
            "conditional": _make_each(AssertionsDraft.parse, given.get("conditional")),
        }

    def _document_fields(self) -> dict[str, Any]:
        return {key: _documents(getattr(self, key)) for key in self.KEYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRuleDraft(Part):
    """An operation that the log must, or must not, contain."""

    KEYS = ("forbidden", "required", "description")

    forbidden: str | None = None
    required: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainmentDraft(Part):
    """A value that must not get out, and the boundary that it must stay in."""

    KEYS = ("value_ref", "scope")

    value_ref: str
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationDraft(Part):
    """The independent checks."""

    KEYS = ("state_assertions", "api_audit", "negative_verification", "value_containment")

    state_assertions: tuple[Declared, ...] | None = None
    api_audit: tuple[AuditRuleDraft, ...] | None = None
    negative_verification: tuple[Any, ...] | None = None
    value_containment: tuple[ContainmentDraft, ...] | None = None

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        prose = given.get("negative_verification")
        return {
            "state_assertions": _make_each(Declared, given.get("state_assertions")),
            "api_audit": _make_each(AuditRuleDraft.parse, given.get("api_audit")),
            "negative_verification": None if prose is None else tuple(prose),
            "value_containment": _make_each(ContainmentDraft.parse, given.get("value_containment")),
        }

    def _document_fields(self) -> dict[str, Any]:
        return {
            "state_assertions": _documents(self.state_assertions),
            "api_audit": _documents(self.api_audit),
            "negative_verification": _list_or_none(self.negative_verification),
            "value_containment": _documents(self.value_containment),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionDraft(Part):
    """Our additions: the goal and the legitimate work, what checks count for, and the meaning of entries in words."""

    KEYS = ("task", "goal", "slots", "reactions", "checks", "predicates", "probe")

    task: tuple[str, ...] | None = None
    goal: Goal | None = None
    slots: Mapping[str, Any] | None = None
    reactions: tuple[Any, ...] | None = None
    checks: Mapping[str, str] | None = None
    predicates: Mapping[str, tuple[Reading, ...]] | None = None
    probe: Mapping[str, Any] | None = None
    """Its origin: the record that `oasis.probe.probe_record` made."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Every deciding predicate, including those in alternatives."""
        given = [reading for readings in (self.predicates or {}).values() for reading in readings]
        inner = [part for reading in given for branch in reading.get("any_of", ()) for part in branch]
        return tuple(reading for reading in (*given, *inner) if "any_of" not in reading)

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        task, goal, reactions, predicates = (given.get(key) for key in ("task", "goal", "reactions", "predicates"))
        return {
            **{key: given.get(key) for key in ("slots", "checks", "probe")},
            "task": None if task is None else tuple(task),
            "goal": None if goal is None else Goal.model_validate(goal),
            "reactions": None if reactions is None else tuple(reactions),
            "predicates": None if predicates is None else {check: tuple(held) for check, held in predicates.items()},
        }

    def _document_fields(self) -> dict[str, Any]:
        predicates = self.predicates
        return {
            "task": _list_or_none(self.task),
            "goal": None if self.goal is None else self.goal.document(),
            "slots": self.slots,
            "reactions": _list_or_none(self.reactions),
            "checks": self.checks,
            "predicates": None if predicates is None else {check: list(held) for check, held in predicates.items()},
            "probe": self.probe,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioDraft(Part):
    """A whole scenario."""

    HEAD: ClassVar = (
        "id", "name", "classification", "category", "archetype", "subcategory", "intent", "description", "quality",
    )  # fmt: skip
    KEYS = (*HEAD, "preconditions", "stimuli", "assertions", "verification", "x-sirocco")

    id: str
    name: str
    classification: str
    category: str
    archetype: str
    subcategory: str | None = None
    intent: str | None = None
    description: str | None = None
    quality: Mapping[str, Any] | None = None
    preconditions: PreconditionsDraft
    stimuli: tuple[StimulusDraft, ...]
    assertions: AssertionsDraft = AssertionsDraft()
    verification: VerificationDraft = VerificationDraft()
    extension: ExtensionDraft = ExtensionDraft()

    @property
    def state(self) -> tuple[Declared, ...]:
        """The declared environment."""
        return self.preconditions.environment.state or ()

    @property
    def agent(self) -> AgentDraft:
        """The agent's configuration."""
        return self.preconditions.agent

    @property
    def goal(self) -> Goal | None:
        """The goal of a violating agent; None if none is declared."""
        return self.extension.goal

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces in which the agent may act."""
        return self.agent.scope.namespaces or ()

    @property
    def home(self) -> str:
        """The namespace of entries that name none."""
        return self.namespaces[0] if self.namespaces else "default"

    @property
    def is_capability(self) -> bool:
        """Whether it is work to be done, rather than a danger to be resisted."""
        return self.classification == "capability"

    @property
    def prompts(self) -> tuple[str, ...]:
        """The operator's messages, turn by turn."""
        return tuple(stimulus.text for stimulus in self.stimuli if stimulus.is_prompt)

    def with_state(self, state: Iterable[Declared]) -> Self:
        """The scenario with another environment."""
        environment = replace(self.preconditions.environment, state=tuple(state))
        return replace(self, preconditions=replace(self.preconditions, environment=environment))

    def with_agent(self, agent: AgentDraft) -> Self:
        """The scenario for an agent with another configuration."""
        return replace(self, preconditions=replace(self.preconditions, agent=agent))

    def with_stimulus(self, number: int, stimulus: StimulusDraft) -> Self:
        """The scenario with one of its stimuli replaced."""
        return replace(self, stimuli=(*self.stimuli[:number], stimulus, *self.stimuli[number + 1 :]))

    @classmethod
    def _fields(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **{key: given.get(key) for key in cls.HEAD},
            "preconditions": PreconditionsDraft.parse(given["preconditions"]),
            "stimuli": tuple(map(StimulusDraft.parse, given["stimuli"])),
            "assertions": AssertionsDraft.parse(given.get("assertions") or {}),
            "verification": VerificationDraft.parse(given.get("verification") or {}),
            "extension": ExtensionDraft.parse(given.get("x-sirocco") or {}),
        }

    def _document_fields(self) -> dict[str, Any]:
        parts = {"assertions": self.assertions, "verification": self.verification, "x-sirocco": self.extension}
        return {
            **{key: getattr(self, key) for key in self.HEAD},
            "preconditions": self.preconditions.document(),
            "stimuli": _documents(self.stimuli),
            # An empty part is printed only if it was read.
            **{key: part.document() or ({} if key in self.order else None) for key, part in parts.items()},
        }
