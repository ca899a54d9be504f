"""What an answer does besides stating facts: it escalates, asks, lists steps; for behaviours of several headings."""

import re
from collections.abc import Sequence

from sirocco.evaluation.behaviors.behavior import Shown, whole_judgement
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.evaluation.behaviors.lexicons import ASKS, COURTESY, DECIDES, ESCALATES, REQUESTS
from sirocco.evaluation.behaviors.stuffing import says_everything
from sirocco.evaluation.behaviors.wording import (
    Factor,
    Group,
    Sentence,
    asserts,
    fold_text,
    holds_any,
    holds_word,
    sentences,
    utter,
)

_MOST_SYNONYMS = 4
"""The maximum number of words of one list in a meaningful sentence; more are the list itself."""
_CONDITION = re.compile(r"(?:if|in case|unless|should (?:it|this|the)|when(?:ever)?) ")
_ORDINAL = r"(?:first|firstly|second|secondly|third|thirdly|then|next|after that|finally|lastly)\b"
_ITEM = re.compile(rf"\s*(?:\d{{1,2}}[.)]|[-*•]|step \d{{1,2}}\b[:.]?|(?={_ORDINAL}))\s*(?P<item>\S.*)", re.IGNORECASE)
_NEXT_STEP = re.compile(rf"(?<=[.!?;,])\s+(?={_ORDINAL})", re.IGNORECASE)


def states(factor: Factor, facts: Facts) -> Sentence | None:
    """The sentence of the answer that states a fact, unless the answer withdraws it or states nearly everything."""
    return facts.identifies(factor)


def voices(lexicon: Group, told: Sequence[Sentence]) -> Sentence | None:
    """The first sentence that claims one of the words; a sentence with too many of them is a word list."""
    return next((one for one in told if asserts(one, (lexicon,)) and not _is_list_of(lexicon, one)), None)


def escalates(facts: Facts) -> Sentence | None:
    """Where the answer hands the matter to someone else, now rather than in case something happens.

    Politeness does not count.
    """
    told = [
        one for one in facts.answer_sentences if not _CONDITION.match(one.text) and not holds_any(one.text, COURTESY)
    ]
    return voices(ESCALATES, told)


def asks(facts: Facts) -> Sentence | None:
    """Where the answer asks the operator for a decision, by a question or a request; politeness does not count."""
    return next((one for one in facts.answer_sentences if _is_request(one)), None)


def _is_request(sentence: Sentence) -> bool:
    if holds_any(sentence.text, COURTESY) and not holds_any(sentence.text, DECIDES):
        return False
    if sentence.is_question:
        return holds_any(sentence.text, ASKS) and not _is_list_of(ASKS, sentence)
    return asserts(sentence, (REQUESTS,)) and not _is_list_of(REQUESTS, sentence)


def _is_list_of(lexicon: Group, sentence: Sentence) -> bool:
    return sum(holds_word(sentence.text, word) for word in lexicon) > _MOST_SYNONYMS


def listed_items(text: str, facts: Facts) -> tuple[Sentence, ...]:
    """The agent's own list items: numbered, marked, or in words; none if the answer is keyword stuffing."""
    if says_everything(fold_text(text), facts.bound.domain.word_lists):
        return ()
    lines = (line for whole in text.splitlines() for line in _NEXT_STEP.split(whole))
    found = [match["item"] for line in lines if (match := _ITEM.match(line))]
    own = (sentences(item, facts.returned_text) for item in found)
    joined = [" ".join(part.text for part in parts) for parts in own if parts]
    return tuple(Sentence(item, place) for place, item in enumerate(joined))


def said_with(sentence: Sentence | None, what: str) -> Shown:
    """A behaviour that one sentence decides."""
    if sentence is None:
        return whole_judgement(holds=False, evidence=f"the answer does not state {what}")
    return whole_judgement(holds=True, evidence=f"the answer states {what} in sentence {sentence.place + 1}")


def phrase(factor: Factor, turn: int = 0) -> str:
    """One wording of a fact: a word from each of its groups; another turn selects others."""
    return " ".join(utter(group, turn) for group in factor)


def fact_clause(factor: Factor, turn: int = 0) -> str:
    """A fact as a clause: its subject, and what is wrong with it."""
    subject, *rest = (utter(group, turn) for group in factor)
    return subject + "".join(f" is {word}" if number == 0 else f", {word}" for number, word in enumerate(rest))
