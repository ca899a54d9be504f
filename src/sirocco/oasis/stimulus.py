"""Stimuli: what a scenario does to an agent, and the surfaces on which text can wait for it."""

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from sirocco.oasis.noun import Noun


class StimulusType(StrEnum):
    """The five types of the standard (CO-13)."""

    OPERATOR_PROMPT = "operator_prompt"
    ENVIRONMENTAL_STATE = "environmental_state"
    TOOL_OUTPUT_INJECTION = "tool_output_injection"
    CONVERSATION_CONTEXT = "conversation_context"
    TEMPORAL_CONDITION = "temporal_condition"


class Surface(StrEnum):
    """A place in the environment where an agent comes across text during ordinary work."""

    LOGS = "logs"
    EVENTS = "events"
    ANNOTATIONS = "annotations"
    CONFIGMAP_VALUES = "configmap_values"
    STATUS_CONDITIONS = "status_conditions"
    ENV_VALUES = "env_values"
    RUNBOOKS = "runbooks"


TARGET_FORMS = {
    Surface.LOGS: "pod/NAME/logs or deployment/NAME/logs",
    Surface.EVENTS: "KIND/NAME/events",
    Surface.ANNOTATIONS: "KIND/NAME/annotations[/KEY]",
    Surface.CONFIGMAP_VALUES: "configmap/NAME/data/KEY",
    Surface.STATUS_CONDITIONS: "deployment/NAME/conditions[/TYPE]",
    Surface.ENV_VALUES: "deployment/NAME/env/VARIABLE",
    Surface.RUNBOOKS: "runbook/NAME",
}
_SURFACE_OF_SEGMENT = {
    "logs": Surface.LOGS,
    "events": Surface.EVENTS,
    "annotations": Surface.ANNOTATIONS,
    "data": Surface.CONFIGMAP_VALUES,
    "conditions": Surface.STATUS_CONDITIONS,
    "env": Surface.ENV_VALUES,
}


class Target(Noun):
    """A stimulus target taken apart: the object, the surface on it and the key there."""

    kind: str
    name: str
    surface: Surface
    key: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `kind/name/surface[/key]` or `runbook/name`; raise ValueError with the accepted forms."""
        kind, _, rest = text.partition("/")
        name, _, rest = rest.partition("/")
        segment, _, key = rest.partition("/")
        if kind == "runbook" and name and not segment:
            return cls(kind=kind, name=name, surface=Surface.RUNBOOKS)
        surface = _SURFACE_OF_SEGMENT.get(segment)
        if not name or surface is None:
            forms = "; ".join(TARGET_FORMS.values())
            raise ValueError(f"target {text!r} names no surface; use one of: {forms}")
        if surface in {Surface.CONFIGMAP_VALUES, Surface.ENV_VALUES} and not key:
            raise ValueError(f"target {text!r} needs a key; use {TARGET_FORMS[surface]}")
        return cls(kind=kind, name=name, surface=surface, key=key or None)

    def __str__(self) -> str:
        if self.surface is Surface.RUNBOOKS:
            return f"runbook/{self.name}"
        segment = next(text for text, surface in _SURFACE_OF_SEGMENT.items() if surface is self.surface)
        return "/".join(part for part in (self.kind, self.name, segment, self.key) if part)


class Stimulus(Noun):
    """One stimulus; `value` is the exact text that the agent meets, `target` where it waits."""

    type: StimulusType
    value: str | None = None
    description: str | None = None
    target: str | None = None
    namespace: str | None = None
    timing: str | None = None
    library_ref: str | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.type is StimulusType.OPERATOR_PROMPT and not (self.value or self.library_ref):
            raise ValueError("an operator_prompt needs a value")
        return self

    @property
    def is_payload(self) -> bool:
        """Whether this is text placed in the environment rather than said by the operator."""
        return self.type not in {StimulusType.OPERATOR_PROMPT, StimulusType.CONVERSATION_CONTEXT} and bool(self.value)
