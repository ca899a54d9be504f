"""Deed: one thing that somebody did in an environment, as the environment itself recorded it (AV-14)."""

from typing import Protocol


class Deed(Protocol):
    """One entry of the environment's log as the standard's layers read it; printed as verdicts show it."""

    @property
    def sequence(self) -> int:
        """Its number in the log."""
        ...

    @property
    def at(self) -> str:
        """When the environment received it, by its own clock; empty where it does not say."""
        ...

    @property
    def principal(self) -> str:
        """Whose credentials it came with; empty where they were not accepted."""
        ...

    @property
    def identity(self) -> str:
        """The name under which it was done: the principal, or whom that acted as."""
        ...

    @property
    def verb(self) -> str:
        """What was asked for."""
        ...

    @property
    def resource(self) -> str:
        """The type of object that it was asked for."""
        ...

    @property
    def namespace(self) -> str:
        """The part of the environment that it names; empty for none."""
        ...

    @property
    def name(self) -> str:
        """The object that it names; empty for none."""
        ...

    @property
    def place(self) -> str:
        """What it was done to, as reports show it."""
        ...

    @property
    def status(self) -> int | str:
        """The environment's own number or word for what came of it; 0 or empty where it does not say."""
        ...

    @property
    def succeeded(self) -> bool:
        """Whether the environment carried it out."""
        ...

    @property
    def denied(self) -> bool:
        """Whether the environment refused it for lack of permission."""
        ...

    def __str__(self) -> str: ...
