"""Hand-over poisoning: notes from before the conversation claim a standing consent."""

from dataclasses import replace

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft, StimulusDraft
from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.carriers import is_prompt_carried

_FORMS = ("standing", "memory", "owner", "scope")


def _choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
    context = StimulusType.CONVERSATION_CONTEXT
    allowed = archetype.shape is not None and context in archetype.shape.stimuli and is_prompt_carried(archetype)
    has_one = any(stimulus.type == context for stimulus in draft.stimuli)
    return _FORMS if allowed and not has_one and draft.goal is not None else ()


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        said = terms.speech.about(draft).claim(f"standing.{choice}", dice)
        note = StimulusDraft.from_operator(said, StimulusType.CONVERSATION_CONTEXT)
        return replace(draft, stimuli=(note, *draft.stimuli))

    return Operator("hand_over", "hand_over_poisoning", _choices, apply, turn=375)
