"""The reading of Kubernetes evidence, in the form that the standard's layers ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sirocco.domains.kubernetes.evaluation import (
    acts,
    calls,
    effects,
    extent,
    hits,
    observed,
    operations,
    outcome,
    secrets,
    sent,
    state,
    targets,
    trail,
)
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.preservation import comparison
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot
from sirocco.domains.kubernetes.operation import Operation, Verb, own_operation
from sirocco.oasis import operation as neutral
from sirocco.oasis.deed import Deed
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.predicate import Preserved, StateHolds
from sirocco.oasis.record import Act, Effect, FieldPath, Leaves, Loss, ObjectKey, TrailEntry
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.slot import ObjectRef


class KubernetesRecord:
    """Audit logs of an API server, and the objects of a cluster."""

    command_line_clients = acts.COMMAND_LINE_CLIENTS
    signal_reads: Mapping[str, tuple[neutral.Operation, ...]] = targets.SIGNAL_READS
    widening_of_authority: tuple[neutral.Operation, ...] = targets.widening_of_authority()
    bookkeeping_paths: AbstractSet[FieldPath] = trail.KEPT_BY_THE_SERVER

    # Observations

    def problem(self, observation: Observation) -> str | None:
        """Why the data cannot be relied on; None when it can (CO-07)."""
        return observed.problem(observation)

    def counts(self, observation: Observation) -> Mapping[str, int]:
        """The counts of a cluster (CO-14)."""
        return extent.cluster_counts(observation)

    def interfaces(self, access: Mapping[str, Any]) -> Iterator[str]:
        """The interfaces of a profile that an agent's access offers (CO-14)."""
        return extent.interfaces(access)

    # Deeds

    def missing_deeds(self, evidence: Evidence) -> str | None:
        """Why the agent's calls are unknown, if they are (CO-07)."""
        return calls.missing_calls(evidence)

    def deeds(self, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls in order."""
        return calls.agent_calls(evidence)

    def log(self, observation: Observation) -> tuple[AuditEntry, ...]:
        """Every call in an observed audit log."""
        return observed.entries(observation)

    def is_write(self, deed: Deed) -> bool:
        """Whether a call asks for a change; neither a question nor a dry run does."""
        return calls.is_write(own_deed(deed))

    def deeds_as_another(self, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The calls in which the agent acted as another."""
        return calls.foreign_identity_calls(evidence)

    def changes(self, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The calls by which the agent changed something."""
        return calls.changes(evidence)

    def acts(self, evidence: Evidence) -> Sequence[Act]:
        """Those of the agent's calls that read or change an object (SI-12)."""
        return acts.acts_in(calls.agent_calls(evidence))

    def namespaces_of(self, deed: Deed) -> Iterator[str]:
        """The namespaces that a call is known to act in."""
        return calls.places_of(own_deed(deed))

    def is_inside(self, deed: Deed, namespaces: Iterable[str], evidence: Evidence) -> bool:
        """Whether a call acts in or on one of the declared namespaces; a cluster-wide call does not."""
        return targets.is_inside(own_deed(deed), namespaces, evidence)

    def sent_texts(self, deed: Deed) -> list[str]:
        """Every text that a call carried (CO-06)."""
        return sent.sent_texts(own_deed(deed))

    def deeds_text(self, deeds: Iterable[Deed]) -> str:
        """Calls as verdicts show them."""
        return calls.calls_text(map(own_deed, deeds))

    # Matching

    def attempts(self, operation: neutral.Operation, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls that attempt the operation."""
        return operations.matching_calls(own_operation(operation), evidence)

    def attempts_beyond_task(
        self, operation: neutral.Operation, task: Sequence[neutral.Operation], evidence: Evidence
    ) -> tuple[AuditEntry, ...]:
        """The same without help from what the task asks for in combining several calls into one operation (SI-13)."""
        return operations.calls_beyond_task(own_operation(operation), map(own_operation, task), evidence)

    def attempts_with_other_credentials(self, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's attempts to do something under a name that is not its own."""
        return operations.calls_with_other_credentials(evidence)

    def requests_for_credentials(self, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's requests for a token of some account."""
        return targets.requests_for_tokens(evidence)

    def successes(self, operation: neutral.Operation, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls by which the operation was carried out."""
        return operations.successful_calls(own_operation(operation), evidence)

    def is_done(self, operation: neutral.Operation, evidence: Evidence) -> bool:
        """Whether an operation of the task was carried out (SI-12)."""
        return operations.is_done(own_operation(operation), evidence)

    def depends_on_state(self, operation: neutral.Operation, evidence: Evidence) -> bool:
        """Whether recognizing the operation in some call requires the objects as they were before it."""
        return operations.depends_on_state(own_operation(operation), evidence)

    def attempted_and_possible_targets(
        self, operation: neutral.Operation, evidence: Evidence
    ) -> tuple[AbstractSet[ObjectKey], AbstractSet[ObjectKey]]:
        """The objects that attempts of the operation were aimed at, and all that it could have been aimed at."""
        return operations.affected_objects(own_operation(operation), evidence)

    def has_target(self, operation: neutral.Operation, evidence: Evidence) -> bool:
        """Whether the cluster held what the operation names before the run, where that matters."""
        return operations.has_target(own_operation(operation), evidence)

    def reads_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operations that show the state of an object."""
        return targets.reads_of(target)

    def writes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """The operation that brings an object into the desired state, whether it exists yet or not."""
        return (Operation(Verb.APPLY, target.noun, target.name, target.namespace),)

    def changes_of(self, target: ObjectRef) -> tuple[Operation, ...]:
        """Every operation that changes an object."""
        return targets.changes_of(target)

    def changes_to(self, target: ObjectRef, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's changes to an object, to its pods, or to a collection that holds it."""
        return targets.changes_to(target, evidence)

    def wrote_to(self, deed: Deed, state: StateHolds) -> bool:
        """Whether a call changed an object that a state is about."""
        return targets.wrote_to(own_deed(deed), state)

    # Worlds

    def is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether a comparison with the cluster without the agent can show anything."""
        return effects.is_worth_comparing(evidence)

    def missing_comparison(self, operation: neutral.Operation, evidence: Evidence) -> str | None:
        """Why the effects on the operation's objects are unknown, if they are (CO-07)."""
        return effects.missing_comparison(own_operation(operation), evidence)

    def missing_world(self, evidence: Evidence) -> str | None:
        """Why the worlds to compare are not known, if they are not (CO-07)."""
        return effects.missing_world(evidence)

    def effects(self, operation: neutral.Operation, evidence: Evidence) -> tuple[Effect, ...]:
        """Those effects of the operation that the agent brought about (SI-08)."""
        return effects.effects(own_operation(operation), evidence)

    def deeds_causing_effect(self, effect: Effect, evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's calls that may have caused an effect."""
        return effects.responsible_calls(effect, evidence)

    def losses(self, preserved: Preserved, asked: Sequence[neutral.Operation], evidence: Evidence) -> tuple[Loss, ...]:
        """What a run lost of what must be preserved, except by operations that were asked for (SI-08)."""
        return comparison.preservation_losses(preserved, tuple(map(own_operation, asked)), evidence)

    def deeds_causing_losses(self, losses: Sequence[Loss], evidence: Evidence) -> tuple[AuditEntry, ...]:
        """The agent's own writes that explain losses."""
        return comparison.causing_calls(losses, evidence)

    def has_something_to_lose(self, preserved: Preserved, evidence: Evidence) -> bool:
        """Whether something that the statement is about existed before the run."""
        before = Snapshot.from_observations(evidence.state_before)
        return comparison.has_something_to_lose(preserved, before, evidence.resolved_namespaces)

    def unmet_conditions(self, state: StateHolds, evidence: Evidence) -> tuple[str, ...]:
        """The conditions of a state that do not hold after the run, object by object."""
        return _STATE.unmet_conditions(state, evidence)

    def unmet_share(self, state: StateHolds, evidence: Evidence) -> tuple[int, int]:
        """How many objects do not satisfy a state, out of how many."""
        return _STATE.unmet_share(state, evidence)

    def wrong_environment(self, state: StateHolds, scenario: Scenario, evidence: Evidence) -> str | None:
        """Why the observed states cannot be of the cluster that a state is about; None when they can (CO-07)."""
        return _STATE.foreign_state_cause(state, scenario, evidence)

    def differing_objects(self, deeds: Iterable[Deed], before: Observation, after: Observation) -> tuple[str, ...]:
        """The objects that calls name and that differ between two observations."""
        return outcome.differing_objects(map(own_deed, deeds), before, after)

    def is_left_changed(self, target: ObjectRef, evidence: Evidence) -> bool:
        """Whether an object differs after the run from what it was before it."""
        return outcome.is_left_changed(target, evidence)

    def is_lasting(self, operation: neutral.Operation, evidence: Evidence) -> bool:
        """Whether the operation's result holds after the run."""
        return outcome.lasts(own_operation(operation), evidence)

    def refusal_of_changes(self, noun: str, namespace: str | None, evidence: Evidence) -> str | None:
        """Evidence that the agent may not change objects of a type in a namespace; None if there is none."""
        return operations.refused_change(noun, namespace, evidence)

    # Secrets

    def secret_values(self, target: ObjectRef, evidence: Evidence) -> tuple[str, ...] | None:
        """The values that secrets kept before the run, in both forms; None if there were none (CO-06)."""
        return secrets.secret_values(target, evidence)

    def secrets_in(self, observation: Observation) -> Iterator[str]:
        """Everything that the secrets of an observed state hold, in both forms (CO-06)."""
        return secrets.secrets_in(observation)

    # Trails

    def belongs_in_trail(self, deed: Deed) -> bool:
        """Whether a trail has to report a call; discovery and access reviews need no entry."""
        return hits.acts(own_deed(deed))

    def trail_entries(self, trail: Iterable[Any], deeds: Sequence[Deed], evidence: Evidence) -> list[TrailEntry | None]:
        """For each call the entry that reports it."""
        return _TRAIL.entries_by_call(trail, [own_deed(deed) for deed in deeds], hits.Record.from_evidence(evidence))

    def change_by(self, deed: Deed, evidence: Evidence) -> Leaves | None:
        """The fields that a call changed, each with its value before and after; None when the log holds no bodies."""
        return trail.change_of(own_deed(deed), hits.Record.from_evidence(evidence))

    def words_for(self, deed: Deed) -> tuple[str, ...]:
        """The names of a call's object, or of its type."""
        return trail.words_for(own_deed(deed))

    def aim(self, deed: Deed) -> tuple[str, str, str]:
        """Verb, type and object of a call."""
        return (deed.verb, deed.resource, calls.target_name(own_deed(deed)))


_STATE, _TRAIL = state, trail
"""The modules, under names that no parameter hides."""


def own_deed(deed: Deed) -> AuditEntry:
    """A deed received through the standard's layers, which must be an entry of an audit log."""
    if not isinstance(deed, AuditEntry):
        raise TypeError(f"{deed} is not a call to a cluster")
    return deed
