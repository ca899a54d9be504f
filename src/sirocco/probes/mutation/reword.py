"""Prompt rewording: the operator asks for the same things in the same order, in other words and another register.

Names, numbers, quotations and code stay untouched, and so does everything that is not said by the operator.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from sirocco.oasis.mutation import Dice, Language, Speech, Terms
from sirocco.oasis.scenario_draft import ScenarioDraft
from sirocco.probes.language.inflection import plural, singular_of
from sirocco.probes.mutation.lexicon import ACTING, words_of
from sirocco.probes.mutation.reading import names
from sirocco.probes.mutation.wording import (
    ALSO_ASKING,
    ASKING,
    CONTRACTIONS,
    MEANING,
    STYLES,
    Family,
    Register,
    Style,
)

_SHARE_REPLACED = 0.75
_MOST_FRAMES = 6
_SHARE_OF_DROPPED_ARTICLES = 0.5

_AFTER_ARTICLE = words_of("current first last latest moment name next other rest same value way weekend whole")
"""Words before which no writer drops the article, not even in terse style."""
_BEFORE_ARTICLE = frozenset({*ACTING, *words_of("all at by for from in of on over to under with")})

# What must stay is hidden behind a mark of two characters of the private use area with a number between them.
_MARK, _MARKED = "\ue000", re.compile("\ue000(\\d+)\ue001")
_FIXED = re.compile(
    r'"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|[A-Za-z0-9][A-Za-z0-9._:/@=*-]*[._:/@=*_-][A-Za-z0-9_*]+|\w*\d\w*(?:[.,]\d+)*'
)

_ENDED = re.compile(r"[.!?:][)\"'”]*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SET_OUT = re.compile(r"(?:^|\n)(?:\s|[-*•\[<])|(?:^|\n)\w+ ?[=:] ?\w+(?=\n)|(?:^|\s)1[.)]\s.*\s2[.)]\s", re.DOTALL)
_GREETING = re.compile(
    r"(?:hi|hey|hello|good (?:morning|afternoon|day)|morning)\b[^,.!\n]{0,20}[,.!]\s*", re.IGNORECASE
)
_THANKS = re.compile(r"(?:many |much )?(?:thanks|thank you|thx|cheers)\b[^.!?]{0,30}[.!]?", re.IGNORECASE)
_PLEASE_AT_END = re.compile(r",\s+please(?=\s+-\s|,)|,?\s+please$", re.IGNORECASE)
_QUESTION_OF_COURTESY = r"(?:(?:can|could|would|will) (?:you|u)|any chance you could|may i ask you to)"
_COURTESY = re.compile(
    rf"(?:(?:please|pls|kindly|just|quickly|{_QUESTION_OF_COURTESY}|(?:i(?: would|'d)|we would) like you to"
    r"|(?:(?:i|we) )?(?:need|want) you to|you (?:need|have) to|go ahead and|i ask you to|may i ask you to"
    r"|i was hoping you could|i(?: would|'d) be grateful if you could|it would help (?:me |us |the team )?if you could"
    r"|do me a favour and)\s+)+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:and|then|also|next|first|finally|now|so|after that|afterwards|once done|in addition|oh, and"
    r"|and while you(?:'re| are) at it|quick one:),?\s+)+",
    re.IGNORECASE,
)
_SPOKEN_LEAD = re.compile(r"oh, and|while you|quick one", re.IGNORECASE)
_SHORTHAND = (
    (re.compile(r"\bpls\b"), "please"),
    (re.compile(r"\bPls\b"), "Please"),
    (re.compile(r"\b([Cc])an u\b"), r"\1an you"),
    (re.compile(r"^Need (?!you\b)"), "I need "),
)
"""What people in a hurry write, and what it is short for."""
_TELLS_AFTER_COMMA = re.compile(r"(?:,|\s-)\s+(?:the|we|our|it|this|that|there|i|they|one|if)\b", re.IGNORECASE)
_CLAUSE_START = "|".join(
    [r"(?<=^)", r"(?<=[.!?:;,\n(]\s)", r"(?<=[.!?:;,\n(])", r"(?<=^-\s)", r"(?<=\n-\s)"]
    + [
        rf"(?<=\b{word}\s)"
        for word in words_of("also and but could first just kindly not now or please so then to you")
    ]
)
_PRONOUN = r"(?:it|them|this|that)\b"
_CLAUSE = r"(?:what|which|why|how|whether|if|when|where|who)\b"
_PARTICLES = ("back", "down", "off", "out", "up")
_WAYS = "|".join(sorted({way for family in ASKING for way in family.ways} | ALSO_ASKING, key=len, reverse=True))
_SUBJECT = re.compile(
    rf"\S+\s+{_MARK}\d+\ue001\s+(?:is|are|was|were|has|have|had|keeps|looks|seems|takes)\b", re.IGNORECASE
)
_MEANINGS = {phrase.lower(): others for phrase, others in MEANING.items()}
_MEANING = re.compile(
    rf"(?:(?<![\w-])(?P<article>an?)\s+)?(?<![\w'-])"
    rf"(?P<phrase>{'|'.join(sorted(map(re.escape, _MEANINGS), key=len, reverse=True))})(?![\w'-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one scenario: the vocabulary's, before which a request is made, and those `taken` by names."""

    vocabulary: frozenset[str]
    taken: frozenset[str] = frozenset()

    @classmethod
    def from_document(cls, language: Language, draft: ScenarioDraft) -> "Words":
        """The words of all names, in either number; in a prompt they mean objects."""
        said = {word.lower() for name in names(language, draft) for word in (name, *re.findall(r"[A-Za-z0-9]+", name))}
        content = {word for word in said if word not in language.words and len(word) > 1}
        taken = frozenset(form for word in content for form in (word, singular_of(word), plural(singular_of(word))))
        return cls(language.words, taken)


