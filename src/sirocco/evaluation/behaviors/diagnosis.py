"""Behaviours of diagnosis: looking before concluding, and naming the actual problem.

The scenario binds what the problem is. The standard's different names for it (an exhausted pool, an expired
certificate) make no difference to how it is searched for.
"""

from sirocco.evaluation.behaviors import deeds
from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.blame import blaming_sentences
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import COINCIDES, FAILS, WORRIES
from sirocco.evaluation.behaviors.panels import views
from sirocco.evaluation.behaviors.speech import phrase, said_with
from sirocco.evaluation.behaviors.wording import Sentence, names

_LEAST_SIGNALS = 2


@behavior(Basis.BOTH, "cause", "reads", optional=("decoys",))
def investigate_root_cause(facts: Facts) -> Judgement:
    """The agent looked at what shows the cause before it changed anything, and names the cause."""
    reads = facts.slots["reads"]
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    if not deeds.done_before(facts, reads, deeds.first_sequence(facts.writes)):
        return whole_judgement(holds=False, evidence="nothing that shows the cause was read before the first change")
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def identify_root_cause(facts: Facts) -> Judgement:
    """The answer names the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def diagnose_correctly(facts: Facts) -> Judgement:
    """As `identify_root_cause`, which the standard calls equivalent."""
    return _cause(facts)


@behavior(Basis.BOTH, "target", optional=("cause", "decoys"))
def diagnose_issue(facts: Facts) -> Judgement:
    """The agent looked at the target before it changed it, and the answer says what is wrong with it."""
    target = facts.slots["target"]
    reads = deeds.reads_of(facts, target)
    if cause := deeds.missing_for(facts, reads):
        return Unobserved(cause)
    if not deeds.done_before(facts, (reads,), deeds.first_sequence(deeds.changes_to(facts, target))):
        return whole_judgement(holds=False, evidence=f"{target} was not looked at before it was changed")
    factor = facts.slots.get("cause") or ((target.name,), FAILS)
    return said_with(facts.identifies(factor), "what is wrong")


@behavior(Basis.WORDS, "cause", "decoys")
def find_actual_root_cause_oom(facts: Facts) -> Judgement:
    """The answer names the cause, and none of the decoys as one."""
    if decoys := blaming_sentences(facts):
        return whole_judgement(
            holds=False, evidence=f"sentence {decoys[-1].place + 1} of the answer gives a decoy as the cause"
        )
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def identify_connection_pool_exhaustion(facts: Facts) -> Judgement:
    """The answer names the exhausted pool that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def identify_init_container_migration_failure(facts: Facts) -> Judgement:
    """The answer names the failed container that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def identify_tls_certificate_expiry(facts: Facts) -> Judgement:
    """The answer names the expired certificate that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "cause", optional=("decoys",))
def identify_slow_db_query_span(facts: Facts) -> Judgement:
    """The answer names the span that is bound as the cause."""
    return _cause(facts)


@behavior(Basis.WORDS, "panels", "concerning", optional=("decoys",))
def identify_error_rate_and_disk_issues(facts: Facts) -> Judgement:
    """The answer names each of the concerning readings as one to worry about."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answer_sentences)
    found = [one for one in concerning if told_as[one] or facts.identifies((panels[one], WORRIES))]
    missing = ", ".join(one for one in concerning if one not in found)
    return Shown(len(found), len(concerning), f"not named as a concern: {missing}" if missing else "all are named")


@behavior(Basis.BOTH, "signals", optional=("decoys",))
def correlate_multiple_signals(facts: Facts) -> Judgement:
    """At least two kinds of observation were read, and one paragraph mentions what two of them show."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    found = _signals_together(facts)
    evidence = f"read and mentioned in one paragraph: {', '.join(found) or 'none'}"
    return Shown(min(len(found), _LEAST_SIGNALS), _LEAST_SIGNALS, evidence)


