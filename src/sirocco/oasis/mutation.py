"""Mutation: what a domain brings so that other scenarios can be made of its own and compared with them.

Its parts in the order to write them in: names in scenarios (`Naming`), what becomes of operations (`Operations`), goals
in words (`Speech`), places for texts (`Places`), environments as a whole (`Surroundings`); `Terms` puts these together,
and a `Kit` adds the operators, and whole new scenarios (`Situations`). Scenarios are values of `oasis.scenario_draft`,
and dice are always handed in.
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
    """Port: randomness that is handed in, as `random.Random` has it; nothing below the engine makes its own."""

    def random(self) -> float:
        """A number from 0 up to 1."""
        ...

    def randint(self, a: int, b: int) -> int:
        """A number from `a` to `b`, both included."""
        ...

    def randrange(self, start: int, /) -> int:
        """A number from 0 up to `start`."""
        ...

    def choice(self, seq: Sequence[Item]) -> Item:
        """One of several."""
        ...

    def sample(self, population: Sequence[Item], k: int) -> list[Item]:
        """So many of several, in any order."""
        ...

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Put a list into any order."""
        ...

    def getstate(self) -> tuple[Any, ...]:
        """Where the dice stand."""
        ...

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Put the dice back to where they stood."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A declared object under its proper type, with its namespace made explicit."""

    kind: str
    name: str
    namespace: str
    fields: Mapping[str, Any]


class Naming(Protocol):
    """Port: where documents of a domain name things, and what may be called otherwise."""

    def is_record(self, kind: str) -> bool:
        """Whether entries of a kind are records of something, and no objects of the type that the kind stands for."""
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


class Material(Protocol):
    """Port: the words and forms that texts are made from."""

    @property
    def english_words(self) -> frozenset[str]:
        """Every word of its English, in lower case."""
        ...

    def digest(self) -> str:
        """What identifies it: equal digests give equal texts for equal dice."""
        ...


class Speech(Protocol):
    """Port: a goal in words; only structured values go in, so that text and goal cannot drift apart."""

    @property
    def material(self) -> Material:
        """What the words come from."""
        ...

    def about(self, draft: ScenarioDraft) -> "Speech":
        """The same speech, with the words of the business that a scenario is set in."""
        ...

    def instruction(self, goal: Goal, home: str, dice: Dice | None = None) -> str:
        """The goal as a clause, without dice the plainest; `home` is the namespace of a goal without one."""
        ...

    def note(self, goal: Goal, surface: Surface, about: str, home: str, dice: Dice, dress: str = "") -> str:
        """An instruction to do what the goal says, worded as text that is found on `surface` of the object `about`.

        `dress` is a key of the material for what goes with the request: `claim.KIND.FORM`, `condition.KIND`,
        `layout.NAME` or `language.CODE`.
        """
        ...

    def claim(self, key: str, dice: Dice) -> str:
        """A sentence of the operator that asks for nothing, by its key in the material without `claim.`."""
        ...

    def line(self, rule: str, dice: Dice, **slots: str) -> str:
        """What a rule of the material gives, with these slots filled in."""
        ...

    def languages(self, goal: Goal, home: str) -> tuple[str, ...]:
        """Languages beside English in which a text can ask for the goal."""
        ...

    def name_of_words(self, goal: Goal, home: str) -> str:
        """The instruction as a name can hold it: its words with hyphens, as many as there is room for."""
        ...

    def target(self, goal: Goal) -> str:
        """What the goal is about, for a sentence: kind and name."""
        ...

    def is_sayable(self, goal: Goal) -> bool:
        """Whether a text that somebody comes across can ask for it."""
        ...

    def room(self, surface: Surface) -> tuple[int, bool]:
        """How many characters a text on the surface may have, and whether it must be of one line."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a payload can wait: the scenario with what the place needs to exist, and the target there."""

    draft: ScenarioDraft
    target: Target
    namespace: str
    is_beside: bool = False
    """Whether the text is an object of its own, beside the one that the target names."""


class Places(Protocol):
    """Port: where in an environment a text can wait so that whoever does the task comes across it."""

    def phrase(self, surface: Surface) -> str:
        """What a text on the surface is called."""
        ...

    def host(self, draft: ScenarioDraft, surface: Surface) -> Entry | None:
        """The object on or beside which a payload on `surface` would wait; None where the scenario has none."""
        ...

    def place(self, draft: ScenarioDraft, surface: Surface, owner: Entry, dice: Dice) -> Place:
        """The place on `surface` of an object that `host` gave for it."""
        ...


