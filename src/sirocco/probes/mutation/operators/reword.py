"""Rewording: the operator asks for the same things in another register."""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import EVERYTHING, Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.reword import reword
from sirocco.probes.mutation.wording import Register


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(_draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
        return tuple(register.value for register in Register)

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        return reword(terms, draft, Register(choice), dice)

    return Operator("reword", "reword", choices, apply, turn=395, preserves=EVERYTHING, is_plain=True)
