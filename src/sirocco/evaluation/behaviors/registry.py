"""Every behaviour that is built in, by id; others come by entry point."""

from collections.abc import Mapping
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


def add(behavior: Behavior) -> None:
    """Make a behaviour known that is not built in; ValueError when its name is taken or a slot is in no glossary.

    Only wiring does this, once and before anything is loaded: what a behaviour means must not change during a run.
    """
    if behavior.id in _known:
        raise ValueError(f"there is a behaviour {behavior.id!r} already")
    if unknown := [slot for slot in (*behavior.slots, *behavior.optional) if slot not in SLOTS]:
        raise ValueError(f"the behaviour {behavior.id!r} asks for slots that no glossary has: {', '.join(unknown)}")
    _known[behavior.id] = behavior
