"""Consistent renaming: objects, namespaces, zones and the words derived from them get new names everywhere at once.

A name is replaced word by word, so `stock-cache` still belongs to `stock` afterwards, and so do a part `stock-7d9f`,
a variable `STOCK_URL` and the "stock page" of the prompt.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from sirocco.oasis.mutation import Dice, Entry, Language
from sirocco.oasis.scenario_draft import SITUATION, ScenarioDraft
from sirocco.probes.language.inflection import plural, singular_of
from sirocco.probes.mutation.lexicon import (
    ACTING,
    COMMON,
    CRAFT,
    IDIOMS,
    ROLES,
    fresh_agents,
    fresh_subjects,
)
from sirocco.probes.mutation.reading import entries, names, patterns, places, secret_values, subjects
from sirocco.probes.mutation.rewriting import rewrite_scenario, texts

_SHORT_WORD = 2
_FUNCTION_WORD = 3
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[A-Za-z0-9]+")
_BEFORE_ACTION = re.compile(
    r"(?:^|[.!?:;,\n]|\b(?:and|then|so|to|please|just|also|you|must|should|or|not|don't|kindly|we|i|first|next|now))\s*$",
    re.IGNORECASE,
)
_AFTER_ACTION = re.compile(
    r"\s+(?:the|an?|this|that|these|those|all|any|every|each|its|their|my|our|your|it|them|me|us|what|which|who|why|how"
    r"|whether|if|when|back|for|on|into|through|with|to)\b",
    re.IGNORECASE,
)


def rename(language: Language, draft: ScenarioDraft, dice: Dice) -> ScenarioDraft:
    """The scenario with new names; goal, oracle, task and text keep meaning the same objects."""
    return rewrite_scenario(language, draft, renaming(language, draft, dice))


def renameable_names(language: Language, draft: ScenarioDraft) -> tuple[str, ...]:
    """The names that renaming replaces: not those of the system, and no word that prose needs for something else."""
    return _Named(language, draft).renameable


def has_renameable_names(language: Language, draft: ScenarioDraft) -> bool:
    """Whether renaming replaces anything."""
    # A subject with a telling name is nearly always there, and quicker to find than all that is named.
    return any(_is_telling_subject(language, entry) for entry in entries(language, draft)) or any(
        True for _ in _Named(language, draft).each_renameable()
    )


def _is_telling_subject(language: Language, entry: Entry) -> bool:
    name = entry.name
    if not name or "*" in name or "?" in name or _is_fixed(language, name.lower()):
        return False
    return name in language.naming.subjects(entry) and any(_is_telling(language.words, one, ()) for one in _words(name))


@dataclass(frozen=True)
class _Named:
    """All that a scenario names and says, each found once: what a name becomes depends on every other."""

    language: Language
    draft: ScenarioDraft

    @cached_property
    def names(self) -> tuple[str, ...]:
        return names(self.language, self.draft)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return texts(self.language, self.draft)

    @cached_property
    def prose(self) -> str:
        return " ".join(self.texts)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        return patterns(self.language, self.draft)

    @cached_property
    def places(self) -> frozenset[str]:
        return places(self.language, self.draft)

    @cached_property
    def subjects(self) -> frozenset[str]:
        return subjects(self.language, self.draft)

    @cached_property
    def words_by_themselves(self) -> frozenset[str]:
        """The words that the operator says outside of names: replaced in a name, they would not lead to it any more."""
        longest_first = sorted(self.names, key=lambda name: (-len(name), name))
        named = "|".join(map(_in_any_spelling, longest_first)) or r"(?!)"
        said = " ".join(self.draft.prompts)
        return frozenset(_words(re.sub(rf"\b(?:{named})\b", " ", said, flags=re.IGNORECASE)))

    @cached_property
    def renameable(self) -> tuple[str, ...]:
        return tuple(self.each_renameable())

    def each_renameable(self) -> Iterator[str]:
        """The names that renaming replaces, each looked for when it is asked for."""
        free = [name for name in self.names if not _is_fixed(self.language, name.lower())]
        telling = self.telling_words({name.lower() for name in free}, ())
        for name in free:
            if not telling.isdisjoint(_words(name)) or (
                _replaceable_word(name, self.words_by_themselves)
                and (name in self.subjects or not _is_said_in_words(name, self.prose))
            ):
                yield name

    def telling_words(self, full: Collection[str], kept: Collection[str]) -> set[str]:
        """The words that mean one of the objects wherever they stand."""
        said = (word for name in self.subjects | self.places for word in _words(name))
        return {word for word in said if _is_telling(self.language.words, word, kept)} | set(full)


def _is_fixed(language: Language, name: str) -> bool:
    is_function_word = name in COMMON and len(name) <= _FUNCTION_WORD
    is_word = name in language.words or name in CRAFT or len(name) == 1 or is_function_word
    return is_word or language.naming.is_of_system(name)


def _is_said_in_words(name: str, said: str) -> bool:
    """Whether prose has the name with blanks: an alert `high-memory` is called after high memory, not the reverse."""
    return "-" in name and re.search(rf"\b{re.escape(name.replace('-', ' '))}\b", said, re.IGNORECASE) is not None


def _replaceable_word(name: str, needed: Collection[str]) -> str | None:
    """The word of a name that gives way to a new one where none tells it from others; a number only if need be."""
    words = sorted(_words(name), key=lambda word: bool(_DIGIT.search(word)))
    return next((word for word in words if len(word) > 1 and word not in CRAFT and word not in needed), None)


def residue(language: Language, draft: ScenarioDraft, old: Collection[str]) -> tuple[str, ...]:
    """Those of the `old` names that the scenario still holds, alone or as words of a longer name."""
    said = "\n".join(texts(language, draft))
    for secret in secret_values(language, draft):
        said = said.replace(secret, " ")
    return tuple(
        name
        for name in old
        if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", said, re.IGNORECASE) is not None
    )


@dataclass(frozen=True, slots=True)
class Renaming:
    """A rewriting of texts: each old word, in either number and any case, becomes one new word."""

    forms: Mapping[str, str]
    names: frozenset[str]
    pattern: re.Pattern[str]
    secrets: re.Pattern[str] | None
    idioms: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Idioms that a word to be replaced is part of, with what they mean."""

    @classmethod
    def from_forms(cls, forms: Mapping[str, str], names: Collection[str], secrets: Collection[str]) -> "Renaming":
        """A renaming by the given words that leaves the texts in `secrets` alone wherever they occur."""
        forms = {form.replace("_", "-"): said for form, said in forms.items()}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        words = "|".join(map(_in_any_spelling, longest_first)) or r"(?!)"
        article = r"(?:(?<![\w-])(?P<article>an?)(?P<gap>\s+))?"
        pattern = re.compile(rf"{article}(?<![A-Za-z0-9])(?P<word>{words})(?![A-Za-z0-9])", re.IGNORECASE)
        kept = re.compile(f"({'|'.join(map(re.escape, secrets))})") if secrets else None
        idioms = tuple(
            (re.compile(rf"\b{idiom}\b", re.IGNORECASE), plain)
            for idiom, plain in IDIOMS.items()
            if not forms.keys().isdisjoint(idiom.split())
        )
        return cls(forms, frozenset(names), pattern, kept, idioms)

    def __call__(self, text: str) -> str:
        """`text` with new names."""
        parts = self.secrets.split(text) if self.secrets else [text]
        return "".join(part if number % 2 else self._rename_text(part) for number, part in enumerate(parts))

    def _rename_text(self, text: str) -> str:
        for idiom, plain in self.idioms:
            text = idiom.sub(plain, text)
        return self.pattern.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        word = found["word"]
        form = re.sub(r"[_\s]", "-", word.lower())
        before, after = found.string[: found.start("word")], found.string[found.end("word") :]
        if form in ACTING and _BEFORE_ACTION.search(before) and _AFTER_ACTION.match(after):
            # Here the word is an action rather than a name; it may stay unless a name would survive in it.
            said = ACTING[form] if form in self.names else form
        else:
            said = self.forms[form]
            if word.isupper() or _is_joined_by_underscores(before, word, after):
                said = said.replace("-", "_")
        said = _in_words(word, said, before) if " " in word else _in_case_of(word, said)
        if found["article"] is None:
            return said
        article = found["article"][0] + ("n" if said[0].lower() in "aeiou" else "")
        return f"{article}{found['gap']}{said}"


