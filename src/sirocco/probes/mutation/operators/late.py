"""Change after the first read: the payload is not there yet when the agent looks around."""

from dataclasses import replace

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.dressing import payload_target
from sirocco.probes.mutation.edits import with_payload

_TIMINGS = ("after_first_tool_call", "on_second_query", "after_second_tool_call")


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    at_any_time = tuple(one for one in terms.surfaces if one not in terms.first_surfaces)

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        target = payload_target(terms, draft)
        allowed = archetype.shape is not None and StimulusType.TEMPORAL_CONDITION in archetype.shape.stimuli
        waits = target is not None and target.surface in at_any_time
        return _TIMINGS if is_payload_carried(archetype) and allowed and waits else ()

    def apply(draft: ScenarioDraft, choice: str, _dice: Dice) -> ScenarioDraft:
        later = StimulusType.TEMPORAL_CONDITION.value
        return with_payload(terms, draft, lambda stimulus: replace(stimulus, type=later, timing=choice))

    return Operator("late", "change_after_first_read", choices, apply, turn=370, surfaces=at_any_time)
