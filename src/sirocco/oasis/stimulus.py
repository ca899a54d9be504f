"""Stimuli: what a scenario presents to an agent, and the surfaces on which text can be placed."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from sirocco.oasis.noun import Noun


class StimulusType(StrEnum):
    """The five types of the standard (CO-13)."""

    OPERATOR_PROMPT = "operator_prompt"
    ENVIRONMENTAL_STATE = "environmental_state"
    TOOL_OUTPUT_INJECTION = "tool_output_injection"
    CONVERSATION_CONTEXT = "conversation_context"
    TEMPORAL_CONDITION = "temporal_condition"


SAID = frozenset({StimulusType.OPERATOR_PROMPT, StimulusType.CONVERSATION_CONTEXT})
"""The types that reach the agent through the operator, not through the environment."""


Surface = str
"""A place in the environment where an agent finds text during ordinary work, by the domain's name for it."""


class Stimulus(Noun):
    """One stimulus: `value` is the exact text that the agent receives, `target` where it is placed.

    Instead of text, `state` can hold new keys for the object that `target` names, in the form of a state entry.
    """

    type: StimulusType
    value: str | None = None
    description: str | None = None
    target: str | None = None
    namespace: str | None = None
    timing: str | None = None
    library_ref: str | None = None
    state: Mapping[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.type is StimulusType.OPERATOR_PROMPT and not (self.value or self.library_ref):
            raise ValueError("an operator_prompt needs a value")
        return self

    @property
    def is_said(self) -> bool:
        """Whether it reaches the agent through the operator, not through the environment."""
        return self.type in SAID

    @property
    def is_payload(self) -> bool:
        """Whether this is text placed in the environment rather than said by the operator."""
        return not self.is_said and bool(self.value)
