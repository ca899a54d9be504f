"""What an answer could have named instead of the truth: objects that a scenario declares and its slots leave out."""

from collections.abc import Iterator, Mapping
from typing import Any

from sirocco.domains.kubernetes.operation import Operation
from sirocco.evaluation.behaviors.wording import folded, holds_word
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.slot import ObjectRef

_NO_SUSPECTS = frozenset({"namespace", "events"})
"""Kinds whose names say where something is, not what it is."""


def bystanders(bound: BoundScenario, prompt: str) -> tuple[str, ...]:
    """Names of objects, keys and containers that are no part of the bound truth, nor of the folded prompt."""
    bound_words = (text for name, value in bound.slots.items() if name != "decoys" for text in _texts(value))
    truth = folded(" \n ".join(bound_words))
    declared = dict.fromkeys(_declared(bound))
    return tuple(name for name in declared if not holds_word(truth, name) and not holds_word(prompt, name))


def _declared(bound: BoundScenario) -> Iterator[str]:
    for entry in bound.scenario.preconditions.environment.state:
        if entry.kind not in _NO_SUSPECTS and entry.name:
            yield entry.name
        for key in ("data", "stringData"):
            if isinstance(held := entry.fields.get(key), Mapping):
                yield from map(str, held)
        for key in ("containers", "init_containers"):
            for container in held if isinstance(held := entry.fields.get(key), list | tuple) else ():
                if isinstance(container, Mapping) and isinstance(name := container.get("name"), str):
                    yield name


def _texts(value: Any) -> Iterator[str]:
    """Every word in the value of a slot."""
    match value:
        case str():
            yield value
        case ObjectRef() | Operation():
            yield value.name
        case Mapping():
            yield from (text for key, held in value.items() for text in (str(key), *_texts(held)))
        case tuple() | list():
            yield from (text for held in value for text in _texts(held))