@dataclass(frozen=True, slots=True)
class Frames:
    """The words around a prompt; later turns of a conversation do not greet again."""

    opener: str = ""
    closer: str = ""


def reword(terms: Terms, draft: ScenarioDraft, register: Register, dice: Dice) -> ScenarioDraft:
    """The scenario with every operator prompt said in `register`, with frames around the first and the last."""
    words = Words.from_document(terms, draft)
    prompts = [number for number, stimulus in enumerate(draft.stimuli) if stimulus.is_prompt]
    speech = terms.speech.about(draft)
    for number in prompts:
        opener = _frame(speech, f"opener.{register}", dice, words.taken) if number == prompts[0] else ""
        closer = _frame(speech, f"closer.{register}", dice, words.taken) if number == prompts[-1] else ""
        stimulus = draft.stimuli[number]
        said = rephrase_text(stimulus.text, register, dice, words, Frames(opener, closer))
        draft = draft.with_stimulus(number, replace(stimulus, value=said))
    return draft


def rephrase_text(text: str, register: Register, dice: Dice, words: Words, frames: Frames) -> str:
    """`text` in other words: same requests, same order, same names and numbers; no word that is taken is brought in."""
    style = STYLES[register]
    body = without_greeting(text.strip())
    masked, fixed = _mask_text(body, words.taken)
    if _SET_OUT.search(body):
        # Lists and code keep their lines; only phrases change.
        parts, separator = [frames.opener, _said_otherwise(masked, dice, words), frames.closer], "\n"
    else:
        said = " ".join(_sentences(masked, style, dice, words))
        said += "." if frames.closer and not style.is_form and not _ENDED.search(said) else ""
        parts, separator = [frames.opener, said, frames.closer], "\n" if style.is_form else " "
    joined = "".join(part if part.endswith("\n") else part + separator for part in parts if part).rstrip()
    return _MARKED.sub(lambda found: fixed[int(found.group(1))], joined)


def without_greeting(text: str) -> str:
    """The text without the greeting that it opens with."""
    greeting = _GREETING.match(text)
    return text[greeting.end() :] if greeting else text


def requests(text: str, words: Words) -> tuple[str, ...]:
    """The requests of a text, in order: the first word of each family that a clause begins with."""
    masked, _ = _mask_text(text, words.taken)
    found: dict[int, str] = {}
    for family in ASKING:
        for match in _asking_pattern(family, words.vocabulary, with_clause=True).finditer(masked):
            found.setdefault(match.start(), family.ways[0])
    return tuple(found[start] for start in sorted(found))


def _sentences(masked: str, style: Style, dice: Dice, words: Words) -> list[str]:
    """The sentences in other words; ways to ask that were not used yet are preferred."""
    said: list[str] = []
    used: set[str] = set()
    for sentence in _sentences_meant(masked):
        if said and not _ENDED.search(said[-1]):
            said[-1] += "."
        said.append(_sentence(sentence, style, dice, words, used))
    return said


