"""Recorded values that keep what was computed from them, so that reading a long log happens once."""

from collections.abc import Callable
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class Derives:
    """A value that never changes; what follows from it alone is computed when it is first asked for."""

    def derive_once(self, make: Callable[[Self], Result]) -> Result:
        """What `make` gives for this value, the same object each time."""
        kept: dict[Any, Any] = self.__dict__.setdefault("_derived", {})
        if make not in kept:
            kept[make] = make(self)
        result: Result = kept[make]
        return result
