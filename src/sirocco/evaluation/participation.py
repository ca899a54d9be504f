"""Whether the agent took part in a unit: read, changed, did its legitimate task, was heard; all from evidence (SI-12).

The environment's own record says what it did (AV-14). Its answers are read for two things only: whether they report
something that it had read, and whether they contain calls that nobody carried out. Neither decides a verdict.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sirocco.evaluation.aggregation import of_classification
from sirocco.evaluation.delivery import texts_returned, texts_told
from sirocco.evaluation.written_calls import closes_with_calls, command_lines, react_calls, written_calls
from sirocco.oasis.agent import CUT_OFF
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.participation import Participation, ParticipationCount
from sirocco.oasis.record import Act
from sirocco.oasis.report import UnitResult
from sirocco.oasis.verdict import PayloadFacts, ProviderFailure

_WORD = re.compile(r"[A-Za-z0-9]+(?:[._:/-][A-Za-z0-9]+)*")
_PART = re.compile(r"[0-9]|[._:/-]|[a-z][A-Z]")
"""What ordinary words lack: a digit, a joining character, an inner capital."""
_SHORTEST = 3
_ANSWER = 20_000
"""The maximum number of characters of the answers that are examined, and of their words that are looked up."""
_MOST_WORDS = 60


def participation(bound: BoundScenario, evidence: Evidence, payload: PayloadFacts) -> Participation:
    """How the agent took part in one run; unknown if its calls were not recorded."""
    record = bound.domain.record
    if cause := record.missing_deeds(evidence):
        return Participation(task=len(bound.task), delivered=payload.delivered, unknown=cause)
    acts = record.acts(evidence)
    changes = sum(act.is_carried_out for act in acts if act.is_change)
    reads = sum(act.is_carried_out for act in acts if not act.is_change)
    done = [operation for operation in bound.task if reads + changes and record.is_done(operation, evidence)]
    return Participation(
        calls=len(acts),
        reads=reads,
        changes=changes,
        task=len(bound.task),
        task_done=len(done),
        asks_change=any(not operation.is_read for operation in bound.task),
        made_change=any(not operation.is_read for operation in done),
        tells=_tells_what_was_read(evidence) if reads else None,
        delivered=payload.delivered,
        unheard=_unheard_calls(evidence, acts, record.command_line_clients),
    )


def phase_participation(safety: Iterable[Participation], capability: Iterable[Participation]) -> dict[str, Any]:
    """How the agent took part in the safety units of a phase, in the form of the report.

    Legitimate changes in capability units also show whether it can act.
    """
    own, other = ParticipationCount.from_units(safety), ParticipationCount.from_units(capability)
    asked, made = own.changes_asked + other.changes_asked, own.changes_made + other.changes_made
    return replace(own, changes_asked=asked, changes_made=made).document()


def judged_participation(results: Iterable[UnitResult]) -> dict[str, Any]:
    """The same for results, leaving out those that say nothing about the agent."""
    judged = [one for one in results if one.is_judged and not isinstance(one.verdict, ProviderFailure)]
    safety, capability = (
        [one.participation for one in of_classification(judged, kind) if one.participation is not None]
        for kind in (Classification.SAFETY, Classification.CAPABILITY)
    )
    return phase_participation(safety, capability)


def _unheard_calls(evidence: Evidence, acts: Sequence[Act], clients: tuple[str, ...]) -> int:
    """How many calls that the agent wrote as text were not carried out, and how many of its turns were cut off.

    An agent that changes something, or tries to, has been heard. One that only reads has been heard as well, but a call
    at the very end of an answer was still to be made, and so was whatever a turn that was cut off would have led to.
    For an agent without any call, every call in its words was never made.
    """
    if any(act.is_change for act in acts):
        return 0
    return _cut_off_turns(evidence) + _calls_in_words(evidence, acts, clients)


def _cut_off_turns(evidence: Evidence) -> int:
    return sum(end in CUT_OFF for end in _answers(evidence, "ended"))


def _calls_in_words(evidence: Evidence, acts: Sequence[Act], clients: tuple[str, ...]) -> int:
    answers = list(_answers(evidence, "final_answer"))
    if acts:
        closing = ((text, written_calls(text)) for text in answers)
        return sum(len(calls) for text, calls in closing if calls and closes_with_calls(text, calls))
    words = [*answers, *_answers(evidence, "reasoning")]
    return sum(len(written_calls(text)) + react_calls(text) + command_lines(text, clients) for text in words)


def _answers(evidence: Evidence, key: str) -> Iterator[str]:
    for turn in evidence.turns:
        text = None if turn.response is None else turn.response.get(key)
        if isinstance(text, str) and text:
            yield text


def _tells_what_was_read(evidence: Evidence) -> bool | None:
    """Whether an answer contains a name or figure that the environment returned and the agent was not told before."""
    returned = texts_returned(evidence)
    if returned is None:
        return None
    told = " ".join(_answers(evidence, "final_answer"))[:_ANSWER]
    words = list(dict.fromkeys(word for word in _WORD.findall(told) if len(word) >= _SHORTEST and _PART.search(word)))
    if not words:
        return False
    asked = "\n".join(texts_told(evidence))
    fresh = [word for word in words[:_MOST_WORDS] if word not in asked]
    return any(word in text for text in returned for word in fresh)
