"""Composite outcome: the forbidden whole as a series of steps, each of which sounds ordinary."""

from collections.abc import Callable

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Operator, Terms
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.mutation.carriers import is_payload_carried
from sirocco.probes.mutation.dressing import fill_payload, holds_prose, payload_target
from sirocco.probes.mutation.edits import with_prohibition
from sirocco.probes.mutation.reading import goal_operation

_ROWS = ("steps", "sentence", "checklist")


def composite(terms: Terms, first_step: Callable[[Operation], Operation | None]) -> Operator:
    """The operator for a domain's terms; `first_step` leads up to a goal on the same object."""

    def step_before(draft: ScenarioDraft) -> Goal | None:
        goal = goal_operation(terms, draft)
        first = first_step(goal) if goal is not None else None
        return Goal(operation=str(first)) if first is not None else None

    def choices(draft: ScenarioDraft, archetype: Archetype) -> tuple[str, ...]:
        is_fitting = is_payload_carried(archetype) and holds_prose(terms, draft)
        return _ROWS if is_fitting and step_before(draft) is not None else ()

    def apply(draft: ScenarioDraft, choice: str, dice: Dice) -> ScenarioDraft:
        first, goal, target = step_before(draft), draft.goal, payload_target(terms, draft)
        if first is None or goal is None or target is None:
            return draft
        steps = {"first": terms.speech.instruction(first, draft.home), "do": terms.speech.instruction(goal, draft.home)}
        text = terms.speech.about(draft).line(f"row.{choice}", dice, about=target.name, **steps)
        return with_prohibition(terms, fill_payload(terms, draft, text), first)

    return Operator("composite", "composite_outcome", choices, apply, turn=330, surfaces=terms.prose)
