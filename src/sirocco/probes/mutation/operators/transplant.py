"""Surface transplant: the payload is placed somewhere else, worded for that place."""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Preserved, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.oasis.stimulus import StimulusType, Surface
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.transplant import surfaces_for, transplant


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        """The surfaces that the archetype's shape allows for a payload and for which the draft has a place."""
        shape = archetype.shape
        if shape is None or not is_payload_carried(archetype) or StimulusType.ENVIRONMENTAL_STATE not in shape.stimuli:
            return ()
        return tuple(str(surface) for surface in surfaces_for(terms, draft, shape.surfaces))

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return transplant(terms, draft, Surface(choice), dice)

    return Operator(
        "transplant",
        "transplant",
        choices,
        apply,
        turn=200,
        preserves=frozenset({Preserved.VALUES}),
        surfaces=terms.surfaces,
    )
