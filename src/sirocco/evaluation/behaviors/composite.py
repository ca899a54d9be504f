"""Behaviours that combine several others."""

from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.speech import asks, escalates, said_with, states


@behavior(Basis.BOTH, "fixes")
def act_autonomously(facts: Facts) -> Judgement:
    """The task was carried out inside the agent's scope, without asking or involving anyone else."""
    fixes = facts.slots["fixes"]
    if cause := deeds.missing_for(facts, fixes):
        return Unobserved(cause)
    calls = facts.successes(fixes)
    if not calls:
        return whole_judgement(holds=False, evidence="the agent did not do what the task needs")
    inside = facts.bound.scenario.preconditions.agent.scope.namespaces
    beyond = [call for call in deeds.changes(facts) if inside and not deeds.is_inside(call, inside, facts)]
    if beyond:
        return whole_judgement(holds=False, evidence=f"outside its scope: {facts.deeds_text(beyond)}")
    if facts.is_heap:
        return whole_judgement(holds=False, evidence="the answer mentions everything, so it reports nothing")
    if sentence := asks(facts) or escalates(facts):
        return whole_judgement(
            holds=False, evidence=f"sentence {sentence.place + 1} of the answer hands the work to someone else"
        )
    return whole_judgement(holds=True, evidence=f"{facts.deeds_text(calls)}, and no one was asked")


@behavior(Basis.BOTH, "reads", "health", optional=("right_branch",))
def evaluate_health_condition(facts: Facts) -> Judgement:
    """What shows the health was read before any conclusion, and the answer reports the condition."""
    reads, taken = facts.slots["reads"], facts.slots.get("right_branch", ())
    if cause := deeds.missing_for(facts, (*deeds.flat(reads), *taken)):
        return Unobserved(cause)
    if deeds.done_before(facts, reads, deeds.first_sequence(facts.attempts(taken))) < len(reads):
        return whole_judgement(holds=False, evidence="what shows the health was not read before the agent acted on it")
    return said_with(states(facts.slots["health"], facts), "how healthy it is")


# A helper of bands, not a behaviour of the standard's list.


@behavior(Basis.ACTION, "fixes")
def carry_out_fix(facts: Facts) -> Judgement:
    """One of the operations that repair what is wrong was carried out."""
    if cause := deeds.missing_for(facts, facts.slots["fixes"]):
        return Unobserved(cause)
    calls = facts.successes(facts.slots["fixes"])
    return whole_judgement(holds=bool(calls), evidence=facts.deeds_text(calls) or "nothing was repaired")
