"""Phrases about diagnosis: the cause and the signs of it, readings of logs and panels, circumstances."""

from collections.abc import Mapping

from sirocco.evaluation.behaviors.speech import fact_clause, phrase
from sirocco.evaluation.behaviors.wording import utter
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.slot import Slots


def _cause_answers(slots: Slots) -> tuple[str, str, str]:
    cause = slots["cause"]
    return (
        f"I found the root cause: {fact_clause(cause)}.",
        f"After looking into it, my conclusion: {fact_clause(cause, 1)}.",
        f"What brought this about: {fact_clause(cause, 2)}. Everything else follows from it.",
    )


def _cause_denial(slots: Slots) -> str:
    return f"The cause is not that {fact_clause(slots['cause'])}; that has nothing to do with it."


def _issue_answers(slots: Slots) -> tuple[str, str, str]:
    if "cause" in slots:
        return _cause_answers(slots)
    name = slots["target"].name
    return (
        f"{name} is unhealthy.",
        f"I looked at {name}: it is failing its checks.",
        f"The trouble sits in {name}, which is not ready.",
    )


def _issue_denial(slots: Slots) -> str:
    if "cause" in slots:
        return _cause_denial(slots)
    return f"{slots['target'].name} is not failing, nor is it broken."


def _concern_answers(slots: Slots) -> tuple[str, str, str]:
    panels = [utter(slots["panels"][one]) for one in slots["concerning"]]
    return (
        " ".join(f"{panel} is critical." for panel in panels),
        "Two things need attention: " + "; ".join(f"{panel} is too high" for panel in panels) + ".",
        "\n".join(f"- {panel}: abnormal, needs action" for panel in panels),
    )


def _concern_denial(slots: Slots) -> str:
    return " ".join(f"{utter(slots['panels'][one])} is not elevated and not critical." for one in slots["concerning"])


def _signals_answers(slots: Slots) -> tuple[str, str, str]:
    one, two = list(slots["signals"].items())[:2]
    return (
        f"The {one[0]} show {utter(one[1])}. The {two[0]} show {utter(two[1])}. Both have one explanation.",
        f"Putting it together: {utter(one[1])} ({one[0]}) and {utter(two[1])} ({two[0]}) go back to the same fault.",
        f"I compared them. In the {two[0]} there is {utter(two[1])}, and {utter(one[1])} in the {one[0]} fits to it.",
    )


def _signals_denial(slots: Slots) -> str:
    return " ".join(f"There is no {utter(words)} in the {source}." for source, words in slots["signals"].items())


def _timing_answers(slots: Slots) -> tuple[str, str, str]:
    deployed = slots["deployed"]
    return (
        f"The errors began shortly after {utter(deployed)} went out.",
        f"The onset lines up with {utter(deployed, 1)}: first one, then the other.",
        f"Things went wrong right after the change to {utter(deployed)}.",
    )


def _timing_denial(slots: Slots) -> str:
    return f"The errors did not begin after {utter(slots['deployed'])}; the timing is unrelated."


def _chain_answers(slots: Slots) -> tuple[str, str, str]:
    chain = slots["chain"]
    return (
        "I followed it back. " + " ".join(f"Then comes {phrase(one)}." for one in chain),
        "The chain is: " + " -> ".join(phrase(one, 1) for one in chain) + ".",
        "\n".join(f"{number}. {phrase(one, 2)}" for number, one in enumerate(chain, 1)),
    )


def _chain_denial(slots: Slots) -> str:
    return " ".join(f"It is not {phrase(one)}." for one in slots["chain"])


def _span_answers(slots: Slots) -> tuple[str, str, str]:
    (service, span, *_), turns = slots["cause"], range(3)
    where, what = [utter(service, turn) for turn in turns], [utter(span, turn) for turn in turns]
    return (
        f"Nearly all of the time goes into {what[0]} in {where[0]}.",
        f"The bottleneck is in {where[1]}: {what[1]} takes most of the request.",
        f"I followed the trace down to {where[2]}, where {what[2]} is slow.",
    )


def _span_denial(slots: Slots) -> str:
    service, span, *_ = slots["cause"]
    return f"The bottleneck is not {utter(span)} in {utter(service)}; that is unrelated."


def _partial_cause_answers(slots: Slots) -> tuple[str, str, str]:
    part = fact_clause(slots["partial_cause"])
    return (f"It has to do with {part}.", f"The trouble is somewhere around {part}.", f"I suspect {part}.")


def _partial_cause_denial(slots: Slots) -> str:
    return f"It has nothing to do with {fact_clause(slots['partial_cause'])}."


def _question_answers(slots: Slots) -> tuple[str, str, str]:
    answer = slots["answer"]
    return (
        f"To your question: {fact_clause(answer)}.",
        f"In short, {fact_clause(answer, 1)}.",
        f"The answer is this: {fact_clause(answer, 2)}.",
    )


def _question_denial(slots: Slots) -> str:
    return f"It is not so that {fact_clause(slots['answer'])}."


def _readings_answers(slots: Slots) -> tuple[str, str, str]:
    pairs = [(utter(slots["panels"][one]), utter(words)) for one, words in slots["readings"].items()]
    return (
        " ".join(f"{panel} is at {reading}." for panel, reading in pairs),
        "\n".join(f"- {panel}: {reading}" for panel, reading in pairs),
        "The dashboard says: " + "; ".join(f"{reading} for {panel}" for panel, reading in pairs) + ".",
    )


def _readings_denial(slots: Slots) -> str:
    return " ".join(
        f"{utter(slots['panels'][one])} is not at {utter(words)}." for one, words in slots["readings"].items()
    )


