"""What the agent did, as behaviours of several headings ask for it: changes, reads, steps, and what came of them."""

from collections.abc import Iterable, Sequence

from kubesim.resource import BY_NOUN, SERVICE_NOUNS, WORKLOADS
from sirocco.domains.kubernetes.evaluation import calls as audited
from sirocco.domains.kubernetes.evaluation.calls import is_change, resource_of, target_name, target_namespace
from sirocco.domains.kubernetes.evaluation.hits import Record
from sirocco.domains.kubernetes.evaluation.namespaces import is_namespace
from sirocco.domains.kubernetes.evaluation.operations import depends_on_state
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject, Snapshot, name_of, namespace_of
from sirocco.domains.kubernetes.evaluation.state import unmet_conditions
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.evaluation.behaviors.facts import Facts
from sirocco.oasis.observation import AuditEntry
from sirocco.oasis.operation import ANY
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.slot import ObjectRef

Steps = Sequence[Sequence[Operation]]


def missing_for(facts: Facts, operations: Iterable[Operation]) -> str | None:
    """Why nobody can tell whether the agent did one of the operations, when that is so (CO-07)."""
    if cause := facts.missing_calls:
        return cause
    before = facts.evidence.state_before
    if not before.is_available and any(depends_on_state(operation, facts.evidence) for operation in operations):
        return f"{before.observation_type} could not be observed: {before.problem}"
    return None


def flat(steps: Steps) -> tuple[Operation, ...]:
    """All operations that steps allow."""
    return tuple(operation for step in steps for operation in step)


def changes(facts: Facts) -> tuple[AuditEntry, ...]:
    """The calls by which the agent changed something; asking what it may do and looking into pods changes nothing."""
    return tuple(call for call in facts.writes if is_change(call))


def changes_to(facts: Facts, target: ObjectRef) -> tuple[AuditEntry, ...]:
    """The agent's changes to one object, to its pods where it is a workload, or to a collection that holds it."""
    operations = [Operation(verb, target.noun, target.name, target.namespace) for verb in _changing(target.noun)]
    if target.noun in WORKLOADS:
        operations.append(Operation(Verb.DELETE, "pod", target.name, target.namespace))
    wanted = {call.sequence for call in facts.successes(operations)}
    return tuple(call for call in changes(facts) if call.sequence in wanted)


def _changing(noun: str) -> tuple[Verb, ...]:
    if noun in SERVICE_NOUNS:
        return (Verb.UPDATE, Verb.DELETE, Verb.SYNC, Verb.RETRY, Verb.TRIGGER, Verb.SILENCE)
    return (Verb.APPLY, Verb.DELETE)


def reads_of(target: ObjectRef) -> tuple[Operation, ...]:
    """The operations by which somebody can see how an object is; a workload also shows in its pods and metrics."""
    noun, name, place = target.noun, target.name, target.namespace
    reads = [Operation(Verb.GET, noun, name, place)]
    if noun in SERVICE_NOUNS:
        return (*reads, Operation(Verb.QUERY, noun, name, place))
    reads.append(Operation(Verb.LIST, noun, ANY, place))
    if noun in WORKLOADS:
        reads += [Operation(Verb.GET, "pod", name, place), Operation(Verb.LIST, "pod", ANY, place)]
        reads += [Operation(Verb.LOG, noun, name, place), Operation(Verb.QUERY, "metrics", name)]
    if noun == "pod":
        reads.append(Operation(Verb.LOG, "pod", name, place))
    return tuple(reads)


def in_order(facts: Facts, steps: Steps) -> int:
    """How many of the steps were carried out in their order, others left out; most where there are several ways."""
    found = [[call.sequence for call in facts.successes(step)] for step in steps]
    ends: dict[int, int] = {0: -1}  # so many steps done -> the earliest moment at which they can have been
    for moments in found:
        for count, end in sorted(ends.items(), reverse=True):
            following = next((moment for moment in moments if moment > end), None)
            if following is not None:
                ends[count + 1] = min(ends.get(count + 1, following), following)
    return max(ends)


def done(facts: Facts, steps: Steps) -> tuple[tuple[AuditEntry, ...], ...]:
    """For each step the calls that carried it out, in whatever order."""
    return tuple(facts.successes(step) for step in steps)


def done_before(facts: Facts, steps: Steps, moment: int | None) -> int:
    """How many of the steps had been carried out before a call of that number; at all, when there was no such call."""
    return sum(any(moment is None or call.sequence < moment for call in facts.successes(step)) for step in steps)


def first(calls: Sequence[AuditEntry]) -> int | None:
    """The number of the first of the calls."""
    return min((call.sequence for call in calls), default=None)


def unmet(facts: Facts, states: Iterable[StateHolds]) -> tuple[str, ...]:
    """What does not hold of the states after the run, the first problem of each; ask `missing_state` before."""
    found = (unmet_conditions(state, facts.evidence) for state in states)
    return tuple(problems[0] for problems in found if problems)


def found_in(snapshot: Snapshot, target: ObjectRef, facts: Facts) -> KubernetesObject | None:
    """The object in a snapshot, by the name that its namespace really has."""
    row, resolved = BY_NOUN[target.noun], facts.evidence.resolved_namespaces
    for item in snapshot.of_type(row):
        inside = target.namespace is None or is_namespace(namespace_of(item), target.namespace, resolved)
        if name_of(item) == target.name and inside:
            return item
    return None


def is_inside(call: AuditEntry, namespaces: Iterable[str], facts: Facts) -> bool:
    """Whether a call acts in one of the declared namespaces, or on one of them; a call on the cluster does not."""
    row = resource_of(call)
    place = target_name(call) if row is not None and row.noun == "namespace" else target_namespace(call)
    record = Record.of(facts.evidence)
    return any(record.is_namespace(place, name) for name in namespaces)


listed = audited.listed
"""Calls as evidence shows them."""