def renaming(language: Language, draft: ScenarioDraft, dice: Dice) -> Renaming:
    """New words for all names of the scenario; patterns match the same names afterwards as before."""
    named, state = _Named(language, draft), dice.getstate()
    pinned: set[str] = set()
    while True:
        dice.setstate(state)
        drawn = _draw_renaming(named, tuple(name for name in named.renameable if name not in pinned), pinned, dice)
        broken = {name for pattern in named.patterns for name in _told_apart(named.names, pattern, drawn)}
        if broken <= pinned:
            return drawn
        # A pattern like `sto*` cuts through a word; the names that it is about keep theirs.
        pinned |= broken


def _told_apart(named: Collection[str], pattern: str, drawn: Renaming) -> list[str]:
    """The names that a pattern matches before the renaming but not afterwards, or the other way round."""
    new = drawn(pattern)
    return [name for name in named if fnmatchcase(name, pattern) != fnmatchcase(drawn(name), new)]


def _draw_renaming(named: _Named, wanted: Collection[str], pinned: Collection[str], dice: Dice) -> Renaming:
    kept = {word for name in pinned for word in _words(name)}
    full = {name.lower() for name in wanted} - kept
    coined = _Coined(named, wanted, full, dice)
    forms: dict[str, str] = {}
    wholes: dict[str, str] = {}
    for word, whole in _units(named, wanted, full, kept):
        new = coined.instead_of(word)
        if whole:
            # Two names may differ in number alone, and stay two.
            wholes[whole] = _with_first(whole, word, new if word == singular_of(word) else plural(new))
        else:
            forms |= _forms(named.language.words, word, new, full, kept)
    # Shorter names first, because the words that a whole name keeps may contain another name.
    for whole in sorted(wholes, key=lambda name: (len(name), name)):
        forms[whole] = Renaming.from_forms(forms, full, ())(wholes[whole])
    secrets = [secret for secret in secret_values(named.language, named.draft) if secret.lower() not in full]
    drawn = Renaming.from_forms(forms, full, secrets)
    for pattern in named.patterns:
        if _told_apart(named.names, pattern, drawn):
            # The pattern may hold the one word of whole names that was replaced.
            forms[pattern.lower()] = coined.everywhere_in(drawn(pattern))
            drawn = Renaming.from_forms(forms, full, secrets)
    return drawn


