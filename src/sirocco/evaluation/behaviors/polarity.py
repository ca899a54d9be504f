"""Which parts of a sentence are claimed, denied or left open, and how far a denial reaches; by fixed rules.

A sentence is split at commas, dashes, brackets and conjunctions. A denial covers the part that contains it: in "CPU is
not the cause; memory is", CPU is denied and memory is not. What merely sounds like a denial is left alone: "the server
does not start" denies nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

Span = tuple[int, int]


class Polarity(Enum):
    """How a part of a sentence is meant."""

    CLAIMED = "claimed"
    DENIED = "denied"
    OPEN = "open"  # a condition: neither claimed nor denied


_NEGATION = (
    r"(?:can\s?not|can't|could\s+not|couldn't|does\s+not|doesn't|do\s+not|don't|did\s+not|didn't|will\s+not|won't"
    r"|would\s+not|wouldn't|is\s+not|isn't|are\s+not|aren't|was\s+not|wasn't|were\s+not|weren't|has\s+not|hasn't"
    r"|have\s+not|haven't|should\s+not|shouldn't|not|never|no\s+longer|nor)"
)
_HARMLESS = re.compile(
    # A symptom: something does not do what it should.
    rf"\b(?:{_NEGATION}|unable\s+to|no)\s+(?:(?:be|become|even|fully|currently|yet|properly|been|get|to|ever|longer"
    r"|more)\s+){0,3}"
    r"(?:start(?:s|ed|ing)?|boot(?:s|ed|ing)?|launch(?:es|ed|ing)?|come\s+up|coming\s+up|ready|connect(?:s|ed|ing)?"
    r"|respond(?:s|ed|ing)?|answer(?:s|ed|ing)?|resolv(?:e|es|ed|ing)|work(?:s|ed|ing)?|load(?:s|ed|ing)?|schedul(?:e|es|ed|ing)|serv(?:e|es|ed|ing)"
    r"|(?:get|obtain|acquire|open|establish)\s+(?:a|an|any|another|new)\b|mount(?:s|ed|ing)?|complet(?:e|es|ed|ing)|succeed(?:s|ed|ing)?|recover(?:s|ed|ing)?|healthy|available"
    r"|reachable|reach(?!(?:es|ed|ing)?\s+(?:the|its)\s+limit)|able|free|endpoints?|pods?|replicas?|connections?"
    r"|upstreams?|traffic)\b"
    # An affirmative idiom.
    r"|\b(?:no\s+doubt|without\s+(?:a\s+)?doubt|no\s+question|not\s+only|not\s+just|not\s+merely|nothing\s+but"
    r"|no\s+wonder|not\s+surpris\w+|no\s+other|nothing\s+else|no\s+later\s+than|if\s+not\s+sooner|no\s+longer"
    r"|why\s+not|not\s+yet)\b"
    # A change that was not made says nothing about what was found.
    r"|\b(?:i\s+)?(?:have\s+|did\s+|do\s+|made\s+|am\s+|was\s+)?(?:not|no)\s+(?:yet\s+)?(?:chang\w+|modif\w+|touch\w+"
    r"|writes?|taken\s+any\s+action|made\s+any)\b"
)
_DENIAL = re.compile(
    r"\b(?:not|never|neither|nor|cannot|\w+n't|unlikely|hardly|ruled\s+out|rules\s+out|can\s+be\s+excluded"
    r"|excluded\s+as|unrelated|irrelevant|immaterial|harmless|innocent|red\s+herrings?|coincidence|coincidental\w*"
    r"|misleading|mistaken|disproved?|disproves|refuted?|refutes|myth|false\s+(?:that|alarm|lead)|untrue"
    r"|contrary\s+to|distraction|wrong\s+to|no\s+(?:evidence|signs?|indications?|reason|proof|hints?|traces?)"
    r"|(?:is|are|was|were)\s+no\s+(?:root\s+|real\s+)?(?:cause|culprit|problem|reason|factor|issue))\b"
)
_DENIES_THE_REST = re.compile(
    r"\b(?:no|nothing|none|without|rather\s+than|instead\s+of|as\s+opposed\s+to|unlike|except(?:\s+for)?|other\s+than"
    r"|apart\s+from|despite|in\s+spite\s+of|regardless\s+of|rule\s+out|ruling\s+out|instead\s+of)\b"
)
_SETS_ASIDE = re.compile(r"(?:rather|instead|opposed|unlike|despite|regardless|without)\b")
_SPEAKER = re.compile(r"(?<!\bwhat)(?<!\bthat)(?<!\bas)\s(?=(?:i|we)\b)")
"""A set-aside ends where a speaker continues in the first person: "rather than guess I escalate"."""
_NOT_ITS_EFFECT = re.compile(
    rf"\b{_NEGATION}\s+(?:\w+\s+){{0,2}}?(?:cause|explain|trigger|produce|lead\s+to|result\s+in|bring\s+about)s?\b"
)
"""Denying that something causes an effect says nothing about the effect itself: "load does not cause kills"."""
_INABILITY = re.compile(
    r"\b(?:can\s?not|can't|could\s+not|couldn't)\s+(?!(?:\w+ly\s+)?(?:be|say|tell|claim|confirm|conclude|determine|see|find|think"
    r"|believe|assume|explain|rule|show|prove|blame|attribute)\b)"
)
"""Something cannot be done: a symptom, and the reason given for it is a reason."""
_GENERAL = re.compile(r"\b(?:would|can|could|may|might|typically|usually|normally|generally|tends?\s+to)\b")
_OPENS_THE_REST = re.compile(
    r"\b(?:if|whether|unless|in\s+case|suppos(?:e|ing)|assum(?:e|ing)|hypothe\w+|would\s+have|had\s+it|maybe\s+not)\b"
)
_TO_BLAME = (
    r"(?:cause[sd]?|problems?|reasons?|issues?|culprit|explanation|explains?|to\s+blame|responsible|related|relevant"
    r"|origin|source|trigger|true|case|correct|right|it|so|here)"
)
_BETWEEN = (
    r"(?:(?:the|a|an|really|actually|necessarily|root|real|underlying|main|true|actual|what|any|part\s+of|to|be|at|all"
    r"|directly|in|its|our|your|been|being|much|of)\s+){0,5}"
)
_DISOWNS = re.compile(
    r"\s*(?:(?:and|or|but|yet|still|also|however|though|in\s+fact|really|even\s+so),?\s+)*"
    r"(?:(?P<pronoun>that|this|it|which|these|those|they|none\s+of\s+(?:this|that|it|these))(?:'s)?\s+"
    r"(?:(?:is|really|actually|clearly|probably|certainly|in\s+itself|alone|by\s+itself)\s+)*)?"
    rf"(?:(?:{_NEGATION}|(?:is|are|was|were)\s+no)\s+{_BETWEEN}{_TO_BLAME}\b"
    r"|(?:ha(?:s|ve|d)\s+)?nothing\s+to\s+do\b|(?:(?:is|are|was|were)\s+)?(?:unrelated|irrelevant|harmless|wrong|untrue"
    r"|false|(?:a|just\s+a)\s+(?:red\s+herring|coincidence)|coincidental|misleading)\b)"
)
_BREAK = re.compile(
    r"(?P<contrast>;|\b(?:but|whereas|while|although|though|however|(?<!not\s)yet|so|therefore|hence|thus"
    r"|instead(?!\s+of))\b|\band\b(?=\s+(?:the|it|this|that|there|its|i|we|a|an|they)\b))"
    r"|(?P<label>:(?=\s))|(?P<causal>\b(?:because(?:\s+of)?|since|due\s+to|owing\s+to|caused\s+by|as\s+a\s+result\s+of)\b)"
    r"|(?P<comma>,(?=\s)|[()\[\]]|\s-{1,2}\s|[–—])"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|will|made|changed|found|sees?|saw|shows?|keeps?|gets?"
    r"|makes?|fails?|failed|looks?|runs?|\w+n't|~+)\b"
)
_LIST_END = re.compile(r"\s*(?:\S+\s+){0,4}(?:or|nor)\b")
_NOTHING_SHOWS = re.compile(r"\bno\s+(?:evidence|signs?|indications?|reason|proof|hints?|traces?)\b")
_SHORT = 4


@dataclass(slots=True)
class _Part:
    """A part of a sentence between two breaks; `after` is the kind of the break before it."""

    start: int
    end: int
    after: str
    text: str
    denied: bool = False
    carries: bool = False
    """Whether it denies a statement, in which case the denial extends to the reason given for it."""


@lru_cache(maxsize=4096)
def polarities(text: str, kept: tuple[Span, ...] = ()) -> tuple[tuple[Span, Polarity], ...]:
    """The spans of a normalized sentence that are not claimed.

    `kept` are words that contain a denial and state a fact.
    """
    masked = _masked_text(text, kept)
    parts = _parts(masked)
    for part in parts:
        part.denied = _DENIAL.search(part.text) is not None
        part.carries = part.denied and _DENIAL.search(_INABILITY.sub("~", part.text)) is not None
    _carry_over(parts)
    _disown(parts)
    _close_lists(parts)
    return tuple(span for number, part in enumerate(parts) for span in _spans(part, parts[:number]))


def _spans(part: _Part, before: Sequence[_Part]) -> Iterator[tuple[Span, Polarity]]:
    """The spans of a part that are not claimed."""
    if part.denied:
        yield from _denied_spans(part, before)
        return
    if found := _DENIES_THE_REST.search(part.text):
        speaker = _SPEAKER.search(part.text, found.end()) if _SETS_ASIDE.match(found[0]) else None
        end = part.end if speaker is None else part.start + speaker.start()
        yield (part.start + found.start(), end), Polarity.DENIED
    if found := _OPENS_THE_REST.search(part.text):
        yield (part.start + found.start(), part.end), Polarity.OPEN


def _denied_spans(part: _Part, before: Sequence[_Part]) -> Iterator[tuple[Span, Polarity]]:
    """A denied part, except what it says nothing about: an effect that something else lacks, or would lack."""
    effect = _NOT_ITS_EFFECT.search(part.text)
    if before and part.text.lstrip().startswith("not ") and _GENERAL.search(before[-1].text):
        yield (part.start, part.end), Polarity.OPEN
    elif effect is not None and len(_DENIAL.findall(part.text)) == 1:
        yield (part.start, part.start + effect.end()), Polarity.DENIED
        yield (part.start + effect.end(), part.end), Polarity.OPEN
    else:
        yield (part.start, part.end), Polarity.DENIED


def disowns_what_went_before(text: str) -> bool:
    """Whether a normalized sentence rejects the one before it, such as "that is not the cause"."""
    found = _DISOWNS.match(_masked_text(text, ()))
    return found is not None and found["pronoun"] is not None


@lru_cache(maxsize=4096)
def holds_denial(text: str) -> bool:
    """Whether a normalized text denies anything."""
    masked = _masked_text(text, ())
    return _DENIAL.search(masked) is not None or _DENIES_THE_REST.search(masked) is not None


def _masked_text(text: str, kept: Sequence[Span]) -> str:
    """The text with words masked that must not be taken for denials; all positions stay the same."""
    doubts = [found.span() for found in _NOTHING_SHOWS.finditer(text)]
    for start, end in kept:
        if any(start < stop and begin < end for begin, stop in doubts):
            continue  # "there is no evidence", not "there is no key"
        text = text[:start] + "~" * (end - start) + text[end:]
    return _HARMLESS.sub(lambda found: "~" * len(found[0]), text)


def _parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    start, after = 0, "contrast"
    for found in _BREAK.finditer(text):
        if found[0] == "and" and not _FINITE.search(text, start, found.start()):
            continue  # a list of things, not two statements
        parts.append(_Part(start, found.start(), after, text[start : found.start()]))
        start, after = found.end(), str(found.lastgroup)
    parts.append(_Part(start, len(text), after, text[start:]))
    return [part for part in parts if part.text.strip()]


def _carry_over(parts: list[_Part]) -> None:
    """Extend a denial to the reason given: "it is not because of X"; "I do not believe, ..., that X"."""
    for number, part in enumerate(parts[1:], 1):
        earlier = parts[number - 1 : number]
        if part.after == "comma" and part.text.lstrip().startswith("that "):
            earlier = _group(parts, number)
        is_reason = part.after == "causal" or part.text.lstrip().startswith("that ")
        if part.after == "label":  # "ruled out: X" is about X, "it is not the CPU: ..." continues with something else
            is_reason = not _FINITE.search(parts[number - 1].text)
        if is_reason and any(one.carries for one in earlier):
            part.denied = part.carries = True


def _disown(parts: list[_Part]) -> None:
    """A part that merely says "is not the cause" refers to what stands before it."""
    for number, part in enumerate(parts):
        if number and _DISOWNS.match(part.text):
            part.denied = True
            before = _group(parts, number - 1) if part.after == "contrast" else _group(parts, number)
            last = parts[number - 1 : number] if part.after == "contrast" else []
            for one in (*before, *last):
                one.denied = True


def _close_lists(parts: list[_Part]) -> None:
    """A list that ends in "or" is denied as a whole: "it is not CPU, memory, or disk"."""
    for number, part in enumerate(parts):
        if part.after != "comma" or not _LIST_END.match(part.text):
            continue
        group = [*_group(parts, number), part]
        denying = (n for n, one in enumerate(group) if one.denied or _DENIES_THE_REST.search(one.text))
        first = next(denying, None)
        if first is not None and all(len(one.text.split()) <= _SHORT for one in group[first + 1 : -1]):
            for one in group[first + 1 :]:
                one.denied = True


def _group(parts: list[_Part], number: int) -> list[_Part]:
    """The parts before one, back to the last conjunction that contrasts statements."""
    first = number
    while first > 0 and parts[first].after != "contrast":
        first -= 1
    return parts[first:number]
