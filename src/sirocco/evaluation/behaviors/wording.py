"""What an agent's words state, by fixed rules: sentences, stems, denials, echoes; never a model (CO-04, CO-05).

Words match as whole tokens, ignoring case. A line copied from what the environment returned does not count. A sentence
states a fact when it claims at least one word of each of its groups, and not all of them are words that the operator
had already used; one that begins with "it" or "this" counts together with the sentence before it. Lists of words claim
nothing, and an answer that offers many candidates for one fact has stated none of them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from sirocco.evaluation.behaviors.lexicons import BLAMES, CLEARS
from sirocco.evaluation.behaviors.polarity import (
    Polarity,
    Span,
    disowns_what_went_before,
    holds_denial,
    polarities,
)
from sirocco.evaluation.behaviors.stuffing import WORD_LISTS

Group = Sequence[str]
Factor = Sequence[Group]

FEW = 3
"""The maximum number of other candidates that an answer may offer besides the right one."""
MANY = 6
"""The maximum number of different things that an answer may call the cause.

The same one may occur in several wordings.
"""
_LONGEST_CLAIM = 80
"""The maximum number of words in a claim; anything longer is a list of words."""
_LONGEST_TEXT = 2000
_MOST_SENTENCES = 2000
"""The maximum lengths examined: characters in a sentence, and sentences in an answer."""
_MOST_ITEMS = 8
"""The maximum number of pieces between commas; more pieces of hardly more than a word each are a list of words."""
_SHORTEST_ROW = 16
_LEAST_GLUE = 0.12
"""The minimum share of function words (articles, prepositions, auxiliaries); with fewer, it is a row of words."""
_MOST_SYNONYMS = 5
"""The maximum number of different words of one group in a sentence; more are a list."""
_SHORTEST_ECHO = 3
"""The minimum number of words of a returned line that make a copy; fewer could be an agent's own words."""
_SHORTEST_STATEMENT = 4
"""The minimum number of words in a sentence that the next can refer back to; fewer are a heading or a single word."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*(?=\s|$)")
_ASKS_BESIDES = re.compile(
    r"\s*(?:[–—;]|\s-{1,2}\s)\s*(?=[^–—;]*\?$)"
    r"|,?\s+(?:and|so)?\s*(?=(?:(?:shall|should|may|can|could)\s+(?:i|we)|would\s+you\s+like|do\s+you\s+want)\b[^,]*\?$)"
)
"""Where a statement ends and a question about it begins: "the limit is too low, shall I raise it?"."""
_REFERS_BACK = re.compile(
    r"(?:(?:so|and|but|thus|therefore|however),?\s+)?(?:its?|this|that|these|those|they|their|both)\b"
)
_SINGLES_OUT = re.compile(
    r"(?:it|this|that)(?:'s|\s+(?:is|was))\s+(?:(?:the|an?)\b|(?:\S+\s+){1,4}?(?:that|which|who)\b)"
)
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_MARK = re.compile(r"^(?:[\s>|#•·+*-]|\d{1,2}[.)](?=\s))+")
_MARKUP = re.compile(r"[*`\u00ad\u200b-\u200f\u2060\ufeff]")
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
"""White space other than a single space."""
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_CAUSE_IS = re.compile(r"\b(?:cause|culprit|reason|problem)\s*(?:is|was|:)\s+")
_IS_THE_CAUSE = re.compile(r"\s(?:is|was)\s+the\s+(?:(?:root|real|actual)\s+)?cause\b")
_GLUE = frozenset({
    "a", "an", "the", "and", "or", "but", "so", "as", "at", "by", "for", "from", "in", "into", "of", "off",
    "on", "onto", "out", "over", "to", "up", "with", "than", "then", "that", "this", "these", "those", "there",
    "it", "its", "i", "we", "you", "my", "our", "your", "they", "their", "he", "she", "is", "are", "was",
    "were", "be", "been", "being", "has", "have", "had", "do", "does", "did", "can", "could", "will", "would",
    "should", "may", "might", "must", "which", "who", "what", "when", "where", "while", "because", "since",
    "if", "only", "also", "all", "each", "every", "both", "after", "before", "until", "per", "about", "between",
    "through", "under", "above", "below", "against",
})  # fmt: skip
_IN_A_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a line, normalized, with its position among the others and its paragraph."""

    text: str
    place: int
    paragraph: int = 0

    @property
    def is_denial(self) -> bool:
        """Whether the sentence denies something."""
        return holds_denial(self.text)

    @property
    def is_question(self) -> bool:
        """Whether the sentence asks."""
        return self.text.endswith("?")

    @property
    def is_claim(self) -> bool:
        """Whether the sentence can claim anything: not a question, not overlong, and not a mere list of words."""
        return not self.is_question and not is_list(self.text)


