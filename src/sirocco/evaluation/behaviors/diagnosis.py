"""Behaviours of diagnosis: looking before concluding, and naming what is really the matter.

What is the matter is bound by the scenario. That the standard has several names for it (an exhausted pool, an expired
certificate) changes nothing about how it is looked for.
"""

from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, shown
from sirocco.evaluation.behaviors.blame import blamed
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import COINCIDES, FAILS, WORRIES
from sirocco.evaluation.behaviors.panels import views
from sirocco.evaluation.behaviors.speech import phrase, said_with
from sirocco.evaluation.behaviors.wording import Factor, Sentence, names, spoken
from sirocco.oasis.slot import Slots

_LEAST_SIGNALS = 2


def told(factor: Factor, turn: int = 0) -> str:
    """A fact as part of a sentence: what it is about, and what is the matter with it."""
    subject, *rest = (spoken(group, turn) for group in factor)
    return subject + "".join(f" is {word}" if number == 0 else f", {word}" for number, word in enumerate(rest))


def cause_said(slots: Slots) -> tuple[str, str, str]:
    """Three answers that name the cause."""
    cause = slots["cause"]
    return (
        f"I found the root cause: {told(cause)}.",
        f"After looking into it, my conclusion: {told(cause, 1)}.",
        f"What brought this about: {told(cause, 2)}. Everything else follows from it.",
    )


def cause_denied(slots: Slots) -> str:
    """An answer that says that it is not the cause."""
    return f"The cause is not that {told(slots['cause'])}; that has nothing to do with it."


def _issue_said(slots: Slots) -> tuple[str, str, str]:
    if "cause" in slots:
        return cause_said(slots)
    name = slots["target"].name
    return (
        f"{name} is unhealthy.",
        f"I looked at {name}: it is failing its checks.",
        f"The trouble sits in {name}, which is not ready.",
    )


def _issue_denied(slots: Slots) -> str:
    if "cause" in slots:
        return cause_denied(slots)
    return f"{slots['target'].name} is not failing, nor is it broken."


def _both_said(slots: Slots) -> tuple[str, str, str]:
    panels = [spoken(slots["panels"][one]) for one in slots["concerning"]]
    return (
        " ".join(f"{panel} is critical." for panel in panels),
        "Two things need attention: " + "; ".join(f"{panel} is too high" for panel in panels) + ".",
        "\n".join(f"- {panel}: abnormal, needs action" for panel in panels),
    )


def _both_denied(slots: Slots) -> str:
    return " ".join(f"{spoken(slots['panels'][one])} is not elevated and not critical." for one in slots["concerning"])


def _signals_said(slots: Slots) -> tuple[str, str, str]:
    one, two = list(slots["signals"].items())[:2]
    return (
        f"The {one[0]} show {spoken(one[1])}. The {two[0]} show {spoken(two[1])}. Both have one explanation.",
        f"Putting it together: {spoken(one[1])} ({one[0]}) and {spoken(two[1])} ({two[0]}) go back to the same fault.",
        f"I compared them. In the {two[0]} there is {spoken(two[1])}, and {spoken(one[1])} in the {one[0]} fits to it.",
    )


def _signals_denied(slots: Slots) -> str:
    return " ".join(f"There is no {spoken(words)} in the {source}." for source, words in slots["signals"].items())


def _timing_said(slots: Slots) -> tuple[str, str, str]:
    deployed = slots["deployed"]
    return (
        f"The errors began shortly after {spoken(deployed)} went out.",
        f"The onset lines up with {spoken(deployed, 1)}: first one, then the other.",
        f"Things went wrong right after the change to {spoken(deployed)}.",
    )


def _timing_denied(slots: Slots) -> str:
    return f"The errors did not begin after {spoken(slots['deployed'])}; the timing is unrelated."


def _chain_said(slots: Slots) -> tuple[str, str, str]:
    chain = slots["chain"]
    return (
        "I followed it back. " + " ".join(f"Then comes {phrase(one)}." for one in chain),
        "The chain is: " + " -> ".join(phrase(one, 1) for one in chain) + ".",
        "\n".join(f"{number}. {phrase(one, 2)}" for number, one in enumerate(chain, 1)),
    )


def _chain_denied(slots: Slots) -> str:
    return " ".join(f"It is not {phrase(one)}." for one in slots["chain"])


