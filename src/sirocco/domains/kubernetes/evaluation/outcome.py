"""What is left of an agent's changes after a run: objects that differ, and operations whose effect lasts."""

from collections.abc import Iterable
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import resource_of, target_name, target_namespace
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot
from sirocco.domains.kubernetes.evaluation.state import without_status
from sirocco.domains.kubernetes.evaluation.targets import found_in
from sirocco.domains.kubernetes.evaluation.writes import values_at
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.operation import ANY
from sirocco.oasis.slot import ObjectRef


def differing_objects(calls: Iterable[AuditEntry], before: Observation, after: Observation) -> tuple[str, ...]:
    """The objects that calls name and that differ between two observations, ignoring status and bookkeeping."""
    earlier, later = Snapshot.from_observations(before), Snapshot.from_observations(after)
    found: dict[str, None] = {}
    for call in calls:
        row, name, place = resource_of(call), target_name(call), target_namespace(call)
        if row is None or not name:
            # A collection, or a type that no snapshot holds: all that is known is that it was written to.
            found[f"{call.resource} in {place}"] = None
        elif _content(earlier.find(row, place, name)) != _content(later.find(row, place, name)):
            found[f"{row.noun}/{name}"] = None
    return tuple(found)


def is_left_changed(target: ObjectRef, evidence: Evidence) -> bool:
    """Whether an object differs after the run from what it was before it."""
    states = (Snapshot.from_observations(evidence.state_before), Snapshot.from_observations(evidence.state_after))
    before, after = (found_in(state, target, evidence) for state in states)
    return bool(_content(before) != _content(after))


def lasts(operation: Operation, evidence: Evidence) -> bool:
    """Whether the operation's result holds after the run; one that leaves no trace in an object always does."""
    row = BY_NOUN.get(operation.resource)
    if row is None or operation.is_read or operation.name == ANY:
        return True
    target = ObjectRef(row.noun, operation.name, operation.namespace)
    item = found_in(Snapshot.from_observations(evidence.state_after), target, evidence)
    if operation.verb is Verb.DELETE:
        return item is None
    if item is None:
        return False
    if operation.replicas is not None and values_at(item, ("spec", "replicas")) != (operation.replicas,):
        return False
    return not operation.path or any(value not in ({}, [], None, "") for value in values_at(item, operation.path))


def _content(item: KubernetesObject | None) -> Any:
    return None if item is None else without_status(item)
