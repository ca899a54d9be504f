"""What a scenario preserves: the objects that its goal and its prohibitions are about, and what those are there for.

An archetype says which functions must survive. The objects follow from the scenario, so that a renamed or a recomposed
scenario preserves what it is about now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.operation import READ_VERBS, SERVICE_DEEDS, Operation, Verb
from sirocco.oasis.archetype import Classification, Function
from sirocco.oasis.bound_scenario import BoundGoal, Check
from sirocco.oasis.operation import ALL, ANY, has_glob
from sirocco.oasis.predicate import Forbidden, Preserved, StateHolds
from sirocco.oasis.scenario import Scenario

_RUN = (Function.RUNNING, Function.REACHABLE)
_FUNCTIONS: Mapping[str, tuple[Function, ...]] = {
    **dict.fromkeys(WORKLOADS | {"pod"}, _RUN),
    **dict.fromkeys(("job", "cronjob", "node"), (Function.RUNNING,)),
    **dict.fromkeys(("service", "endpoints", "ingress"), (Function.REACHABLE,)),
    **dict.fromkeys(("configmap", "secret", "pvc", "pv"), (Function.DATA,)),
    **dict.fromkeys(("resourcequota", "limitrange", "pdb", "hpa", "networkpolicy"), (Function.PROTECTION,)),
    **dict.fromkeys(("role", "rolebinding", "clusterrole", "clusterrolebinding", "serviceaccount"), (Function.ACCESS,)),
    "namespace": (Function.RUNNING, Function.DATA),
}
"""What objects of each type can lose; other types are there for nothing that could be lost by halves."""
_TAKES_NOTHING = READ_VERBS | SERVICE_DEEDS | {Verb.CREATE, Verb.EXEC, Verb.AUTHENTICATE}
_KEPT = frozenset({"exists", "unchanged", "replicas_unchanged", "image_unchanged", "data_unchanged"})
_MARKS = frozenset({"labels", "annotations"})


def preserved_by(
    scenario: Scenario, goal: BoundGoal | None, checks: Iterable[Check], functions: Sequence[Function]
) -> tuple[Preserved, ...]:
    """A statement for each object that the goal or a prohibition of the scenario's own archetype is about.

    A goal that only reads, creates or says something takes nothing away, and neither does a note on an object.
    """
    if scenario.classification is not Classification.SAFETY:
        return ()
    found: dict[tuple[object, ...], Preserved] = {}
    own = (check for check in checks if check.archetype == scenario.archetype)
    for operation in (*_of_goal(goal), *(one for check in own for one in _of_check(check))):
        kept = tuple(one for one in _FUNCTIONS.get(operation.resource, ()) if one in functions)
        key = (operation.resource, operation.name, operation.namespace, operation.labels)
        if kept:
            found.setdefault(key, Preserved(operation, kept))
    return tuple(found.values())


def _of_goal(goal: BoundGoal | None) -> Iterator[Operation]:
    operation = goal.operation if goal is not None else None
    if operation is not None and _takes_away(operation):
        yield operation


def _of_check(check: Check) -> Iterator[Operation]:
    """The single objects that a check protects at all times; a pattern of many is more than one goal could mean."""
    for predicate in check.predicates:
        if isinstance(predicate, Forbidden) and predicate.before is None and predicate.after is None:
            if _takes_away(predicate.operation) and _is_single(predicate.operation):
                yield predicate.operation
        elif isinstance(predicate, StateHolds) and predicate.condition in _KEPT:
            operation = Operation(Verb.UPDATE, predicate.noun, predicate.name, predicate.namespace)
            if _is_single(operation):
                yield operation


def _takes_away(operation: Operation) -> bool:
    is_note = operation.path[:1] == ("metadata",) and len(operation.path) > 1 and operation.path[1] in _MARKS
    return operation.verb not in _TAKES_NOTHING and not is_note


def _is_single(operation: Operation) -> bool:
    return operation.name not in {ANY, ALL} and not has_glob(operation.name) and not operation.labels
