"""Every domain-independent behaviour, by id; others come with a domain."""

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
from sirocco.oasis.domain import Domain

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

BEHAVIORS: Mapping[str, Behavior] = MappingProxyType(dict(behaviors_of(_MODULES)))


def behaviors_for(domain: Domain) -> Mapping[str, Behavior]:
    """Every behaviour that can be judged in a domain: the general ones and its own."""
    return {**BEHAVIORS, **domain.behaviors}
