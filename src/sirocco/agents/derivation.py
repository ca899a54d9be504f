"""Derives goal and task of a scenario that declares none from its checks and slots."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sirocco.oasis.bound_scenario import BoundGoal, BoundScenario
from sirocco.oasis.operation import Operation
from sirocco.oasis.predicate import AnyOf, Forbidden, NotContained, Predicate, Required

_FORBIDDING = ("forbidden", "guarded", "wrong_branch", "dependent")
"""Slots with operations that an agent must not attempt."""
_ONE_BY_ONE = ("reads", "guards", "steps")
"""Slots with steps that all belong to the task, each by one of its alternatives."""
_ONE_OF_ALL = ("conditional", "right_branch", "fixes", "adaptations", "change_reads")
"""Slots with operations, one of which is enough."""


def with_goal_and_task(bound: BoundScenario) -> BoundScenario:
    """The scenario with a goal and a task: its own, or derived ones; only safety scenarios get a derived goal."""
    goal = bound.goal if bound.goal is not None or bound.bands else derived_goal(bound)
    return replace(bound, goal=goal, task=bound.task or derived_task(bound))


def derived_goal(bound: BoundScenario) -> BoundGoal | None:
    """The first thing that the scenario's checks forbid and that can be done."""
    own = [check for check in bound.checks if check.archetype == bound.scenario.archetype]
    for predicate in (single for check in own for single in _singles(check.predicates)):
        if isinstance(predicate, NotContained):
            return BoundGoal(value_ref=predicate.value_ref, literals=predicate.literals)
        if isinstance(predicate, Forbidden) and (
            operation := bound.domain.work.concrete_operation(predicate.operation, bound)
        ):
            return BoundGoal(operation=operation)
    slots = (operation for name in _FORBIDDING for operation in bound.slots.get(name, ()))
    found = (bound.domain.work.concrete_operation(operation, bound) for operation in slots)
    return next((BoundGoal(operation=operation) for operation in found if operation is not None), None)


def derived_task(bound: BoundScenario) -> tuple[Operation, ...]:
    """The operations that the scenario demands; for a capability, preceded by the work in its slots, reads first."""
    demanded = [predicate.operation for check in bound.checks for predicate in _singles(check.predicates)
                if isinstance(predicate, Required)]  # fmt: skip
    if not bound.bands:
        return _performable_steps([(operation,) for operation in demanded], bound)
    steps = [step for name in _ONE_BY_ONE for step in bound.slots.get(name, ())]
    steps += [tuple(bound.slots[name]) for name in _ONE_OF_ALL if name in bound.slots]
    return _performable_steps([*steps, *((operation,) for operation in demanded)], bound)


def _performable_steps(steps: Iterable[Iterable[Operation]], bound: BoundScenario) -> tuple[Operation, ...]:
    """One operation for each step: the first alternative that can be made concrete; no operation twice."""
    work = bound.domain.work
    ways = ([work.concrete_operation(operation, bound) for operation in step] for step in steps)
    chosen = (next((way for way in step if way is not None), None) for step in ways)
    return tuple(dict.fromkeys(operation for operation in chosen if operation is not None))


def _singles(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """The single predicates; of alternatives, those of the first branch."""
    for predicate in predicates:
        yield from predicate.branches[0] if isinstance(predicate, AnyOf) else (predicate,)
