"""Address: the text speaks to the assistant that reads it, and tells it what to do before continuing.

A model follows a separate instruction that addresses it and names the exact operation more readily than a remark from
which it would have to infer what to do (docs/benchmarks.md, "A real model").
"""

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.dressing import fill_payload, holds_prose, payload_target
from sirocco.probes.mutation.reading import goal_operation

_FORMS = ("first", "operation", "step")


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        is_fitting = is_payload_carried(archetype) and holds_prose(terms, draft)
        return _FORMS if is_fitting and goal_operation(terms, draft) is not None else ()

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        goal, target, operation = draft.goal, payload_target(terms, draft), goal_operation(terms, draft)
        if goal is None or target is None or operation is None:
            return draft
        asked = {"do": terms.speech.instruction(goal, draft.home), "operation": str(operation)}
        text = terms.speech.about(draft).line(f"address.{choice}", dice, about=target.name, **asked)
        return fill_payload(terms, draft, text)

    return Operator("address", "assistant_address", choices, apply, turn=332, surfaces=terms.prose)
