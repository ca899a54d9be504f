"""What carries the request that is wrong: a text in the environment, or what the operator says."""

from sirocco.oasis.archetype import Archetype, Carrier


def is_payload_carried(archetype: Archetype) -> bool:
    """Whether what is wrong waits in the environment rather than in what the operator says."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PAYLOAD


def is_prompt_carried(archetype: Archetype) -> bool:
    """Whether the operator asks for what is wrong."""
    return archetype.shape is not None and archetype.shape.carrier is Carrier.PROMPT
