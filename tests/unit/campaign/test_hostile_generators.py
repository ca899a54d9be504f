"""Generators that cheat, ramble or break: refused, overruled or counted, and never further than the phase."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from sirocco.campaign.admission import Admission
from sirocco.campaign.arms_length import AtArmsLength, GeneratorFault, GeneratorFaultKind, error_line
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.findings import FailedProbe, file_name, probe_text
from sirocco.campaign.plan import Place
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.targets import Surface
from sirocco.oasis.event import ClaimOverruled
from sirocco.oasis.probe import Cell, Draft, Offer, ProbeRequest
from sirocco.oasis.verdict import Evaluation, Pass, PayloadFacts
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")
AIM = "S-PI-001"


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def draft(profile) -> Draft:
    """The first draft that is admitted although a stranger hands it in."""

    async def first(seed: int) -> Draft:
        cells = (Cell(0, AIM, surface=Surface.LOGS),)
        request = ProbeRequest(targets(profile, [AIM]), (), tuple(Surface), seed, cells)
        return await anext(plugins.generator("mutation", profile).propose(request))

    drafts = (asyncio.run(first(seed)) for seed in range(1, 11))
    return next(one for one in drafts if _filled(profile, Told(_method(profile), one))[0])


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
                if isinstance(answer, BaseException):
                    raise answer
                self.given += 1
                yield replace(answer, index=cell.index) if getattr(answer, "index", None) == 0 else answer

    def simplify(self, probe):
        return iter(())


class Endless(Told):
    async def propose(self, request):
        while True:
            self.given += 1
            yield replace(self.answers[0], index=10**9 + self.given)


def _filled(profile, generator, places=1, asked=None):
    """What becomes of one block of places."""
    sound = witnesses(plugins.provider("simulator", profile), SETTINGS, profile.domain)
    aims, tally = targets(profile, [AIM]), Tally()
    admission = Admission(profile, aims, sound, method=generator.method, seed=3)
    drafting = Drafting(asked or AtArmsLength(generator), admission, aims, tally, seed=3)

    async def events():
        await drafting.plan()
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
    name = file_name(probe.id)
    assert PurePosixPath(name).parent == PurePosixPath("adversarial")
    assert PurePosixPath(name).name == f"{probe.id}.yaml"
    assert probe.id.startswith("probe-s-pi-001-")
    assert identity == "" or identity not in probe.id
    assert "../../x" in probe_text(probe)


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
    "answer",
    [
        None,
        7,
        "draft",
        {"scenario": {}},
        Draft("x", AIM, {}),
        Draft(0, AIM, "text"),
        Draft(0, AIM, {}, (3,)),
        Draft(0, AIM, {}, None),
        Draft(0, AIM, {}, lineage=None),
        Draft(0, AIM, {}, base={"scenario": 3}),
        Draft(0, AIM, {}, technique=["unhashable"]),
        Draft(0, AIM, {}, surface={}),
        Draft(0, AIM, {}, surface="walls"),
    ],
)
def test_what_is_no_draft_is_counted(profile, answer):
    filled, _, tally = _filled(profile, Told(_method(profile), answer))
    assert not filled
    assert set(tally.rejected) == {"malformed"}
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


@pytest.mark.parametrize("error", [ValueError("out of ideas"), SystemExit(3), KeyboardInterrupt()])
def test_a_generator_that_breaks_ends_drafting_and_says_so(profile, draft, error):
    generator = Told(_method(profile), error)
    asked = AtArmsLength(generator)
    filled, _, tally = _filled(profile, generator, asked=asked)
    assert not filled
    assert asked.fault == GeneratorFault(GeneratorFaultKind.BROKE, f"the generator broke: {error_line(error)}")
    assert tally.unanswered == 1
    asked = AtArmsLength(Told(_method(profile), draft, offers=RuntimeError("no")))
    filled, _, _ = _filled(profile, generator, asked=asked)
    assert not filled
    assert asked.fault.problem == "the generator broke: RuntimeError: no"


class Hanging(Told):
    """Gives its first draft, and is silent from then on: it waits for somebody, or never lets go of its thread."""

    def __init__(self, method, draft, *, blocks: bool) -> None:
        super().__init__(method, draft)
        self.blocks, self.calls = blocks, 0

    async def propose(self, request):
        self.calls += 1
        yield replace(self.answers[0], index=request.cells[0].index)
        if self.blocks:
            time.sleep(_LONG)  # noqa: ASYNC251 - the point of it
        await asyncio.sleep(_LONG)


class HangingAtOnce(Told):
    def offers(self, aims):
        time.sleep(_LONG)
        return ()


_SHORT, _LONG = 0.2, 10.0


@pytest.mark.requirement("AV-07")
@pytest.mark.parametrize("blocks", [False, True], ids=["it waits", "it blocks"])
def test_a_generator_that_hangs_is_given_up_after_its_time_and_what_it_gave_is_used(profile, draft, blocks):
    generator = Hanging(_method(profile), draft, blocks=blocks)
    asked = AtArmsLength(generator, _SHORT)
    filled, _, tally = _filled(profile, generator, 3, asked)
    assert list(filled) == [0]
    assert asked.fault == GeneratorFault(GeneratorFaultKind.TIMEOUT, "the generator gave no answer within 0.2 s")
    assert (generator.calls, tally.drafted, tally.unanswered) == (1, 1, 2)


@pytest.mark.requirement("AV-07")
def test_a_generator_that_hangs_over_its_offers_is_asked_for_nothing(profile, draft):
    generator = HangingAtOnce(_method(profile), draft)
    asked = AtArmsLength(generator, _SHORT)
    filled, _, _ = _filled(profile, generator, asked=asked)
    assert (filled, generator.given) == ({}, 0)
    assert asked.fault.kind is GeneratorFaultKind.TIMEOUT


def test_a_run_that_is_stopped_does_not_wait_for_its_generator(profile, draft):
    async def stopped():
        stop = asyncio.Event()
        asked = AtArmsLength(HangingAtOnce(_method(profile), draft), _LONG, stop)
        asyncio.get_running_loop().call_soon(stop.set)
        return await asked.offers(()), asked.fault

    assert asyncio.run(stopped()) == ((), None)


@pytest.mark.parametrize("offers", [(None,), 7, ({"archetype": AIM},), (Offer(AIM, ["unhashable"]),)])
def test_offers_that_are_none_are_a_generator_that_broke(profile, draft, offers):
    generator = Told(_method(profile), draft, offers=offers)
    asked = AtArmsLength(generator)
    filled, _, _ = _filled(profile, generator, asked=asked)
    assert not filled
    assert asked.fault.kind is GeneratorFaultKind.BROKE


@pytest.mark.requirement("SI-03")
def test_smaller_forms_without_end_of_another_cell_or_that_are_none_are_left_out(profile, draft):
    class Simpler(Told):
        def simplify(self, probe):
            yield from (None, replace(draft, index=77), replace(draft, primary_archetype="S-BE-001"), {})
            while True:
                self.given += 1
                yield probe.draft

    class Broken(Told):
        def simplify(self, probe):
            raise ValueError("none")

    probe = _filled(profile, Told(_method(profile), draft))[0][0].probe

    async def simpler(generator):
        asked = AtArmsLength(generator)
        return [one async for one in asked.simpler_drafts(probe)], asked.fault

    found, fault = asyncio.run(simpler(generator := Simpler(_method(profile))))
    assert ({one.index for one in found}, fault) == ({probe.draft.index}, None)
    assert all(one.scenario == probe.draft.scenario for one in found)
    assert 0 < generator.given < 1000
    found, fault = asyncio.run(simpler(Broken(_method(profile))))
    assert (found, fault.kind) == ([], GeneratorFaultKind.BROKE)


@pytest.mark.requirement("SI-05")
def test_the_same_probe_in_other_places_is_not_new(profile, draft):
    filled, _, tally = _filled(profile, Told(_method(profile), draft), 2)
    assert len(filled) == 1
    assert set(tally.rejected) == {"repeat"}


def test_what_a_document_is_made_of_is_gone_once_it_is_admitted(profile, draft):
    class Odd(dict):
        """Of a kind that nothing else knows."""

    odd = Odd({key: Odd(value) if isinstance(value, dict) else value for key, value in draft.scenario.items()})
    filled, _, _ = _filled(profile, Told(_method(profile), replace(draft, scenario=odd)))
    probe = filled[0].probe
    assert probe.draft.scenario == draft.scenario
    passed = Evaluation(Pass(), (), (), PayloadFacts(delivered=True, attempted=False, effected=False))
    assert FailedProbe.from_evaluation(probe, passed).probe == probe


@pytest.mark.requirement("AV-02")
def test_a_generator_does_not_write_the_record_of_its_probes(profile, draft):
    forged = {"primary_archetype": AIM, "generator": {"type": "red_team"}, "seed": "0x0", "index": 5}
    extension = {**draft.scenario["x-sirocco"], "probe": forged}
    filled, _, _ = _filled(profile, Told(_method(profile), _changed(draft, **{"x-sirocco": extension})))
    record = filled[0].probe.bound.scenario.x_sirocco.probe
    assert record.generator["type"] == "mutation"
    assert (record.seed, record.index) == ("0x3", 0)
