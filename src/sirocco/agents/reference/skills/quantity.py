"""Amounts of memory and processor time as the API writes them: 256Mi, 500m, 2."""

import re
from collections.abc import Sequence

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[A-Za-z]*)")
_FACTORS = {
    "": 1.0,
    "m": 0.001,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_SHARE = 0.4
"""How much of a node one pod may ask for when it has to share it with others."""


def amount_of(text: str) -> float:
    """An amount as a number; 0 for what is none."""
    found = _AMOUNT.fullmatch(text.strip())
    return float(found["number"]) * _FACTORS.get(found["unit"], 0.0) if found else 0.0


def doubled(text: str) -> str:
    """Twice an amount, in its own unit."""
    found = _AMOUNT.fullmatch(text.strip())
    return f"{2 * float(found['number']):g}{found['unit']}" if found else text


def smallest(amounts: Sequence[str], what: str) -> str:
    """A modest share of the least of some amounts, in the unit that is usual for it; empty when there are none."""
    least = min(map(amount_of, amounts), default=0.0) * _SHARE
    if least <= 0:
        return ""
    return f"{max(int(least * 1000), 1)}m" if what == "cpu" else f"{max(int(least / 2**20), 1)}Mi"
