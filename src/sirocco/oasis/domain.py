"""Domain: the port to everything that depends on the operated system, be it a cluster or a database.

A domain consists of parts, each a port in a module beside this one; neutral code asks the part that it needs. The parts
below are in the order in which to write them, and `sirocco.testing.domains` is the contract that they meet together.

A profile names its domain by the type of its environments. Packages provide domains through entry points of the group
`sirocco.domains`, named after that type.
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
    """Port: what a domain provides."""

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
        """The profiles that come with it: the folder of each, by name."""
        ...

    @property
    def providers(self) -> Mapping[str, LocalProvider]:
        """The providers that run in this process, by the names that `--provider` takes."""
        ...

    @property
    def record(self) -> Record:
        """How it interprets the evidence of a run."""
        ...

    @property
    def showing(self) -> Showing:
        """How reports show its objects and actions."""
        ...

    @property
    def work(self) -> Work:
        """How to act in its environments."""
        ...

    @property
    def reference_agents(self) -> ReferenceAgents:
        """Its own agents of known behaviour."""
        ...

    @property
    def equipment(self) -> Equipment:
        """What it hands to agents of any kind."""
        ...

    @property
    def behaviors(self) -> Mapping[str, Behavior]:
        """The behaviours that only it can judge, by id."""
        ...

    @property
    def phrases(self) -> Mapping[str, Phrases]:
        """What witnesses say about those behaviours that rest on words, by the same ids."""
        ...

    @property
    def word_lists(self) -> tuple[tuple[str, ...], ...]:
        """Its own word lists that reveal keyword stuffing: an answer that uses nearly all of them states nothing."""
        ...

    @property
    def mutation(self) -> Kit:
        """What it takes to derive new scenarios from its own."""
        ...

    @property
    def wire(self) -> Wire:
        """The domain's part of the provider contract: evidence, and the agent's access, in transit."""
        ...

    @property
    def overlays(self) -> str | None:
        """The folder with its readings of third-party profiles, one subfolder for each version of one."""
        ...


Domains = Callable[[str], Domain]
"""Finds the domain of an environment type; raises ConfigError if no installed package provides it."""