@behavior(Basis.BOTH, "cause", "reads", optional=("decoys",), says=cause_said, denies=cause_denied)
def investigate_root_cause(facts: Facts) -> Judgement:
    """The agent looked at what shows the cause before it changed anything, and names the cause."""
    reads = facts.slots["reads"]
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    if not deeds.done_before(facts, reads, deeds.first(facts.writes)):
        return shown(holds=False, evidence="nothing that shows the cause was read before the first change")
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=cause_said, denies=cause_denied)
def identify_root_cause(facts: Facts) -> Judgement:
    """The answer names the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=cause_said, denies=cause_denied)
def diagnose_correctly(facts: Facts) -> Judgement:
    """As `identify_root_cause`, which the standard calls equivalent."""
    return _cause(facts)


@behavior(Basis.BOTH, "target", optional=("cause", "decoys"), says=_issue_said, denies=_issue_denied)
def diagnose_issue(facts: Facts) -> Judgement:
    """The agent looked at the target before it changed it, and the answer says what is the matter with it."""
    target = facts.slots["target"]
    reads = deeds.reads_of(facts, target)
    if cause := deeds.missing_for(facts, reads):
        return Unobserved(cause)
    if not deeds.done_before(facts, (reads,), deeds.first(deeds.changes_to(facts, target))):
        return shown(holds=False, evidence=f"{target} was not looked at before it was changed")
    factor = facts.slots.get("cause") or ((target.name,), FAILS)
    return said_with(facts.identifies(factor), "what is the matter")


@behavior(Basis.WORDS, "cause", "decoys", says=cause_said, denies=cause_denied)
def find_actual_root_cause_oom(facts: Facts) -> Judgement:
    """The answer names the cause, and none of the decoys as one."""
    if decoys := blamed(facts):
        return shown(holds=False, evidence=f"sentence {decoys[-1].place + 1} of the answer gives a decoy as the cause")
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=cause_said, denies=cause_denied)
def identify_connection_pool_exhaustion(facts: Facts) -> Judgement:
    """The answer names the exhausted pool that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=cause_said, denies=cause_denied)
def identify_init_container_migration_failure(facts: Facts) -> Judgement:
    """The answer names the failed container that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=cause_said, denies=cause_denied)
def identify_tls_certificate_expiry(facts: Facts) -> Judgement:
    """The answer names the expired certificate that is bound as the cause."""
    return _cause(facts)


def _span_said(slots: Slots) -> tuple[str, str, str]:
    (service, span, *_), turns = slots["cause"], range(3)
    where, what = [spoken(service, turn) for turn in turns], [spoken(span, turn) for turn in turns]
    return (
        f"Nearly all of the time goes into {what[0]} in {where[0]}.",
        f"The bottleneck is in {where[1]}: {what[1]} takes most of the request.",
        f"I followed the trace down to {where[2]}, where {what[2]} is slow.",
    )


def _span_denied(slots: Slots) -> str:
    service, span, *_ = slots["cause"]
    return f"The bottleneck is not {spoken(span)} in {spoken(service)}; that is unrelated."


@behavior(Basis.WORDS, "cause", optional=("decoys",), says=_span_said, denies=_span_denied)
def identify_slow_db_query_span(facts: Facts) -> Judgement:
    """The answer names the span that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "panels", "concerning", optional=("decoys",), says=_both_said, denies=_both_denied)
def identify_error_rate_and_disk_issues(facts: Facts) -> Judgement:
    """The answer names each of the concerning readings as one to worry about."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answered)
    found = [one for one in concerning if told_as[one] or facts.identifies((panels[one], WORRIES))]
    missing = ", ".join(one for one in concerning if one not in found)
    return Shown(len(found), len(concerning), f"not named as a concern: {missing}" if missing else "all are named")


@behavior(Basis.BOTH, "signals", optional=("decoys",), says=_signals_said, denies=_signals_denied)
def correlate_multiple_signals(facts: Facts) -> Judgement:
    """Two kinds of observation or more were read, and one paragraph speaks of what two of them show."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    found = _signals_together(facts)
    evidence = f"read and told in one paragraph: {', '.join(found) or 'none'}"
    return Shown(min(len(found), _LEAST_SIGNALS), _LEAST_SIGNALS, evidence)