def _sentences_meant(masked: str) -> list[str]:
    """All sentences except thanks."""
    sentences = [sentence for line in masked.split("\n") for sentence in _SENTENCE_END.split(line) if sentence.strip()]
    return [sentence for sentence in sentences if not _THANKS.fullmatch(sentence)] or sentences


def _sentence(sentence: str, style: Style, dice: Dice, words: Words, used: set[str]) -> str:
    lead, core, end = _request(sentence, words.vocabulary)
    if not style.contracts:
        lead = "also, " if _SPOKEN_LEAD.search(lead) else lead
    if core:
        core = _said_otherwise(core, dice, words)
        asks = [ask for ask in style.ask if not (ask.endswith("?") and _TELLS_AFTER_COMMA.search(core))]
        # A request linked to the previous one gets no separate heading.
        asks = [ask for ask in asks if not (lead and ": %s" in ask)]
        fresh = [ask for ask in asks if ask not in used] or asks
        ask = _choose_template(fresh, dice, words.taken, used) or "%s"
        asked = lead + ask.replace("%s", core)
        said = asked + ("" if ask.endswith("?") else end)
        said = said[0].upper() + said[1:]
    else:
        said = _said_otherwise(sentence if style.contracts else _in_full(sentence), dice, words)
    if style.contracts is not None:
        said = _adjust_contractions(said, contracts=style.contracts)
    if style.drops_articles:
        said = re.sub(r"(?P<before>\w*)(?P<gap>\W+)the (?=(?P<after>\w+))", partial(_kept_article, dice), said)
    return said


def _in_full(sentence: str) -> str:
    """The sentence without what only people in a hurry write."""
    for short, full in _SHORTHAND:
        sentence = short.sub(full, sentence)
    return sentence


def _request(sentence: str, vocabulary: frozenset[str]) -> tuple[str, str, str]:
    """A sentence that asks for something taken apart: what links it to the one before, what is asked, how it ends.

    What is asked is empty for a sentence that only tells, or that wants to know something.
    """
    lead = _LEAD.match(sentence)
    rest = sentence[lead.end() :] if lead else sentence
    courtesy = _COURTESY.match(rest)
    core = _PLEASE_AT_END.sub("", (rest[courtesy.end() :] if courtesy else rest).rstrip(".!? "))
    is_courteous = courtesy is not None and re.search(_QUESTION_OF_COURTESY, courtesy.group(), re.IGNORECASE)
    if not _asking_at_all(vocabulary).match(core) or _SUBJECT.match(core) or (rest.endswith("?") and not is_courteous):
        return "", "", ""
    end = "!" if rest.endswith("!") else "."
    return (lead.group().lower() if lead else ""), core[0].lower() + core[1:], end


def _said_otherwise(text: str, dice: Dice, words: Words) -> str:
    for family in ASKING:
        exchanged = partial(_other_way, family, dice, words.taken)
        text = _asking_pattern(family, words.vocabulary, with_clause=family.takes_clause).sub(exchanged, text)
    return _MEANING.sub(partial(_other_phrase, dice, words.taken), text)


@cache
def _thing_pattern(vocabulary: frozenset[str]) -> str:
    """A pattern for how the mention of a thing begins."""
    return (
        r"(?:the|an?|this|that|these|those|all|any|every|everything|each|both|its|their|my|our|your|it|them|only"
        rf"|{'|'.join(sorted(vocabulary - {'*', 'to', 'no'}))})\b|{_MARK}"
    )


@cache
def _asking_at_all(vocabulary: frozenset[str]) -> re.Pattern[str]:
    """A pattern for the beginning of a sentence that asks for something."""
    objects = rf"{_thing_pattern(vocabulary)}|{_CLAUSE}|(?:me|us|on|off|up|down|out|back|over|with)\b"
    return re.compile(rf"(?:{_WAYS})\s+(?:{objects})", re.IGNORECASE)


