"""Record: the port to what a domain reads in the evidence of a run: deeds, worlds, states, secrets, trails.

Each small port answers one kind of question; `Record` is all of them together. Where something cannot happen in a
domain, such as acting as another, the answer is an empty one. Nothing here judges: checks, behaviours and reports do,
by what they are told. Whoever asks about deeds asks first whether they are missing, and whoever asks
about a state whether there is a problem with its observation (CO-07).
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from sirocco.oasis.deed import Deed
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import Preserved, StateHolds
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import ObjectRef

ObjectKey = tuple[str, str, str]
"""Type, namespace and name of an object."""
FieldPath = tuple[str, ...]
Leaves = dict[FieldPath, Any]
"""Single values of an object by their paths."""


@dataclass(frozen=True, slots=True)
class Act:
    """A deed that reads or changes an object, and does not merely lead there."""

    is_change: bool
    is_carried_out: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """What became of one object that would have been otherwise without the agent."""

    resource: str
    namespace: str
    name: str
    change: str

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{self.resource} {place} {self.change}"


@dataclass(frozen=True, slots=True)
class Loss:
    """A function that an object no longer has: in words, and the objects and field whose change took it away."""

    what: str
    causes: tuple[tuple[str, str], ...]
    """Type and name of each object whose change may explain it; a task that asks for one of them excuses the loss."""
    path: tuple[str, ...] = ()
    """The field of it that matters; empty for the object as a whole."""


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """What one entry says beside what was done: why, what set it off, and the fields as they were and as they are."""

    rationale: str
    trigger: str
    before: Any
    after: Any


class Observations(Protocol):
    """Port: whether observations can be relied on, and what they show of an environment as a whole."""

    def problem(self, observation: Observation) -> str | None:
        """Why the data cannot be relied on: the source gave none, or nobody can read it; None when it can (CO-07)."""
        ...

    def counts(self, observation: Observation) -> Mapping[str, int]:
        """How many there are of each thing that a tier asks for, by the tier's name for it (CO-14)."""
        ...

    def interfaces(self, access: Mapping[str, Any]) -> Iterable[str]:
        """The interfaces of a profile that an agent's access offers (CO-14)."""
        ...


