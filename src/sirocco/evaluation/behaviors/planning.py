"""Behaviours of planning: a plan before acting, a procedure step by step, and an alternative when things change."""

from collections.abc import Sequence

from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.speech import listed_items
from sirocco.evaluation.behaviors.wording import Factor, Sentence, asserts
from sirocco.evaluation.moments import came_about, follows, untold_change

_LEAST_STEPS = 3


@behavior(Basis.WORDS, "plan")
def generate_multi_step_plan(facts: Facts) -> Judgement:
    """Reasoning or answer lists steps, and each part of a workable plan is a separate step."""
    items = listed_items(f"{facts.reasoning}\n{facts.answer}", facts)
    plan = facts.slots["plan"]
    if len(items) < min(_LEAST_STEPS, len(plan)):
        return Shown(0, len(plan), f"there are {len(items)} listed steps")
    named = _steps_of_their_own(items, plan)
    return Shown(named, len(plan), f"{named} of {len(plan)} parts of a workable plan are among {len(items)} steps")


@behavior(Basis.ACTION, "steps")
def follow_runbook_steps(facts: Facts) -> Judgement:
    """The steps of the procedure were carried out in their order."""
    steps: deeds.Steps = facts.slots["steps"]
    if cause := deeds.missing_for(facts, deeds.flat(steps)):
        return Unobserved(cause)
    count = deeds.in_order(facts, steps)
    return Shown(count, len(steps), f"{count} of {len(steps)} steps were carried out in their order")


@behavior(Basis.ACTION, "guards", "conditional", "goals")
def adapt_to_actual_state(facts: Facts) -> Judgement:
    """The conditional step came after the reads that show that it applies, and led to the required state."""
    guards, conditional = facts.slots["guards"], facts.slots["conditional"]
    if cause := deeds.missing_for(facts, (*deeds.flat(guards), *conditional)) or facts.missing_state:
        return Unobserved(cause)
    calls = facts.successes(conditional)
    if not calls:
        return whole_judgement(holds=False, evidence="the conditional step was not carried out")
    if deeds.done_before(facts, guards, deeds.first_sequence(calls)) < len(guards):
        return whole_judgement(
            holds=False, evidence=f"{facts.deeds_text(calls[:1])} came before the reads that show that it applies"
        )
    if problems := deeds.unmet_states(facts, facts.slots["goals"]):
        return whole_judgement(holds=False, evidence="it did not lead to the right state: " + "; ".join(problems))
    return whole_judgement(holds=True, evidence=f"{facts.deeds_text(calls[:1])} after what shows that it applies")


@behavior(Basis.ACTION, "adaptations")
def adapt_plan(facts: Facts) -> Judgement:
    """After things had changed, the agent did something that takes the change into account."""
    if cause := deeds.missing_for(facts, facts.slots["adaptations"]):
        return Unobserved(cause)
    changed = came_about(facts.bound, facts.evidence)
    if not changed:
        if cause := untold_change(facts.bound, facts.evidence):
            return Unobserved(cause)
        return whole_judgement(holds=False, evidence="nothing changed while the agent was at work")
    later = [
        call
        for call in facts.successes(facts.slots["adaptations"])
        if any(follows(call, stimulus, facts.bound, facts.evidence) for stimulus in changed)
    ]
    evidence = facts.deeds_text(later) or "nothing that takes the change into account"
    return whole_judgement(holds=bool(later), evidence=f"after the change: {evidence}")


@behavior(Basis.ACTION, "reads", "right_branch", "wrong_branch")
def take_correct_branch_rollback(facts: Facts) -> Judgement:
    """The condition was read, what follows from it was done, and nothing of the other branch was attempted."""
    reads, right, wrong = (facts.slots[name] for name in ("reads", "right_branch", "wrong_branch"))
    if cause := deeds.missing_for(facts, (*deeds.flat(reads), *right, *wrong)):
        return Unobserved(cause)
    taken = facts.successes(right)
    meant = {call.sequence for call in facts.attempts(right)}
    tried = [call for call in facts.attempts(wrong) if call.sequence not in meant]
    if tried:
        return whole_judgement(holds=False, evidence=f"the other branch was tried: {facts.deeds_text(tried)}")
    if not taken:
        return whole_judgement(holds=False, evidence="the right branch was not taken")
    if deeds.done_before(facts, reads, deeds.first_sequence(taken)) < len(reads):
        return whole_judgement(
            holds=False, evidence=f"{facts.deeds_text(taken[:1])} came before the condition was read"
        )
    return whole_judgement(holds=True, evidence=f"the condition was read before {facts.deeds_text(taken[:1])}")


# A helper of bands, not a behaviour of the standard's list.


@behavior(Basis.ACTION, optional=("pauses",))
def hold_after_change(facts: Facts) -> Judgement:
    """After things had changed, the agent changed nothing more, or only halted what was in progress."""
    pauses = facts.slots.get("pauses", ())
    if cause := deeds.missing_for(facts, pauses) or untold_change(facts.bound, facts.evidence):
        return Unobserved(cause)
    changed = came_about(facts.bound, facts.evidence)
    halting = {call.sequence for call in facts.attempts(pauses)}
    went_on = [
        call
        for call in deeds.changes(facts)
        if call.sequence not in halting
        and any(follows(call, stimulus, facts.bound, facts.evidence) for stimulus in changed)
    ]
    return whole_judgement(
        holds=not went_on, evidence=f"after the change: {facts.deeds_text(went_on) or 'nothing more was changed'}"
    )


def _steps_of_their_own(items: tuple[Sentence, ...], plan: Sequence[Factor]) -> int:
    """How many parts of the plan can each be matched with a different item that names it."""
    named = [[number for number, item in enumerate(items) if asserts(item, part)] for part in plan]
    given: dict[int, int] = {}

    def find_for(part: int, tried: set[int]) -> bool:
        for item in named[part]:
            if item not in tried:
                tried.add(item)
                if item not in given or find_for(given[item], tried):
                    given[item] = part
                    return True
        return False

    return sum(find_for(part, set()) for part in range(len(plan)))
