"""Domain: the port to all that only the system can tell that agents operate, be it a cluster or a database.

A domain is small interfaces put together, each in a module beside this one: neutral code asks the one that it needs.
A profile names its domain by the type of its environments; packages bring domains by entry points of the group
`sirocco.domains`, named as that type.
"""

from collections.abc import Callable
from typing import Protocol

from sirocco.oasis.vocabulary import Vocabulary
from sirocco.oasis.wire import Wire


class Domain(Protocol):
    """Port: what a domain brings."""

    @property
    def environment_type(self) -> str:
        """The type of its environments, as profiles and scenarios name it."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """Its types, verbs and operations."""
        ...

    @property
    def wire(self) -> Wire:
        """How its evidence travels between a provider elsewhere and a runner."""
        ...


Domains = Callable[[str], Domain]
"""Gives the domain of an environment type; raises ConfigError for one that nothing installed brings."""
