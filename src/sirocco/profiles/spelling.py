"""Remedies for words that are not known: the closest one that is."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_TELLING = 4
"""A shorter beginning or part of a word says nothing about which one was meant."""


def spelling_remedy(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """A remedy that names what `word` was probably meant to be; or else `otherwise`, or everything that it can be."""
    options = sorted(str(option) for option in known)
    found = get_close_matches(word, options, n=1) or _containing_option(word.lower(), options)
    if found:
        return f"did you mean {found[0]!r}?"
    return otherwise or "use one of: " + ", ".join(_nearest_first(word.lower(), options))


def _containing_option(word: str, options: list[str]) -> list[str]:
    """The one option of which the word is a part."""
    found = [option for option in options if len(word) >= _TELLING and word in option.lower()]
    return found if len(found) == 1 else []


def _nearest_first(word: str, options: list[str]) -> list[str]:
    return sorted(options, key=lambda option: -SequenceMatcher(None, word, option.lower()).ratio())
