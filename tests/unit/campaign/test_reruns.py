"""Published scenarios that are run again among the probes: mixed in, counted nowhere else, shown as pairs."""

import asyncio
from dataclasses import replace

import pytest

from bundled import small_profile
from remembered import witnesses_remembered
from sirocco.campaign.account import PhaseAccount, Recount
from sirocco.campaign.admission import Admission
from sirocco.campaign.block import adversarial_block
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.reruns import drawn_reruns, shuffled_scenarios
from sirocco.campaign.targets import targets
from sirocco.oasis.archetype import Classification
from sirocco.oasis.event import CoreFrozen, UnitFinished
from sirocco.reports.headline import rerun_count
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, run
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(11, lambda: "2026-01-01T00:00:00.000000Z")
AIMS = ("S-PI-001", "S-BE-001", "S-DE-001")
PROBES, RERUNS = 8, 5


@pytest.fixture(autouse=True)
def known_witnesses():
    """What a phase does with its probes is looked at here, and many phases draw the same ones."""
    with witnesses_remembered():
        yield


@pytest.fixture(scope="module")
def profile():
    return small_profile()


class Changing:
    """One agent in the core, another one afterwards."""

    isolation = "none"

    def __init__(self, profile, core: str, later: str) -> None:
        self.agents = [plugins.agent(name, profile) for name in (core, later)]
        self.is_later = False
        self.describe = self.agents[0].describe

    async def respond(self, request):
        return await self.agents[self.is_later].respond(request)


def _performed(profile, later="ref:careful", reruns=RERUNS, calls=500, seed=SETTINGS.seed):
    """The events of a run over the whole small profile, the phase, and the core's result."""
    settings = replace(SETTINGS, seed=seed)
    provider = plugins.provider("simulator", profile)
    agent = Changing(profile, "ref:careful", later)
    execution = Execution(agent, provider, settings)
    generator, aims = plugins.generator("mutation", profile), targets(profile, AIMS)
    admission = Admission(
        profile, aims, witnesses(provider, settings, profile.domain), method=generator.method, seed=seed
    )
    wanted = CampaignSettings(probes=PROBES, confirm=0, parallel=1, max_agent_calls=calls, reruns=reruns)
    phase = AdversarialPhase(profile, aims, generator, admission, execution, wanted)
    core = Core(profile, profile.scenarios, execution, 1, "given")

    async def events():
        seen = []
        async for event in run(core, [phase]):
            agent.is_later = agent.is_later or isinstance(event, CoreFrozen)
            seen.append(event)
        return seen

    return asyncio.run(events()), phase


def _published(events):
    core = next(event.core for event in events if isinstance(event, CoreFrozen))
    return {one.bound.scenario.id: one.bound for one in core.results}


def _kinds(events):
    return [event.kind for event in events if isinstance(event, UnitFinished) and event.kind != "scenario"]


@pytest.fixture(scope="module")
def clean(profile):
    return _performed(profile)


@pytest.mark.requirement("SI-02")
def test_reruns_are_mixed_into_the_order_of_the_probes(clean):
    kinds = _kinds(clean[0])
    assert (kinds.count("rerun"), kinds.count("probe")) == (RERUNS, PROBES)
    first, last = (order.index("probe") for order in (kinds, kinds[::-1]))
    assert kinds[first : len(kinds) - last].count("rerun") >= RERUNS - 2, kinds


@pytest.mark.requirement("SI-02")
def test_the_seed_draws_scenarios_and_places(clean):
    core = _published(clean[0])
    drawn = [drawn_reruns(core, RERUNS, 48, seed) for seed in range(20)]
    assert drawn[3] == drawn_reruns(core, RERUNS, 48, 3)
    assert len({tuple(one.id for one in reruns) for reruns in drawn}) > 1
    places = [one.probes_before for reruns in drawn for one in reruns]
    assert min(places) < 12
    assert max(places) > 36
    assert sum(places) / len(places) == pytest.approx(24, abs=6)


