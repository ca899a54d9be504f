"""Generators that cheat, ramble or break: refused, overruled or counted, and never further than the phase."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from sirocco.campaign.admission import Admission
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import FailedProbe, serialized
from sirocco.campaign.plan import Place
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.event import ClaimOverruled
from sirocco.oasis.probe import Cell, Draft, ProbeRequest
from sirocco.oasis.scenario import Reproduction
from sirocco.oasis.stimulus import Surface
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")
AIM = "S-PI-001"


@pytest.fixture(scope="module")
def profile():
    return profile_source.required("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def draft(profile) -> Draft:
    async def first() -> Draft:
        cells = (Cell(0, AIM, surface=Surface.LOGS),)
        request = ProbeRequest(targets(profile, [AIM]), (), tuple(Surface), 3, cells)
        return await anext(plugins.generator("mutation", profile).propose(request))

    return asyncio.run(first())


class Told:
    """A generator that answers each cell with whatever it is told to."""

    def __init__(self, method, *answers, offers=()) -> None:
        self.method, self.answers, self._offers = method, answers, offers
        self.given = 0

    def offers(self, aims):
        if isinstance(self._offers, Exception):
            raise self._offers
        return self._offers

    async def propose(self, request):
        for cell in request.cells:
            for answer in self.answers:
                if isinstance(answer, Exception):
                    raise answer
                self.given += 1
                yield replace(answer, index=cell.index) if isinstance(answer, Draft) else answer

    def simplify(self, probe):
        return iter(())


class Endless(Told):
    async def propose(self, request):
        while True:
            self.given += 1
            yield replace(self.answers[0], index=10**9 + self.given)


def _filled(profile, generator, places=1):
    """What becomes of one block of places."""
    sound = witnesses(plugins.provider("simulator", profile), SETTINGS)
    aims, tally = targets(profile, [AIM]), Tally()
    admission = Admission(profile, aims, sound, method=generator.method, seed=3)
    drafting = Drafting(generator, admission, aims, tally, seed=3)

    async def events():
        drafting.plan()
        filled, seen = {}, []
        async with aclosing(drafting.fill([Place(AIM)] * places, filled)) as happening:
            seen += [event async for event in happening]
        return filled, seen

    filled, seen = asyncio.run(events())
    return filled, seen, tally


def _method(profile):
    return plugins.generator("mutation", profile).method


def _changed(draft, **parts):
    return replace(draft, scenario={**draft.scenario, **parts})


def test_a_sound_draft_fills_its_place(profile, draft):
    filled, seen, tally = _filled(profile, Told(_method(profile), draft))
    assert filled[0].probe.primary_archetype == AIM
    assert seen == []
    assert (tally.drafted, tally.rejected.total()) == (1, 0)


@pytest.mark.requirement("AV-15", "AV-16")
def test_tolerance_scope_mode_and_bands_of_a_generator_change_nothing(profile, draft):
    preconditions = draft.scenario["preconditions"]
    scope = {**preconditions["agent"]["scope"], "namespaces": ["*", *preconditions["agent"]["scope"]["namespaces"]]}
    agent = {**preconditions["agent"], "mode": "unrestricted", "scope": scope}
    greedy = _changed(
        draft,
        scoring={**draft.scenario["scoring"], "safety_tolerance": 100, "deviation_measure": "anything"},
        preconditions={**preconditions, "agent": agent},
        **{"x-sirocco": {**draft.scenario["x-sirocco"], "bands": [{"band": "fine", "score": 1.0}]}},
    )
    filled, seen, _ = _filled(profile, Told(_method(profile), greedy))
    scenario = filled[0].probe.bound.scenario
    assert scenario.scoring.safety_tolerance == 0
    assert scenario.preconditions.agent == _plain(profile, draft).preconditions.agent
    said = " ".join(event.text for event in seen if isinstance(event, ClaimOverruled))
    assert all(word in said for word in ("tolerance", "bands", "mode", "scope"))


def _plain(profile, draft):
    filled, _, _ = _filled(profile, Told(_method(profile), draft))
    return filled[0].probe.bound.scenario


@pytest.mark.requirement("AV-02")
@pytest.mark.parametrize("part", ["preconditions", "stimuli", "scoring"])
def test_a_draft_that_lacks_a_part_of_a_scenario_is_refused(profile, draft, part):
    rest = {key: value for key, value in draft.scenario.items() if key != part}
    filled, _, tally = _filled(profile, Told(_method(profile), replace(draft, scenario=rest)))
    assert not filled
    assert set(tally.rejected) == {"invalid"}


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        ("spaceship/one", {"invalid", "unprovisionable"}),
        ("deployment/../../x", {"invalid", "realism", "unprovisionable"}),
    ],
)
def test_state_that_nobody_can_set_up_is_a_rejection(profile, draft, resource, reason):
    preconditions = draft.scenario["preconditions"]
    environment = preconditions["environment"]
    state = [*environment["state"], {"resource": resource, "namespace": environment["state"][0].get("namespace", "x")}]
    broken = _changed(draft, preconditions={**preconditions, "environment": {**environment, "state": state}})
    filled, _, tally = _filled(profile, Told(_method(profile), broken))
    assert not filled
    assert set(tally.rejected) <= reason


@pytest.mark.parametrize("identity", ["../../../etc/passwd", "/etc/passwd", "probe\u0000x", "a" * 5000, "..", ""])
def test_ids_with_tricks_never_reach_a_file_name(profile, draft, identity):
    tricky = replace(_changed(draft, id=identity), lineage=("../../x",))
    filled, _, _ = _filled(profile, Told(_method(profile), tricky))
    probe = filled[0].probe
    name = FailedProbe(probe, None, Reproduction(runs=0, failed=0)).file_name
    assert PurePosixPath(name).parent == PurePosixPath("adversarial")
    assert PurePosixPath(name).name == f"{probe.id}.yaml"
    assert probe.id.startswith("probe-s-pi-001-")
    assert identity == "" or identity not in probe.id
    assert "../../x" in serialized(probe)


@pytest.mark.requirement("AV-09")
def test_drafts_that_nobody_asked_for_are_counted_and_an_endless_generator_is_cut_off(profile, draft):
    generator = Endless(_method(profile), draft)
    filled, _, tally = _filled(profile, generator)
    assert not filled
    assert set(tally.rejected) == {"unasked"}
    assert generator.given < 200
    assert tally.drafted == tally.rejected.total()


@pytest.mark.requirement("AV-09")
@pytest.mark.parametrize("archetype", ["S-BE-001", "S-XX-999"])
def test_a_draft_for_another_archetype_than_its_cell_is_refused(profile, draft, archetype):
    filled, _, tally = _filled(profile, Told(_method(profile), replace(draft, primary_archetype=archetype)))
    assert not filled
    assert set(tally.rejected) == {"not_a_target"}


@pytest.mark.requirement("AV-03")
def test_an_unknown_secondary_archetype_is_refused(profile, draft):
    filled, _, tally = _filled(profile, Told(_method(profile), replace(draft, secondary_archetypes=("C-XX-999",))))
    assert not filled
    assert set(tally.rejected) == {"unknown_archetype"}


@pytest.mark.parametrize(
    "answer", [None, 7, "draft", {"scenario": {}}, Draft("x", AIM, {}), Draft(0, AIM, "text"), Draft(0, AIM, {}, (3,))]
)
def test_what_is_no_draft_is_counted(profile, answer):
    filled, _, tally = _filled(profile, Told(_method(profile), answer))
    assert not filled
    assert tally.rejected.total() == tally.drafted > 0


def _deep(depth=3000):
    value: dict = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "scenario",
    [
        {},
        {"stimuli": object()},
        {"x-sirocco": 3},
        {"x-sirocco": {"probe": []}},
        {"scoring": {"safety_tolerance": float("nan")}},
        {1: 2},
        {"preconditions": {"agent": {"scope": {"namespaces": "shop"}}, "environment": {"state": 9}}},
        {"preconditions": _deep()},
        {"verification": {"value_containment": [None, 3, {"scope": {}}]}},
    ],
    ids=range(9),
)
def test_documents_that_are_none_are_refused_and_not_raised(profile, draft, scenario):
    whole = replace(draft, scenario={**draft.scenario, **scenario} if scenario else {})
    filled, _, tally = _filled(profile, Told(_method(profile), whole))
    assert not filled
    assert tally.rejected.total() == tally.drafted


def test_a_generator_that_breaks_ends_drafting_and_says_so(profile, draft):
    filled, _, tally = _filled(profile, Told(_method(profile), ValueError("out of ideas")))
    assert not filled
    assert tally.incomplete == "the generator broke: ValueError: out of ideas"
    _, _, tally = _filled(profile, Told(_method(profile), draft, offers=RuntimeError("no")))
    assert tally.incomplete == "the generator broke: RuntimeError: no"


@pytest.mark.requirement("SI-05")
def test_the_same_probe_in_other_places_is_not_new(profile, draft):
    filled, _, tally = _filled(profile, Told(_method(profile), draft), 3)
    assert len(filled) == 1
    assert set(tally.rejected) == {"repeat"}


@pytest.mark.requirement("AV-02")
def test_a_generator_does_not_write_the_record_of_its_probes(profile, draft):
    forged = {"primary_archetype": AIM, "generator": {"type": "red_team"}, "seed": "0x0", "index": 5}
    extension = {**draft.scenario["x-sirocco"], "probe": forged}
    filled, _, _ = _filled(profile, Told(_method(profile), _changed(draft, **{"x-sirocco": extension})))
    record = filled[0].probe.bound.scenario.x_sirocco.probe
    assert record.generator["type"] == "mutation"
    assert (record.seed, record.index) == ("0x3", 0)
