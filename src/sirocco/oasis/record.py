"""Record: the port to what a domain reads in the evidence of a run: actions, effects, states, secrets, trails.

Each small port answers one kind of question; `Record` combines them all. Where something cannot happen in a domain,
such as impersonation, the answer is empty. Nothing here judges: checks, behaviours and reports do, based on the
answers. Callers first ask whether actions are missing before asking about them, and whether there is a problem with an
observation before asking about a state (CO-07).
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
"""The single values of an object, by their paths."""


@dataclass(frozen=True, slots=True)
class Act:
    """A deed that reads or changes an object, as opposed to a preliminary such as discovery."""

    is_change: bool
    is_carried_out: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """What became of one object and would have been different without the agent."""

    resource: str
    namespace: str
    name: str
    change: str

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{self.resource} {place} {self.change}"


@dataclass(frozen=True, slots=True)
class Loss:
    """A function that an object has lost: in words, and the objects and field whose change took it away."""

    what: str
    causes: tuple[tuple[str, str], ...]
    """Type and name of each object whose change may explain it; a task that asks for one of them excuses the loss."""
    path: tuple[str, ...] = ()
    """The field of it that matters; empty for the object as a whole."""


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """What one trail entry says besides the action: the reason, the trigger, and the fields before and after."""

    rationale: str
    trigger: str
    before: Any
    after: Any


class Observations(Protocol):
    """Port: whether observations can be relied on, and what they show of an environment as a whole."""

    def problem(self, observation: Observation) -> str | None:
        """Why the data cannot be relied on: the source returned none, or it is unreadable; None if it can (CO-07)."""
        ...

    def counts(self, observation: Observation) -> Mapping[str, int]:
        """The number of each thing that a tier counts, by the tier's name for it (CO-14)."""
        ...

    def interfaces(self, access: Mapping[str, Any]) -> Iterable[str]:
        """The interfaces of a profile that an agent's access offers (CO-14)."""
        ...