def test_no_scenario_has_a_second_turn_before_each_had_one(clean):
    core = _published(clean[0])
    drawn = drawn_reruns(core, 10, 48, 7)
    assert sum(one.id.endswith(".rerun-1") for one in drawn) == len(core) == 7
    assert sum(one.id.endswith(".rerun-2") for one in drawn) == 3
    assert drawn_reruns(core, 10, 0, 7) == ()


def test_there_are_as_many_reruns_as_were_asked_for_or_as_there_are_pairs(clean):
    core = _published(clean[0])
    for wanted, pairs in ((4, 2), (2, 4), (0, 3), (9, 2)):
        for seed in range(6):
            paired = shuffled_scenarios(core, seed)[-pairs:]
            drawn = drawn_reruns(core, wanted, 48, seed, paired)
            assert len({one.id for one in drawn}) == len(drawn) == max(wanted, pairs)
            assert {f"{name}.rerun-1" for name in paired} <= {one.id for one in drawn}


@pytest.mark.requirement("AV-12", "AV-17", "AV-22")
def test_reruns_are_in_no_count_of_probes_and_not_in_the_core(profile, clean):
    events, phase = clean
    block = phase.block()
    assert block["executed"] == block["probe_summary"]["total_probes"] == len(block["probe_details"]) == PROBES
    assert block["safety_results"]["total"] + block["capability_results"]["total"] == PROBES
    assert block["participation"]["units"] <= PROBES
    assert block["reruns"]["run"] == block["reruns"]["asked"] == RERUNS
    frozen = [event for event in events if isinstance(event, CoreFrozen)]
    assert len(frozen[0].core.results) == len(profile.scenarios)
    before = [event.kind for event in events[: events.index(frozen[0])] if isinstance(event, UnitFinished)]
    assert "rerun" not in before


@pytest.mark.requirement("AV-17", "AV-22")
def test_a_rerun_that_fails_is_a_different_pair_and_no_failed_probe(profile):
    events, phase = _performed(profile, later="ref:naive")
    block = phase.block()
    failed = [
        e.result.unit for e in events if isinstance(e, UnitFinished) and e.kind == "rerun" and e.result.status == "FAIL"
    ]
    pairs = block["reruns"]["pairs"]
    assert failed
    assert [pair["unit"] for pair in pairs if pair["status"] == "different"] == failed
    assert block["reruns"]["different"] == len(failed)
    assert {pair["core"]["status"] for pair in pairs} == {"PASS"}
    assert len(block["safety_results"]["failures"]) == block["safety_results"]["failed"] <= PROBES
    assert not any("rerun" in str(one) for one in block["findings"])
    assert str(len(failed)) in rerun_count(block)


@pytest.mark.requirement("SI-07")
def test_the_pairs_follow_again_from_account_and_units(profile, clean):
    events, phase = clean
    account = PhaseAccount.from_document(phase.account()["campaign"])
    recount = Recount(account, lambda name: profile.classification(name) is Classification.SAFETY, None)
    for event in events:
        if isinstance(event, UnitFinished) and event.kind != "scenario":
            assert recount.add(event.kind, event.result) is None
    recount.settle()
    core = next(event.core for event in events if isinstance(event, CoreFrozen))
    assert adversarial_block(account, core, recount.tally, recount.is_safety) == phase.block()
    rerun = next(e.result for e in events if isinstance(e, UnitFinished) and e.kind == "rerun")
    assert "does not list" in recount.add("rerun", replace(rerun, unit="another.rerun-1"))


def test_reruns_are_paid_for_from_the_same_calls_and_end_no_phase(profile):
    _, phase = _performed(profile, calls=PROBES + 2)
    block = phase.block()
    assert block["agent_calls"]["spent"] <= PROBES + 2
    assert not block["complete"]
    assert "agent calls" in block["incomplete_reason"]


def test_without_reruns_the_block_has_none_and_the_probes_are_the_same(profile, clean):
    _, phase = _performed(profile, reruns=0)
    block, with_reruns = phase.block(), clean[1].block()
    assert "reruns" not in block
    assert block["probe_details"] == with_reruns["probe_details"]
    assert rerun_count(block) is None
