"""Typos as people make them: letters swapped, left out, doubled or hit beside the key, never in a name."""

import re

from sirocco.oasis.mutation import Dice

_BESIDE = {
    "a": "s", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk",
    "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o", "r": "et", "s": "ad", "t": "ry", "u": "yi",
    "v": "cb", "w": "qe", "x": "zc", "y": "tu",
}  # fmt: skip
_WORDS = re.compile(r"(?<![\w\ue000-\uf8ff@#/.-])[a-z]{6,12}(?![\w\ue000-\uf8ff/-])")
_MARKED = re.compile(r"\ue002[^\ue003]*\ue003|[\ue100-\ue1ff].*?[\ue200-\ue2ff]", re.DOTALL)


def with_slips(text: str, dice: Dice, number: int) -> str:
    """The text with this many typos in ordinary words, none in a request or a name."""
    closed = [found.span() for found in _MARKED.finditer(text)]
    words = [found for found in _WORDS.finditer(text) if not any(low <= found.start() < high for low, high in closed)]
    chosen = dice.sample(words, k=min(number, len(words)))
    for found in sorted(chosen, key=lambda one: -one.start()):
        text = text[: found.start()] + _misspelt(found.group(), dice) + text[found.end() :]
    return text


def _misspelt(word: str, dice: Dice) -> str:
    at = dice.randint(1, len(word) - 2)
    kind = dice.randint(0, 3)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    beside = _BESIDE.get(word[at])
    return word[:at] + dice.choice(beside) + word[at + 1 :] if beside else word
