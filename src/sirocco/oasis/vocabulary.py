"""Vocabulary: the words of a domain for its objects and for what can be done to them."""

from functools import lru_cache
from typing import Protocol

from sirocco.errors import OperationError
from sirocco.oasis.operation import Operation
from sirocco.oasis.stimulus import Surface

_KEPT = 4096
"""Operations that are kept taken apart: a chain of operators looks at those of one scenario again and again."""


class Vocabulary(Protocol):
    """Port: reads and suggests operations; each prints itself as it is read."""

    def operation(self, text: str) -> Operation:
        """Read an operation; raise OperationError naming the part that cannot be expressed."""
        ...

    @property
    def nouns(self) -> tuple[str, ...]:
        """The types of objects that operations can name, always in the same order."""
        ...

    def closest_noun(self, word: str) -> str | None:
        """The type that a word was probably meant to be."""
        ...

    def is_namespaced(self, noun: str) -> bool:
        """Whether objects of a type are each in a namespace; not so for what is no type."""
        ...

    def covers(self, pattern: Operation, operation: Operation) -> bool:
        """Whether, by form alone, whoever performs an operation also does what a pattern describes."""
        ...

    def with_default_namespace(self, operation: Operation, namespace: str | None) -> Operation:
        """The operation, put into a namespace if it names none and its objects are each in one."""
        ...

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The words for places where text can wait for an agent."""
        ...

    @property
    def goal_forms(self) -> str:
        """What a goal looks like, for remedies."""
        ...

    def __hash__(self) -> int: ...


@lru_cache(_KEPT)
def read_operation(vocabulary: Vocabulary, text: str) -> Operation | None:
    """The operation that a text is; None for an entry in words, whose readings stand beside it."""
    try:
        return vocabulary.operation(text)
    except OperationError:
        return None