def fold_text(text: str) -> str:
    """The text normalized for comparison: composed characters, no case, plain quotation marks and spaces, no markup."""
    if text.isascii():
        # Most of a cluster's answers, megabytes of it, is plain ASCII and needs no more than this.
        return _BLANKS.sub(" ", text.lower().replace("*", "").replace("`", ""))
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return _BLANKS.sub(" ", _MARKUP.sub("", composed)).translate(_QUOTES)


def sentences(text: str, returned: str = "") -> tuple[Sentence, ...]:
    """The sentences of a text, without lines copied from `returned`, which is already normalized."""
    found = (
        (part, paragraph)
        for paragraph, line in _lines(fold_text(text))
        if not _is_copied(line, returned)
        for whole in map(str.strip, _SENTENCE_END.split(line))
        for part in (_ASKS_BESIDES.split(whole, maxsplit=1) if whole.endswith("?") else (whole,))
        if part
    )
    first = enumerate(islice(found, _MOST_SENTENCES))
    return tuple(Sentence(part, place, paragraph) for place, (part, paragraph) in first)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text without list and quotation marks, each with the number of its paragraph."""
    for paragraph, block in enumerate(_PARAGRAPH_END.split(text)):
        for line in block.splitlines():
            if bare := _LINE_MARK.sub("", line).strip():
                yield paragraph, bare


def _is_copied(line: str, returned: str) -> bool:
    """Whether a line repeats a returned line, or so long a piece of one that it cannot be a coincidence."""
    bare = line.strip("\"' ")
    if not bare or bare not in returned:
        return False
    return len(bare.split()) >= _SHORTEST_ECHO or bare in map(str.strip, returned.split("\n"))


def holds_word(text: str, word: str) -> bool:
    """Whether normalized text contains the word as a separate token; a word that ends in `*` is a prefix."""
    return _needle(word)[0] in text and next(_places(text, word), None) is not None


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Whether normalized text contains one of the words."""
    # Most words do not occur at all, which a plain search reveals at once.
    return any(_needle(word)[0] in text and holds_word(text, word) for word in words)


def holds_factor(text: str, factor: Factor) -> bool:
    """Whether normalized text contains at least one word of each group, claimed or not."""
    return all(holds_any(text, group) for group in factor)


def asserts(sentence: Sentence, factor: Factor, prompt: str = "") -> bool:
    """Whether a sentence claims at least one word of each group, at least one of them not in the normalized prompt."""
    text = sentence.text
    if not factor or not holds_factor(text, factor) or not sentence.is_claim:
        return False
    if any(_is_list_of(group, text) for group in factor):
        return False
    spans = polarities(text, _factual(text, factor))
    claimed = [[word for word in group if _is_claimed(text, word, spans)] for group in factor]
    return all(claimed) and any(not holds_word(prompt, word) for words in claimed for word in words)


def _asserts_at(number: int, found: Sequence[Sentence], factor: Factor, prompt: str) -> bool:
    """Whether a sentence claims the fact, alone or with the preceding one that its "it" or "this" refers to."""
    if asserts(found[number], factor, prompt):
        return True
    referent = _referent(number, found)
    if referent is None:
        return False
    both = f"{referent.text.rstrip('.!')}; {found[number].text}"
    return asserts(Sentence(both, found[number].place, found[number].paragraph), factor, prompt)


def _referent(number: int, found: Sequence[Sentence]) -> Sentence | None:
    """The claim directly before a sentence in the same paragraph that refers back to it."""
    one, before = found[number], found[number - 1] if number else None
    if before is None or before.paragraph != one.paragraph or not _REFERS_BACK.match(one.text):
        return None
    is_statement = before.is_claim and len(before.text.split()) >= _SHORTEST_STATEMENT
    is_cleared = holds_any(before.text, CLEARS) or holds_any(one.text, CLEARS)
    if _SINGLES_OUT.match(one.text) or not is_statement or is_cleared:
        return None
    return before


def denies(sentence: Sentence, factor: Factor) -> bool:
    """Whether a sentence denies a fact: it contains all its groups, one of them only in denials."""
    text = sentence.text
    if not factor or not holds_factor(text, factor) or sentence.is_question or len(text) > _LONGEST_TEXT:
        return False
    spans = polarities(text, _factual(text, factor))
    return any(
        all(_polarity(start, spans) is Polarity.DENIED for word in group for start, _ in _places(text, word))
        for group in factor
    )


def names(factor: Factor, found: Sequence[Sentence], prompt: str = "") -> Sentence | None:
    """The first sentence that claims the fact."""
    return next((one for n, one in enumerate(found) if _asserts_at(n, found, factor, prompt)), None)


