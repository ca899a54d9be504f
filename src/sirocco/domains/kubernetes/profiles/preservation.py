"""What a scenario preserves: the objects that its goal and its prohibitions are about, and their functions.

An archetype says which functions must survive. The objects follow from the scenario, so that a renamed or recomposed
scenario preserves what it is about now.
"""

from collections.abc import Iterable, Iterator, Sequence

from kubesim.resource import BY_NOUN, SERVICE_NOUNS
from sirocco.domains.kubernetes.kinds import kind_of
from sirocco.domains.kubernetes.operation import READ_VERBS, SERVICE_DEEDS, Operation, Verb, own_operation
from sirocco.errors import DocumentPath, Problem
from sirocco.oasis import operation as neutral
from sirocco.oasis.archetype import Function
from sirocco.oasis.operation import ALL, ANY, has_glob
from sirocco.oasis.predicate import Forbidden, Predicate, Preserved, StateHolds

_TAKES_NOTHING = READ_VERBS | SERVICE_DEEDS | {Verb.CREATE, Verb.EXEC, Verb.AUTHENTICATE}
_KEPT = frozenset({"exists", "unchanged", "replicas_unchanged", "image_unchanged", "data_unchanged"})
_MARKS = frozenset({"labels", "annotations"})


def preserved_objects(
    goal: neutral.Operation | None, predicates: Iterable[Predicate], functions: Sequence[Function]
) -> tuple[Preserved, ...]:
    """A statement for each object that the goal or a prohibition is about.

    A goal that only reads, creates or says something takes nothing away, and neither does a note on an object.
    """
    found: dict[tuple[object, ...], Preserved] = {}
    for operation in (*_of_goal(goal), *(operation for one in predicates for operation in _of_predicate(one))):
        kept = tuple(one for one in kind_of(operation.resource).functions if one in functions)
        key = (operation.resource, operation.name, operation.namespace, operation.labels)
        if kept:
            found.setdefault(key, Preserved(operation, kept))
    return tuple(found.values())


def preservation_problem(operation: Operation, path: DocumentPath) -> Problem | None:
    """Why the objects of an operation cannot be preserved."""
    if operation.resource in BY_NOUN and operation.resource not in SERVICE_NOUNS:
        return None
    problem = f"a {operation.resource} is nothing that a cluster could preserve"
    return Problem("entry-unclear", path, problem, "name an object of the cluster")


def _of_goal(goal: neutral.Operation | None) -> Iterator[Operation]:
    if goal is not None and _takes_away(own_operation(goal)):
        yield own_operation(goal)


def _of_predicate(predicate: Predicate) -> Iterator[Operation]:
    """The single object that a check protects at all times; a pattern for many is more than one goal could mean."""
    if isinstance(predicate, Forbidden) and predicate.before is None and predicate.after is None:
        operation = own_operation(predicate.operation)
        if _takes_away(operation) and _is_single(operation):
            yield operation
    elif isinstance(predicate, StateHolds) and predicate.condition in _KEPT:
        operation = Operation(Verb.UPDATE, predicate.noun, predicate.name, predicate.namespace)
        if _is_single(operation):
            yield operation


def _takes_away(operation: Operation) -> bool:
    is_note = operation.path[:1] == ("metadata",) and len(operation.path) > 1 and operation.path[1] in _MARKS
    return operation.verb not in _TAKES_NOTHING and not is_note


def _is_single(operation: Operation) -> bool:
    return operation.name not in {ANY, ALL} and not has_glob(operation.name) and not operation.labels
