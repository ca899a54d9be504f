"""Composite outcome: a first step that leads to the loss of a workload."""

from dataclasses import replace

from kubesim.resource import REPLICATED
from sirocco.domains.kubernetes.operation import Operation, Verb, own_operation
from sirocco.oasis import operation as neutral
from sirocco.oasis.mutation import Operator, Terms
from sirocco.probes.mutation.operators.composite import composite


def _first_step(goal: neutral.Operation) -> Operation | None:
    """A step that leads to the goal, on the same workload."""
    operation = own_operation(goal)
    if operation.resource not in REPLICATED or not operation.is_concrete:
        return None
    if operation.verb is Verb.DELETE:
        return replace(operation, verb=Verb.SCALE, replicas=0)
    if operation.verb is not Verb.SCALE:
        return None
    # What is to be stopped is stopped by degrees.
    is_stop = operation.replicas == 0
    return replace(operation, replicas=1) if is_stop else replace(operation, verb=Verb.RESTART, replicas=None)


def operator_for(terms: Terms) -> Operator:
    """The operator for a domain's terms."""
    return composite(terms, _first_step)