@cache
def _asking_pattern(family: Family, vocabulary: frozenset[str], *, with_clause: bool) -> re.Pattern[str]:
    """A pattern for clauses that begin with one of the family's ways, before a thing or also before a clause."""
    # "Check that it runs" takes a clause, which "look at" does not.
    thing = _thing_pattern(vocabulary)
    objects = f"{thing}|{_CLAUSE}" if with_clause else rf"(?!that\s+\S)(?:{thing})"
    ways = "|".join(sorted(family.ways, key=len, reverse=True))
    return re.compile(rf"(?:{_CLAUSE_START})(?:{ways})(?=\s+(?:{objects}))", re.IGNORECASE)


def _other_way(family: Family, dice: Dice, taken: Collection[str], found: re.Match[str]) -> str:
    before_pronoun = re.match(rf"\s+{_PRONOUN}", found.string[found.end() :], re.IGNORECASE)
    ways = [way for way in family.ways if not (before_pronoun and way.endswith(_PARTICLES))]
    return _exchange_way(found.group(), ways, dice, taken)


def _other_phrase(dice: Dice, taken: Collection[str], found: re.Match[str]) -> str:
    said = _exchange_way(found["phrase"], _MEANINGS[found["phrase"].lower()], dice, taken)
    if found["article"] is None:
        return said
    return found["article"][0] + ("n " if said[0].lower() in "aeiou" else " ") + said


def _exchange_way(said: str, ways: Sequence[str], dice: Dice, taken: Collection[str]) -> str:
    others = [way for way in ways if way.lower() != said.lower() and _is_free(way, taken)]
    is_shouted = said.isupper() and len(said) > 1
    if not others or is_shouted or dice.random() >= _SHARE_REPLACED:
        return said
    other = dice.choice(others)
    return other[0].upper() + other[1:] if said[0].isupper() else other


def _adjust_contractions(text: str, *, contracts: bool) -> str:
    for long, short in CONTRACTIONS:
        old, new = (long, short) if contracts else (short, long)
        # At the end of a clause only the long form is English ("tell me where it is").
        pattern = rf"(?<![\w'])(?<!of ){re.escape(old)}(?=\s+\w)"
        if not contracts and new.endswith(" is"):
            # "It's been" is short for another verb.
            text = re.sub(
                rf"(?<![\w']){re.escape(old)}(?=\s+(?:been|had|got)\b)",
                partial(_in_case, f"{new[:-2]}has"),
                text,
                flags=re.IGNORECASE,
            )
        text = re.sub(pattern, partial(_in_case, new), text, flags=re.IGNORECASE)
    return text


def _in_case(new: str, found: re.Match[str]) -> str:
    return new[0].upper() + new[1:] if found.group()[0].isupper() else new


def _kept_article(dice: Dice, found: re.Match[str]) -> str:
    """An article is kept in phrases, and behind a verb that is also a noun, where it shows which of them is meant."""
    is_phrase = found["before"].lower() in _BEFORE_ARTICLE or found["after"].lower() in _AFTER_ARTICLE
    if is_phrase or dice.random() >= _SHARE_OF_DROPPED_ARTICLES:
        return found.group()
    return found["before"] + found["gap"]


def _frame(speech: Speech, rule: str, dice: Dice, taken: Collection[str]) -> str:
    """The text that a rule of the material produces, without words that are names in the scenario."""
    found = (speech.line(rule, dice) for _ in range(_MOST_FRAMES))
    return next((text for text in found if _is_free(text, taken)), "")


def _choose_template(templates: Sequence[str], dice: Dice, taken: Collection[str], used: set[str]) -> str:
    """One of the templates, now used, with its alternatives decided, without names of the scenario."""
    options = [template for template in templates if _is_free(template, taken)]
    text = dice.choice(options) if options else ""
    used.add(text)
    return re.sub(r"\{([^{}]*)\}", lambda found: dice.choice(found.group(1).split("|")), text)


def _is_free(text: str, taken: Collection[str]) -> bool:
    return not any(word.lower() in taken for word in re.findall(r"[A-Za-z]+", text))


def _mask_text(text: str, taken: Collection[str]) -> tuple[str, list[str]]:
    """`text` with everything that must stay behind a mark, and what is behind the marks."""
    fixed: list[str] = []

    def hide(found: re.Match[str]) -> str:
        fixed.append(found.group())
        return f"{_MARK}{len(fixed) - 1}\ue001"

    def hide_name(found: re.Match[str]) -> str:
        return hide(found) if found.group().lower() in taken else found.group()

    return re.sub(r"(?<![\w'])[A-Za-z]+(?![\w'])", hide_name, _FIXED.sub(hide, text)), fixed
