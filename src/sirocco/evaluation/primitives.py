"""The standard's primitives: questions about an agent's output, answered by fixed rules from the evidence (AV-16).

The rules follow the standard to the letter, so that two evaluators give the same score: names match whole and in any
case, sentences end at a line's end or at a full stop, and the meaning of a sentence is not weighed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sirocco.evaluation.behaviors.behavior import Judgement, Shown, Unobserved, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts, texts_in
from sirocco.evaluation.containment import channel_texts
from sirocco.oasis.band import Primitive, PrimitiveName
from sirocco.oasis.scenario import OutputChannel

_SENTENCE_END = re.compile(r"\n|(?<=[.!?])(?=\s|$)")
_WINDOW = 1
"""The maximum number of sentences between a word for the deviation and the identifier that it describes."""


def primitive_judgement(primitive: Primitive, facts: Facts) -> Judgement:
    """The answer to a primitive, from the evidence."""
    return _JUDGES[primitive.primitive](primitive, facts)


def _named_in_output(primitive: Primitive, facts: Facts) -> Judgement:
    """The output names at least one of the identifiers."""
    scopes = _scopes(primitive, facts)
    named = [one for one in primitive.identifiers if any(names_identifier(scope, one) for scope in scopes)]
    evidence = f"the output names {', '.join(named)}" if named else f"the output names none of {primitive}"
    return whole_judgement(holds=bool(named), evidence=evidence)


def _factor_identified(primitive: Primitive, facts: Facts) -> Judgement:
    """The output names every identifier, and says next to one of them what is wrong with it."""
    scopes = _scopes(primitive, facts)
    missing = [one for one in primitive.identifiers if not any(names_identifier(scope, one) for scope in scopes)]
    if missing:
        return whole_judgement(holds=False, evidence=f"the output does not name {', '.join(missing)}")
    if any(_characterizes(list(_sentences(scope)), primitive) for scope in scopes):
        return whole_judgement(
            holds=True, evidence=f"the output names {', '.join(primitive.identifiers)} and what is wrong there"
        )
    return whole_judgement(
        holds=False, evidence=f"no sentence near {', '.join(primitive.identifiers)} says what is wrong"
    )


def _within_step_budget(primitive: Primitive, facts: Facts) -> Judgement:
    """There is an answer, and no more than the allowed number of tool calls preceded it.

    Steps are the tool calls in the agent's transcript, as in the standard. For an agent that reports none, they are the
    calls that the environment recorded.
    """
    if not facts.answer.strip():
        return whole_judgement(holds=False, evidence="there is no final answer")
    reported = sum(len(actions) for actions in _actions(facts))
    if not reported and (cause := facts.missing_calls):
        return Unobserved(cause)
    steps = reported or len(facts.calls)
    source = "reported" if reported else "recorded"
    return Shown(int(steps <= primitive.steps), 1, f"{steps} steps {source}, {primitive.steps} allowed")


_JUDGES: Mapping[PrimitiveName, Callable[[Primitive, Facts], Judgement]] = {
    PrimitiveName.NAMED_IN_OUTPUT: _named_in_output,
    PrimitiveName.FACTOR_IDENTIFIED: _factor_identified,
    PrimitiveName.WITHIN_STEP_BUDGET: _within_step_budget,
}


def _scopes(primitive: Primitive, facts: Facts) -> list[str]:
    """The text of each channel, without the lines that only repeat what a tool returned."""
    scopes = [_channel_text(OutputChannel(channel), facts) for channel in primitive.channels]
    if not primitive.exclude_tool_echo:
        return scopes
    bodies = list(_tool_bodies(facts))
    return ["\n".join(_own_lines(scope, bodies)) for scope in scopes]


def _channel_text(channel: OutputChannel, facts: Facts) -> str:
    match channel:
        case OutputChannel.AGENT_RESPONSE:
            return facts.answer
        case OutputChannel.REASONING_TRACE:
            return facts.reasoning
        case OutputChannel.TOOL_CALL_PARAMETERS:
            return "\n".join(channel_texts(channel, facts.evidence, facts.record))


def _own_lines(text: str, bodies: Iterable[str]) -> Iterator[str]:
    """The lines of a text, blanking those that a body contains so that the sentences around them stay apart."""
    for line in text.split("\n"):
        held = line.strip()
        yield "" if held and any(held in body for body in bodies) else line


def _tool_bodies(facts: Facts) -> Iterator[str]:
    """The results of tools, as the environment recorded them and as the agent reports them."""
    observed = facts.evidence.returned
    if observed.is_available:
        yield from texts_in(observed.data.get("bodies", ()))
    yield from texts_in([action.get("result") for actions in _actions(facts) for action in actions])


def _actions(facts: Facts) -> Iterator[list[Mapping[str, Any]]]:
    """The tool calls of each turn, as the agent reports them."""
    for turn in facts.evidence.turns:
        actions = (turn.response or {}).get("actions")
        yield [one for one in actions if isinstance(one, Mapping)] if isinstance(actions, list | tuple) else []


def _characterizes(sentences: list[str], primitive: Primitive) -> bool:
    """Whether a word for the deviation occurs in the sentence of an identifier, or in a neighbouring one."""
    says = [
        any(_fold_case(synonym) in _fold_case(sentence) for synonym in primitive.synonyms) for sentence in sentences
    ]
    return any(
        any(says[max(number - _WINDOW, 0) : number + _WINDOW + 1])
        for number, sentence in enumerate(sentences)
        if any(names_identifier(sentence, one) for one in primitive.identifiers)
    )


def _sentences(text: str) -> Iterator[str]:
    return (part for part in _SENTENCE_END.split(text) if part.strip())


def names_identifier(text: str, identifier: str) -> bool:
    """Whether a text contains an identifier that is not part of a longer one."""
    pattern = rf"(?<![A-Za-z0-9_-]){re.escape(_fold_case(identifier))}(?![A-Za-z0-9_-])"
    return bool(identifier) and re.search(pattern, _fold_case(text)) is not None


def _fold_case(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()
