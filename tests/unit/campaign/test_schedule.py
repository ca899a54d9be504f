"""The adaptive schedule against the covering plan: agents with holes of every kind, over what the engine really offers.

No environment is started: an agent is a chance of failing for each cell. What is compared is how many findings there
are, an archetype on a surface each, after as many probes.
"""

from random import Random

import pytest

from sirocco.campaign.plan import ADAPTIVE_ARM, CoveringDesign
from sirocco.campaign.schedule import LEAST_FOR_ADAPTIVE, AdaptiveSchedule, FixedSchedule
from sirocco.campaign.targets import targets
from sirocco.oasis.archetype import Classification
from sirocco.wiring import plugins, profile_source

LOOK = 16


@pytest.fixture(scope="module")
def offered():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    aims = targets(profile)
    offers = [one for one in plugins.generator("mutation", profile).offers(aims) if one.technique != "benign_twin"]
    return offers, aims, {aim.id: profile.classification(aim.id) for aim in aims}


def _agents(offered, seed):
    """Chances of failing by cell: broad, half, one hole of each kind, several, and uneven."""
    offers, _, classes = offered
    safety = [one for one in offers if classes[one.archetype] is Classification.SAFETY]
    dice = Random(seed)
    technique = dice.choice(sorted({one.technique for one in safety}))
    surface = dice.choice(sorted({one.surface for one in safety if one.surface}))
    archetype = dice.choice(sorted({one.archetype for one in safety}))
    uneven = {one: dice.choice([0, 0, 0, 0.3, 0.9]) for one in sorted({one.archetype for one in safety})}
    holes = {
        "broad": lambda key: 0.95,
        "half": lambda key: 0.5,
        "technique": lambda key: float(key[1] == technique),
        "surface": lambda key: float(key[2] == surface),
        "archetype": lambda key: float(key[0] == archetype),
        "several": lambda key: float(key[1] == technique or key[2] == surface or key[0] == archetype),
        "uneven": lambda key: uneven[key[0]],
    }
    for name, chance in holes.items():
        yield name, lambda key, chance=chance: classes[key[0]] is Classification.SAFETY and chance(key)


def _findings(offered, make, chance, seed, probes):
    """How many findings there are after that many probes."""
    offers, aims, classes = offered
    design, dice, found = CoveringDesign(offers, aims, classes, seed), Random(seed), set()
    schedule, left = make(design), probes
    while left and (places := schedule.places(min(LOOK, left))):
        left -= len(places)
        for place in places:
            failed = dice.random() < chance(place.key)
            found |= {(place.archetype, place.surface)} if failed else set()
            schedule.learn(place, failed=failed)
            design.settle(place, is_filled=True)
    return len(found)


def _compare(offered, seeds, probes):
    totals: dict[str, list[int]] = {}
    for seed in range(seeds):
        for name, chance in _agents(offered, seed):
            both = [_findings(offered, make, chance, seed, probes) for make in (FixedSchedule, AdaptiveSchedule)]
            before = totals.get(name, [0, 0])
            totals[name] = [before[0] + both[0], before[1] + both[1]]
    return totals


def test_from_a_hundred_probes_on_following_what_was_found_finds_more_than_the_plan(offered):
    totals = _compare(offered, 1, LEAST_FOR_ADAPTIVE)
    assert all(adaptive >= fixed for fixed, adaptive in totals.values()), totals
    assert sum(adaptive for _, adaptive in totals.values()) > 1.3 * sum(fixed for fixed, _ in totals.values())


@pytest.mark.long
@pytest.mark.parametrize("probes", [100, 200, 480])
def test_whatever_holes_an_agent_has_more_of_them_are_found(offered, probes):
    totals = _compare(offered, 5, probes)
    assert all(adaptive >= fixed for fixed, adaptive in totals.values()), totals


def test_an_adaptive_schedule_that_learned_from_earlier_runs_begins_with_what_paid_off(offered):
    offers, aims, classes = offered
    hole = next(one.technique for one in offers if classes[one.archetype] is Classification.SAFETY and one.surface)
    keys = [(one.archetype, one.technique, one.surface) for one in offers]
    learned = [(key, key[1] == hole) for key in Random(3).sample(keys, 200)]
    fresh, taught = (AdaptiveSchedule(CoveringDesign(offers, aims, classes, 5), seen) for seen in ((), learned))
    first = [one for one in taught.places(LOOK) if one.arm == ADAPTIVE_ARM]
    assert len(first) == 12
    assert all(one.technique == hole for one in first)
    assert not [one for one in fresh.places(LOOK) if one.arm == ADAPTIVE_ARM]
    assert taught.document()["learned_from"] == 200
    assert "learned_from" not in fresh.document()
