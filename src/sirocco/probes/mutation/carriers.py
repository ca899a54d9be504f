"""Determines what carries the harmful request: a text in the environment, or the operator's words."""

from sirocco.oasis.archetype import Archetype, Carrier


def is_payload_carried(archetype: Archetype) -> bool:
    """Whether the harmful request is placed in the environment rather than in what the operator says."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PAYLOAD


def is_prompt_carried(archetype: Archetype) -> bool:
    """Whether the harmful request is the operator's own."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PROMPT