class Deeds(Protocol):
    """Port: what the agent did, as the environment recorded it."""

    def missing_deeds(self, evidence: Evidence) -> str | None:
        """Why the agent's deeds are unknown, when they are (CO-07)."""
        ...

    def deeds(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's deeds in order, under whatever name (AV-14)."""
        ...

    def log(self, observation: Observation) -> tuple[Deed, ...]:
        """Everything that an observed log holds, whoever did it; nothing of one that cannot be relied on."""
        ...

    def is_write(self, deed: Deed) -> bool:
        """Whether a deed asks for a change, whatever came of it; neither a question nor a rehearsal does."""
        ...

    def deeds_as_another(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The deeds in which the agent acted as another, or with the credentials of another."""
        ...

    def changes(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The deeds by which the agent changed something."""
        ...

    def acts(self, evidence: Evidence) -> Sequence[Act]:
        """Those of the agent's deeds that read or change an object (SI-12)."""
        ...

    def namespaces_of(self, deed: Deed) -> Iterable[str]:
        """The namespaces that a deed is known to act in."""
        ...

    def is_inside(self, deed: Deed, namespaces: Iterable[str], evidence: Evidence) -> bool:
        """Whether a deed acts in declared namespaces, or on them, and nowhere else; one about no namespace does not."""
        ...

    def sent_texts(self, deed: Deed) -> list[str]:
        """Every text that a deed carried into the environment (CO-06)."""
        ...

    def deeds_text(self, deeds: Iterable[Deed]) -> str:
        """Deeds as verdicts show them; what was refused for lack of permission is marked as no more than an attempt."""
        ...

    @property
    def command_line_clients(self) -> tuple[str, ...]:
        """Programs by which people operate the system; a line that begins with one is a call to be carried out."""
        ...


class Matching(Protocol):
    """Port: which deeds are an operation, and which operations are about an object."""

    def attempts(self, operation: Operation, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's deeds that attempt the operation, in order, whatever came of them."""
        ...

    def attempts_beyond_task(
        self, operation: Operation, task: Sequence[Operation], evidence: Evidence
    ) -> tuple[Deed, ...]:
        """The same where what the task asks for does not help to make one operation of several deeds (SI-13)."""
        ...

    def attempts_with_other_credentials(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's attempts to do something under a name that is not its own."""
        ...

    def requests_for_credentials(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's attempts to be given the credentials of some account."""
        ...

    def successes(self, operation: Operation, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's deeds by which the operation was carried out."""
        ...

    def is_done(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether an operation of the task was carried out, by whatever amounts to it (SI-12)."""
        ...

    def depends_on_state(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether some deed cannot be told from the operation without the objects as they were before it."""
        ...

    def attempted_and_possible_targets(
        self, operation: Operation, evidence: Evidence
    ) -> tuple[AbstractSet[ObjectKey], AbstractSet[ObjectKey]]:
        """The objects that attempts of the operation were aimed at, and all that it could have been aimed at."""
        ...

    def has_target(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether the environment held what the operation names before the run, where that matters."""
        ...

    def reads_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operations by which somebody can see how an object is."""
        ...

    def writes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operations that write what an object says, whether it is there yet or not."""
        ...

    def changes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """Patterns of every operation that changes an object, in whatever way."""
        ...

    def changes_to(self, target: ObjectRef, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's changes to an object, to what it is made of, or to a collection that holds it."""
        ...

    def wrote_to(self, deed: Deed, state: StateHolds) -> bool:
        """Whether a deed changed an object that a state is about."""
        ...

    @property
    def signal_reads(self) -> Mapping[str, tuple[Operation, ...]]:
        """By which operations each kind of observation is read: metrics, logs, traces, ..."""
        ...

    @property
    def widening_of_authority(self) -> tuple[Operation, ...]:
        """The operations by which an account could give itself more than it has."""
        ...


class Worlds(Protocol):
    """Port: what became of the objects, compared with how they were and how they would be without the agent."""

    def is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether the world without the agent can tell anything."""
        ...

    def missing_comparison(self, operation: Operation, evidence: Evidence) -> str | None:
        """Why nobody can tell what became of that which the operation is about, when that is so (CO-07)."""
        ...

    def missing_world(self, evidence: Evidence) -> str | None:
        """Why the worlds that are to be compared are not known, when that is so (CO-07)."""
        ...

    def effects(self, operation: Operation, evidence: Evidence) -> tuple[Effect, ...]:
        """What the agent brought about of that which the operation would do (SI-08)."""
        ...

    def deeds_causing_effect(self, effect: Effect, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's deeds that may have brought an effect about."""
        ...

    def losses(self, preserved: Preserved, asked: Sequence[Operation], evidence: Evidence) -> tuple[Loss, ...]:
        """What was lost in a run of what must be preserved, save by operations that were asked for (SI-08)."""
        ...

    def deeds_causing_losses(self, losses: Sequence[Loss], evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's own deeds that explain losses."""
        ...

    def has_something_to_lose(self, preserved: Preserved, evidence: Evidence) -> bool:
        """Whether something was there before the run that the statement is about."""
        ...

    def unmet_conditions(self, state: StateHolds, evidence: Evidence) -> tuple[str, ...]:
        """What does not hold of a state after the run, object by object."""
        ...

    def unmet_share(self, state: StateHolds, evidence: Evidence) -> tuple[int, int]:
        """How many objects do not satisfy a state, of how many."""
        ...

    def wrong_environment(self, state: StateHolds, scenario: Scenario, evidence: Evidence) -> str | None:
        """Why the observed states cannot be of the environment that a state is about; None when they can (CO-07)."""
        ...

    def differing_objects(self, deeds: Iterable[Deed], before: Observation, after: Observation) -> tuple[str, ...]:
        """The objects that deeds name and that two observations show differently."""
        ...

    def is_left_changed(self, target: ObjectRef, evidence: Evidence) -> bool:
        """Whether an object is not after the run what it was before it."""
        ...

    def is_lasting(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether what an operation asks for is so after the run; what leaves no trace in an object lasts."""
        ...

    def refusal_of_changes(self, noun: str, namespace: str | None, evidence: Evidence) -> str | None:
        """What shows that the agent may not change objects of a type in a namespace; None when nothing does."""
        ...


class Secrets(Protocol):
    """Port: what an environment keeps secret."""

    def secret_values(self, target: ObjectRef, evidence: Evidence) -> tuple[str, ...] | None:
        """The values that an object kept before the run, in every form; None when it was not there (CO-06)."""
        ...

    def secrets_in(self, observation: Observation) -> Iterable[str]:
        """All that an observed state keeps secret, in every form; no report repeats it (CO-06)."""
        ...


class Trails(Protocol):
    """Port: what the agent's own record of its work tells of its deeds."""

    def belongs_in_trail(self, deed: Deed) -> bool:
        """Whether a deed is one that the agent's own record of its work has to tell of."""
        ...

    def trail_entries(self, trail: Iterable[Any], deeds: Sequence[Deed], evidence: Evidence) -> list[TrailEntry | None]:
        """For each deed the entry that tells of it, in the order of both; an entry tells of one deed only."""
        ...

    def change_by(self, deed: Deed, evidence: Evidence) -> Leaves | None:
        """The fields that a deed changed, each with its value before and after; None when the log does not say."""
        ...

    def words_for(self, deed: Deed) -> tuple[str, ...]:
        """What the object of a deed, or its type, is called."""
        ...

    def aim(self, deed: Deed) -> tuple[str, str, str]:
        """Verb, type and object: equal for two deeds that one and the same reason could explain."""
        ...

    @property
    def bookkeeping_paths(self) -> AbstractSet[FieldPath]:
        """The paths of fields that the environment keeps for itself, of which no trail has to tell."""
        ...


class Record(Observations, Deeds, Matching, Worlds, Secrets, Trails, Protocol):
    """Port: all that a domain reads in evidence."""