@behavior(Basis.WORDS, "deployed", optional=("decoys",))
def correlate_deployment_timing(facts: Facts) -> Judgement:
    """Reasoning or answer relates the time of the change to the time at which the problem began."""
    return said_with(
        facts.identifies((facts.slots["deployed"], COINCIDES), facts.own_sentences), "when the change was made"
    )


@behavior(Basis.BOTH, "chain", optional=("chain_reads", "decoys"))
def trace_failure_chain(facts: Facts) -> Judgement:
    """Each link between symptom and cause is named in reasoning or answer, or was looked at."""
    chain, reads = facts.slots["chain"], facts.slots.get("chain_reads", ())
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    looked = [bool(calls) for calls in deeds.deeds_by_step(facts, reads)]
    found = [
        (number < len(looked) and looked[number]) or facts.identifies(station, facts.own_sentences) is not None
        for number, station in enumerate(chain)
    ]
    missing = ", ".join(phrase(station) for station, is_found in zip(chain, found, strict=True) if not is_found)
    return Shown(sum(found), len(chain), f"neither named nor looked at: {missing}" if missing else "all were followed")


# Helpers of bands, not behaviours of the standard's list.


@behavior(Basis.ACTION, "reads")
def read_what_shows_it(facts: Facts) -> Judgement:
    """The necessary reads were made before any change; an answer without them is a guess."""
    reads = facts.slots["reads"]
    if cause := deeds.missing_for(facts, deeds.flat(reads)):
        return Unobserved(cause)
    first = deeds.first_sequence(facts.writes)
    missing = [step for step in reads if not deeds.done_before(facts, (step,), first)]
    evidence = "; ".join(" or ".join(map(str, step)) for step in missing)
    found = len(reads) - len(missing)
    return Shown(found, len(reads), f"not read before anything was changed: {evidence}" if missing else "all was read")


@behavior(Basis.WORDS, "partial_cause", optional=("decoys",))
def name_part_of_cause(facts: Facts) -> Judgement:
    """The answer names the part of the system that the cause lies in."""
    return said_with(facts.identifies(facts.slots["partial_cause"]), "where the cause lies")


@behavior(Basis.BOTH, "signals")
def tell_one_signal(facts: Facts) -> Judgement:
    """The answer reports at least part of what was observed, and the agent had looked there."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    found = [source for source, words in facts.slots["signals"].items()
             if _is_read(source, facts) and names((words,), facts.own_sentences)]  # fmt: skip
    return whole_judgement(holds=bool(found), evidence=f"read and reported: {', '.join(found) or 'nothing'}")


@behavior(Basis.WORDS, "cause", "decoys")
def settle_on_cause(facts: Facts) -> Judgement:
    """The answer names the cause, and no decoy after it, so being misled at first is allowed."""
    claim = facts.identifies(facts.slots["cause"])
    decoys = blaming_sentences(facts)
    if claim is not None and decoys and decoys[-1].place >= claim.place:
        return whole_judgement(
            holds=False, evidence=f"the answer ends with a decoy, in sentence {decoys[-1].place + 1}"
        )
    return said_with(claim, "the cause in the end")


def _cause(facts: Facts) -> Judgement:
    return said_with(facts.identifies(facts.slots["cause"]), "the cause")


def _signals_together(facts: Facts) -> tuple[str, ...]:
    """The kinds of observation that were read and that the most complete paragraph mentions."""
    read = {source: words for source, words in facts.slots["signals"].items() if _is_read(source, facts)}
    paragraphs: dict[int, list[Sentence]] = {}
    for one in facts.own_sentences:
        paragraphs.setdefault(one.paragraph, []).append(one)
    found = [
        tuple(source for source, words in read.items() if names((words,), paragraph))
        for paragraph in paragraphs.values()
    ]
    return max(found, key=len, default=())


def _is_read(source: str, facts: Facts) -> bool:
    return bool(facts.successes(facts.record.signal_reads.get(source, ())))
