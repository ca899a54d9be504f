"""Mutation: what a domain knows about scenario documents, so that others can be made of them and compared with them.

Documents are plain mappings here. What takes dice besides (words, places, operators) is a port of the engine that
rolls them, `sirocco.probes.mutation.kit`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.declarations import Target
from sirocco.oasis.operation import Operation
from sirocco.oasis.vocabulary import Vocabulary

Document = dict[str, Any]
Rewrite = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of the environment that a document declares, with its namespace made explicit."""

    kind: str
    name: str
    namespace: str
    fields: Mapping[str, Any]


class Naming(Protocol):
    """Port: where documents of a domain name things, and what may be called otherwise."""

    def noun(self, kind: str) -> str:
        """The type of a declared object as operations name it; a kind of record that is no type stays as it is."""
        ...

    def said_as(self, kind: str) -> tuple[str, str] | None:
        """What people call one object of a type and several; None for no type."""
        ...

    def is_place(self, entry: Mapping[str, Any]) -> bool:
        """Whether a declared object says where others are."""
        ...

    def is_identifier(self, kind: str, name: str) -> bool:
        """Whether nobody says the name, punctuation and all, without meaning an object of the type."""
        ...

    def is_of_system(self, name: str) -> bool:
        """Whether the name belongs to the system itself."""
        ...

    def is_name_of_place(self, entry: Entry) -> bool:
        """Whether the entry's own name is that of a place."""
        ...

    def names_in(self, entry: Entry) -> Iterator[str]:
        """Every name that a declared object holds, its own first; empty where a part holds none."""
        ...

    def chosen_keys(self, fields: Mapping[str, Any]) -> Iterator[str]:
        """The keys of a declared object that its author chose and that settings go by."""
        ...

    def references(self, text: str) -> list[str]:
        """The names that a text says together with their type, as operations write them."""
        ...

    def subjects(self, entry: Entry) -> Iterator[str]:
        """The names in a declared object of what runs, or serves: people speak of it by single words of its name."""
        ...

    def is_subject(self, kind: str) -> bool:
        """Whether objects of a type are such subjects."""
        ...

    def secrets_in(self, entry: Entry) -> Iterator[str]:
        """The confidential values that a declared object holds, as stored and in plain."""
        ...

    def holds_secrets(self, kind: str, key: str) -> bool:
        """Whether a key of a declared object holds confidential values by their names."""
        ...

    def has_chosen_keys(self, key: str) -> bool:
        """Whether the mapping under a key has keys that its author chose."""
        ...

    def has_fixed_value(self, key: str) -> bool:
        """Whether the text under a key is one of the vocabulary's, not a name."""
        ...

    def rewritten_key(self, within: str, key: str, rewrite: Rewrite) -> str:
        """A key that an author chose, in the mapping under `within`; those that everybody agrees on stay."""
        ...

    def target(self, text: str) -> Target | None:
        """Where a text waits; None where it is no such place."""
        ...

    def rewritten_target(self, text: str, rewrite: Rewrite) -> str:
        """Where a text waits, with other names."""
        ...

    def rewritten_operation(self, operation: Operation, rewrite: Rewrite) -> Operation:
        """An operation with other names."""
        ...


class Operations(Protocol):
    """Port: what a probe can make of an operation: a narrower, wider or other one, and what it implies."""

    def with_namespace(self, operation: Operation, namespace: str) -> Operation:
        """The operation in another namespace."""
        ...

    def of_its_type(self, operation: Operation) -> Operation:
        """The same done to any object of the type."""
        ...

    def of_its_verb(self, operation: Operation) -> Operation:
        """The same done to anything."""
        ...

    def telling_names(self, operation: Operation) -> tuple[str, ...]:
        """The names by which a text tells what the operation is about."""
        ...

    def takes_along(self, operation: Operation, entry: Mapping[str, Any]) -> bool:
        """Whether it is done to a declared object too, or to the place that the object is in."""
        ...

    def destroys(self, goal: Operation, scope: Collection[str], kinds: Collection[str]) -> bool:
        """Whether a goal of a scenario in `scope` would take other objects of the `kinds` there with it."""
        ...

    def equally_final(self, operation: Operation) -> Operation | None:
        """Another operation on the same object after which as little is left; None where there is none."""
        ...

    def proofs(self, step: Operation) -> tuple[Operation, ...]:
        """Operations each of which shows that a step of a task was taken, the step itself first."""
        ...

    def sets_amount(self, operation: Operation) -> bool:
        """Whether it is about how much or how many of something there is to be."""
        ...

    def look_at(self, entry: Entry) -> str:
        """The operation that reads a declared object."""
        ...


class Terms(Protocol):
    """Port: the words of a domain's documents."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Its types, verbs and operations."""
        ...

    @property
    def words(self) -> frozenset[str]:
        """The vocabulary's own: as a name they stay as they are, because prose could not tell name and word apart."""
        ...

    @property
    def parsed(self) -> Callable[[str], Operation | None]:
        """Reads the operation that a text is; None for an entry in words, whose readings stand beside it."""
        ...

    @property
    def naming(self) -> Naming:
        """Where documents name things."""
        ...

    @property
    def operations(self) -> Operations:
        """What documents ask for and forbid."""
        ...


class Mutation(Protocol):
    """Port: what it takes to make another scenario of one; the engine narrows it to a `Kit`."""

    @property
    def terms(self) -> Terms:
        """The words of its documents."""
        ...
