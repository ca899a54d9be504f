"""The plan: what a budget covers, in which proportions, and what happens to what cannot be had."""

from collections import Counter

import pytest

from sirocco.campaign.plan import ATTEMPTS, CoveringDesign, Place, fair_shares
from sirocco.campaign.schedule import AdaptiveSchedule, FixedSchedule, ScheduleKind, schedule
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.probe import Offer

SAFETY = [f"S-{n:02}" for n in range(21)]
CAPABILITY = [f"C-{n:02}" for n in range(29)]
CLASSES = dict.fromkeys(SAFETY, Classification.SAFETY) | dict.fromkeys(CAPABILITY, Classification.CAPABILITY)
TARGETS = tuple(Archetype(id=name, name=name, category="c", pattern="p") for name in (*SAFETY, *CAPABILITY))
TECHNIQUES = [f"technique-{n:02}" for n in range(20)]
SURFACES = list(Surface)[:12]


def _offers():
    """Every technique on some archetypes, surfaces on the first six, compositions on every third."""
    for number, name in enumerate((*SAFETY, *CAPABILITY)):
        for step in range(4):
            technique = TECHNIQUES[(number + 5 * step) % len(TECHNIQUES)]
            surface = SURFACES[(number + 3 * step) % len(SURFACES)] if number < 6 else None
            yield Offer(name, technique, surface, composes=number % 3 == 0)


def _design(seed=7, offers=None):
    return CoveringDesign(_offers() if offers is None else offers, TARGETS, CLASSES, seed)


def test_within_48_places_every_safety_archetype_technique_and_surface_occurs():
    places = _design().places(48)
    assert {place.archetype for place in places} >= set(SAFETY)
    assert {place.technique for place in places} == set(TECHNIQUES)
    assert {place.surface for place in places if place.surface} == set(SURFACES)


@pytest.mark.requirement("AV-06")
def test_five_places_in_eight_are_safety_and_a_quarter_are_compositions_across_the_classes():
    places = _design().places(48)
    assert Counter(CLASSES[place.archetype] for place in places) == {"safety": 30, "capability": 18}
    composed = [place for place in places if place.companions]
    assert len(composed) == 12
    assert {CLASSES[place.archetype] for place in composed} == set(Classification)
    for place in composed:
        assert all(CLASSES[name] is not CLASSES[place.archetype] for name in place.companions)


def test_later_places_bring_pairs_that_have_not_occurred():
    places = _design().places(400)
    pairs = {(place.archetype, place.technique) for place in places}
    assert pairs == {(offer.archetype, offer.technique) for offer in _offers()}


def test_the_same_seed_gives_the_same_plan_and_another_seed_another():
    assert _design(7).places(60) == _design(7).places(60)
    design = _design(7)
    assert [*design.places(20), *design.places(40)] == _design(7).places(60)
    assert _design(8).places(60) != _design(7).places(60)


def _uneven_offers():
    """Many surfaces for all but one safety archetype, which has a single technique and no surface."""
    yield from _offers()
    for name in SAFETY[:-1]:
        yield from (Offer(name, technique, surface) for technique in TECHNIQUES for surface in SURFACES)


@pytest.mark.parametrize("number", [48, 100, 300, pytest.param(3000, marks=pytest.mark.long)])
def test_every_archetype_has_its_share_however_much_is_offered_for_others(number):
    spread = Counter(place.archetype for place in _design(offers=_uneven_offers()).places(number))
    for names in (SAFETY, CAPABILITY):
        found = [spread[name] for name in names]
        assert max(found) - min(found) <= 2, found
    assert _design().underfilled_archetypes(spread) == {}


def test_a_place_that_was_not_filled_is_asked_for_again_in_another_way_before_others_get_more():
    design = _design()
    first = design.places(48)
    for place in first:
        design.settle(place, is_filled=place.archetype != "S-05")
    (unfilled,) = [place for place in first if place.archetype == "S-05"][:1]
    again = [place for place in design.places(8) if place.archetype == "S-05"]
    assert again
    assert again[0].technique != unfilled.technique


def test_an_archetype_of_which_nothing_is_ever_admitted_leaves_its_places_to_others_and_is_thin():
    design, spread = _design(), Counter()
    exhausted = []
    while spread.total() < 300:
        for place in design.places(min(64, 300 - spread.total())):
            is_filled = place.archetype != "S-05"
            spread[place.archetype] += is_filled
            if design.settle(place, is_filled=is_filled):
                exhausted.append(place.archetype)
    assert exhausted == ["S-05"]
    assert design.underfilled_archetypes(spread) == {"S-05": 0}
    others = [spread[name] for name in SAFETY if name != "S-05"]
    assert max(others) - min(others) <= 1


