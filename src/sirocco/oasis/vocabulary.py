"""Vocabulary: the words of a domain for its objects and for what can be done to them."""

from typing import Protocol

from sirocco.oasis.operation import Operation


class Vocabulary(Protocol):
    """Port: reads and suggests operations; each prints itself as it is read."""

    def operation(self, text: str) -> Operation:
        """Read an operation; raise OperationError naming the part that cannot be expressed."""
        ...

    @property
    def nouns(self) -> frozenset[str]:
        """The types of objects that operations can name."""
        ...

    def noun(self, word: str) -> str | None:
        """The type that a word means: its noun, plural, kind or a short name, in whatever case; None for no type."""
        ...

    def closest_noun(self, word: str) -> str | None:
        """The type that a word was probably meant to be."""
        ...