class Surroundings(Protocol):
    """Port: declared environments that change as a whole."""

    def with_host(self, draft: ScenarioDraft) -> ScenarioDraft:
        """The scenario with something in the agent's scope on and around which a payload can wait."""
        ...

    def single_entries(self, entry: Declared) -> Iterator[Declared]:
        """An entry that counts objects as one entry for each of them; any other as it is."""
        ...

    def entry_in_host(self, entry: Declared, namespace: str) -> Declared | None:
        """An entry of another scenario as it stands in a host's namespace; None for one that the host has itself."""
        ...

    def without_mentions(self, entry: Declared, name: str) -> Declared:
        """A declared object without texts of several words that name what a goal is about."""
        ...


@dataclass(frozen=True, slots=True)
class Language:
    """What it takes to read a domain's scenarios."""

    vocabulary: Vocabulary
    declarations: Declarations
    words: frozenset[str]
    """The vocabulary's own: as a name they stay as they are, because prose could not tell name and word apart."""
    naming: Naming
    operations: Operations


@dataclass(frozen=True, slots=True)
class Terms(Language):
    """All that operators ask of a domain."""

    speech: Speech
    places: Places
    surroundings: Surroundings
    surfaces: tuple[Surface, ...]
    """Those that payloads are moved to, in the order of the vocabulary."""
    name_surfaces: frozenset[Surface]
    """Those whose texts are written as names are, without blanks."""
    line_surfaces: frozenset[Surface]
    """Those whose texts are of one line."""
    first_surfaces: frozenset[Surface]
    """Those whose texts are there from the start, or never."""

    @property
    def prose(self) -> tuple[Surface, ...]:
        """Surfaces that can hold sentences."""
        return tuple(surface for surface in self.surfaces if surface not in self.name_surfaces)


class Preserved(StrEnum):
    """What an operator leaves as it was."""

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
    """One way to make another probe of a scenario, repeatable by its name and choice.

    `choices` says in which ways it can be applied to a scenario of an archetype; none means that it does not suit it.
    `apply` makes one of them, with dice for everything that the choice leaves open. `surfaces` are those on which it
    places or words a text. `is_plain` marks what varies a scenario without attacking by itself: it joins any chain.
    What is not `is_offered` is no technique that a plan could ask for. `turn` says when a chain applies it: the
    situation from 100, places for texts from 200, their words from 300, names from 400, and what disguises names from
    500, because a renaming would not reach them there.
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
    """What a scenario shows an agent beside its content: probes take after the published ones in it (SI-02)."""

    turns: int
    tools: tuple[str, ...]
    namespaces: int
    """How many are the agent's own."""
    work: Archetype | None = None
    """The archetype of capability whose work is to be done there; any will do where there is none."""


class Situations(Protocol):
    """Port: whole scenarios that no published one is the base of, drawn from what an archetype's shape says."""

    def has(self, archetype: Archetype) -> bool:
        """Whether scenarios of the archetype can be drawn, told without drawing one."""
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
        """A fresh scenario of the archetype, from the public material unless another is given.

        `setting` falls alike for all scenarios that may meet in one environment, and decides what they share. As far as
        the archetype allows, the scenario has the `form` of a published one, or any where none is given; of its tools
        it names those that it needs.
        `profiled` are the archetypes of the profile: what is asked for rightly looks like what is wrong in theirs.
        One that `is_part` of a composition leaves out what the other scenario brings anyway.
        None where the archetype's shape does not say what the danger is.

        It has goal, task and checks, but no text that carries the goal of an archetype whose carrier is a payload:
        that is put on a surface by the operators, as for a published scenario.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoSituations:
    """A domain without situations: every probe starts from a published scenario."""

    def has(self, _archetype: Archetype) -> bool:
        """Never."""
        return False

    def draw(self, *_args: object, **_kinds: object) -> ScenarioDraft | None:
        """None."""
        return None


@dataclass(frozen=True)
class Kit:
    """What a domain brings for the mutation engine."""

    terms: Terms
    operators: tuple[Operator, ...]
    """In the order in which a chain applies them, which `discovery.in_turn` makes: the situation, the place, its words,
    names, and what disguises names. `transplant` and `corroborate`, which put texts into places, are always among them.
    """
    folder: str
    """Where the domain's own part of the engine lies, whose text decides what a draft says as the engine's does."""
    with_material: Callable[[Any], "Kit"]
    """The same kit, whose texts are worded from other material."""
    situations: Situations = NoSituations()

    @cached_property
    def by_name(self) -> Mapping[str, Operator]:
        """The operators by their names."""
        return {operator.name: operator for operator in self.operators}
