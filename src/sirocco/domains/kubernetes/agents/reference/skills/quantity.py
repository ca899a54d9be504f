"""Amounts of memory and processor time as the API writes them: 256Mi, 500m, 2."""

import re
from collections.abc import Sequence

from kubesim.types.quantity import amount_of

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[A-Za-z]*)")
_SHARE = 0.4
"""How much of a node one pod may ask for when it has to share it with others."""


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
