"""Deed: one action in an environment, as the environment itself recorded it (AV-14)."""

from typing import Protocol


class Deed(Protocol):
    """One entry of the environment's log as the standard's layers read it; printed as verdicts show it."""

    @property
    def sequence(self) -> int:
        """Its number in the log."""
        ...

    @property
    def at(self) -> str:
        """When the environment received it, by its own clock; empty if not recorded."""
        ...

    @property
    def principal(self) -> str:
        """Whose credentials it came with; empty if they were not accepted."""
        ...

    @property
    def identity(self) -> str:
        """The identity under which it was done: the principal, or the one it impersonated."""
        ...

    @property
    def verb(self) -> str:
        """The requested verb."""
        ...

    @property
    def resource(self) -> str:
        """The requested type of object."""
        ...

    @property
    def namespace(self) -> str:
        """The part of the environment that it names; empty if none."""
        ...

    @property
    def name(self) -> str:
        """The object that it names; empty if none."""
        ...

    @property
    def place(self) -> str:
        """The target, as reports show it."""
        ...

    @property
    def status(self) -> int | str:
        """The environment's own status number or word for the outcome; 0 or empty if not recorded."""
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
