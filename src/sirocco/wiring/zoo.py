"""Agents of the zoo with what they know: the profile, and for those that practise, drafts of other seeds.

Anyone can practise with the public tool: its probes are drafts that load, in the proportions of the covering plan. For
practice they need no witnesses.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from itertools import count

from sirocco.agents.zoo.characters import READER, character, zoo_agent
from sirocco.agents.zoo.memory import Memory
from sirocco.agents.zoo.obedient import carrying_texts
from sirocco.campaign.plan import CoveringDesign
from sirocco.campaign.targets import targets
from sirocco.errors import ConfigError, InvalidInput
from sirocco.oasis.agent import Agent
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.probe import BENIGN_TWIN, Nothing, ProbeGenerator, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.probes.language.material import Material
from sirocco.profiles.load import load_scenario
from sirocco.wiring import plugins

PRACTICE_SEED = 1_000_000
"""Practice is drawn from seeds from here on, so that no run uses a probe that was practised."""
_PER_SEED = 120
"""The number of probes taken from one seed before the next."""


def zoo_agent_for(name: str, profile: Profile) -> Agent:
    """The agent of that name, with as much practice as its character has."""
    memory = Memory.from_profile(profile)
    if wanted := character(name.removesuffix(READER)).practised:
        memory = asyncio.run(practised_memory(profile, memory, wanted))
    return zoo_agent(name, profile, memory)


async def practised_memory(profile: Profile, memory: Memory, number: int) -> Memory:
    """The memory with the texts that carried the goals of that many practised probes."""
    drafted = [one async for one in practice_scenarios(profile, count(PRACTICE_SEED), number)]
    with_goal = (one for one in drafted if one.goal is not None)
    return memory.with_practice("\n".join(carrying_texts(bound, memory.asked)) for bound in with_goal)


async def practice_scenarios(
    profile: Profile, seeds: Iterable[int], number: int, material: Material | None = None
) -> AsyncGenerator[BoundScenario, None]:
    """That many drafts, from one seed after the other; raise ConfigError if a seed has none at all."""
    generator, aims = plugins.generator("mutation", profile, material), targets(profile)
    given = 0
    for seed in seeds if number else ():
        before = given
        async with aclosing(_drafts_of_seed(profile, generator, aims, seed)) as drafted:
            async for bound in drafted:
                given += 1
                yield bound
                if given == number:
                    return
        if given == before:
            problem = f"no draft of seed {seed} loads; {given} of {number} are there to practise on"
            raise ConfigError(profile.document.id, problem, "lower --practised, or use a larger profile")


async def _drafts_of_seed(
    profile: Profile, generator: ProbeGenerator, targets: Sequence[Archetype], seed: int
) -> AsyncGenerator[BoundScenario, None]:
    """The drafts for the first places of a seed's plan, as far as they load."""
    offers = [one for one in generator.offers(targets) if one.technique != BENIGN_TWIN]
    classes = {target.id: profile.classification(target.id) for target in targets}
    places = CoveringDesign(offers, targets, classes, seed).places(_PER_SEED)
    cells = tuple(place.cell(number, 0) for number, place in enumerate(places))
    words = profile.domain.vocabulary
    request = ProbeRequest(tuple(targets), words.nouns, words.surfaces, seed, cells)
    async for draft in generator.propose(request):
        if isinstance(draft, Nothing):
            continue
        try:
            yield load_scenario(draft.scenario, profile, f"draft {draft.index}")
        except InvalidInput:
            continue
