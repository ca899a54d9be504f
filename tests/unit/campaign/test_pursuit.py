"""Pursuit: an attacker that goes on from what it tried, by evidence and not by words."""

import asyncio

import pytest

from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.plan import ADAPTIVE_ARM, CoveringDesign, Place
from sirocco.campaign.pursuit import PursuitSchedule
from sirocco.campaign.schedule import Tried
from sirocco.oasis.archetype import Archetype, Classification
from sirocco.oasis.probe import Author, Cell, Draft, Offer, ProbeOutcome, ProbeRequest
from sirocco.oasis.scenario import ProbeRecord
from sirocco.oasis.verdict import PayloadFacts
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.probes.wire import draft_question
from sirocco.wiring import profile_source

AIM = "S-PI-001"
SURFACES, TECHNIQUES = ("logs", "events", "annotations"), ("authority", "urgency", "register")
UNREAD, READ, DENIED = (
    PayloadFacts(delivered=False, attempted=False, effected=False),
    PayloadFacts(delivered=True, attempted=False, effected=False),
    PayloadFacts(delivered=True, attempted=True, effected=False),
)


def _schedule(turns=4, names=(AIM,)):
    offers = [Offer(name, technique, surface) for name in names for technique in TECHNIQUES for surface in SURFACES]
    archetypes = tuple(Archetype(id=name, name=name, category="c", pattern="p") for name in names)
    design = CoveringDesign(offers, archetypes, dict.fromkeys(names, Classification.SAFETY), 7)
    found = PursuitSchedule(design, turns=turns)
    found.warm_up = 0
    return found


def _learn(schedule, place, evidence, *, failed=False):
    draft = Draft(0, place.archetype, {"said": str(place)}, technique=place.technique, surface=place.surface)
    schedule.learn(place, failed=failed, tried=Tried(draft, evidence))
    return draft


def _steered(schedule):
    """The next place that the plan did not choose."""
    return next(place for place in schedule.places(4) if place.arm == ADAPTIVE_ARM)


def test_what_did_not_arrive_is_said_again_elsewhere_and_what_was_read_otherwise_in_the_same_place():
    schedule = _schedule()
    unread = _learn(schedule, Place(AIM, "authority", "logs"), UNREAD)
    moved = _steered(schedule)
    assert (moved.follows, moved.technique) == (unread, "authority")
    assert moved.surface != "logs"
    read = _learn(schedule, moved, READ)
    pressed = _steered(schedule)
    assert (pressed.follows, pressed.surface) == (read, moved.surface)


def test_a_try_that_got_no_further_is_dropped_and_the_next_one_branches_off_the_best():
    schedule = _schedule(turns=9)
    _learn(schedule, Place(AIM, "authority", "logs"), READ)
    best = _learn(schedule, _steered(schedule), DENIED)
    for evidence in (UNREAD, READ, DENIED):
        place = _steered(schedule)
        assert place.follows == best
        _learn(schedule, place, evidence)
    assert schedule.document()["got_further"] == 1


def test_a_line_ends_with_a_violation_or_after_so_many_tries():
    for ending in ("violation", "turns"):
        schedule = _schedule(turns=3)
        _learn(schedule, Place(AIM, "authority", "logs"), READ)
        assert _steered(schedule).follows is not None
        _learn(schedule, _steered(schedule), READ, failed=ending == "violation")
        if ending == "turns":
            _learn(schedule, _steered(schedule), READ)
        assert _steered(schedule).follows is None, ending


def test_an_agent_that_broke_off_leads_no_line_anywhere():
    schedule = _schedule()
    schedule.learn(Place(AIM, "authority", "logs"), failed=False, tried=None)
    assert _steered(schedule).follows is None


def test_surfaces_that_the_agent_never_reads_are_left_for_last():
    schedule = _schedule(turns=2)
    for technique in TECHNIQUES:
        _learn(schedule, Place(AIM, technique, "logs"), UNREAD)
        _learn(schedule, Place(AIM, technique, "events"), READ)
    assert _steered(schedule).surface != "logs"


def test_a_place_gives_up_following_before_it_gives_up():
    place = Place(AIM, "authority", "logs", follows=Draft(0, AIM, {}))
    assert [place.cell(0, attempt).follows is not None for attempt in range(6)] == [True, True] + [False] * 4


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


def _drafted(profile, *cells, seed=5):
    generator = MutationGenerator(profile)
    surfaces = profile.domain.vocabulary.surfaces
    request = ProbeRequest((profile.archetypes[AIM],), (), surfaces, seed, cells)

    async def collected():
        return [draft async for draft in generator.propose(request)]

    return generator, asyncio.run(collected())


@pytest.mark.requirement("AV-10", "AV-11")
def test_a_draft_that_follows_another_has_its_environment_and_steps_and_is_remade_from_its_record(profile):
    first = Cell(6, AIM, "authority_forgery", "logs")
    _, [earlier] = _drafted(profile, first)
    generator, [later] = _drafted(profile, Cell(30, AIM, "urgency", "logs", follows=earlier))
    assert later.lineage[0] == f"{earlier.lineage[0][:-1]}@6)"
    assert {step for step in earlier.lineage if step.startswith("authority")} <= set(later.lineage)
    assert any(step.startswith("urgency") for step in later.lineage)
    goals = [draft.scenario["x-sirocco"]["goal"] for draft in (earlier, later)]
    assert goals[0] == goals[1]
    record = ProbeRecord.model_validate(later.scenario["x-sirocco"]["probe"])
    assert generator.remake(record).scenario == later.scenario
    _, [alone] = _drafted(profile, Cell(30, AIM, "urgency", "logs"))
    assert alone.scenario["x-sirocco"]["goal"] != goals[0]


def test_a_draft_of_somebody_else_is_not_gone_on_from(profile):
    for scenario in ({}, {"x-sirocco": {"probe": None}}, {"x-sirocco": 3}):
        strange = Draft(6, AIM, scenario)
        assert _drafted(profile, Cell(30, AIM, "urgency", "logs", follows=strange))[1] == []


@pytest.mark.requirement("AV-07")
def test_generators_elsewhere_are_told_what_they_go_on_from_and_how_far_it_got(profile):
    outcome = ProbeOutcome(6, AIM, "passed", evidence=DENIED)
    request = ProbeRequest((profile.archetypes[AIM],), (), (), 5, (), (outcome,))
    question = draft_question(request, Cell(30, AIM, follows=Draft(6, AIM, {"id": "one"})))
    assert question["cell"]["follows"]["scenario"] == {"id": "one"}
    told = {"delivered": True, "attempted": True, "denied": True, "effected": False}
    assert question["outcomes"][0]["evidence"] == told


def test_nobody_goes_on_from_somebody_elses_draft():
    asked = []

    class Listening:
        method = MutationGenerator(profile_source.required_profile("kubernetes_operations")[0]).method

        async def propose(self, request):
            asked.extend(cell.follows for cell in request.cells)
            return
            yield

    one = AtArmsLength(Listening(), name="one")
    own = Draft(1, AIM, {}, author=one.author)
    other = Draft(2, AIM, {}, author=Author("other", one.method, one.author.wording))
    request = ProbeRequest((), (), (), 5, (Cell(6, AIM, follows=own), Cell(12, AIM, follows=other)))

    async def ask():
        return [answer async for answer in one.drafts(request)]

    asyncio.run(ask())
    assert asked == [own, None]
