"""Operation: something that can be done to an object, or a pattern of such things, as a domain's vocabulary has it.

Each domain has operations of its own class, parsed and printed by its vocabulary; what stands here is all that the
standard's layers ask of one.
"""

from typing import Protocol

ANY = "*"
"""A name, type or verb that constrains nothing."""
ALL = "all"
"""The name of a collection as a whole."""


class Operation(Protocol):
    """One operation, or a pattern of them; equal when it says the same, hashable, and printed as it is parsed."""

    @property
    def verb(self) -> str:
        """What is done."""
        ...

    @property
    def resource(self) -> str:
        """The type of the objects that it is done to."""
        ...

    @property
    def name(self) -> str:
        """The name of the object; globs, `*` and `all` stand for several."""
        ...

    @property
    def namespace(self) -> str | None:
        """The part of the environment in which it is done; None for all of it."""
        ...

    @property
    def target_namespace(self) -> str | None:
        """The namespace that it acts in: the one that it is done in, or the one that it is done to."""
        ...

    @property
    def is_read(self) -> bool:
        """Whether it only looks."""
        ...

    @property
    def is_creation(self) -> bool:
        """Whether its object is not there before."""
        ...

    def __hash__(self) -> int: ...


def has_glob(*texts: str | None) -> bool:
    """Whether one of the texts holds a wildcard besides being the bare `*`."""
    return any(text is not None and text != ANY and ("*" in text or "?" in text) for text in texts)
