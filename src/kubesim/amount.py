"""Quantities as plain numbers, for those who compare and add them up; `types.quantity` reads them."""

import math
from functools import lru_cache

from kubesim.types.quantity import quantity

_NANOS = 10**9


@lru_cache(4096)
def amount_of(text: str) -> float:
    """A quantity such as 256Mi, 500m or 1e3 as a number; 0 for what is none."""
    try:
        return quantity(text).nanos / _NANOS
    except OverflowError:
        return math.inf
