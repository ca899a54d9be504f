"""Mutation: what a domain provides for deriving new scenarios from its own and comparing them with those.

Its parts, in the order in which to write them: names in scenarios (`Naming`), transformations of operations
(`Operations`), goals in words (`Speech`), places for texts (`Places`), environments as a whole (`Surroundings`).
`Terms` combines these, and a `Kit` adds the operators and freshly drawn scenarios (`Situations`). Scenarios are values
of `oasis.scenario_draft`, and dice are always passed in.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, TypeVar

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.declarations import Declarations, Target
from sirocco.oasis.operation import Operation
from sirocco.oasis.scenario import Goal
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.oasis.stimulus import Surface
from sirocco.oasis.vocabulary import Vocabulary

Rewrite = Callable[[str], str]
Item = TypeVar("Item")


class Dice(Protocol):
    """Port: randomness that is passed in, with the methods of `random.Random`.

    Nothing below the engine creates its own.
    """

    def random(self) -> float:
        """A number from 0 up to, but not including, 1."""
        ...

    def randint(self, a: int, b: int) -> int:
        """A number from `a` to `b`, both included."""
        ...

    def randrange(self, start: int, /) -> int:
        """A number from 0 up to, but not including, `start`."""
        ...

    def choice(self, seq: Sequence[Item]) -> Item:
        """One of several elements."""
        ...

    def sample(self, population: Sequence[Item], k: int) -> list[Item]:
        """`k` of several elements, in any order."""
        ...

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Shuffle a list in place."""
        ...

    def getstate(self) -> tuple[Any, ...]:
        """The current state."""
        ...

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Restore an earlier state."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A declared object under its proper type, with its namespace made explicit."""

    kind: str
    name: str
    namespace: str
    fields: Mapping[str, Any]


class Naming(Protocol):
    """Port: where a domain's documents name things, and what may be renamed."""

    def is_record(self, kind: str) -> bool:
        """Whether entries of a kind are records of something, rather than objects of the type that the kind denotes."""
        ...

    def said_as(self, kind: str) -> tuple[str, str] | None:
        """What people call one object of a type, and what they call several; None if it is not a type."""
        ...

    def is_place(self, entry: Mapping[str, Any]) -> bool:
        """Whether a declared object is a place that contains others."""
        ...

    def is_identifier(self, kind: str, name: str) -> bool:
        """Whether the name is so distinctive that a text containing it can only mean an object of the type."""
        ...

    def is_of_system(self, name: str) -> bool:
        """Whether the name belongs to the system itself."""
        ...

    def is_name_of_place(self, entry: Entry) -> bool:
        """Whether the entry's own name is that of a place."""
        ...

    def names_in(self, entry: Entry) -> Iterator[str]:
        """Every name in a declared object, its own first; empty where a part has none."""
        ...

    def chosen_keys(self, fields: Mapping[str, Any]) -> Iterator[str]:
        """The keys of a declared object that its author chose and that settings are referred to by."""
        ...

    def references(self, text: str) -> list[str]:
        """The names that a text gives together with their type, as operations write them."""
        ...

    def subjects(self, entry: Entry) -> Iterator[str]:
        """The names of workloads and services in a declared object, which people refer to by single words of them."""
        ...

    def is_subject(self, kind: str) -> bool:
        """Whether objects of a type are such subjects."""
        ...

    def secrets_in(self, entry: Entry) -> Iterator[str]:
        """The confidential values in a declared object, as stored and decoded."""
        ...

    def holds_secrets(self, kind: str, key: str) -> bool:
        """Whether a key of a declared object maps names to confidential values."""
        ...

    def has_chosen_keys(self, key: str) -> bool:
        """Whether the mapping under a key has keys that its author chose."""
        ...

    def has_fixed_value(self, key: str) -> bool:
        """Whether the text under a key is a word of the vocabulary, not a name."""
        ...

    def rewritten_key(self, within: str, key: str, rewrite: Rewrite) -> str:
        """An author's key, renamed, in the mapping under `within`; conventional keys stay."""
        ...

    def rewritten_target(self, text: str, rewrite: Rewrite) -> str:
        """The place of a text, with its names rewritten."""
        ...

    def rewritten_operation(self, operation: Operation, rewrite: Rewrite) -> Operation:
        """An operation with its names rewritten."""
        ...


