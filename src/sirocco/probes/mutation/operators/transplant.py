"""Surface transplant: the payload waits somewhere else, worded for that place."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.operator import Operator, Preserved, is_payload_carried
from sirocco.probes.mutation.transplant import surfaces_for, transplant


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
        """The surfaces that the archetype's shape lets a payload wait on and that the document has a place for."""
        shape = archetype.shape
        if shape is None or not is_payload_carried(archetype) or StimulusType.ENVIRONMENTAL_STATE not in shape.stimuli:
            return ()
        return tuple(str(surface) for surface in surfaces_for(terms, document, shape.surfaces))

    def apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
        return transplant(terms, document, Surface(choice), dice)

    return Operator(
        "transplant",
        "transplant",
        choices,
        apply,
        turn=200,
        preserves=frozenset({Preserved.VALUES}),
        surfaces=terms.surfaces,
    )
