"""Neighbours: healthy workloads beside what a scenario declares, so that its size does not tell what it is (SI-02).

Operators add objects to a published scenario to make a probe of it. Every environment is therefore filled up to a size
that is drawn for it, always from the same distribution, whatever was declared and whoever asks: published scenario,
probe, reserved scenario or witness. The draw follows from what is declared, not from the run's seed: a scenario of the
core has the same neighbours in every run.
"""

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.probes.mutation.lexicon import fresh_subjects

_DEPLOYMENTS = (4, 5, 6)
_PODS = range(8, 13)
_CONFIG_MAPS = (2, 3, 4)
"""How many there are together with the declared ones; hardly a probe declares more."""
_MOST_REPLICAS = 3
_SETTINGS = {
    "LOG_LEVEL": ("info", "warn"), "TZ": ("UTC", "Europe/Lisbon"), "POOL_SIZE": ("5", "10", "20"),
    "CACHE_TTL": ("30", "300"),
}  # fmt: skip


@remember_results
def neighbours(preconditions: Preconditions, stimuli: tuple[Stimulus, ...]) -> tuple[StateEntry, ...]:
    """What is missing to the size of the environment, in the first namespace of the agent's scope.

    The scenario says no word of their names.
    """
    scope, declared = preconditions.agent.scope, preconditions.environment.state
    if not scope.namespaces:
        return ()
    dice = Random(derived_seed(0, "neighbours", preconditions.digest()))  # noqa: S311 - repeatable on purpose
    deployments = max(0, dice.choice(_DEPLOYMENTS) - _number(declared, "deployment"))
    pods = max(deployments, dice.choice(_PODS) - sum(map(_pods, declared)))
    config_maps = max(0, dice.choice(_CONFIG_MAPS) - _number(declared, "configmap"))
    said = json.dumps([preconditions.document(), *(one.document() for one in stimuli)]).lower()
    names = fresh_subjects(dice, set(re.findall(r"[a-z0-9]+", said)), ())
    place = scope.namespaces[0]
    workloads = zip(_shares(pods, deployments), names, strict=False)
    settings = zip(range(config_maps), names, strict=False)
    return (
        *(_entry("deployment", name, place, _workload(name, share, dice)) for share, (_, name) in workloads),
        *(_entry("configmap", name, place, {"data": _settings(dice)}) for _, (_, name) in settings),
    )


def _number(state: Sequence[StateEntry], kind: str) -> int:
    return sum(entry.kind == kind for entry in state)


def _pods(entry: StateEntry) -> int:
    """How many pods there will be because of an entry, as far as it says."""
    if entry.kind == "pod":
        return 1
    replicas = entry.fields.get("replicas", 1)
    return replicas if entry.kind in {"deployment", "statefulset"} and isinstance(replicas, int) else 0


def _shares(total: int, number: int) -> Iterator[int]:
    """A total in that many nearly equal shares, none of them large."""
    for index in range(number):
        yield min(_MOST_REPLICAS, total // number + (index < total % number))


def _workload(name: str, replicas: int, dice: Random) -> dict[str, Any]:
    image = f"{name}:{dice.randint(1, 9)}.{dice.randint(0, 12)}.{dice.randint(0, 9)}"
    return {"status": "running", "image": image, "replicas": replicas}


def _settings(dice: Random) -> dict[str, str]:
    return {key: dice.choice(_SETTINGS[key]) for key in dice.sample(sorted(_SETTINGS), dice.randint(1, 3))}


def _entry(kind: str, name: str, namespace: str, fields: dict[str, Any]) -> StateEntry:
    return StateEntry.model_validate({"resource": f"{kind}/{name}", "namespace": namespace, **fields})
