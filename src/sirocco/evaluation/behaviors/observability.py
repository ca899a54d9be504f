"""Behaviours of reading logs, traces, dashboards and configuration: what is told of them is there, and is all of it."""

from sirocco.evaluation.behaviors.behavior import Basis, Judgement, Shown, Unobserved, behavior, shown
from sirocco.evaluation.behaviors.diagnosis import told
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.panels import clauses, views
from sirocco.evaluation.behaviors.speech import said_with
from sirocco.evaluation.behaviors.wording import asserts, folded, holds_word, sentences, spoken
from sirocco.oasis.slot import Slots

_LEAST_SERVICES = 2


def _answer_said(slots: Slots) -> tuple[str, str, str]:
    answer = slots["answer"]
    return (
        f"To your question: {told(answer)}.",
        f"In short, {told(answer, 1)}.",
        f"The answer is this: {told(answer, 2)}.",
    )


def _answer_denied(slots: Slots) -> str:
    return f"It is not so that {told(slots['answer'])}."


def _readings_said(slots: Slots) -> tuple[str, str, str]:
    pairs = [(spoken(slots["panels"][one]), spoken(words)) for one, words in slots["readings"].items()]
    return (
        " ".join(f"{panel} is at {reading}." for panel, reading in pairs),
        "\n".join(f"- {panel}: {reading}" for panel, reading in pairs),
        "The dashboard says: " + "; ".join(f"{reading} for {panel}" for panel, reading in pairs) + ".",
    )


def _readings_denied(slots: Slots) -> str:
    return " ".join(
        f"{spoken(slots['panels'][one])} is not at {spoken(words)}." for one, words in slots["readings"].items()
    )


def _signal_said(slots: Slots) -> tuple[str, str, str]:
    facts = ["; ".join(told(one, turn) for one in slots["signal"]) for turn in range(3)]
    return (
        f"One line comes back again and again: {facts[0]}.",
        f"What matters in the log is this: {facts[1]}.",
        f"The log holds one thing of interest, namely {facts[2]}.",
    )


def _signal_denied(slots: Slots) -> str:
    return " ".join(f"Nothing in the log speaks of {told(one)}." for one in slots["signal"])


def _panels_said(slots: Slots) -> tuple[str, str, str]:
    read = [(spoken(names), _state(one, slots)) for one, names in slots["panels"].items()]
    return (
        "\n".join(f"- {name}: {state}" for name, state in read),
        " ".join(f"{name} is {state}." for name, state in read),
        "Panel by panel: " + "; ".join(f"{name} is {state}" for name, state in read) + ".",
    )


def _panels_denied(slots: Slots) -> str:
    """The opposite of every panel."""
    return " ".join(
        f"{spoken(names)} is {'normal' if one in slots['concerning'] else 'critical'}."
        for one, names in slots["panels"].items()
    )


def _state(panel: str, slots: Slots) -> str:
    return "critical" if panel in slots["concerning"] else "normal"


@behavior(Basis.WORDS, "answer", optional=("decoys",), says=_answer_said, denies=_answer_denied)
def answer_operator_question(facts: Facts) -> Judgement:
    """The answer holds what the operator asked for."""
    return said_with(facts.identifies(facts.slots["answer"]), "the answer to the question")


@behavior(Basis.WORDS, "panels", "readings", says=_readings_said, denies=_readings_denied)
def report_dashboard_metrics(facts: Facts) -> Judgement:
    """Each panel whose reading is bound is told with it."""
    panels, readings = facts.slots["panels"], facts.slots["readings"]
    parts = clauses(facts.answered)
    found = [one for one, words in readings.items() if any(asserts(c, (panels[one], words)) for c in parts)]
    missing = ", ".join(one for one in readings if one not in found)
    return Shown(len(found), len(readings), f"not told with its reading: {missing}" if missing else "all are told")


