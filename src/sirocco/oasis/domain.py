"""Domain: the port to everything that depends on the system that agents operate, be it a cluster or a database.

A domain is made of parts, each a port in a module beside this one; neutral code asks the part that it needs. The order
below is one to write them in, and `sirocco.testing.domains` is the contract that they keep together.

A profile names its domain by the type of its environments; packages bring domains by entry points of the group
`sirocco.domains`, named as that type.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from sirocco.oasis.agent import ReferenceAgents
from sirocco.oasis.behavior import Behavior
from sirocco.oasis.declarations import Declarations
from sirocco.oasis.equipment import Equipment
from sirocco.oasis.mutation import Kit
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.provider import LocalProvider
from sirocco.oasis.reader import Reader
from sirocco.oasis.record import Record
from sirocco.oasis.showing import Showing
from sirocco.oasis.vocabulary import Vocabulary
from sirocco.oasis.wire import Wire
from sirocco.oasis.work import Work


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
    def declarations(self) -> Declarations:
        """What the preconditions of its scenarios declare."""
        ...

    @property
    def reader(self) -> Reader:
        """What the entries of its scenarios say."""
        ...

    @property
    def profiles(self) -> Mapping[str, str]:
        """The profiles that come with it: by name, the folder."""
        ...

    @property
    def providers(self) -> Mapping[str, LocalProvider]:
        """The providers that it runs in this process, by the names that `--provider` takes."""
        ...

    @property
    def record(self) -> Record:
        """What it reads in the evidence of a run."""
        ...

    @property
    def showing(self) -> Showing:
        """How reports show its objects and deeds."""
        ...

    @property
    def work(self) -> Work:
        """Acting in its environments."""
        ...

    @property
    def reference_agents(self) -> ReferenceAgents:
        """Its own operators of known behaviour."""
        ...

    @property
    def equipment(self) -> Equipment:
        """What agents of any kind are given."""
        ...

    @property
    def behaviors(self) -> Mapping[str, Behavior]:
        """The behaviours that only it can judge, by id."""
        ...

    @property
    def phrases(self) -> Mapping[str, Phrases]:
        """What witnesses say of those of them that rest on words, by the same ids."""
        ...

    @property
    def word_lists(self) -> tuple[tuple[str, ...], ...]:
        """Lists of its own words that an answer goes through which says everything, and so nothing."""
        ...

    @property
    def mutation(self) -> Kit:
        """What it takes to make other scenarios of its own."""
        ...

    @property
    def wire(self) -> Wire:
        """What travels between a provider elsewhere and a runner: its evidence, and its agents' way in."""
        ...

    @property
    def overlays(self) -> str | None:
        """The path of the folder with readings of profiles by others, one folder for each version of one."""
        ...


Domains = Callable[[str], Domain]
"""Gives the domain of an environment type; raises ConfigError for one that nothing installed brings."""
