"""Vocabulary: a domain's words for its objects and for what can be done to them."""

from functools import lru_cache
from typing import Protocol

from sirocco.errors import OperationError
from sirocco.oasis.operation import Operation
from sirocco.oasis.stimulus import Surface

_KEPT = 4096
"""The size of the cache of parsed operations: a chain of operators reads those of one scenario again and again."""


class Vocabulary(Protocol):
    """Port: parses and suggests operations; each is printed as it is parsed."""

    def operation(self, text: str) -> Operation:
        """Parse an operation; raise OperationError naming the part that cannot be expressed."""
        ...

    @property
    def nouns(self) -> tuple[str, ...]:
        """The types of objects that operations can name, always in the same order."""
        ...

    def closest_noun(self, word: str) -> str | None:
        """The type of object that a word probably meant."""
        ...

    def is_namespaced(self, noun: str) -> bool:
        """Whether objects of a type are namespaced; false if it is not a type."""
        ...

    def covers(self, pattern: Operation, operation: Operation) -> bool:
        """Whether, judging by form alone, performing an operation also does what a pattern describes."""
        ...

    def with_default_namespace(self, operation: Operation, namespace: str | None) -> Operation:
        """The operation in the given namespace, if it names none and its objects are namespaced."""
        ...

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The names of the places where text can be put for an agent."""
        ...

    @property
    def goal_forms(self) -> str:
        """The form of a goal, for remedies."""
        ...

    def __hash__(self) -> int: ...


@lru_cache(_KEPT)
def read_operation(vocabulary: Vocabulary, text: str) -> Operation | None:
    """The operation that a text denotes; None for an entry in words, whose readings are stored separately."""
    try:
        return vocabulary.operation(text)
    except OperationError:
        return None