def test_an_admission_in_between_keeps_a_cell_from_being_exhausted():
    design = _design(offers=[Offer("S-00", "a")])
    for _ in range(5):
        assert design.exhaust(Place("S-00", "a")) is False
        design.renew(Place("S-00", "a"))
    assert design.places(1)


def test_a_fair_share_counts_the_two_classes_apart_and_thin_is_less_than_half_of_it():
    shares = fair_shares(CLASSES, 300)
    assert (shares["S-00"], shares["C-00"]) == (8, 3)
    assert fair_shares(dict.fromkeys(SAFETY, Classification.SAFETY), 300)["S-00"] == 14
    even = Counter(dict.fromkeys(SAFETY, 9) | dict.fromkeys(CAPABILITY, 4))
    assert _design().underfilled_archetypes(even) == {}
    assert _design().underfilled_archetypes({**even, "S-03": 3, "S-04": 4, "C-09": 1, "C-10": 2}) == {
        "S-03": 3,
        "C-09": 1,
    }


def test_without_offers_only_archetypes_are_planned():
    places = _design(offers=()).places(50)
    assert {place.technique for place in places} == {None}
    assert {place.archetype for place in places} >= set(SAFETY)


def test_an_archetype_that_nothing_is_offered_for_is_named():
    offers = [offer for offer in _offers() if offer.archetype != "S-03"]
    assert _design(offers=offers).unoffered == ("S-03",)


def test_with_only_one_class_the_whole_budget_goes_there():
    offers = [offer for offer in _offers() if offer.archetype in SAFETY]
    assert {place.archetype for place in _design(offers=offers).places(40)} <= set(SAFETY)


def test_an_exhausted_cell_is_offered_no_more_and_the_plan_ends_when_all_are():
    design = _design(offers=[Offer("S-00", "a"), Offer("S-00", "b")])
    first = Place("S-00", "a")
    assert design.exhaust(first) is False
    assert design.exhaust(first) is True
    assert {place.technique for place in design.places(5)} == {"b"}
    design.exhaust(Place("S-00", "b"))
    design.exhaust(Place("S-00", "b"))
    assert design.places(5) == []


def test_a_place_asks_for_less_in_the_end_and_tries_other_companions_before():
    place = Place("S-00", "a", Surface.LOGS, ("C-00", "C-01", "C-02"))
    cells = [place.cell(index, index) for index in range(ATTEMPTS)]
    assert [cell.companion for cell in cells] == ["C-00", "C-01", "C-02", "C-00", None, None]
    assert (cells[-1].technique, cells[-1].surface) == (None, None)
    assert {cell.archetype for cell in cells} == {"S-00"}
    assert [cell.index for cell in cells] == list(range(ATTEMPTS))


def test_planning_takes_a_time_that_grows_no_faster_than_the_number_of_places():
    design = _design()
    counted = 0
    cost = design._cost

    def counting(candidate):
        nonlocal counted
        counted += 1
        return cost(candidate)

    design._cost = counting
    design.places(1000)
    first = counted
    design.places(1000)
    assert counted - first < 3 * first


def _run(adaptive, weak, number=400):
    """Give out places in blocks of 50; an agent fails wherever `weak` says so."""
    for _ in range(number // 50):
        for place in adaptive.places(50):
            adaptive.learn(place, failed=weak(place))
    return adaptive.document()["arms"]


def test_an_adaptive_schedule_finds_more_new_failures_than_the_fixed_arm_beside_it():
    offers = [Offer(name, technique) for name in (*SAFETY, *CAPABILITY) for technique in TECHNIQUES]
    adaptive = AdaptiveSchedule(_design(offers=offers))
    arms = _run(adaptive, lambda place: place.technique in TECHNIQUES[:2])
    rate = {name: arm["new_failures"] / arm["probes"] for name, arm in arms.items()}
    assert arms["fixed"]["probes"] >= 400 // 4
    assert rate["adaptive"] > 1.5 * rate["fixed"]


def test_what_failed_once_is_not_asked_for_again_by_the_adaptive_arm():
    adaptive = AdaptiveSchedule(_design())
    seen = []
    for _ in range(4):
        for place in adaptive.places(40):
            seen.append(place.key)
            adaptive.learn(place, failed=True)
    learned = adaptive._promising_places(10_000)
    assert not {place.key for place in learned} & set(seen)


@pytest.mark.parametrize(("probes", "kind"), [(99, FixedSchedule), (100, AdaptiveSchedule)])
def test_a_small_budget_stays_with_the_plan(probes, kind):
    assert isinstance(schedule(ScheduleKind.ADAPTIVE, _design(), probes), kind)
    assert isinstance(schedule(ScheduleKind.FIXED, _design(), probes), FixedSchedule)


def test_a_fixed_schedule_learns_nothing():
    one, other = FixedSchedule(_design()), FixedSchedule(_design())
    for place in one.places(30):
        one.learn(place, failed=True)
    other.places(30)
    assert one.places(30) == other.places(30)
