"""Results that are worked out once for a value that never changes, found again by the value itself, not its content."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Generic, TypeVar

V = TypeVar("V")
R = TypeVar("R")
_REMEMBERED = 256


class _Itself(Generic[V]):
    """A value that equals nothing but itself."""

    __slots__ = ("value",)

    def __init__(self, value: V) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value


def remembered(function: Callable[[V], R]) -> Callable[[V], R]:
    """The function, which is asked only once about each of the last few hundred values."""

    @lru_cache(_REMEMBERED)
    def known(key: _Itself[V]) -> R:
        return function(key.value)

    @wraps(function)
    def ask(value: V) -> R:
        return known(_Itself(value))

    return ask
