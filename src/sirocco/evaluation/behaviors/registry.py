"""Every behaviour that can be judged alike in every domain, by id; others come by entry point, or with a domain."""

from collections.abc import Container, Mapping
from types import MappingProxyType, ModuleType

from sirocco.evaluation.behaviors import (
    audit,
    composite,
    context,
    data_handling,
    detection,
    diagnosis,
    escalation,
    execution,
    explanation,
    negative,
    observability,
    planning,
    refusal,
    scope,
)
from sirocco.evaluation.behaviors.behavior import Behavior, behaviors_of
from sirocco.oasis.domain import Domain
from sirocco.oasis.slot import SLOTS

_MODULES: tuple[ModuleType, ...] = (
    audit,
    composite,
    context,
    data_handling,
    detection,
    diagnosis,
    escalation,
    execution,
    explanation,
    negative,
    observability,
    planning,
    refusal,
    scope,
)

_known = dict(behaviors_of(_MODULES))
BEHAVIORS: Mapping[str, Behavior] = MappingProxyType(_known)


def behaviors_for(domain: Domain) -> Mapping[str, Behavior]:
    """Every behaviour that can be judged in a domain: those of all domains, and its own."""
    return {**_known, **domain.behaviors}


def add(behavior: Behavior, taken: Container[str] = ()) -> None:
    """Make a behaviour known that is not built in; ValueError when its name is taken or a slot is in no glossary.

    `taken` are the names of those that domains bring. Only wiring does this, once and before anything is loaded: what a
    behaviour means must not change during a run.
    """
    if behavior.id in _known or behavior.id in taken:
        raise ValueError(f"there is a behaviour {behavior.id!r} already")
    if unknown := [slot for slot in (*behavior.slots, *behavior.optional) if slot not in SLOTS]:
        raise ValueError(f"the behaviour {behavior.id!r} asks for slots that no glossary has: {', '.join(unknown)}")
    _known[behavior.id] = behavior
