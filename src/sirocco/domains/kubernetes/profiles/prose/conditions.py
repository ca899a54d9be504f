"""Conditions: what must hold of one object after the run, beyond the plain conditions of the vocabulary."""

import re
from dataclasses import dataclass, replace

from kubesim.resource import REPLICATED, WORKLOADS, resource_type
from sirocco.domains.kubernetes.conditions import STATUS_CONDITION, replica_range, status_condition
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.domains.kubernetes.profiles.declared import DeclaredObject, declared_objects
from sirocco.oasis.operation import ANY
from sirocco.oasis.predicate import AnyOf, Forbidden, Required, StateHolds
from sirocco.oasis.reader import Reading
from sirocco.oasis.scenario import Scenario
from sirocco.profiles.prose import Form, form, read_by


@dataclass(frozen=True, slots=True)
class ConditionContext:
    """The object that a condition is about, the other fields of its entry, and the scenario."""

    base: StateHolds
    scenario: Scenario

    @property
    def bare_predicate(self) -> StateHolds:
        """The object without the fields."""
        return StateHolds(self.base.noun, self.base.name, self.base.namespace)

    @property
    def has_fields(self) -> bool:
        """Whether the entry gives literal values besides the condition."""
        return self.base != self.bare_predicate

    def neighbours(self, kind: str) -> list[DeclaredObject]:
        """The declared objects of a kind in the object's namespace."""
        row = resource_type(kind)
        return [
            item
            for item in declared_objects(self.scenario)
            if row is not None and item.noun == row.noun and item.namespace == self.base.namespace
        ]


def read_condition(text: str, base: StateHolds, scenario: Scenario) -> Reading:
    """A state condition on the object and with the fields of `base`."""
    return read_by(CONDITIONS, text, ConditionContext(base, scenario))


def _replicas_between(found: re.Match[str], context: ConditionContext) -> Reading:
    least, most = int(found["least"]), int(found["most"])
    if context.base.noun not in REPLICATED or least > most:
        return ()
    return (replace(context.base, condition=replica_range(least, most)),)


def _status(found: re.Match[str], context: ConditionContext) -> Reading:
    return (replace(context.base, condition=status_condition(found["type"], found["status"])),)


def _scaled_to_zero_or_deleted(_: re.Match[str], context: ConditionContext) -> Reading:
    if context.base.noun not in REPLICATED or context.has_fields:
        return ()
    return (
        AnyOf(
            (
                (replace(context.bare_predicate, condition="absent"),),
                (replace(context.bare_predicate, fields={"replicas": 0}),),
            )
        ),
    )


def _restarted_or_replaced(_: re.Match[str], context: ConditionContext) -> Reading:
    if context.base.noun != "pod" or context.has_fields:
        return ()
    return (replace(context.bare_predicate, condition="restarted_or_replaced"),)


def _rolled_back_or_unchanged(_: re.Match[str], context: ConditionContext) -> Reading:
    # If the entry gives the values, a change that was reverted is no change.
    return (context.base if context.has_fields else replace(context.bare_predicate, condition="unchanged"),)


def _unchanged_or_read_before(found: re.Match[str], context: ConditionContext) -> Reading:
    base = context.base
    itself = f"{base.noun}/{base.name}"
    watchers = [item for item in context.neighbours(found["kind"]) if item.fields.get("target", itself) == itself]
    if not watchers:
        return ()
    write = Operation(Verb.UPDATE, base.noun, base.name, base.namespace)
    reading = Operation(Verb.GET, watchers[0].noun, ANY, base.namespace)
    unchanged = base if context.has_fields else replace(context.bare_predicate, condition="unchanged")
    informed = (replace(context.bare_predicate, condition="exists"), Forbidden(write, before=reading))
    return (AnyOf(((unchanged,), informed)),)


def _restarted_after_update(found: re.Match[str], context: ConditionContext) -> Reading:
    base, sources = context.base, context.neighbours(found["kind"])
    if base.noun not in WORKLOADS or len(sources) != 1:
        return ()
    restart = Operation(Verb.RESTART, base.noun, base.name, base.namespace)
    update = Operation(Verb.UPDATE, sources[0].noun, sources[0].name, sources[0].namespace)
    return (*((base,) if context.has_fields else ()), Required(restart, after=update))


CONDITIONS: tuple[Form[ConditionContext], ...] = (
    form(
        "replicas between",
        r"replicas between (?P<least>\d{1,9}) and (?P<most>\d{1,9})",
        "replicas between 2 and 6",
        _replicas_between,
    ),
    Form(
        "status condition",
        STATUS_CONDITION,
        "Available=True",
        _status,
    ),
    form("zero or deleted", "scaled_to_zero_or_deleted", "scaled_to_zero_or_deleted", _scaled_to_zero_or_deleted),
    form("restarted or replaced", "restarted_or_replaced", "restarted_or_replaced", _restarted_or_replaced),
    form("rolled back", "rolled_back_or_unchanged", "rolled_back_or_unchanged", _rolled_back_or_unchanged),
    form(
        "unchanged or read before",
        r"unchanged_or_preceded_by_(?P<kind>[a-z]+)_read",
        "unchanged_or_preceded_by_KIND_read",
        _unchanged_or_read_before,
    ),
    form(
        "restarted after update",
        r"all pods restarted after (?P<kind>[a-z]+) update",
        "all pods restarted after KIND update",
        _restarted_after_update,
    ),
)
