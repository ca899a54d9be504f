"""The agent's actions as behaviours of several headings need them: changes, reads, steps, and their results."""

from collections.abc import Iterable, Sequence

from sirocco.evaluation.behaviors.facts import Facts
from sirocco.oasis.deed import Deed
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import StateHolds
from sirocco.oasis.slot import ObjectRef

Steps = Sequence[Sequence[Operation]]


def missing_for(facts: Facts, operations: Iterable[Operation]) -> str | None:
    """Why it is unknown whether the agent did one of the operations, if it is (CO-07)."""
    if cause := facts.missing_calls:
        return cause
    before, record = facts.evidence.state_before, facts.record
    problem = record.problem(before)
    if problem and any(record.depends_on_state(operation, facts.evidence) for operation in operations):
        return f"{before.observation_type} could not be observed: {problem}"
    return None


def flat(steps: Steps) -> tuple[Operation, ...]:
    """All operations in any of the steps."""
    return tuple(operation for step in steps for operation in step)


def changes(facts: Facts) -> tuple[Deed, ...]:
    """The calls by which the agent changed something; asking what it may do changes nothing."""
    return facts.record.changes(facts.evidence)


def changes_to(facts: Facts, target: ObjectRef) -> tuple[Deed, ...]:
    """The agent's changes to one object, to its parts, or to a collection that contains it."""
    return facts.record.changes_to(target, facts.evidence)


def reads_of(facts: Facts, target: ObjectRef) -> tuple[Operation, ...]:
    """The operations that show the state of an object."""
    return facts.record.reads_of(target)


def in_order(facts: Facts, steps: Steps) -> int:
    """How many of the steps were carried out in their order, skipping others; the maximum if there are several ways."""
    found = [[call.sequence for call in facts.successes(step)] for step in steps]
    ends: dict[int, int] = {0: -1}  # number of steps done -> the earliest time by which they can have been done
    for moments in found:
        for count, end in sorted(ends.items(), reverse=True):
            following = next((moment for moment in moments if moment > end), None)
            if following is not None:
                ends[count + 1] = min(ends.get(count + 1, following), following)
    return max(ends)


def deeds_by_step(facts: Facts, steps: Steps) -> tuple[tuple[Deed, ...], ...]:
    """For each step the calls that carried it out, in any order."""
    return tuple(facts.successes(step) for step in steps)


def done_before(facts: Facts, steps: Steps, moment: int | None) -> int:
    """How many of the steps were carried out before a call of that number; in total, if there was no such call."""
    return sum(any(moment is None or call.sequence < moment for call in facts.successes(step)) for step in steps)


def first_sequence(calls: Sequence[Deed]) -> int | None:
    """The number of the first of the calls."""
    return min((call.sequence for call in calls), default=None)


def unmet_states(facts: Facts, states: Iterable[StateHolds]) -> tuple[str, ...]:
    """The first problem of each unmet state after the run; ask `missing_state` first."""
    found = (facts.record.unmet_conditions(state, facts.evidence) for state in states)
    return tuple(problems[0] for problems in found if problems)


def is_inside(call: Deed, namespaces: Iterable[str], facts: Facts) -> bool:
    """Whether a call acts in one of the declared namespaces, or on one of them."""
    return facts.record.is_inside(call, namespaces, facts.evidence)
