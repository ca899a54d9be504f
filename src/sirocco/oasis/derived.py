"""Recorded values that keep what was computed from them, so that reading a long log happens once."""

from collections.abc import Callable
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class Derives:
    """A value that never changes; what follows from it alone is computed when it is first asked for."""

    def derive_once(self, make: Callable[[Self], Result]) -> Result:
        """What `make` gives for this value, the same object each time."""
        kept = self._kept()
        if make not in kept:
            kept[make] = make(self)
        result: Result = kept[make]
        return result

    def share_derived(self, other: Self) -> None:
        """Have in common with another value what is computed from either, as it is the same for both."""
        self.__dict__["_derived"] = other._kept()

    def __getstate__(self) -> dict[str, Any]:
        """The value alone, for another process: what follows from it can be computed there too."""
        return {name: value for name, value in self.__dict__.items() if name != "_derived"}

    def _kept(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self.__dict__.setdefault("_derived", {})
        return kept
