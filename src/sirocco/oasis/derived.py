"""Values that cache what is computed from them, so that a long log is only read once."""

from collections.abc import Callable
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class Derives:
    """An immutable value; anything that depends on it alone is computed on first use and kept."""

    def derive_once(self, make: Callable[[Self], Result]) -> Result:
        """The cached result of `make` for this value: the same object each time."""
        kept = self._kept()
        if make not in kept:
            kept[make] = make(self)
        result: Result = kept[make]
        return result

    def share_derived(self, other: Self) -> None:
        """Share the cache with another value from which the same results follow."""
        self.__dict__["_derived"] = other._kept()

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cache when the value travels to another process, which can compute it again."""
        return {name: value for name, value in self.__dict__.items() if name != "_derived"}

    def _kept(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self.__dict__.setdefault("_derived", {})
        return kept
