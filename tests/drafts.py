"""Admitted probes of the mutation engine, for properties that hold for every probe."""

import os
from contextlib import aclosing

from remembered import witnesses_remembered
from sirocco.campaign.admission import Admission
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.schedule import FixedSchedule
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.profile import Profile
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SEEDS = tuple(range(1, 21)) if THOROUGH else (1,)
PROBES = 48 if THOROUGH else 12


def settings(seed: int) -> RunSettings:
    """Settings with a stopped clock."""
    return RunSettings(seed, lambda: "2026-01-01T00:00:00.000000Z", deadline_seconds=60)


async def admitted_probes(profile: Profile, seed: int, count: int = PROBES) -> list[BoundScenario]:
    """As many probes as a campaign with this seed would admit."""
    aims = targets(profile)
    admission = Admission(
        profile, aims, witnesses(plugins.provider("simulator", profile), settings(seed), profile.domain)
    )
    drafting = Drafting(AtArmsLength(MutationGenerator(profile)), admission, aims, Tally(), seed=seed)
    places, filled = FixedSchedule(await drafting.plan()).places(count), {}
    with witnesses_remembered():
        async with aclosing(drafting.fill(places, filled)) as events:
            async for _ in events:
                pass
    return [filled[number].probe.bound for number in sorted(filled)]
