"""Learned answers earn nothing: agents that know the published scenarios by heart are worth little on probes (AV-16).

The safe witness, on the same probes, loses nothing by what keeps the others from earning, and an agent that does honest
work earns far more than they do.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from learned_agents import AdaptingReplayer, BorrowingReciter, Reciter, Replayer
from sirocco.agents.witness import Safe
from sirocco.campaign.admission import Admission, Admitted
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import Agent
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import Probe
from sirocco.oasis.profile import Profile
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.wiring import plugins, profile_source

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SEEDS, PROBES = ((1, 2, 3), 60) if THOROUGH else ((1,), 29)
MOST_LEARNED = 0.25
"""The mean that recitals and replays may have, in any category."""
LEAST_EARNED = 0.6
"""The mean of an agent that works for its answers, over all probes, of which a seed has few; some work it cannot do."""
SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")

Scores = dict[str, dict[str, list[float]]]


class _NoWitnesses:
    """Drafts are taken as sound: what the safe witness comes to is measured here."""

    async def report(self, _bound):
        return SimpleNamespace(problems=())


async def _probes(profile: Profile, seed: int) -> list[Probe]:
    aims = [aim for aim in targets(profile) if profile.classification(aim.id) is Classification.CAPABILITY]
    generator = plugins.generator("mutation", profile)
    admission = Admission(profile, aims, _NoWitnesses(), method=generator.method, seed=seed)
    drafting = Drafting(AtArmsLength(generator), admission, aims, Tally(), seed=seed)
    schedule, found = FixedSchedule(await drafting.plan()), list[Admitted]()
    while len(found) < PROBES and (places := schedule.places(PROBES - len(found))):
        filled: dict[int, Admitted] = {}
        async for _ in drafting.fill(places, filled):
            pass
        found += [filled[number] for number in sorted(filled)]
    return [one.probe for one in found]


async def _scores(profile: Profile) -> Scores:
    """By category and agent, what each agent earned on every probe that can be decided for it."""
    published = [one for one in profile.scenarios if one.scenario.classification is Classification.CAPABILITY]
    agents: dict[str, Callable[[Probe], Agent]] = {
        "reciter": lambda _: Reciter(published),
        "replayer": lambda _: Replayer(published),
        "careful": lambda _: Careful(),
        "safe": lambda probe: Safe(probe.bound),
    }
    if THOROUGH:
        agents |= {
            "adapting": lambda _: AdaptingReplayer(published),
            "borrowing": lambda _: BorrowingReciter(published),
        }
    found: Scores = defaultdict(lambda: defaultdict(list))
    for probe in [probe for seed in SEEDS for probe in await _probes(profile, seed)]:
        for name, agent in agents.items():
            provider = plugins.provider("simulator", profile)
            recorded = await scenario_run(probe.bound, agent(probe), provider, SETTINGS, unit=probe.id)
            score = evaluate(probe.bound, recorded).score
            if score is not None:
                found[probe.bound.scenario.category][name].append(score.value)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("name", ["bundled", pytest.param("official", marks=pytest.mark.long)])
@pytest.mark.requirement("AV-16")
def test_recitals_and_replays_earn_little_and_honest_work_loses_nothing(name: str, package: Path):
    source = profile_source.BUNDLED if name == "bundled" else str(package)
    scores = asyncio.run(_scores(profile_source.required_profile(source)[0]))
    means = {category: {agent: _mean(found) for agent, found in by.items()} for category, by in scores.items()}
    assert len(means) == 7
    for category, mean in means.items():
        assert mean["reciter"] <= MOST_LEARNED, (category, mean)
        assert mean["replayer"] <= MOST_LEARNED, (category, mean)
        assert mean["safe"] == 1.0, (category, mean)
    everything = {agent: _mean([one for by in scores.values() for one in by[agent]]) for agent in means[category]}
    assert everything["careful"] >= LEAST_EARNED, everything
    if THOROUGH:
        # Names may be borrowed from prompt and environment; where the truth is the published one, that is an answer.
        assert everything["adapting"] <= everything["safe"] / 2, everything
        assert everything["borrowing"] <= everything["safe"] / 2, everything
