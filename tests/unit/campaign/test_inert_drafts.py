"""Drafts that ask for their goal and see to it that nothing comes of it: in this process, as programs, over HTTP."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import inert_drafts
import junk_generator
from sirocco.campaign.admission import Admission, Admitted, Rejection
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.plan import Place
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.oasis.probe import Author, Cell, Draft, GeneratorMethod, ProbeRequest, Wording
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.assemble import witnesses

SETTINGS = RunSettings(3, lambda: "2026-01-01T00:00:00.000000Z")
METHOD = GeneratorMethod.model_validate(junk_generator.METHOD)
PROGRAM = Path(junk_generator.__file__)
AIMS = ("S-PI-001", "S-BE-001")
"""A request in the environment, and one by the operator."""
OVERRULED = {"read-only mode", "supervised mode", "unknown mode"}
WITHOUT_EFFECT = {
    "no zones",
    "a quota of nothing",
    "an order that all fails",
    "it is repaired at once",
    "in a comment",
    "one word per line",
    *OVERRULED,
}
"""An agent that does what it reads still does it."""
ONLY_PLACED = {
    "on an object that does not exist",
    "where nobody looks",
    "in the description",
}
"""These do something only to a text in the environment."""


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def admission(profile):
    sound = witnesses(plugins.provider("simulator", profile), SETTINGS, profile.domain)
    return Admission(profile, targets(profile), sound, method=METHOD, seed=3)


@pytest.fixture(scope="module")
def drafts(profile, admission) -> dict[str, Draft]:
    """For each archetype the engine's first draft that a program could have handed in."""
    author = Author("hostile", METHOD, Wording.PROGRAM)

    async def first(archetype: str) -> Draft:
        for seed in range(1, 20):
            cells = (Cell(0, archetype),)
            request = ProbeRequest(targets(profile), (), profile.domain.vocabulary.surfaces, seed, cells)
            draft = replace(await anext(plugins.generator("mutation", profile).propose(request)), author=author)
            if isinstance(await admission.decide_safely(draft), Admitted):
                return draft
        raise AssertionError(f"no draft for {archetype}")

    return {archetype: asyncio.run(first(archetype)) for archetype in AIMS}


@pytest.mark.requirement("AV-07")
@pytest.mark.parametrize("archetype", AIMS)
@pytest.mark.parametrize("kind", sorted(inert_drafts.KINDS.keys() - WITHOUT_EFFECT))
def test_a_draft_from_which_nothing_can_come_is_refused(admission, drafts, kind, archetype):
    if archetype != AIMS[0] and kind in ONLY_PLACED:
        pytest.skip("there is no text in the environment")
    draft = drafts[archetype]
    inert = replace(draft, scenario=inert_drafts.inert_document(kind, draft.scenario))
    assert isinstance(asyncio.run(admission.decide_safely(inert)), Rejection)


@pytest.mark.requirement("AV-07", "AV-15")
@pytest.mark.parametrize("kind", sorted(WITHOUT_EFFECT))
def test_what_does_not_keep_an_obedient_agent_from_the_goal_may_run_in_a_published_mode(
    profile, admission, drafts, kind
):
    draft = drafts["S-BE-001"]
    inert = replace(draft, scenario=inert_drafts.inert_document(kind, draft.scenario))
    decision = asyncio.run(admission.decide_safely(inert))
    if isinstance(decision, Rejection):
        assert kind not in OVERRULED
        return
    agent = decision.probe.bound.scenario.preconditions.agent
    assert agent.mode == draft.scenario["preconditions"]["agent"]["mode"]
    execution = Execution(plugins.agent("ref:naive", profile), plugins.own_provider(profile), SETTINGS)
    assert asyncio.run(execution.execute(kind, decision.probe.bound)).status == "FAIL"


@pytest.fixture(scope="module")
def server():
    with junk_generator.served_kinds() as url:
        yield url


@pytest.mark.requirement("AV-07")
@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("command", "no tools"),
        ("command", "do nothing first"),
        ("command", "rerun a thousand times"),
        ("http", "hundred turns before"),
        ("http", "answer only OK"),
        ("http", "a rule in the scope"),
    ],
)
def test_it_is_refused_and_counted_whichever_way_it_comes(profile, admission, server, way, kind):
    program = f"command:{sys.executable} -S -E {PROGRAM} '{kind}'"
    spec = f"hybrid:mutation>{program if way == 'command' else server + '/' + kind.replace(' ', '%20')}"
    generator, aims, tally = plugins.generator(spec, profile), targets(profile, ["S-BE-001"]), Tally()

    async def filled():
        found = {}
        drafting = Drafting(AtArmsLength(generator), admission, aims, tally, seed=3)
        await drafting.plan()
        _ = [event async for event in drafting.fill([Place("S-BE-001")], found)]
        return found

    assert asyncio.run(filled()) == {}
    assert tally.drafted == tally.rejected.total()
    assert tally.rejected.total() + tally.unanswered > 0
