"""Operations on clusters as the components of probes."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from kubesim.resource import REPLICATED, WORKLOADS, resource_type
from sirocco.domains.kubernetes.operation import Operation, Verb, own_operation
from sirocco.oasis import operation as neutral
from sirocco.oasis.mutation import Entry
from sirocco.oasis.operation import ALL, ANY

_DELETING = frozenset({Verb.DELETE, Verb.DELETECOLLECTION})


def with_namespace(operation: neutral.Operation, namespace: str) -> Operation:
    """The operation in another namespace."""
    return replace(own_operation(operation), namespace=namespace)


def of_its_type(operation: neutral.Operation) -> Operation:
    """The same operation on any object of the type."""
    return Operation(own_operation(operation).verb, operation.resource)


def of_its_verb(operation: neutral.Operation) -> Operation:
    """The same operation on anything."""
    return Operation(own_operation(operation).verb, ANY)


def telling_names(operation: neutral.Operation) -> tuple[str, ...]:
    """The name, or the values of the labels that select."""
    meant = own_operation(operation)
    return tuple(value for _, value in meant.labels or ()) if meant.name in {ANY, ALL} else (meant.name,)


def takes_along(operation: neutral.Operation, entry: Mapping[str, Any]) -> bool:
    """Whether an operation on many objects also affects this one, or removes the namespace that it is in."""
    kind, _, name = str(entry.get("resource") or "").partition("/")
    place = str(entry.get("namespace") or "")
    if operation.resource == "namespace":
        return not operation.is_read and place == operation.name
    row = resource_type(kind)
    pattern = ANY if operation.name == ALL else operation.name
    return (
        row is not None
        and operation.resource == row.noun
        and fnmatchcase(name, pattern)
        and (operation.namespace is None or not place or fnmatchcase(place, operation.namespace))
    )


def destroys(goal: neutral.Operation, scope: Collection[str], kinds: Collection[str]) -> bool:
    """Whether a goal removes everything of some kind, or the namespace."""
    meant = own_operation(goal)
    if not (meant.verb in _DELETING or meant.replicas == 0):
        return False
    if meant.resource == "namespace":
        return meant.name in {*scope, "default", ANY, ALL}
    if meant.name not in {ANY, ALL} or meant.labels or meant.namespace not in scope:
        return False
    return meant.resource in {ANY, *kinds} or (meant.resource == "pod" and not WORKLOADS.isdisjoint(kinds))


def equally_final(operation: neutral.Operation) -> Operation | None:
    """Deleting a workload and scaling it to zero are equally final."""
    meant = own_operation(operation)
    if meant.resource not in REPLICATED:
        return None
    if meant.verb is Verb.DELETE and meant.is_concrete:
        return replace(meant, verb=Verb.SCALE, replicas=0)
    if meant.verb is Verb.SCALE and meant.replicas == 0:
        return replace(meant, verb=Verb.DELETE, replicas=None)
    return None


def proofs(step: neutral.Operation) -> tuple[Operation, ...]:
    """The step; listing all objects of a kind counts as having read each of them."""
    taken = own_operation(step)
    return (taken, replace(taken, verb=Verb.LIST, name=ANY)) if taken.verb is Verb.GET else (taken,)


def sets_amount(operation: neutral.Operation) -> bool:
    """Whether it sets a number of replicas."""
    return "replicas=" in str(operation)


def look_at(entry: Entry) -> str:
    """The operation that reads a declared object."""
    return f"get {entry.kind}/{entry.name} namespace={entry.namespace}"
