"""Telling an answer from a heap of words: whoever says something of every list that counts has said nothing."""

from functools import lru_cache

from sirocco.evaluation.behaviors import lexicons

_MISSING = 3
"""So many lists a heap may leave out; a long answer of somebody who means something leaves out half of them."""


def says_everything(folded: str) -> bool:
    """Whether a folded text holds words of nearly all lists, whatever it does with them."""
    missing = 0
    for words in _lists():
        # Parts of words count as well, so that no spelling of a heap slips through and the search costs little.
        missing += not any(word in folded for word in words)
        if missing > _MISSING:
            return False
    return True


@lru_cache(maxsize=1)
def _lists() -> tuple[tuple[str, ...], ...]:
    """The rarer lists first, since an answer that means something is told from a heap by what it lacks."""
    found = [
        tuple(word.removesuffix("*") for word in held)
        for held in vars(lexicons).values()
        if isinstance(held, tuple) and all(isinstance(word, str) for word in held)
    ]
    return tuple(sorted(found, key=len))
