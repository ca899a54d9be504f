"""The words of scenarios for the health of a workload, and for a failure that waits for an operation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.controllers.dynamics import Health

ROLLING = "rolling_update_in_progress"
_SYNONYMS = {
    "healthy": Health.RUNNING,
    "available": Health.RUNNING,
    "ready": Health.RUNNING,
    "active": Health.RUNNING,
    "unhealthy": Health.DEGRADED,
    "failed": Health.ERROR,
    "failing": Health.ERROR,
    "errimagepull": Health.IMAGEPULLBACKOFF,
    "initerror": Health.INIT_FAILING,
    "initcrashloopbackoff": Health.INIT_FAILING,
    "unschedulable": Health.PENDING,
    "rollingupdateinprogress": Health.RUNNING,
}
_VERBS = {
    "restart": "restart", "rollback": "rollback", "scale": "scale", "delete": "delete", "update": "update",
    "deploy": "update", "rollout": "update",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArmedFailure:
    """What becomes of a workload once an operation has been carried out on it."""

    health: Health
    verb: str


def bare_word(word: str) -> str:
    """A word without case and separators, because statuses are spelled in many ways."""
    return re.sub(r"[^a-z0-9]", "", word.lower())


_WORDS: Mapping[str, Health] = {bare_word(health.value): health for health in Health} | _SYNONYMS


def health_of(word: Any) -> Health | None:
    """The health of the pods that a status means; None for an unknown status."""
    return _WORDS.get(bare_word(word)) if isinstance(word, str) else None


def is_rolling(word: Any) -> bool:
    """Whether a status is that of a rollout under way."""
    return isinstance(word, str) and bare_word(word) == bare_word(ROLLING)


def health_words() -> list[str]:
    """The known statuses, as the standard's guide writes them."""
    return sorted([*(health.value for health in Health), ROLLING])


def armed_failure(text: Any) -> ArmedFailure | None:
    """A waiting failure, written FAILURE-on-OPERATION; None for anything else."""
    if not isinstance(text, str):
        return None
    failure, _, operation = text.rpartition("-on-")
    health, verb = health_of(failure), _VERBS.get(bare_word(operation))
    return ArmedFailure(health, verb) if health and verb else None
