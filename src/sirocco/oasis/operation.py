"""Operation: something that can be done to an object, or a pattern of such actions, in a domain's vocabulary.

Each domain has its own class of operations, parsed and printed by its vocabulary; this module defines what the
standard's layers need from one.
"""

from fnmatch import fnmatchcase
from typing import Protocol, runtime_checkable

ANY = "*"
"""A name, type or verb that constrains nothing."""
ALL = "all"
"""The name of a collection as a whole."""


@runtime_checkable
class Operation(Protocol):
    """One operation, or a pattern of them; comparable, hashable, and printed as it is parsed."""

    @property
    def verb(self) -> str:
        """The verb."""
        ...

    @property
    def resource(self) -> str:
        """The type of object that it applies to."""
        ...

    @property
    def name(self) -> str:
        """The name of the object; globs, `*` and `all` mean several."""
        ...

    @property
    def namespace(self) -> str | None:
        """The part of the environment in which it is done; None for all of it."""
        ...

    @property
    def target_namespace(self) -> str | None:
        """The namespace that it acts in: its own, or the one that is its target."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether it only reads."""
        ...

    @property
    def is_concrete(self) -> bool:
        """Whether a client could perform it, as opposed to a pattern of several."""
        ...

    @property
    def is_creation(self) -> bool:
        """Whether it creates its object."""
        ...

    def __hash__(self) -> int: ...


def matches(pattern: str, text: str | None) -> bool:
    """Whether a text equals a pattern or matches its wildcards; a bare `*` in the text is an ordinary text."""
    return text is not None and (pattern == text or (has_glob(pattern) and fnmatchcase(text, pattern)))


def has_glob(*texts: str | None) -> bool:
    """Whether one of the texts contains a wildcard other than the bare `*`."""
    return any(text is not None and text != ANY and ("*" in text or "?" in text) for text in texts)
