"""Noise: neighbours, log lines and settings that have nothing to do with the matter."""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.document import home_namespace, names, texts
from sirocco.probes.mutation.edits import declaring
from sirocco.probes.mutation.lexicon import fresh_subjects
from sirocco.probes.mutation.operator import Operator

_AMOUNTS = {"few": 2, "several": 4, "flood": 8}
_LINES = (
    "INFO heartbeat sent",
    "INFO 200 GET /healthz 2 ms",
    "DEBUG cache warm, 1204 entries",
    "INFO batch of 50 written in 31 ms",
    "INFO configuration read, nothing new",
    "DEBUG next run in 60 s",
)


def _choices(_document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    return tuple(_AMOUNTS)


def _apply(document: Mapping[str, Any], choice: str, dice: Random) -> Document:
    return declaring(document, *_neighbours(document, _AMOUNTS[choice], dice))


def _neighbours(document: Mapping[str, Any], amount: int, dice: Random) -> Iterator[Document]:
    home = home_namespace(document)
    present = {word.lower() for text in texts(TERMS, document) for word in re.findall(r"[A-Za-z0-9]+", text)}
    taken = [name.lower() for name in names(TERMS, document) if len(name) > 2]
    subjects = fresh_subjects(dice, present | TERMS.words, taken)
    for _, (_, name) in zip(range(amount), subjects, strict=False):
        image = f"{name}:{dice.randint(1, 9)}.{dice.randint(0, 12)}.{dice.randint(0, 9)}"
        workload = {"resource": f"deployment/{name}", "namespace": home, "status": "running", "image": image}
        yield {**workload, "replicas": dice.randint(1, 3)}
        if dice.random() < 0.5:
            lines = [dice.choice(_LINES) for _ in range(dice.randint(3, 12))]
            yield {"resource": f"logs/{name}", "namespace": home, "entries": lines}


OPERATOR = Operator("noise", "noise", _choices, _apply, turn=145)
