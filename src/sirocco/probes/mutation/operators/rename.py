"""Renaming: all objects, namespaces and zones get new names, consistently everywhere."""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import EVERYTHING, Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.rename import has_renameable_names, rename


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, _archetype: Archetype) -> tuple[str, ...]:
        return ("",) if has_renameable_names(terms, draft) else ()

    def apply(draft: ScenarioDraft, _choice: str, dice: Dice) -> ScenarioDraft:
        return rename(terms, draft, dice)

    return Operator("rename", "rename", choices, apply, turn=400, preserves=EVERYTHING, is_plain=True)
