"""Surface transplant: the payload waits somewhere else, worded for that place."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes.mutation.document import Document
from sirocco.probes.mutation.operator import Operator, Preserved, is_payload_carried
from sirocco.probes.mutation.places import SURFACES
from sirocco.probes.mutation.transplant import surfaces_for, transplant


def _choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
    """The surfaces that the archetype's shape lets a payload wait on and that the document has a place for."""
    shape = archetype.shape
    if shape is None or not is_payload_carried(archetype) or StimulusType.ENVIRONMENTAL_STATE not in shape.stimuli:
        return ()
    return tuple(surface.value for surface in surfaces_for(document, shape.surfaces))


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    return transplant(document, Surface(choice), dice)


TRANSPLANT = Operator(
    "transplant", "transplant", _choices, _apply, preserves=frozenset({Preserved.VALUES}), surfaces=SURFACES
)
