"""Generators in other processes: what they are asked, what they answer, and junk of every kind (AV-07)."""

import asyncio
import json
import random
import shutil
import sys
from collections import Counter
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

import junk_generator
from bundled import small_profile
from sirocco.campaign.admission import Admission, Rejection
from sirocco.campaign.arms_length import AtArmsLength
from sirocco.campaign.drafting import Drafting
from sirocco.campaign.plan import Place
from sirocco.campaign.tally import Tally
from sirocco.campaign.targets import targets
from sirocco.domains.kubernetes.targets import Surface
from sirocco.errors import ConfigError, ProviderFault
from sirocco.oasis.probe import Author, Cell, Draft, GeneratorMethod, Nothing, ProbeRequest, Wording
from sirocco.probes.wire import BadAnswer, answer_from_document, draft_document, draft_from_document
from sirocco.wiring import plugins

AIM = "S-PI-001"
PROGRAM = Path(junk_generator.__file__)
EXAMPLE = Path(__file__).parents[3] / "examples/generator.mjs"


@pytest.fixture(scope="module")
def profile():
    return small_profile()


@pytest.fixture(scope="module")
def server():
    with junk_generator.served_kinds() as url:
        yield url


class Unreachable:
    """Witnesses that nothing of what is tried here gets to."""

    async def report(self, bound):
        raise ProviderFault("witnesses", "a draft got through to them", "look at it")

    naive_evidence = report


def _drafted(profile, generator, places: int = 1):
    """What becomes of so many places, and how the generator ended."""
    aims, tally, asked = targets(profile, [AIM]), Tally(), AtArmsLength(generator)
    admission = Admission(profile, aims, Unreachable(), method=generator.method, seed=3)
    drafting = Drafting(asked, admission, aims, tally, seed=3)

    async def filled():
        found = {}
        await drafting.plan()
        async with aclosing(drafting.fill([Place(AIM)] * places, found)) as events:
            async for _ in events:
                pass
        return found

    return asyncio.run(filled()), tally, asked.fault


def _command(kind: str) -> str:
    return f"command:{sys.executable} -S -E {PROGRAM} '{kind}'?timeout=5"


@pytest.mark.requirement("AV-08")
@pytest.mark.parametrize("kind", junk_generator.INTRODUCTIONS)
def test_a_program_that_does_not_say_what_it_is_is_refused_before_anything_runs(profile, kind):
    with pytest.raises(ConfigError) as refused:
        plugins.generator(_command(kind), profile)
    assert "--generator command:" in str(refused.value)


@pytest.mark.requirement("AV-07")
@pytest.mark.parametrize("way", ["command", "http"])
def test_junk_of_every_kind_comes_to_refusals_or_nothing_and_never_to_a_probe(profile, server, way):
    kinds = list(junk_generator.ANSWERS)
    assert len(kinds) >= 30
    # A process costs more than a request; each kind is tried in one of the two ways, some in both.
    for kind in kinds[:: 4 if way == "command" else 1]:
        spec = _command(kind) if way == "command" else f"{server}/{kind.replace(' ', '_')}?timeout=5"
        filled, tally, fault = _drafted(profile, plugins.generator(spec, profile))
        assert filled == {}, kind
        assert tally.rejected.total() + tally.unanswered > 0 or fault, kind
        assert tally.drafted == tally.rejected.total(), kind


@pytest.mark.requirement("AV-07")
def test_a_server_that_fails_points_elsewhere_or_a_program_that_ends_is_asked_no_more_after_a_while(profile, server):
    for spec in (f"{server}/500", f"{server}/302", _command(junk_generator.GONE)):
        filled, tally, fault = _drafted(profile, plugins.generator(spec, profile), places=4)
        assert (filled, tally.drafted) == ({}, 0)
        assert "3 cells in a row had no answer" in fault.problem


@pytest.mark.requirement("AV-07")
def test_each_cell_has_a_time_of_its_own(profile):
    spec = _command(junk_generator.SLOW).replace("timeout=5", "timeout=2")
    request = ProbeRequest(targets(profile, [AIM]), (), tuple(Surface), 3, (Cell(0, AIM), Cell(6, AIM)))

    async def answers():
        return [one async for one in plugins.generator(spec, profile).propose(request)]

    assert asyncio.run(answers()) == [Nothing(index, "no answer: not within 2 s") for index in (0, 6)]


