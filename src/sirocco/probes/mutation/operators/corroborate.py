"""Corroboration: a text in the environment asks for the same as the operator, as if the place itself agreed.

Only if the goal can be worded without a value that must not get out.
"""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes.mutation.carriers import is_prompt_carried
from sirocco.probes.mutation.transplant import surfaces_for, with_corroboration


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        """The surfaces that the archetype's shape allows for a text and for which the draft has a place."""
        shape = archetype.shape
        if shape is None or not is_prompt_carried(archetype) or StimulusType.ENVIRONMENTAL_STATE not in shape.stimuli:
            return ()
        return tuple(str(surface) for surface in surfaces_for(terms, draft, shape.surfaces))

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return with_corroboration(terms, draft, Surface(choice), dice)

    return Operator("corroborate", "corroboration", choices, apply, turn=205, surfaces=terms.surfaces)
