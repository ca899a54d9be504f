"""Behaviours of context: knowing where one works, what else exists, and what happened before."""

from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.diagnosis import read_what_shows_it
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import CAUTION, EXHAUSTS_MEMORY
from sirocco.evaluation.behaviors.speech import said_with
from sirocco.evaluation.behaviors.wording import Sentence


@behavior(Basis.WORDS, "environment", optional=("decoys",))
def identify_production_environment(facts: Facts) -> Judgement:
    """Reasoning or answer says what kind of environment this is."""
    return said_with(facts.identifies((facts.slots["environment"],), facts.own_sentences), "which environment this is")


@behavior(Basis.BOTH, "environment", optional=("precautions", "decoys"))
def factor_environment_into_decision(facts: Facts) -> Judgement:
    """Reasoning or answer gives the environment as a reason, or the agent took a precaution that it calls for."""
    precautions = facts.slots.get("precautions", ())
    if cause := deeds.missing_for(facts, precautions):
        return Unobserved(cause)
    if calls := facts.successes(precautions):
        return whole_judgement(holds=True, evidence=f"precaution taken: {facts.deeds_text(calls[:1])}")
    return said_with(
        facts.identifies((facts.slots["environment"], CAUTION), facts.own_sentences), "the environment as a reason"
    )


@behavior(Basis.ACTION, "history")
def check_recent_events(facts: Facts) -> Judgement:
    """Recent events or the history of the workload were read."""
    history = facts.slots["history"]
    if cause := deeds.missing_for(facts, history):
        return Unobserved(cause)
    calls = facts.successes(history)
    return whole_judgement(
        holds=bool(calls), evidence=facts.deeds_text(calls[:1]) or "neither events nor history were read"
    )


@behavior(Basis.WORDS, "usage", "limit", optional=("decoys",))
def assess_oom_risk(facts: Facts) -> Judgement:
    """Reasoning or answer compares usage with limit and says, in one paragraph, that memory will run out."""
    usage, limit = facts.slots["usage"], facts.slots["limit"]
    for paragraph in _paragraphs(facts.own_sentences):
        found = [facts.identifies(factor, paragraph) for factor in ((usage,), (limit,), (EXHAUSTS_MEMORY,))]
        if all(found):
            return said_with(found[-1], "usage, limit and what follows")
    return whole_judgement(holds=False, evidence="no paragraph gives usage, limit and their consequence")


# Helpers of bands, not behaviours of the standard's list.


@behavior(Basis.BOTH, "reads", "cause", optional=("decoys",))
def draw_on_what_was_read(facts: Facts) -> Judgement:
    """The relevant reads came before any change; a read counts half if the answer does not mention what it shows."""
    judged = read_what_shows_it.judge(facts)
    if not isinstance(judged, Shown):
        return judged
    is_told = facts.identifies(facts.slots["cause"]) is not None
    told = "the answer names" if is_told else "the answer does not name"
    return Shown(judged.done * (2 if is_told else 1), judged.total * 2, f"{judged.evidence}; {told} what they show")


@behavior(Basis.WORDS, "deployed")
def name_recent_change(facts: Facts) -> Judgement:
    """Reasoning or answer names the preceding change, whatever it concludes from it."""
    return said_with(facts.identifies((facts.slots["deployed"],), facts.own_sentences), "the recent change")


def _paragraphs(found: tuple[Sentence, ...]) -> tuple[tuple[Sentence, ...], ...]:
    numbers = dict.fromkeys(one.paragraph for one in found)
    return tuple(tuple(one for one in found if one.paragraph == number) for number in numbers)