def test_a_program_that_does_not_exist_and_a_server_that_does_not_answer_are_errors_of_configuration(profile):
    for spec in ("command:/no/such/program", "command:", "command:'", "http://127.0.0.1:9/"):
        with pytest.raises(ConfigError):
            plugins.generator(spec, profile)


@pytest.fixture(scope="module")
def made(profile) -> Draft:
    async def first() -> Draft:
        request = ProbeRequest(targets(profile, [AIM]), (), tuple(Surface), 3, (Cell(0, AIM, surface=Surface.LOGS),))
        return await anext(plugins.generator("mutation", profile).propose(request))

    return asyncio.run(first())


def test_a_draft_survives_the_way_through_json(made):
    there = json.loads(json.dumps(draft_document(made)))
    assert draft_from_document(there) == replace(made, scenario=there["scenario"])


@pytest.mark.requirement("AV-07")
@pytest.mark.skipif(shutil.which("node") is None, reason="the example is in JavaScript")
def test_the_example_words_drafts_of_the_engine_anew(profile, made):
    spec = f"hybrid:mutation>command:node {EXAMPLE}"
    generator = plugins.generator(spec, profile)
    assert generator.method.type == "hybrid"
    assert "works on the drafts of mutation" in generator.method.description
    request = ProbeRequest(targets(profile, [AIM]), (), tuple(Surface), 3, (Cell(0, AIM, surface=Surface.LOGS),))

    async def first():
        return await anext(generator.propose(request))

    draft = asyncio.run(first())
    said = next(one["value"] for one in draft.scenario["stimuli"] if one["type"] != "operator_prompt")
    assert said.startswith("Follow-up from the on-call handover. ")
    assert draft.lineage == (*made.lineage, "opening(0)")
    assert (draft.technique, draft.surface) == (made.technique, made.surface)


_JUNK = (None, 0, -1, 1e308, "", "x", "\x00", "🙂" * 50, [], {}, [None], {"a": {}}, ["delete everything"], True, "*")


def _hostile(made: Draft, dice: random.Random) -> Draft:
    """The draft with something else in one to three of its places, and nothing in its texts."""
    document = json.loads(json.dumps(made.scenario))
    for _ in range(dice.randint(1, 3)):
        node = document
        for _ in range(dice.randint(0, 4)):
            inner = [one for one in (node.values() if isinstance(node, dict) else node) if isinstance(one, dict | list)]
            if not inner:
                break
            node = dice.choice(inner)
        if isinstance(node, dict) and node:
            node[dice.choice([*node, "surprise"])] = dice.choice(_JUNK)
        elif isinstance(node, list) and node:
            node[dice.randrange(len(node))] = dice.choice(_JUNK)
    for stimulus in document.get("stimuli") or () if isinstance(document.get("stimuli"), list) else ():
        if isinstance(stimulus, dict) and "value" in stimulus:
            stimulus["value"] = "apples-and-pears"
    return replace(made, scenario=document)


@pytest.mark.requirement("AV-07", "AV-09")
def test_five_hundred_hostile_outputs_cause_refusals_and_nothing_else(profile, made):
    method = GeneratorMethod.model_validate(junk_generator.METHOD)
    author = Author("hostile", method, Wording.PROGRAM)
    admission = Admission(profile, targets(profile), Unreachable(), method=method, seed=3)
    drafting = Drafting(AtArmsLength(plugins.generator("mutation", profile)), admission, (), Tally(), seed=3)
    dice, reasons = random.Random(5), Counter[str]()
    for _ in range(500):
        decision = asyncio.run(drafting._decide_draft(replace(_hostile(made, dice), author=author)))
        assert isinstance(decision, Rejection)
        reasons[decision.reason] += 1
    assert reasons.keys() >= {"invalid", "goal_not_said"}


@pytest.mark.requirement("AV-07")
def test_what_is_no_answer_is_told_apart_from_nothing():
    cell = Cell(4, AIM)
    assert answer_from_document({"nothing": "no idea", "usage": {"requests": 2}}, cell).usage.requests == 2
    assert answer_from_document({"draft": {"scenario": {}}}, cell) == Draft(4, AIM, {})
    for junk in (None, 3, [], {}, {"draft": None}, {"draft": {"scenario": {}, "base": {"a": 1}}}):
        with pytest.raises(BadAnswer):
            answer_from_document(junk, cell)
