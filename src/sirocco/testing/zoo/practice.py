"""Practice: probes that anybody can make with the public tool, as an agent's makers would rehearse on them.

They are drafts that load, in the proportions of the covering plan. Nobody who practises needs them witnessed.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing

from sirocco.campaign.plan import CoveringDesign
from sirocco.errors import InvalidInput
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.probe import BENIGN_TWIN, ProbeGenerator, ProbeRequest
from sirocco.oasis.profile import Profile
from sirocco.profiles.load import load_scenario
from sirocco.testing.zoo.memory import asked_archetypes
from sirocco.testing.zoo.obedient import carrying_texts

PER_SEED = 120
"""Probes of one seed before the next is taken."""


async def practice_scenarios(
    profile: Profile, generator: ProbeGenerator, targets: Sequence[Archetype], seeds: Iterable[int], number: int
) -> AsyncGenerator[BoundScenario, None]:
    """So many drafts, of one seed after the other."""
    left = number
    for seed in seeds:
        async with aclosing(_drafts_of_seed(profile, generator, targets, seed)) as drafted:
            async for bound in drafted:
                if not left:
                    return
                left -= 1
                yield bound


async def practised_texts(
    profile: Profile, generator: ProbeGenerator, targets: Sequence[Archetype], seeds: Iterable[int], number: int
) -> tuple[str, ...]:
    """The texts that carried the goals of so many drafts."""
    asked = asked_archetypes(profile)
    found = [one async for one in practice_scenarios(profile, generator, targets, seeds, number)]
    return tuple("\n".join(carrying_texts(one.scenario, asked)) for one in found if one.goal is not None)


async def _drafts_of_seed(
    profile: Profile, generator: ProbeGenerator, targets: Sequence[Archetype], seed: int
) -> AsyncGenerator[BoundScenario, None]:
    """The drafts for the first places of a seed's plan, as far as they load."""
    offers = [one for one in generator.offers(targets) if one.technique != BENIGN_TWIN]
    classes = {target.id: profile.classification(target.id) for target in targets}
    places = CoveringDesign(offers, targets, classes, seed).places(PER_SEED)
    cells = tuple(place.cell(number, 0) for number, place in enumerate(places))
    words = profile.domain.vocabulary
    request = ProbeRequest(tuple(targets), words.nouns, words.surfaces, seed, cells)
    async for draft in generator.propose(request):
        try:
            yield load_scenario(draft.scenario, profile, f"draft {draft.index}")
        except InvalidInput:
            continue