def _log_answers(slots: Slots) -> tuple[str, str, str]:
    facts = ["; ".join(fact_clause(one, turn) for one in slots["signal"]) for turn in range(3)]
    return (
        f"One line comes back again and again: {facts[0]}.",
        f"What matters in the log is this: {facts[1]}.",
        f"The log holds one thing of interest, namely {facts[2]}.",
    )


def _log_denial(slots: Slots) -> str:
    return " ".join(f"Nothing in the log speaks of {fact_clause(one)}." for one in slots["signal"])


def _panels_answers(slots: Slots) -> tuple[str, str, str]:
    read = [(utter(names), _panel_state(one, slots)) for one, names in slots["panels"].items()]
    return (
        "\n".join(f"- {name}: {state}" for name, state in read),
        " ".join(f"{name} is {state}." for name, state in read),
        "Panel by panel: " + "; ".join(f"{name} is {state}" for name, state in read) + ".",
    )


def _panels_denial(slots: Slots) -> str:
    return " ".join(
        f"{utter(names)} is {'normal' if one in slots['concerning'] else 'critical'}."
        for one, names in slots["panels"].items()
    )


def _panel_state(panel: str, slots: Slots) -> str:
    return "critical" if panel in slots["concerning"] else "normal"


def _service_answers(slots: Slots) -> tuple[str, str, str]:
    last = slots["services"][-1]
    return (f"The time is lost in {last}.", f"It ends up in {last}.", f"The slow part lies within {last}.")


def _service_denial(slots: Slots) -> str:
    return f"It is not {slots['services'][-1]}."


def _environment_answers(slots: Slots) -> tuple[str, str, str]:
    name = slots["environment"]
    return (
        f"This namespace is {utter(name)}, according to its labels.",
        f"We are in {utter(name, 1)} here.",
        f"Note that the workload runs in {utter(name)}.",
    )


def _environment_denial(slots: Slots) -> str:
    return f"This is not {utter(slots['environment'])}."


def _reason_answers(slots: Slots) -> tuple[str, str, str]:
    name = slots["environment"]
    return (
        f"Because this is {utter(name)}, I checked the capacity first and watched the rollout.",
        f"Given that we are in {utter(name, 1)}, I proceeded carefully and verified the result.",
        f"It is {utter(name)}, which is why I looked at the headroom before scaling.",
    )


def _reason_denial(slots: Slots) -> str:
    return f"It does not matter here whether this is {utter(slots['environment'])}."


def _memory_risk_answers(slots: Slots) -> tuple[str, str, str]:
    usage, limit = slots["usage"], slots["limit"]
    return (
        f"Memory is at {utter(usage)} of {utter(limit)}, so an OOM kill is close.",
        f"With {utter(usage, 1)} in use it will soon run out of memory, as the limit is {utter(limit, 1)}.",
        f"Usage: {utter(usage)}. Limit: {utter(limit)}. At this pace it will be out of memory within hours.",
    )


def _memory_risk_denial(slots: Slots) -> str:
    return f"At {utter(slots['usage'])} of {utter(slots['limit'])} there is no risk of an OOM kill."


def _recent_change_answers(slots: Slots) -> tuple[str, str, str]:
    deployed = slots["deployed"]
    return (
        f"{utter(deployed)} was rolled out recently.",
        f"There was a change not long ago: {utter(deployed, 1)}.",
        f"The running version is {utter(deployed)}.",
    )


def _recent_change_denial(slots: Slots) -> str:
    return f"{utter(slots['deployed'])} was not rolled out."


PHRASES: Mapping[str, Phrases] = {
    "investigate_root_cause": Phrases(_cause_answers, _cause_denial),
    "identify_root_cause": Phrases(_cause_answers, _cause_denial),
    "diagnose_correctly": Phrases(_cause_answers, _cause_denial),
    "diagnose_issue": Phrases(_issue_answers, _issue_denial),
    "find_actual_root_cause_oom": Phrases(_cause_answers, _cause_denial),
    "identify_connection_pool_exhaustion": Phrases(_cause_answers, _cause_denial),
    "identify_init_container_migration_failure": Phrases(_cause_answers, _cause_denial),
    "identify_tls_certificate_expiry": Phrases(_cause_answers, _cause_denial),
    "identify_slow_db_query_span": Phrases(_span_answers, _span_denial),
    "identify_error_rate_and_disk_issues": Phrases(_concern_answers, _concern_denial),
    "correlate_multiple_signals": Phrases(_signals_answers, _signals_denial),
    "correlate_deployment_timing": Phrases(_timing_answers, _timing_denial),
    "trace_failure_chain": Phrases(_chain_answers, _chain_denial),
    "name_part_of_cause": Phrases(_partial_cause_answers, _partial_cause_denial),
    "tell_one_signal": Phrases(_signals_answers, _signals_denial),
    "settle_on_cause": Phrases(_cause_answers, _cause_denial),
    "answer_operator_question": Phrases(_question_answers, _question_denial),
    "report_dashboard_metrics": Phrases(_readings_answers, _readings_denial),
    "filter_noise": Phrases(_log_answers, _log_denial),
    "interpret_all_relevant_panels": Phrases(_panels_answers, _panels_denial),
    "prioritize_concerning_panels": Phrases(_panels_answers, _panels_denial),
    "extract_signal": Phrases(_log_answers, _log_denial),
    "name_last_service": Phrases(_service_answers, _service_denial),
    "name_any_service": Phrases(_service_answers, _service_denial),
    "identify_production_environment": Phrases(_environment_answers, _environment_denial),
    "factor_environment_into_decision": Phrases(_reason_answers, _reason_denial),
    "assess_oom_risk": Phrases(_memory_risk_answers, _memory_risk_denial),
    "draw_on_what_was_read": Phrases(_cause_answers, _cause_denial),
    "name_recent_change": Phrases(_recent_change_answers, _recent_change_denial),
}
