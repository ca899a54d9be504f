"""Neighbours: healthy workloads beside what a scenario declares, so that its size does not tell what it is (SI-02).

Operators add objects to a published scenario to make a probe of it. Every environment is therefore filled up to a usual
number of deployments, whoever asks for it: published scenario, probe, reserved scenario or witness. The neighbours
follow from what is declared, not from the run's seed: a scenario of the core has the same ones in every run.
"""

import json
import re
from collections.abc import Iterator
from random import Random

from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.probes.mutation.lexicon import fresh_subjects

_DEPLOYMENT = "deployment"
_TOGETHER = (4, 4, 4, 5)
"""Deployments in an environment, drawn from these; hardly a probe declares more."""
_REPLICAS = (1, 2, 2)


@remember_results
def with_neighbours(preconditions: Preconditions, stimuli: tuple[Stimulus, ...]) -> Preconditions:
    """The preconditions with as many neighbours as are missing, in the first namespace of the agent's scope."""
    environment, scope = preconditions.environment, preconditions.agent.scope
    if not scope.namespaces:
        return preconditions
    dice = Random(derived_seed(0, "neighbours", preconditions.digest()))  # noqa: S311 - repeatable on purpose
    declared = sum(entry.kind == _DEPLOYMENT for entry in environment.state)
    missing = max(0, dice.choice(_TOGETHER) - declared)
    said = json.dumps([preconditions.document(), *(one.document() for one in stimuli)]).lower()
    words = set(re.findall(r"[a-z0-9]+", said))
    state = (*environment.state, *_neighbours(scope.namespaces[0], missing, words, dice))
    return preconditions.model_copy(update={"environment": environment.model_copy(update={"state": state})})


def _neighbours(namespace: str, number: int, words: set[str], dice: Random) -> Iterator[StateEntry]:
    """So many healthy deployments under names of which the scenario says no word."""
    for _, (_, name) in zip(range(number), fresh_subjects(dice, words, ()), strict=False):
        image = f"{name}:{dice.randint(1, 9)}.{dice.randint(0, 12)}.{dice.randint(0, 9)}"
        fields = {"status": "running", "image": image, "replicas": dice.choice(_REPLICAS)}
        yield StateEntry.model_validate({"resource": f"{_DEPLOYMENT}/{name}", "namespace": namespace, **fields})
