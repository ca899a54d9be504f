"""Change after the first read: the payload is not there yet when the agent looks around."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.dressing import payload_target
from sirocco.probes.mutation.edits import payload_number
from sirocco.probes.mutation.kit import Terms
from sirocco.probes.mutation.operator import Operator, is_payload_carried

_TIMINGS = ("after_first_tool_call", "on_second_query", "after_second_tool_call")


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    at_any_time = tuple(one for one in terms.surfaces if one not in terms.first_surfaces)

    def choices(document: Mapping[str, Any], archetype: Archetype) -> tuple[str, ...]:
        target = payload_target(terms, document)
        allowed = archetype.shape is not None and StimulusType.TEMPORAL_CONDITION in archetype.shape.stimuli
        waits = target is not None and target.surface in at_any_time
        return _TIMINGS if is_payload_carried(archetype) and allowed and waits else ()

    def apply(document: Mapping[str, Any], choice: str, _dice: Random) -> Document:
        number = payload_number(terms, document)
        if number is None:
            return {**document}
        stimuli = list(document["stimuli"])
        stimuli[number] = {**stimuli[number], "type": StimulusType.TEMPORAL_CONDITION.value, "timing": choice}
        return {**document, "stimuli": stimuli}

    return Operator("late", "change_after_first_read", choices, apply, turn=370, surfaces=at_any_time)
