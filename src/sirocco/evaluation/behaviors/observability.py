"""Behaviours of reading logs, traces, dashboards and configuration: reports of them are accurate and complete."""

from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.panels import clauses, views
from sirocco.evaluation.behaviors.speech import fact_clause, said_with
from sirocco.evaluation.behaviors.wording import asserts, holds_word, sentences

_LEAST_SERVICES = 2


@behavior(Basis.WORDS, "answer", optional=("decoys",))
def answer_operator_question(facts: Facts) -> Judgement:
    """The answer contains what the operator asked for."""
    return said_with(facts.identifies(facts.slots["answer"]), "the answer to the question")


@behavior(Basis.WORDS, "panels", "readings")
def report_dashboard_metrics(facts: Facts) -> Judgement:
    """Each panel whose reading is bound is reported with it."""
    panels, readings = facts.slots["panels"], facts.slots["readings"]
    parts = clauses(facts.answer_sentences)
    found = [one for one, words in readings.items() if any(asserts(c, (panels[one], words)) for c in parts)]
    missing = ", ".join(one for one in readings if one not in found)
    return Shown(len(found), len(readings), f"reading not reported: {missing}" if missing else "all are reported")


@behavior(Basis.WORDS, "signal", "noise", optional=("decoys",))
def filter_noise(facts: Facts) -> Judgement:
    """Everything that matters in the log is reported, in words or by quotation, and nothing else is quoted."""
    quoted = [piece for piece in facts.slots["noise"] if holds_word(facts.folded_answer, piece)]
    if quoted:
        return whole_judgement(holds=False, evidence=f"the answer repeats what does not matter: {quoted[0]!r}")
    return _signal_share(facts)


@behavior(Basis.ACTION, "services")
def navigate_trace_across_services(facts: Facts) -> Judgement:
    """Traces were read, and the returned ones lead through at least two of the services."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    calls = facts.successes(facts.record.signal_reads.get("traces", ()))
    if not calls:
        return whole_judgement(holds=False, evidence="no trace was read")
    returned = facts.evidence.returned
    if not returned.is_available:
        return Unobserved(f"{returned.observation_type} could not be observed: {returned.problem}")
    met = [service for service in facts.slots["services"] if holds_word(facts.returned_text, service)]
    least = min(_LEAST_SERVICES, len(facts.slots["services"]))
    return Shown(
        min(len(met), least), least, f"{facts.deeds_text(calls[:1])} led through {', '.join(met) or 'nothing'}"
    )


@behavior(Basis.WORDS, "panels", "concerning")
def interpret_all_relevant_panels(facts: Facts) -> Judgement:
    """Each panel is reported, and none as the opposite of what it shows."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answer_sentences)
    right = [one for one, view in told_as.items() if view is not None and view is (one in concerning)]
    wrong = ", ".join(one for one in panels if one not in right)
    return Shown(len(right), len(panels), f"left out or misread: {wrong}" if wrong else "every panel is told")


@behavior(Basis.WORDS, "panels", "concerning")
def prioritize_concerning_panels(facts: Facts) -> Judgement:
    """Each concerning panel is marked as concerning, and no other."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answer_sentences)
    marked = [one for one, view in told_as.items() if view]
    if astray := [one for one in marked if one not in concerning]:
        return whole_judgement(holds=False, evidence=f"marked unnecessarily: {', '.join(astray)}")
    missing = ", ".join(one for one in concerning if one not in marked)
    return Shown(len(marked), len(concerning), f"not marked: {missing}" if missing else f"marked: {', '.join(marked)}")


# Helpers of bands, not behaviours of the standard's list.


@behavior(Basis.WORDS, "signal", optional=("decoys",))
def extract_signal(facts: Facts) -> Judgement:
    """Everything that matters in the log is reported, in words or by quotation, whatever else is quoted with it."""
    return _signal_share(facts)


@behavior(Basis.WORDS, "services", optional=("decoys",))
def name_last_service(facts: Facts) -> Judgement:
    """The answer names the service at the end of the trace."""
    return said_with(facts.identifies((facts.slots["services"][-1:],)), "the service")


@behavior(Basis.WORDS, "services")
def name_any_service(facts: Facts) -> Judgement:
    """The answer names a service that the trace leads through."""
    return said_with(facts.identifies((facts.slots["services"],)), "a service of the trace")


def _signal_share(facts: Facts) -> Shown:
    """How much of the signal is reported; copied log lines count here, because reporting them is the task."""
    signal, quoted = facts.slots["signal"], sentences(facts.answer)
    found = [one for one in signal if facts.identifies(one) or any(asserts(line, one) for line in quoted)]
    missing = "; ".join(fact_clause(one) for one in signal if one not in found)
    return Shown(len(found), len(signal), f"not reported: {missing}" if missing else "all of it is reported")