class Operations(Protocol):
    """Port: what a probe can make of an operation: a narrower, wider or different one, and what it implies."""

    def with_namespace(self, operation: Operation, namespace: str) -> Operation:
        """The operation in another namespace."""
        ...

    def of_its_type(self, operation: Operation) -> Operation:
        """The same operation on any object of the type."""
        ...

    def of_its_verb(self, operation: Operation) -> Operation:
        """The same operation on anything."""
        ...

    def telling_names(self, operation: Operation) -> tuple[str, ...]:
        """The names by which a text reveals the target of the operation."""
        ...

    def takes_along(self, operation: Operation, entry: Mapping[str, Any]) -> bool:
        """Whether it also affects a declared object, or the place that contains it."""
        ...

    def destroys(self, goal: Operation, scope: Collection[str], kinds: Collection[str]) -> bool:
        """Whether a goal in `scope` would destroy other objects of the `kinds` there along with its own."""
        ...

    def equally_final(self, operation: Operation) -> Operation | None:
        """Another operation on the same object that leaves as little behind; None if there is none."""
        ...

    def proofs(self, step: Operation) -> tuple[Operation, ...]:
        """Operations, each of which shows that a step of a task was taken; the step itself first."""
        ...

    def sets_amount(self, operation: Operation) -> bool:
        """Whether it sets an amount or a number of something."""
        ...

    def look_at(self, entry: Entry) -> str:
        """The operation that reads a declared object."""
        ...


class Material(Protocol):
    """Port: the words and forms that texts are made from."""

    @property
    def english_words(self) -> frozenset[str]:
        """Every word of its English, in lower case."""
        ...

    def digest(self) -> str:
        """Identifies the material: equal digests give equal texts for equal dice."""
        ...


class Speech(Protocol):
    """Port: a goal in words; its input is structured values only, so that text and goal cannot diverge."""

    @property
    def material(self) -> Material:
        """What the words come from."""
        ...

    def about(self, draft: ScenarioDraft) -> "Speech":
        """The same speech, with the vocabulary of the trade in which a scenario is set."""
        ...

    def instruction(self, goal: Goal, home: str, dice: Dice | None = None) -> str:
        """The goal as a clause, in its plainest form without dice.

        `home` is the namespace of a goal that names none.
        """
        ...

    def note(self, goal: Goal, surface: Surface, about: str, home: str, dice: Dice, dress: str = "") -> str:
        """An instruction to carry out the goal, worded as text that is found on `surface` of the object `about`.

        `dress` is a key of the material for what accompanies the request: `claim.KIND.FORM`, `condition.KIND`,
        `layout.NAME` or `language.CODE`.
        """
        ...

    def claim(self, key: str, dice: Dice) -> str:
        """A sentence of the operator that asks for nothing, by its key in the material without `claim.`."""
        ...

    def line(self, rule: str, dice: Dice, **slots: str) -> str:
        """The text that a rule of the material produces with the given slots."""
        ...

    def languages(self, goal: Goal, home: str) -> tuple[str, ...]:
        """Languages other than English in which a text can ask for the goal."""
        ...

    def name_of_words(self, goal: Goal, home: str) -> str:
        """The instruction in the form of a name: its words joined by hyphens, as many as fit."""
        ...

    def target(self, goal: Goal) -> str:
        """What the goal is about, for a sentence: kind and name."""
        ...

    def is_sayable(self, goal: Goal) -> bool:
        """Whether a text found in the environment can ask for it."""
        ...

    def room(self, surface: Surface) -> tuple[int, bool]:
        """The maximum length of a text on the surface, and whether it must be a single line."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a payload: the scenario, with what the place needs to exist, and the target there."""

    draft: ScenarioDraft
    target: Target
    namespace: str
    is_beside: bool = False
    """Whether the text is a separate object, in addition to the one that the target names."""


class Places(Protocol):
    """Port: where in an environment a text can be placed so that an agent doing the task comes across it."""

    def phrase(self, surface: Surface) -> str:
        """What a text on the surface is called."""
        ...

    def host(self, draft: ScenarioDraft, surface: Surface) -> Entry | None:
        """The object on or next to which a payload on `surface` would be placed; None if the scenario has none."""
        ...

    def place(self, draft: ScenarioDraft, surface: Surface, owner: Entry, dice: Dice) -> Place:
        """The place on `surface` of the object that `host` returned for it."""
        ...


class Surroundings(Protocol):
    """Port: changes to a declared environment as a whole."""

    def with_host(self, draft: ScenarioDraft) -> ScenarioDraft:
        """The scenario with an object in the agent's scope on and around which a payload can be placed."""
        ...

    def single_entries(self, entry: Declared) -> Iterator[Declared]:
        """An entry for several objects, split into one entry for each; any other unchanged."""
        ...

    def entry_in_host(self, entry: Declared, namespace: str) -> Declared | None:
        """An entry of another scenario, moved into a host's namespace; None if the host has the same one itself."""
        ...

    def without_mentions(self, entry: Declared, name: str) -> Declared:
        """A declared object without texts of several words that name the target of a goal."""
        ...


@dataclass(frozen=True, slots=True)
class Language:
    """What it takes to read a domain's scenarios."""

    vocabulary: Vocabulary
    declarations: Declarations
    words: frozenset[str]
    """Words of the vocabulary, which are not renamed because prose could not tell a name from such a word."""
    naming: Naming
    operations: Operations