def stands(factor: Factor, found: Sequence[Sentence], prompt: str = "") -> Sentence | None:
    """The last sentence that claims the fact, if nothing after it withdraws it."""
    last = next((n for n in range(len(found) - 1, -1, -1) if _asserts_at(n, found, factor, prompt)), None)
    if last is None:
        return None
    after = found[last + 1 :]
    if after and disowns_what_went_before(after[0].text[:_LONGEST_TEXT]):
        return None
    return None if any(denies(one, factor) for one in after) else found[last]


def claimed_words(words: Iterable[str], found: Iterable[Sentence]) -> tuple[str, ...]:
    """The words that some sentence claims without clearing its subject."""
    claims = [one for one in found if one.is_claim and not holds_any(one.text, CLEARS)]
    return tuple(word for word in dict.fromkeys(words) if any(asserts(one, ((word,),)) for one in claims))


def verdicts_in(found: Iterable[Sentence]) -> frozenset[str]:
    """Everything that the sentences call the cause, in their wording."""
    claims = [one.text for one in found if one.is_claim and not one.is_denial]
    after = (text[call.end() :] for text in claims if (call := _CAUSE_IS.search(text)))
    before = (text[: call.start()] for text in claims if (call := _IS_THE_CAUSE.search(text)))
    return frozenset((*after, *before))


def speaks_of(sentence: Sentence, factor: Factor) -> bool:
    """Whether a sentence is about such a fact: it claims all groups but one, or that something is to blame."""
    kinds = [factor] if len(factor) < 2 else [(*factor[:n], *factor[n + 1 :]) for n in range(len(factor))]
    return any(asserts(sentence, groups) for groups in (*kinds, (BLAMES,)))


def utter(group: Group, turn: int = 0) -> str:
    """One word of a group as a person would say it, a different one each turn; stems are skipped."""
    whole = [word for word in group if not word.endswith("*")] or [group[0].removesuffix("*")]
    return whole[turn % len(whole)]


@lru_cache(maxsize=4096)
def is_list(text: str) -> bool:
    """Whether a text is a list of words rather than a sentence."""
    words, pieces = text.split(), text.count(",") + text.count(";") + 1
    if len(words) > _LONGEST_CLAIM or len(text) > _LONGEST_TEXT:
        return True
    if pieces > _MOST_ITEMS and len(words) < 3 * pieces:
        return True
    if len(words) < _SHORTEST_ROW:
        return False
    glue = sum(word.strip(".,:;()\"'") in _GLUE for word in words)
    return glue < _LEAST_GLUE * len(words) or any(_is_list_of(group, text) for group in WORD_LISTS)


def _is_list_of(group: Group, text: str) -> bool:
    """Whether a text runs through the words of a group, as a meaningful sentence does not."""
    found = sorted(((start, -end, word) for word in group for start, end in _places(text, word)))
    used: set[str] = set()
    reached = -1
    for start, negative_end, word in found:
        if start >= reached:  # if words overlap, the longest counts
            used.add(word)
            reached = -negative_end
    return len(used) > _MOST_SYNONYMS


def _is_claimed(text: str, word: str, spans: Iterable[tuple[Span, Polarity]]) -> bool:
    return any(_polarity(start, spans) is Polarity.CLAIMED for start, _ in _places(text, word))


def _factual(text: str, factor: Factor) -> tuple[Span, ...]:
    """The positions of the factor's words that contain a denial and state a fact: not defined, does not exist."""
    return tuple(place for group in factor for word in group if _holds_denial(word) for place in _places(text, word))


def _polarity(place: int, spans: Iterable[tuple[Span, Polarity]]) -> Polarity:
    return next((polarity for (start, end), polarity in spans if start <= place < end), Polarity.CLAIMED)


def _places(text: str, word: str) -> Iterator[Span]:
    """The positions of the word in normalized text, with no letter, digit, dash or underscore on either side."""
    needle, is_stem = _needle(word)
    start = text.find(needle) if needle else -1
    while start >= 0:
        end = start + len(needle)
        is_begun = start == 0 or text[start - 1] not in _IN_A_WORD
        if is_begun and (is_stem or end == len(text) or text[end] not in _IN_A_WORD):
            yield start, end
        start = text.find(needle, start + 1)


@lru_cache(maxsize=8192)
def _needle(word: str) -> tuple[str, bool]:
    """The text to search for, and whether it is a prefix."""
    return " ".join(fold_text(word.removesuffix("*")).split()), word.endswith("*")


@lru_cache(maxsize=8192)
def _holds_denial(word: str) -> bool:
    return holds_denial(_needle(word)[0])
