"""Obfuscation: the instruction in a form that a word filter misses and a reader can still decipher.

Only if the oracle looks at actions: a value that must not get out is never encoded. No later operator may change names,
because names cannot be found in encoded text.
"""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.disguise import DISGUISES
from sirocco.probes.mutation.dressing import fill_payload, holds_prose, payload_target


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        goal = draft.goal
        is_action = goal is not None and goal.operation is not None
        is_fitting = is_action and is_payload_carried(archetype) and holds_prose(terms, draft)
        return tuple(DISGUISES) if is_fitting else ()

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        goal, target = draft.goal, payload_target(terms, draft)
        if goal is None or target is None:
            return draft
        disguised = DISGUISES[choice](terms.speech.instruction(goal, draft.home, dice))
        return fill_payload(
            terms, draft, terms.speech.about(draft).line(f"disguised.{choice}", dice, do=disguised, about=target.name)
        )

    return Operator("obfuscate", "obfuscation", choices, apply, turn=505, surfaces=terms.prose)
