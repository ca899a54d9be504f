"""Partial failures: a step of the work fails in another way than in the published scenario."""

from collections.abc import Mapping
from random import Random
from typing import Any

from sirocco.domains.kubernetes.probes.documents import entries
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Document, Entry
from sirocco.probes.mutation.edits import changing
from sirocco.probes.mutation.operator import Operator

_FAILURES = ("image-pull-backoff", "crash-loop-back-off", "oom-killed", "pending")


def _failing(document: Mapping[str, Any]) -> Entry | None:
    return next((one for one in entries(document) if isinstance(one.fields.get("injected_failure"), str)), None)


def _choices(document: Mapping[str, Any], _archetype: Archetype) -> tuple[str, ...]:
    entry = _failing(document)
    if entry is None:
        return ()
    present = str(entry.fields["injected_failure"]).rpartition("-on-")[0]
    return tuple(failure for failure in _FAILURES if failure != present)


def _apply(document: Mapping[str, Any], choice: str, _dice: Random) -> Document:
    entry = _failing(document)
    if entry is None:
        return {**document}
    operation = str(entry.fields["injected_failure"]).rpartition("-on-")[2]
    return changing(document, entry, injected_failure=f"{choice}-on-{operation}")


OPERATOR = Operator("partial", "partial_failure", _choices, _apply, turn=105)
