"""Prompt rewording: the operator asks for the same things in the same order, in other words and another register.

Names, numbers, quotations and code stay untouched, and so does everything that is not said by the operator.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from sirocco.oasis.stimulus import StimulusType
from sirocco.probes.mutation.document import Document, names
from sirocco.probes.mutation.lexicon import VOCABULARY, plural, singular
from sirocco.probes.mutation.wording import (
    ALSO_ASKING,
    ASKING,
    CONTRACTIONS,
    MEANING,
    STYLES,
    Family,
    Register,
)

_SHARE_REPLACED = 0.75
_SHARE_LOWER_CASE = 0.5
_MASK, _UNMASK = "\ue000", re.compile("\ue000(\\d+)\ue001")
_FIXED = re.compile(
    r'"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|[A-Za-z0-9][A-Za-z0-9._:/@=*-]*[._:/@=*_-][A-Za-z0-9_*]+|\w*\d\w*(?:[.,]\d+)*'
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")
_COURTESY = re.compile(
    r"(?:(?:please|kindly|just|(?:can|could|would|will) you|i(?: would|'d) like you to|(?:i|we) (?:need|want) you to"
    r"|you (?:need|have) to|go ahead and|i ask you to)\s+)+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:and|then|also|next|first|finally|now|so|after that|afterwards|once done),?\s+)+", re.IGNORECASE
)
_GREETING = re.compile(
    r"^(?:hi|hey|hello|good (?:morning|afternoon|day)|morning)\b[^,.!\n]{0,20}[,.!]\s*", re.IGNORECASE
)
_THANKS = re.compile(r"(?:many |much )?(?:thanks|thank you|thx|cheers)\b[^.!?]{0,30}[.!]?", re.IGNORECASE)
_PLEASE_AT_END = re.compile(r",?\s+please(?=[.!?]?$)", re.IGNORECASE)
_CLAUSE_START = (
    r"(?:(?<=^)|(?<=[.!?:;,\n(]\s)|(?<=[.!?:;,\n(])"
    r"|(?<=\band\s)|(?<=\bthen\s)|(?<=\bto\s)|(?<=\bplease\s)|(?<=\byou\s)|(?<=\bjust\s)|(?<=\bso\s)|(?<=\bor\s)"
    r"|(?<=\bnow\s)|(?<=\bkindly\s)|(?<=\bfirst\s)|(?<=\bbut\s)|(?<=\balso\s)|(?<=\bnot\s)|(?<=\bcould\s)"
    r"|(?<=^-\s)|(?<=\n-\s))"
)
_THING = (
    "the|an?|this|that|these|those|all|any|every|everything|each|both|its|their|my|our|your|it|them|only"
    rf"|{_MASK}|(?:{'|'.join(sorted(VOCABULARY - {'*', 'to', 'no'}))})\b"
)
_CLAUSE = "what|which|why|how|whether|if|when|where|who"
_TELLS_AFTER_COMMA = re.compile(r",\s+(?:the|we|our|it|this|that|there|i|they)\b", re.IGNORECASE)

_MEANINGS = {phrase.lower(): others for phrase, others in MEANING.items()}
_MEANING = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(sorted(map(re.escape, _MEANINGS), key=len, reverse=True))})(?![\w'-])", re.IGNORECASE
)


def reword(document: Mapping[str, Any], register: Register, dice: Random) -> Document:
    """The document with every operator prompt said in `register`; frames are put around the first and the last."""
    taken = _taken(document)
    prompts = [number for number, stimulus in enumerate(document["stimuli"]) if _is_prompt(stimulus)]
    stimuli = list(document["stimuli"])
    for number in prompts:
        frames = Frames(opens=number == prompts[0], closes=number == prompts[-1])
        stimuli[number] = {
            **stimuli[number],
            "value": rephrased(stimuli[number]["value"], register, dice, taken, frames),
        }
    return {**document, "stimuli": stimuli}


@dataclass(frozen=True, slots=True)
class Frames:
    """Which frames a prompt gets; later turns of a conversation do not greet again."""

    opens: bool = True
    closes: bool = True


def rephrased(text: str, register: Register, dice: Random, taken: Collection[str], frames: Frames) -> str:
    """`text` in other words: same requests, same order, same names and numbers; no word of `taken` is brought in."""
    style = STYLES[register]
    masked, fixed = _masked(_GREETING.sub("", text.strip()), taken)
    sentences = [sentence for sentence in _SENTENCE_END.split(masked) if sentence]
    sentences = [sentence for sentence in sentences if not _THANKS.fullmatch(sentence)] or sentences
    said = [_sentence(sentence, register, dice, taken) for sentence in sentences]
    if style.in_lines and len(said) > 1:
        said = [f"- {sentence}" for sentence in said]
    opener = _chosen(style.openers, dice, taken) if frames.opens else ""
    closer = _chosen(style.closers, dice, taken) if frames.closes else ""
    parts = [part for part in (opener, *said, closer) if part]
    if style.lower_case and dice.random() < _SHARE_LOWER_CASE:
        parts = [_lowered(part) for part in parts]
    joined = ("\n" if style.in_lines else " ").join(parts)
    return _unmasked(re.sub(r" *\n+ *", "\n", joined), fixed)


def requests(text: str, taken: Collection[str] = ()) -> tuple[str, ...]:
    """What the text asks for, in order: the first word of each family that a clause begins with."""
    masked, _ = _masked(text, taken)
    found: dict[int, str] = {}
    for family in ASKING:
        for match in _asking(family, f"{_THING}|{_CLAUSE}").finditer(masked):
            found.setdefault(match.start(), family.ways[0])
    return tuple(found[start] for start in sorted(found))


def _sentence(sentence: str, register: Register, dice: Random, taken: Collection[str]) -> str:
    style = STYLES[register]
    lead, core, end = _request(sentence)
    if core:
        core = _said_otherwise(core, dice, taken)
        asks = [ask for ask in style.ask if not (ask.endswith("?") and _TELLS_AFTER_COMMA.search(core))]
        ask = _chosen(asks, dice, taken) or "%s"
        sentence = lead + ask.replace("%s", core) + ("" if ask.endswith("?") else end)
    else:
        sentence = _said_otherwise(sentence, dice, taken)
    if style.contracts is not None:
        sentence = _contracted(sentence, contracts=style.contracts)
    if style.drops_articles:
        sentence = re.sub(r"\bthe (?=\w)", lambda found: "" if dice.random() < 0.5 else found.group(), sentence)
    return _capitalized(sentence)


def _request(sentence: str) -> tuple[str, str, str]:
    """A sentence that asks for something taken apart: what links it to the one before, what is asked, how it ends.

    What is asked is empty for a sentence that only tells.
    """
    lead = _LEAD.match(sentence)
    rest = sentence[lead.end() :] if lead else sentence
    body = rest.rstrip(".!? ")
    end = "!" if rest.endswith("!") else "."
    core = _PLEASE_AT_END.sub("", _COURTESY.sub("", body, count=1) if _COURTESY.match(body) else body)
    first = re.match(r"[A-Za-z']+", core)
    if not first or "?" in body:
        return "", "", ""
    starters = {way.split()[0] for family in ASKING for way in family.ways} | ALSO_ASKING
    if first.group().lower() not in starters or not re.match(r"[A-Za-z']+\s", core):
        return "", "", ""
    return (lead.group().lower() if lead else ""), core[0].lower() + core[1:], end


def _said_otherwise(text: str, dice: Random, taken: Collection[str]) -> str:
    for family in ASKING:
        pattern = _asking(family, f"{_THING}|{_CLAUSE}" if family.takes_clause else _THING)
        text = _exchanged(text, pattern, dict.fromkeys(family.ways, family.ways), dice, taken)
    return _exchanged(text, _MEANING, _MEANINGS, dice, taken)


def _exchanged(
    text: str, pattern: re.Pattern[str], ways: Mapping[str, Sequence[str]], dice: Random, taken: Collection[str]
) -> str:
    return pattern.sub(lambda found: _other(found.group(), ways[found.group().lower()], dice, taken), text)


def _asking(family: Family, objects: str) -> re.Pattern[str]:
    longest_first = sorted(family.ways, key=lambda way: (-len(way), way))
    return re.compile(rf"{_CLAUSE_START}(?:{'|'.join(longest_first)})(?=\s+(?:{objects}))", re.IGNORECASE)


def _other(said: str, ways: Sequence[str], dice: Random, taken: Collection[str]) -> str:
    others = [way for way in ways if way.lower() != said.lower() and _is_free(way, taken)]
    if not others or (said.isupper() and len(said) > 1) or dice.random() >= _SHARE_REPLACED:
        return said
    other = dice.choice(others)
    return other[0].upper() + other[1:] if said[0].isupper() else other


def _contracted(text: str, *, contracts: bool) -> str:
    for long, short in CONTRACTIONS:
        old, new = (long, short) if contracts else (short, long)
        # At the end of a clause only the long form is English ("tell me where it is").
        pattern = rf"(?<![\w']){re.escape(old)}(?=\s+\w)"
        text = re.sub(pattern, partial(_cased, new), text, flags=re.IGNORECASE)
    return text


def _cased(new: str, found: re.Match[str]) -> str:
    return new[0].upper() + new[1:] if found.group()[0].isupper() else new


def _chosen(templates: Sequence[str], dice: Random, taken: Collection[str]) -> str:
    """One of the templates with its alternatives decided; none that would say a name of the document."""
    options = [template for template in templates if _is_free(template, taken)]
    text = dice.choice(options) if options else ""
    return re.sub(r"\{([^{}]*)\}", lambda found: dice.choice(found.group(1).split("|")), text)


def _is_free(text: str, taken: Collection[str]) -> bool:
    return not any(word.lower() in taken for word in re.findall(r"[A-Za-z]+", text))


def _taken(document: Mapping[str, Any]) -> frozenset[str]:
    """The words of all names, in either number; in a prompt they mean objects."""
    words = {word.lower() for name in names(document) for word in (name, *re.findall(r"[A-Za-z0-9]+", name))}
    content = {word for word in words if word not in VOCABULARY and len(word) > 1}
    return frozenset(form for word in content for form in (word, singular(word), plural(singular(word))))


def _is_prompt(stimulus: Mapping[str, Any]) -> bool:
    return stimulus["type"] == StimulusType.OPERATOR_PROMPT and bool(stimulus.get("value"))


def _masked(text: str, taken: Collection[str]) -> tuple[str, list[str]]:
    """`text` with everything that must stay behind a mark, and what is behind the marks."""
    fixed: list[str] = []

    def hide(found: re.Match[str]) -> str:
        fixed.append(found.group())
        return f"{_MASK}{len(fixed) - 1}\ue001"

    hidden = _FIXED.sub(hide, text)
    return re.sub(
        r"(?<![\w'])[A-Za-z]+(?![\w'])",
        lambda found: hide(found) if found.group().lower() in taken else found.group(),
        hidden,
    ), fixed


def _unmasked(text: str, fixed: Sequence[str]) -> str:
    return _UNMASK.sub(lambda found: fixed[int(found.group(1))], text)


def _capitalized(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _lowered(sentence: str) -> str:
    keeps = re.match(r"(?:I\b|I'|[A-Z]{2})", sentence)
    return sentence if keeps else sentence[0].lower() + sentence[1:]
