"""Remedies for words that are not known: the closest one that is."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """A remedy that names what `word` was probably meant to be; or else `otherwise`, or everything that it can be."""
    options = sorted(str(option) for option in known)
    found = get_close_matches(word, options, n=1)
    return f"did you mean {found[0]!r}?" if found else otherwise or "use one of: " + ", ".join(options)