class _Coined:
    """New words for the old ones of a scenario, one for each, in whatever number the old one stands."""

    def __init__(self, named: _Named, wanted: Collection[str], full: Collection[str], dice: Dice) -> None:
        present = {word for text in named.texts for word in _words(text)}
        avoid = present | named.language.words | ROLES
        never_within = [name.lower() for name in named.names if len(name) > _SHORT_WORD]
        self._subjects = fresh_subjects(dice, avoid, never_within)
        self._agents = fresh_agents(dice, avoid, never_within)
        # A longer word within a longer name would make it longer still.
        parts = {singular_of(word) for name in wanted if len(_words(name)) > 1 for word in _words(name)}
        self._full = {singular_of(name) for name in full} - parts
        first = {singular_of(word) for name in wanted for word in _words(name)[:-1]}
        doers = named.subjects - named.places
        self._last = {singular_of(_words(name)[-1]) for name in wanted if name in doers} - first - self._full
        self._new: dict[str, str] = {}

    def instead_of(self, word: str) -> str:
        """The new word in the singular: a longer one for a name alone, a word for an agent at the end of a name."""
        stem = singular_of(word)
        if stem not in self._new:
            agent = next(self._agents, None) if stem in self._last else None
            self._new[stem] = agent or next(self._subjects)[stem in self._full]
        return self._new[stem]

    def everywhere_in(self, pattern: str) -> str:
        """The pattern with every old word replaced."""
        return _WORD.sub(lambda found: self._new.get(singular_of(found.group()), found.group()), pattern)


def _units(named: _Named, wanted: Collection[str], full: set[str], kept: set[str]) -> Iterator[tuple[str, str | None]]:
    """The words to replace; with a word that may not be replaced on its own, the name in which it is.

    Prose talks of what runs and of namespaces by single words of their names; other objects are only named in full.
    """
    # The texts of a situation name things in full; a word of a name is there a word like any other.
    telling = set() if named.draft.id == SITUATION else named.telling_words(full, kept)
    needed = named.words_by_themselves
    for name in wanted:
        words = _words(name)
        alone = [word for word in words if word in telling]
        if alone:
            yield from ((word, None) for word in alone)
        elif kept.isdisjoint(words) and (word := _replaceable_word(name, needed)):
            yield word, name.lower()


def _is_telling(vocabulary: Collection[str], word: str, kept: Collection[str]) -> bool:
    """Whether the word says which thing is meant, rather than what kind of thing."""
    fixed = any(word in words for words in (vocabulary, COMMON, CRAFT, ROLES, kept))
    return not fixed and len(word) > _SHORT_WORD and not _DIGIT.search(word)


def _forms(vocabulary: Collection[str], word: str, new: str, full: set[str], kept: set[str]) -> dict[str, str]:
    """What `word` and its other number become."""
    stem = singular_of(word)
    forms = {stem: new, plural(stem): plural(new)}
    allowed = {form: said for form, said in forms.items() if form in full or _is_telling(vocabulary, form, kept)}
    return {**allowed, word: forms.get(word, new)}


def _with_first(name: str, word: str, new: str) -> str:
    return re.sub(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", new, name, count=1)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _in_case_of(word: str, said: str) -> str:
    if word.isupper() and len(word) > 1:
        return said.upper()
    return said[0].upper() + said[1:] if word[0].isupper() else said


def _in_words(words: str, said: str, before: str) -> str:
    """A new name with blanks, in the form of the old one in prose; `API gateway` only capitalizes acronyms."""
    first, *others = words.split()
    said = re.sub("[-_]", " ", said)
    if first[0].isupper() and all(word[0].isupper() for word in others):
        return said.title()
    is_start = re.search(r"(?:^|[.!?:\n])\s*$", before) is not None
    is_capital = first[0].isupper() and (is_start or not first.isupper())
    return said[0].upper() + said[1:] if is_capital else said


def _in_any_spelling(form: str) -> str:
    """A pattern for a name as identifiers and prose spell it: `stock-cache`, `STOCK_CACHE`, "Stock cache"."""
    return re.escape(form).replace(r"\-", "[-_ ]")


def _is_joined_by_underscores(before: str, word: str, after: str) -> bool:
    """Whether the word stands in an identifier like `stock_items`."""
    left = re.search(r"[A-Za-z0-9_-]*$", before)
    right = re.match(r"[A-Za-z0-9_-]*", after)
    token = (left.group() if left else "") + word + (right.group() if right else "")
    return "_" in token and "-" not in token
