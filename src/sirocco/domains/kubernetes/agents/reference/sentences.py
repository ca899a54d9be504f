"""Prose split into sentences of tokens: words, names, quoted passages and punctuation marks."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise

MARKS = frozenset(",;:.!?()[]{}—–-|>\n")
_QUOTED = r"""`[^`]+`|"[^"]+"|“[^”]+”|‘[^’]+’|(?<![\w'])'[^'\n]+'(?!\w)"""
_WORD = r"--?[A-Za-z][\w-]*(?:=\S+)?|\d{1,3}(?:,\d{3})+\b|[A-Za-z0-9_*][\w.:/=@%+*'-]*"
_PAIR = r"""[A-Za-z_][\w.-]*=(?:"[^"]*"|'[^']*')"""
_TOKEN = re.compile(rf"(?P<pair>{_PAIR})|(?P<quoted>{_QUOTED})|(?P<word>{_WORD})|(?P<mark>[,;:.!?()\[\]{{}}—–|>-])")
# A line break ends a sentence only where a list item, an empty line or a capital follows; elsewhere it is wrapping.
# A number counts steps unless it is an amount: "scale it to 4. If not, ..."
_BREAK = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*•#]\s|\(?\d{1,2}[.)]\s|[A-Z][a-z]))|"
    r"(?:^|(?<=\s))(?<!\bto )(?<!\bby )(?<!\bof )(?<!\bat )(?<!\bis )\(?\d{1,2}[.)]\s+(?=[A-Z])"
)
_CITED = re.compile(r"```\w*\s([^`]*)```|^[ \t]*>[ \t]?(.*)$", re.MULTILINE)
_COMMAND = re.compile(r"\s*(?:\$\s*)?(?:kubectl|oc)\s")
_COMMENT = re.compile(r"\s*(?:#+|//+|;+)\s*")
_NAME_OF_WORDS = re.compile(r"[A-Za-z0-9]+(?:[-_.]+[A-Za-z0-9]+)+")
_ENDS = frozenset(".!?")
_LONGEST = 200
"""A longer sentence, in words, is hardly meant as one, and reading it as one would take too long."""
_CONTRACTED = frozenset({"what", "it", "that", "here", "there", "who", "let", "how", "where", "he", "she", "why"})


@dataclass(frozen=True, slots=True)
class Token:
    """One word, mark or quoted passage; `text` is as written, without the quotes."""

    text: str
    quoted: bool = False
    # Readers ask for these hundreds of times for the same token, so they are computed once.
    word: str = field(init=False, compare=False)
    """The text in the lexicons' form: lower case, without a possessive ending."""
    is_mark: bool = field(init=False, compare=False)
    """Whether it is punctuation."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", _lexicon_form(self.text))
        object.__setattr__(self, "is_mark", not self.quoted and self.text in MARKS)

    @property
    def is_passage(self) -> bool:
        """Whether it is quoted text of several words: something cited, not something said."""
        return self.quoted and bool(re.search(r"\s", self.text))


def _lexicon_form(text: str) -> str:
    word = text.lower()
    stem, apostrophe, ending = word.rpartition("'")
    return stem if apostrophe and ending in {"s", ""} and stem not in _CONTRACTED else word


Sentence = tuple[Token, ...]


def folded(text: str) -> str:
    """`text` with each run of white space as one space, so that wrapping does not matter."""
    return " ".join(text.split())


def is_prose(text: str) -> bool:
    """Whether a text has several words."""
    return len(text.split(maxsplit=1)) > 1


def is_name_of_words(text: str) -> bool:
    """Whether a text is written as names and labels must be, with separators where prose has spaces."""
    return bool(_NAME_OF_WORDS.fullmatch(text))


def spelled_out(name: str) -> str:
    """A name of several words as prose."""
    return re.sub("[-_.]+", " ", name)


def bare(line: str) -> str:
    """A line without comment marks, and with each run of white space as one space."""
    mark = _COMMENT.match(line)
    return folded(line[mark.end() :] if mark else line)


def parts_of_file(text: str) -> tuple[str, ...]:
    """The comments of a text of several lines, each with its marks, and what is between them."""
    lines = text.splitlines()
    if len(lines) < 2 or not any(map(_COMMENT.match, lines)):
        return (text,)
    runs = groupby(lines, key=lambda line: bool(_COMMENT.match(line)))
    return tuple("\n".join(run) for _, run in runs)


@lru_cache(1024)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text`; list items and shell commands in quotes are sentences of their own or part of one."""
    found: list[Sentence] = []
    for part in _parts(text):
        current: list[Token] = []
        for token in _tokens(part):
            current.append(token)
            if (token.is_mark and token.text in _ENDS) or len(current) == _LONGEST:
                found.append(tuple(current))
                current = []
        found.append(tuple(current))
    return tuple(sentence for sentence in found if any(not token.is_mark for token in sentence))


def sentence_texts(text: str) -> tuple[str, ...]:
    """The sentences of `text` in their original form."""
    found: list[str] = []
    for part in _parts(text):
        ends = [match.end() for match in _TOKEN.finditer(part) if _closes(match)]
        found += [part[start:end].strip() for start, end in pairwise([0, *ends, len(part)])]
    return tuple(written for written in found if any(not token.is_mark for token in _tokens(written)))


def _parts(text: str) -> list[str]:
    """A text cut where lines end sentences, with its quotations as quoted passages."""
    return _BREAK.split(_CITED.sub(_as_passage, text.replace("’", "'")))


def _closes(match: re.Match[str]) -> bool:
    """Whether a sentence ends with a token: a mark that ends one, or a word followed by such a mark."""
    word, mark = match.group("word", "mark")
    return any(token.is_mark and token.text in _ENDS for token in (_trimmed(word) if word else [Token(mark or "")]))


def _as_passage(cited: re.Match[str]) -> str:
    """A fenced block or a line that quotes somebody, as a quoted passage."""
    return f"“{folded(cited.group(1) or cited.group(2) or '')}”"


def passages(text: str) -> tuple[str, ...]:
    """The quoted texts of several words."""
    return tuple(token.text for sentence in sentences(text) for token in sentence if token.is_passage)


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        pair, quoted, word, mark = match.group("pair", "quoted", "word", "mark")
        if pair:
            tokens.append(Token(re.sub("[\"']", "", pair)))
        elif quoted and _COMMAND.match(quoted[1:-1]):
            tokens += _tokens(quoted[1:-1])
        elif quoted:
            tokens.append(Token(quoted[1:-1], quoted=True))
        elif word:
            tokens += _trimmed(word)
        else:
            tokens.append(Token(mark))
    return tokens


def _trimmed(word: str) -> list[Token]:
    """The word without the punctuation after it, and that punctuation as marks."""
    bare = word.rstrip(".:'/=+-")
    if not bare:
        return []
    return [Token(bare), *(Token(mark) for mark in word[len(bare) :] if mark in MARKS)]