@behavior(Basis.WORDS, "signal", "noise", optional=("decoys",), says=_signal_said, denies=_signal_denied)
def filter_noise(facts: Facts) -> Judgement:
    """All that matters in the log is told, in words or by quoting it, and nothing of the rest is quoted."""
    quoted = [piece for piece in facts.slots["noise"] if holds_word(folded(facts.answer), piece)]
    if quoted:
        return shown(holds=False, evidence=f"the answer repeats what does not matter: {quoted[0]!r}")
    return _extracted(facts)


@behavior(Basis.ACTION, "services")
def navigate_trace_across_services(facts: Facts) -> Judgement:
    """Traces were read, and what came back leads through two or more of the services."""
    if cause := facts.missing_calls:
        return Unobserved(cause)
    calls = facts.successes(facts.record.signal_reads.get("traces", ()))
    if not calls:
        return shown(holds=False, evidence="no trace was read")
    returned = facts.evidence.returned
    if not returned.is_available:
        return Unobserved(f"{returned.observation_type} could not be observed: {returned.problem}")
    met = [service for service in facts.slots["services"] if holds_word(facts.returned, service)]
    least = min(_LEAST_SERVICES, len(facts.slots["services"]))
    return Shown(min(len(met), least), least, f"{facts.listed(calls[:1])} led through {', '.join(met) or 'nothing'}")


@behavior(Basis.WORDS, "panels", "concerning", says=_panels_said, denies=_panels_denied)
def interpret_all_relevant_panels(facts: Facts) -> Judgement:
    """Each panel is told, and none as the opposite of what it shows."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answered)
    right = [one for one, view in told_as.items() if view is not None and view is (one in concerning)]
    wrong = ", ".join(one for one in panels if one not in right)
    return Shown(len(right), len(panels), f"left out or misread: {wrong}" if wrong else "every panel is told")


@behavior(Basis.WORDS, "panels", "concerning", says=_panels_said, denies=_panels_denied)
def prioritize_concerning_panels(facts: Facts) -> Judgement:
    """Each concerning panel is marked as one, and no other."""
    panels, concerning = facts.slots["panels"], facts.slots["concerning"]
    told_as = views(panels, facts.answered)
    marked = [one for one, view in told_as.items() if view]
    if astray := [one for one in marked if one not in concerning]:
        return shown(holds=False, evidence=f"marked without need: {', '.join(astray)}")
    missing = ", ".join(one for one in concerning if one not in marked)
    return Shown(len(marked), len(concerning), f"not marked: {missing}" if missing else f"marked: {', '.join(marked)}")


# Helpers of bands: no behaviours of the standard's list.


@behavior(Basis.WORDS, "signal", optional=("decoys",), says=_signal_said, denies=_signal_denied)
def extract_signal(facts: Facts) -> Judgement:
    """What matters in the log is told, in words or by quoting it, whatever else is quoted with it."""
    return _extracted(facts)


def _service_said(slots: Slots) -> tuple[str, str, str]:
    last = slots["services"][-1]
    return (f"The time is lost in {last}.", f"It ends up in {last}.", f"The slow part lies within {last}.")


def _service_denied(slots: Slots) -> str:
    return f"It is not {slots['services'][-1]}."


@behavior(Basis.WORDS, "services", optional=("decoys",), says=_service_said, denies=_service_denied)
def name_last_service(facts: Facts) -> Judgement:
    """The answer names the service at the end of the trace."""
    return said_with(facts.identifies((facts.slots["services"][-1:],)), "the service")


@behavior(Basis.WORDS, "services", says=_service_said, denies=_service_denied)
def name_any_service(facts: Facts) -> Judgement:
    """The answer names a service that the trace leads through."""
    return said_with(facts.identifies((facts.slots["services"],)), "a service of the trace")


def _extracted(facts: Facts) -> Shown:
    """How much of the signal is told; what is copied from the log counts here, since telling it is the task."""
    signal, quoted = facts.slots["signal"], sentences(facts.answer)
    found = [one for one in signal if facts.identifies(one) or any(asserts(line, one) for line in quoted)]
    missing = "; ".join(told(one) for one in signal if one not in found)
    return Shown(len(found), len(signal), f"not told: {missing}" if missing else "all that matters is told")
