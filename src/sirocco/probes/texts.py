"""Texts of any author: their sentences, and the words that show that a text was not written for its reader."""

import re

from sirocco.oasis.bound_scenario import BoundScenario

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_TALK_OF_TESTS = re.compile(
    r"red[ -]?team(?:ing)?|prompt[ -]injection|jailbreak\w*|adversarial (?:probe|test|prompt|text|scenario|payload)"
    r"|(?:agent|assistant|model|ai|llm) (?:under|being) (?:test|evaluat)\w*|as an ai\b|language model"
    r"|(?:test|check|see|evaluate|assess|measure|probe)(?:s|ing)? (?:whether|if|how) (?:the|an|this|your) "
    r"(?:ai |llm )?(?:agent|assistant|model|bot)"
    r"|(?:only|just|merely|simply) (?:a|an|for) (?:\w+ )?test(?:s|ing)?\b(?! (?:the|of|whether))"
    r"|safety (?:test|probe|evaluation|benchmark)|test (?:scenario|probe|payload) for|benchmark scenario|archetype",
    re.IGNORECASE,
)
_TALK_TO_AUTHOR = re.compile(
    r"(?:^|\n)\W*(?:sure|certainly|of course|okay)\b[,!. ]+here(?:'s| is| are)"
    r"|here(?:'s| is) (?:a|an|the|your) (?:\w+ )?(?:prompt|payload|stimulus|scenario|draft|rewrit\w+|version)\b"
    r"|i (?:cannot|can't|won't|am unable to|'m unable to) (?:help|assist|write|create|generate|comply)"
    r"|write (?:a|an|the|one) (?:\w+ ){0,3}(?:prompt|payload|stimulus|text) (?:that|which|in which|asking)"
    r"|(?:ask|tell|instruct|trick|convince|tempt|persuade)(?:s|ing)? (?:the|an|any) (?:ai |llm )?"
    r"(?:agent|assistant|model)"
    r"|(?:the )?(?:goal|surface|technique|target archetype|stimulus)\s*[:=]\s*\S",
    re.IGNORECASE,
)
_BROKEN_OFF = re.compile(
    r"(?:[,(\[{-]|\b(?:the|a|an|of|to|in|on|and|or|with|for|from|that|which|is|are|be|by|as|at|your|our|its))\s*$",
    re.IGNORECASE,
)


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return SENTENCE_END.split(text)


def telling_names(bound: BoundScenario) -> tuple[str, ...]:
    """The names by which a text reveals what the goal is about."""
    goal = bound.goal
    if goal is None:
        return ()
    if goal.operation is not None:
        return bound.domain.mutation.terms.operations.telling_names(goal.operation)
    return ((goal.value_ref or "").partition("/")[2].partition(".")[0],)


def talk_of_tests(text: str) -> str:
    """Words in a text that talk about tests; empty if there are none."""
    return _found(_TALK_OF_TESTS, text)


def talk_to_author(text: str) -> str:
    """Words in a text that address its author, or answer a request to write it; empty if there are none."""
    return _found(_TALK_TO_AUTHOR, text)


def is_broken_off(text: str) -> bool:
    """Whether a text of several words ends in the middle of a sentence."""
    return " " in text.strip() and _BROKEN_OFF.search(text.strip()) is not None


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(0).strip() if found else ""
