"""Remedies for unknown words: the closest known one."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_TELLING = 4
"""A shorter prefix or part of a word does not reveal which one was meant."""


def spelling_remedy(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """A remedy that names what `word` probably meant, or else `otherwise`, or all possibilities."""
    options = sorted(str(option) for option in known)
    found = get_close_matches(word, options, n=1) or _containing_option(word.lower(), options)
    if found:
        return f"did you mean {found[0]!r}?"
    return otherwise or "use one of: " + ", ".join(_nearest_first(word.lower(), options))


def _containing_option(word: str, options: list[str]) -> list[str]:
    """The only option that contains the word."""
    found = [option for option in options if len(word) >= _TELLING and word in option.lower()]
    return found if len(found) == 1 else []


def _nearest_first(word: str, options: list[str]) -> list[str]:
    return sorted(options, key=lambda option: -SequenceMatcher(None, word, option.lower()).ratio())