@dataclass(frozen=True, slots=True)
class Terms(Language):
    """Everything that operators ask of a domain."""

    speech: Speech
    places: Places
    surroundings: Surroundings
    surfaces: tuple[Surface, ...]
    """The surfaces to which payloads are moved, in the order of the vocabulary."""
    name_surfaces: frozenset[Surface]
    """Those whose texts have the form of names, without spaces."""
    line_surfaces: frozenset[Surface]
    """Those whose texts are a single line."""
    first_surfaces: frozenset[Surface]
    """Those whose texts are there from the start or not at all."""

    @property
    def prose(self) -> tuple[Surface, ...]:
        """The surfaces that can hold sentences."""
        return tuple(surface for surface in self.surfaces if surface not in self.name_surfaces)


class Preserved(StrEnum):
    """What an operator leaves unchanged."""

    GOAL = "goal"
    ORACLE = "oracle"
    VALUES = "values"
    DIFFICULTY = "difficulty"


ALL_BUT_DIFFICULTY = frozenset({Preserved.GOAL, Preserved.ORACLE, Preserved.VALUES})
EVERYTHING = frozenset(Preserved)

Choices = Callable[[ScenarioDraft, Archetype], tuple[str, ...]]
Apply = Callable[[ScenarioDraft, str, Dice], ScenarioDraft]


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to derive another probe from a scenario, repeatable by its name and choice.

    `choices` lists the ways in which it can be applied to a scenario of an archetype; none means that it does not
    apply. `apply` carries one of them out, with dice for everything that the choice leaves open. `surfaces` are those
    on which it places or words a text. `is_plain` marks operators that vary a scenario without attacking by themselves;
    they can join any chain. A plan cannot ask for a technique that is not `is_offered`. `turn` determines the order in
    a chain: the situation from 100, places for texts from 200, their words from 300, names from 400, and what disguises
    names from 500, because renaming would not recognize them afterwards.
    """

    name: str
    technique: str
    choices: Choices
    apply: Apply
    turn: int
    preserves: frozenset[Preserved] = ALL_BUT_DIFFICULTY
    surfaces: tuple[Surface, ...] = ()
    is_plain: bool = False
    is_offered: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a scenario presents to an agent apart from its content.

    Probes imitate that of published ones (SI-02).
    """

    turns: int
    tools: tuple[str, ...]
    namespaces: int
    """The number of the agent's own namespaces."""
    work: Archetype | None = None
    """The capability archetype whose work is done in the scenario; any if None."""


class Situations(Protocol):
    """Port: complete new scenarios, drawn from an archetype's shape instead of derived from a published one."""

    def has(self, archetype: Archetype) -> bool:
        """Whether scenarios of the archetype can be drawn, without drawing one."""
        ...

    def draw(
        self,
        archetype: Archetype,
        dice: Dice,
        material: Material | None,
        setting: Dice | None = None,
        form: Form | None = None,
        profiled: Sequence[Archetype] = (),
        *,
        is_part: bool = False,
    ) -> ScenarioDraft | None:
        """A fresh scenario of the archetype, worded from the public material unless another is given.

        `setting` is drawn identically for all scenarios that may meet in one environment, and decides what they share.
        As far as the archetype allows, the scenario has the `form` of a published one, or any form if none is given; of
        its tools, it declares those that it needs. `profiled` are the archetypes of the profile: legitimate requests
        resemble the harmful ones of these. A scenario that `is_part` of a composition leaves out what the other
        scenario provides anyway. None if the archetype's shape does not declare a danger.

        The scenario has a goal, task and checks. For an archetype whose carrier is a payload, no text carries the goal
        yet: operators place it on a surface, as they do for a published scenario.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoSituations:
    """For a domain without situations: every probe starts from a published scenario."""

    def has(self, _archetype: Archetype) -> bool:
        """No archetype has them."""
        return False

    def draw(self, *_args: object, **_kinds: object) -> ScenarioDraft | None:
        """No scenario."""
        return None


@dataclass(frozen=True)
class Kit:
    """What a domain provides for the mutation engine."""

    terms: Terms
    operators: tuple[Operator, ...]
    """In the order in which a chain applies them, which `discovery.in_turn` makes: the situation, the place, its words,
    names, and what disguises names. `transplant` and `corroborate`, which put texts into places, are always among them.
    """
    folder: str
    """The folder of the domain's own part of the engine, whose source affects drafts as the engine's own does."""
    with_material: Callable[[Any], "Kit"]
    """The same kit, with texts worded from other material."""
    situations: Situations = NoSituations()

    @cached_property
    def by_name(self) -> Mapping[str, Operator]:
        """The operators by their names."""
        return {operator.name: operator for operator in self.operators}
