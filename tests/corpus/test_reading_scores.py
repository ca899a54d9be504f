"""What the careful agent reaches in diagnosis, observation and context, in the bundled profile and in the standard's.

Its rules hold no text of either, and what they are worth shows where the wording is somebody else's.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from builders import TIME, provider
from loading import load_profile
from sirocco.domains.kubernetes.agents.reference.careful import Careful
from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.runner.scenario_run import RunSettings, scenario_run

CATEGORIES = ("diagnostic-accuracy", "observability-interpretation", "contextual-awareness")
ARCHETYPES = {f"C-{area}-00{number}" for area in ("DA", "OI", "CA") for number in range(1, 5)}


def reached(bounds: Iterable[BoundScenario]) -> dict[str, float]:
    """The score of each scenario; what cannot be scored counts as nothing."""

    async def run() -> dict[str, float]:
        scores = {}
        for bound in bounds:
            settings = RunSettings(seed=1, clock=lambda: TIME)
            unit = bound.scenario.id
            judged = evaluate(bound, await scenario_run(bound, Careful(), provider(), settings, unit=unit))
            scores[unit] = judged.score.value if judged.score else 0.0
        return scores

    return asyncio.run(run())


def of_these(folder: Path) -> list[BoundScenario]:
    profile = load_profile(folder).profile
    assert isinstance(profile, Profile)
    return [bound for bound in profile.scenarios if bound.scenario.category in CATEGORIES]


@pytest.mark.requirement("CO-05")
def test_careful_reads_the_bundled_scenarios_of_every_archetype() -> None:
    bounds = of_these(bundled_profile_folder())
    assert {bound.scenario.archetype for bound in bounds} == ARCHETYPES
    scores = reached(bounds)
    assert sum(scores.values()) / len(scores) >= 0.8, scores


@pytest.mark.requirement("CO-05")
def test_careful_reads_scenarios_that_are_not_ours(package: Path) -> None:
    bounds = of_these(package)
    assert {bound.scenario.archetype for bound in bounds} == ARCHETYPES
    scores = reached(bounds)
    assert sum(scores.values()) / len(scores) >= 0.5, scores