class Deeds(Protocol):
    """Port: what the agent did, as the environment recorded it."""

    def missing_deeds(self, evidence: Evidence) -> str | None:
        """Why the agent's actions are unknown, if they are (CO-07)."""
        ...

    def deeds(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's actions in order, under whatever identity (AV-14)."""
        ...

    def log(self, observation: Observation) -> tuple[Deed, ...]:
        """Every entry of an observed log, of any principal; none if the log cannot be relied on."""
        ...

    def is_write(self, deed: Deed) -> bool:
        """Whether an action requests a change, whatever the outcome; queries and dry runs do not."""
        ...

    def deeds_as_another(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The actions in which the agent impersonated another, or used another's credentials."""
        ...

    def changes(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The actions by which the agent changed something."""
        ...

    def acts(self, evidence: Evidence) -> Sequence[Act]:
        """The agent's actions that read or change an object (SI-12)."""
        ...

    def namespaces_of(self, deed: Deed) -> Iterable[str]:
        """The namespaces that an action is known to act in."""
        ...

    def is_inside(self, deed: Deed, namespaces: Iterable[str], evidence: Evidence) -> bool:
        """Whether an action acts in, or on, declared namespaces only; false for one that concerns no namespace."""
        ...

    def sent_texts(self, deed: Deed) -> list[str]:
        """Every text that an action sent into the environment (CO-06)."""
        ...

    def deeds_text(self, deeds: Iterable[Deed]) -> str:
        """Actions as verdicts show them; those refused for lack of permission are marked as mere attempts."""
        ...

    @property
    def command_line_clients(self) -> tuple[str, ...]:
        """Programs by which people operate the system.

        A line that begins with one is a call meant to be carried out.
        """
        ...


class Matching(Protocol):
    """Port: which actions amount to an operation, and which operations concern an object."""

    def attempts(self, operation: Operation, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's actions that attempt the operation, in order, whatever the outcome."""
        ...

    def attempts_beyond_task(
        self, operation: Operation, task: Sequence[Operation], evidence: Evidence
    ) -> tuple[Deed, ...]:
        """The attempts, where actions that the task asks for are not combined with others into an operation (SI-13)."""
        ...

    def attempts_with_other_credentials(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's attempts to act under another's name."""
        ...

    def requests_for_credentials(self, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's attempts to obtain the credentials of an account."""
        ...

    def successes(self, operation: Operation, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's actions that carried the operation out."""
        ...

    def is_done(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether an operation of the task was carried out, by any equivalent means (SI-12)."""
        ...

    def depends_on_state(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether recognizing the operation in some action requires the objects as they were before it."""
        ...

    def attempted_and_possible_targets(
        self, operation: Operation, evidence: Evidence
    ) -> tuple[AbstractSet[ObjectKey], AbstractSet[ObjectKey]]:
        """The objects that attempts of the operation targeted, and all that it could have targeted."""
        ...

    def has_target(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether the environment contained the operation's target before the run, if that matters."""
        ...

    def reads_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operations that show the state of an object."""
        ...

    def writes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operations that write an object, whether or not it exists yet."""
        ...

    def changes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """Patterns that cover every operation that changes an object, in whatever way."""
        ...

    def changes_to(self, target: ObjectRef, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's changes to an object, to its parts, or to a collection that contains it."""
        ...

    def wrote_to(self, deed: Deed, state: StateHolds) -> bool:
        """Whether an action changed an object that a state assertion is about."""
        ...

    @property
    def signal_reads(self) -> Mapping[str, tuple[Operation, ...]]:
        """The operations that read each kind of observation: metrics, logs, traces, ..."""
        ...

    @property
    def widening_of_authority(self) -> tuple[Operation, ...]:
        """The operations by which an account could extend its own permissions."""
        ...


class Worlds(Protocol):
    """Port: what became of the objects, compared with before the run and with an environment without the agent."""

    def is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether the environment without the agent can add anything."""
        ...

    def missing_comparison(self, operation: Operation, evidence: Evidence) -> str | None:
        """Why the fate of an operation's target is unknown, if it is (CO-07)."""
        ...

    def missing_world(self, evidence: Evidence) -> str | None:
        """Why the states to compare are not known, if they are not (CO-07)."""
        ...

    def effects(self, operation: Operation, evidence: Evidence) -> tuple[Effect, ...]:
        """The effects of the agent that match what the operation would do (SI-08)."""
        ...

    def deeds_causing_effect(self, effect: Effect, evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's actions that may have caused an effect."""
        ...

    def losses(self, preserved: Preserved, asked: Sequence[Operation], evidence: Evidence) -> tuple[Loss, ...]:
        """The losses in a run among what must be preserved, except through requested operations (SI-08)."""
        ...

    def deeds_causing_losses(self, losses: Sequence[Loss], evidence: Evidence) -> tuple[Deed, ...]:
        """The agent's own actions that explain losses."""
        ...

    def has_something_to_lose(self, preserved: Preserved, evidence: Evidence) -> bool:
        """Whether anything that the predicate is about existed before the run."""
        ...

    def unmet_conditions(self, state: StateHolds, evidence: Evidence) -> tuple[str, ...]:
        """The unmet conditions of a state after the run, object by object."""
        ...

    def unmet_share(self, state: StateHolds, evidence: Evidence) -> tuple[int, int]:
        """How many objects do not satisfy a state, out of how many."""
        ...

    def wrong_environment(self, state: StateHolds, scenario: Scenario, evidence: Evidence) -> str | None:
        """Why the observed states cannot belong to the environment that a state is about; None if they can (CO-07)."""
        ...

    def differing_objects(self, deeds: Iterable[Deed], before: Observation, after: Observation) -> tuple[str, ...]:
        """The objects named by actions that differ between two observations."""
        ...

    def is_left_changed(self, target: ObjectRef, evidence: Evidence) -> bool:
        """Whether an object differs after the run from what it was before."""
        ...

    def is_lasting(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether the effect of an operation still holds after the run.

        Always true if it leaves no trace in an object.
        """
        ...

    def refusal_of_changes(self, noun: str, namespace: str | None, evidence: Evidence) -> str | None:
        """Evidence that the agent may not change objects of a type in a namespace; None if there is none."""
        ...


class Secrets(Protocol):
    """Port: the confidential values of an environment."""

    def secret_values(self, target: ObjectRef, evidence: Evidence) -> tuple[str, ...] | None:
        """The values that an object contained before the run, in every form; None if it did not exist (CO-06)."""
        ...

    def secrets_in(self, observation: Observation) -> Iterable[str]:
        """Every confidential value in an observed state, in every form; no report repeats them (CO-06)."""
        ...


class Trails(Protocol):
    """Port: what the agent's own record of its work says about its actions."""

    def belongs_in_trail(self, deed: Deed) -> bool:
        """Whether the agent's own record of its work has to mention an action."""
        ...

    def trail_entries(self, trail: Iterable[Any], deeds: Sequence[Deed], evidence: Evidence) -> list[TrailEntry | None]:
        """For each action the entry that describes it, in the order of both; an entry describes only one action."""
        ...

    def change_by(self, deed: Deed, evidence: Evidence) -> Leaves | None:
        """The fields that an action changed, each with its value before and after; None if the log does not say."""
        ...

    def words_for(self, deed: Deed) -> tuple[str, ...]:
        """The words for an action's object or its type."""
        ...

    def aim(self, deed: Deed) -> tuple[str, str, str]:
        """Verb, type and object: equal for two actions that the same reason could explain."""
        ...

    @property
    def bookkeeping_paths(self) -> AbstractSet[FieldPath]:
        """The paths of fields that the environment maintains for itself and that a trail need not mention."""
        ...


class Record(Observations, Deeds, Matching, Worlds, Secrets, Trails, Protocol):
    """Port: everything that a domain reads in evidence."""
