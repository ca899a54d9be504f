"""Domain: the port to all that only the system can tell that agents operate, be it a cluster or a database.

A domain is small interfaces put together, each in a module beside this one: neutral code asks the one that it needs.
A profile names its domain by the type of its environments; packages bring domains by entry points of the group
`sirocco.domains`, named as that type.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from sirocco.oasis.mutation import Mutation
from sirocco.oasis.vocabulary import Vocabulary


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
    def mutation(self) -> Mutation:
        """What it takes to make other scenarios of its own."""
        ...

    @property
    def profiles(self) -> Mapping[str, str]:
        """The profiles that come with it: by name, the folder."""
        ...


Domains = Callable[[str], Domain]
"""Gives the domain of an environment type; raises ConfigError for one that nothing installed brings."""
