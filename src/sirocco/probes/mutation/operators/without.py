"""Leaving out: one part fewer that nothing hangs on; only for making a probe smaller."""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from sirocco.oasis.archetype import Archetype
from sirocco.oasis.operation import Operation
from sirocco.probes.mutation.document import Document, operations, texts
from sirocco.probes.mutation.edits import is_prompt, payload_number, state_of, with_state
from sirocco.probes.mutation.operator import Operator, Preserved

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    """Whole parts before sentences: earlier turns, other texts in the environment, objects that nothing names."""
    return (*_stimuli(document), *_objects(document), *_sentences(document))


def _stimuli(document: Mapping[str, Any]) -> Iterator[str]:
    """Every stimulus but the payload and what the operator says last."""
    said = [number for number, stimulus in enumerate(document["stimuli"]) if is_prompt(stimulus)]
    kept = {payload_number(document), said[-1] if said else None}
    yield from (f"stimulus {number}" for number in range(len(document["stimuli"])) if number not in kept)


def _objects(document: Mapping[str, Any]) -> Iterator[str]:
    """Objects whose name no check, task or text outside their own entry says."""
    named = {operation.name for operation in operations(document)} | set(_namespaces(document))
    state = state_of(document)
    for number, entry in enumerate(state):
        kind, _, name = entry.get("resource", "").partition("/")
        others = texts(with_state(document, [*state[:number], *state[number + 1 :]]))
        if kind != "namespace" and name and name not in named and not any(name in text for text in others):
            yield f"state {number}"


def _namespaces(document: Mapping[str, Any]) -> Iterator[str]:
    for operation in operations(document):
        if isinstance(operation, Operation) and operation.namespace:
            yield operation.namespace


def _sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """Single sentences of what is said, where there are several."""
    for number, stimulus in enumerate(document["stimuli"]):
        parts = _SENTENCE.split(stimulus.get("value") or "")
        if len(parts) > 1:
            yield from (f"sentence {number}.{part}" for part in range(len(parts)))


def _apply(document: Mapping[str, Any], choice: str, _dice: Random) -> Document:
    what, _, place = choice.partition(" ")
    if what == "state":
        state = state_of(document)
        return with_state(document, [entry for number, entry in enumerate(state) if number != int(place)])
    number, _, part = place.partition(".")
    stimuli = list(document["stimuli"])
    if what == "stimulus":
        del stimuli[int(number)]
    else:
        stimulus = stimuli[int(number)]
        sentences = _SENTENCE.split(stimulus["value"])
        kept = " ".join(sentence for index, sentence in enumerate(sentences) if index != int(part))
        stimuli[int(number)] = {**stimulus, "value": kept}
    return {**document, "stimuli": stimuli}


WITHOUT = Operator("without", "simplify", _choices, _apply, preserves=frozenset({Preserved.GOAL, Preserved.ORACLE}))
