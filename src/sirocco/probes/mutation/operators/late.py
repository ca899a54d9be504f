"""Change after the first read: the payload is not there yet when the agent looks around."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.document import Document
from sirocco.probes.mutation.dressing import payload_target
from sirocco.probes.mutation.edits import payload_number
from sirocco.probes.mutation.operator import Operator, is_payload_carried
from sirocco.probes.mutation.places import SURFACES

_TIMINGS = ("after_first_tool_call", "on_second_query", "after_second_tool_call")
_AT_ANY_TIME = tuple(one for one in SURFACES if one not in {Surface.ENV_VALUES, Surface.RESOURCE_NAMES})


def _choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
    target = payload_target(document)
    allowed = archetype.shape is not None and StimulusType.TEMPORAL_CONDITION in archetype.shape.stimuli
    waits = target is not None and target.surface in _AT_ANY_TIME
    return _TIMINGS if is_payload_carried(archetype) and allowed and waits else ()


def _apply(document: Mapping[str, Any], choice: str, _dice: Random) -> Document:
    number = payload_number(document)
    if number is None:
        return {**document}
    stimuli = list(document["stimuli"])
    stimuli[number] = {**stimuli[number], "type": StimulusType.TEMPORAL_CONDITION.value, "timing": choice}
    return {**document, "stimuli": stimuli}


LATE = Operator("late", "change_after_first_read", _choices, _apply, surfaces=_AT_ANY_TIME)