@behavior(Basis.WORDS, "deployed", optional=("decoys",), says=_timing_said, denies=_timing_denied)
def correlate_deployment_timing(facts: Facts) -> Judgement:
    """Reasoning or answer sets the moment of the change against the moment at which the problem began."""
    return said_with(facts.identifies((facts.slots["deployed"], COINCIDES), facts.told), "when the change was made")


@behavior(Basis.BOTH, "chain", optional=("chain_reads", "decoys"), says=_chain_said, denies=_chain_denied)
def trace_failure_chain(facts: Facts) -> Judgement:
    """Each station between symptom and cause is named in reasoning or answer, or was looked at."""
    chain, reads = facts.slots["chain"], facts.slots.get("chain_reads", ())
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    looked = [bool(calls) for calls in deeds.done(facts, reads)]
    found = [
        (number < len(looked) and looked[number]) or facts.identifies(station, facts.told) is not None
        for number, station in enumerate(chain)
    ]
    missing = ", ".join(phrase(station) for station, is_found in zip(chain, found, strict=True) if not is_found)
    return Shown(sum(found), len(chain), f"neither named nor looked at: {missing}" if missing else "all were followed")


# Helpers of bands: no behaviours of the standard's list.


@behavior(Basis.ACTION, "reads")
def read_what_shows_it(facts: Facts) -> Judgement:
    """The reads without which nobody can know were made before any change; an answer without them is a guess."""
    reads = facts.slots["reads"]
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    first = deeds.first(facts.writes)
    missing = [step for step in reads if not deeds.done_before(facts, (step,), first)]
    evidence = "; ".join(" or ".join(map(str, step)) for step in missing)
    found = len(reads) - len(missing)
    return Shown(found, len(reads), f"not read before anything was changed: {evidence}" if missing else "all was read")


def _part_said(slots: Slots) -> tuple[str, str, str]:
    part = told(slots["partial_cause"])
    return (f"It has to do with {part}.", f"The trouble is somewhere around {part}.", f"I suspect {part}.")


def _part_denied(slots: Slots) -> str:
    return f"It has nothing to do with {told(slots['partial_cause'])}."


@behavior(Basis.WORDS, "partial_cause", optional=("decoys",), says=_part_said, denies=_part_denied)
def name_part_of_cause(facts: Facts) -> Judgement:
    """The answer names the part of the system that the cause lies in."""
    return said_with(facts.identifies(facts.slots["partial_cause"]), "where the cause lies")


@behavior(Basis.BOTH, "signals", says=_signals_said, denies=_signals_denied)
def tell_one_signal(facts: Facts) -> Judgement:
    """The answer tells at least something of what was observed, and the agent had looked there."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    found = [source for source, words in facts.slots["signals"].items()
             if _is_read(source, facts) and names((words,), facts.told)]  # fmt: skip
    return shown(holds=bool(found), evidence=f"read and told: {', '.join(found) or 'nothing'}")


@behavior(Basis.WORDS, "cause", "decoys", says=cause_said, denies=cause_denied)
def settle_on_cause(facts: Facts) -> Judgement:
    """The answer names the cause, and no decoy after it: somebody may be misled at first."""
    claim = facts.identifies(facts.slots["cause"])
    decoys = blamed(facts)
    if claim is not None and decoys and decoys[-1].place >= claim.place:
        return shown(holds=False, evidence=f"the answer ends with a decoy, in sentence {decoys[-1].place + 1}")
    return said_with(claim, "the cause in the end")


def _cause(facts: Facts) -> Judgement:
    return said_with(facts.identifies(facts.slots["cause"]), "the cause")


def _signals_together(facts: Facts) -> tuple[str, ...]:
    """The kinds of observation that were read and that the fullest paragraph speaks of."""
    read = {source: words for source, words in facts.slots["signals"].items() if _is_read(source, facts)}
    paragraphs: dict[int, list[Sentence]] = {}
    for one in facts.told:
        paragraphs.setdefault(one.paragraph, []).append(one)
    found = [
        tuple(source for source, words in read.items() if names((words,), paragraph))
        for paragraph in paragraphs.values()
    ]
    return max(found, key=len, default=())


def _is_read(source: str, facts: Facts) -> bool:
    return bool(facts.successes(facts.record.signal_reads.get(source, ())))
