"""`sirocco bench detection`: what counts as detected, and that deeds which agents share are what they do by themselves."""

import asyncio
import json
from functools import cache

import pytest
from click.testing import CliRunner

from bundled import SMALL, small_profile
from sirocco.agents.zoo.characters import ZOO, Breed, Character
from sirocco.agents.zoo.memory import Memory
from sirocco.agents.zoo.obedient import Conduct
from sirocco.oasis.verdict import Fail, Pass
from sirocco.wiring.profile_source import BUNDLED, required_profile
from sirocco_benchmarks.command import command
from sirocco_benchmarks.detection import Deeds, Score, contest, contest_of_agent, measure_detection
from sirocco_benchmarks.opponents import BASELINES, baseline_probes, engine_probes

SEED = 5
PROFILE = small_profile()
MEMORY = Memory.from_profile(PROFILE)


@cache
def probes(number=4):
    return asyncio.run(engine_probes(PROFILE, SEED, number))


def outcomes(*characters):
    memories = {one.name: MEMORY for one in characters}
    return asyncio.run(contest(PROFILE, probes(), SEED, characters, memories))


@cache
def both_results():
    """A probe, with what it comes to for an agent that follows it and for one that does not."""
    probe = next(one for one in probes() if one.bound.goal is not None)
    deeds = Deeds(PROFILE, probe.id, probe.bound, SEED)
    followed, _ = asyncio.run(deeds.result(ZOO["verbatim"], MEMORY, 0))
    refused, _ = asyncio.run(deeds.result(ZOO["able"], MEMORY, 0))
    assert isinstance(followed.verdict, Fail)
    assert isinstance(refused.verdict, Pass)
    return probe, followed, refused


@pytest.mark.requirement("AV-11")
def test_a_failure_that_does_not_come_back_is_no_detection():
    probe, followed, refused = both_results()
    score = Score()
    score.count(probe, followed, [refused], PROFILE)
    found = score.outcome(PROFILE)
    assert not found.is_detected
    assert not found.findings
    assert found.violated == 1


@pytest.mark.requirement("AV-11")
def test_probes_and_calls_are_counted_up_to_the_first_confirmed_failure():
    probe, followed, refused = both_results()
    other = next(one for one in probes() if one.id != probe.id)
    score = Score()
    score.count(other, refused, [], PROFILE)
    score.count(probe, followed, [followed], PROFILE)
    found = score.outcome(PROFILE)
    spent = len(other.bound.scenario.prompts) + 2 * len(probe.bound.scenario.prompts)
    assert (found.first_probe, found.first_calls, len(found.findings)) == (2, spent, 1)


def test_agents_that_share_their_deeds_come_to_what_each_comes_to_alone():
    chosen = [ZOO[name] for name in ("verbatim", "names", "found", "able")]
    shared = outcomes(*chosen)
    for one in chosen[1:3]:
        alone = asyncio.run(contest_of_agent(PROFILE, probes(), SEED, one.agent(MEMORY)))
        assert shared[one.name] == (alone,)
    assert shared["verbatim"][0].is_detected
    assert not shared["able"][0].is_detected


def test_an_agent_with_a_drawn_hole_is_measured_with_each_hole_it_can_have():
    found = outcomes(ZOO["archetype-hole"])["archetype-hole"]
    assert len(found) == len(MEMORY.categories)
    tried = {one.primary_archetype for one in probes() if one.primary_archetype in MEMORY.categories}
    assert 1 <= sum(one.is_detected for one in found) <= len(tried)
    assert not frozenset.intersection(*(one.findings for one in found))


def test_whoever_is_accused_without_having_followed_anything_is_accused_falsely():
    probe = next(one for one in probes() if one.bound.goal is not None and one.bound.goal.value_ref is not None)
    value = probe.bound.goal.literals[0]
    honest = Character(
        "babbler", Breed.HONEST, "Follows nothing, and says what it is not to say.", lambda met, memory: False,
        Conduct(style=lambda answer, request, met: f"{answer} {value}"),
    )  # fmt: skip
    found = asyncio.run(contest(PROFILE, [probe], SEED, [honest], {"babbler": MEMORY}))["babbler"][0]
    assert found.is_detected
    assert found.false_findings == 1
    assert outcomes(ZOO["able"])["able"][0].false_findings == 0


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_gives_a_probe_for_the_archetype_of_each_of_the_engine(name):
    made = asyncio.run(baseline_probes(PROFILE, SEED, name, probes()[:2]))
    assert made
    assert {one.primary_archetype for one in made} <= {one.primary_archetype for one in probes()}
    again = asyncio.run(baseline_probes(PROFILE, SEED, name, probes()[:2]))
    assert [one.id for one in again] == [one.id for one in made]


def test_the_command_prints_a_row_for_each_agent_the_same_each_time():
    asked = ["detection", *SMALL, "--agent", "zoo:verbatim", "--agent", "zoo:able", "--agent", "ref:careful",
             "--probes", "4", "--seeds", "1", "--no-baselines", "--json"]  # fmt: skip
    done = CliRunner().invoke(command, asked)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    found = json.loads(done.output)
    assert [row["agent"] for row in found["agents"]] == ["zoo:verbatim", "zoo:able", "ref:careful"]
    gaming, able, _ = found["agents"]
    assert gaming["passes_core"] is True
    assert gaming["detected"] == 1
    assert gaming["findings"] >= 1
    assert (able["detected"], able["false_findings"]) == (0, 0)
    assert json.loads(CliRunner().invoke(command, asked).output) == found


def test_all_schedules_begin_with_the_same_plan():
    asked = ["schedule", *SMALL, "--agent", "zoo:verbatim", "--probes", "5", "--probes", "8", "--seeds", "1", "--json"]
    done = CliRunner().invoke(command, asked)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    fixed, adaptive, pursuit = json.loads(done.output)
    assert [one["schedule"] for one in (fixed, adaptive, pursuit)] == ["fixed", "adaptive", "pursuit"]
    assert fixed["findings"] == adaptive["findings"] == pursuit["findings"]
    assert fixed["calls"]["8"] >= 8
    assert 1 <= fixed["findings"]["5"] <= fixed["findings"]["8"]
    done = CliRunner().invoke(command, [*asked, "--decided"])
    assert [one["schedule"] for one in json.loads(done.output)] == ["fixed", "adaptive"]
    assert json.loads(done.output)[0]["findings"] == fixed["findings"]


@pytest.mark.long
def test_every_broad_gaming_agent_is_detected_and_no_honest_one_accused():
    broad = {f"zoo:{one.name}": one for one in ZOO.values() if one.breed is Breed.BROAD}
    honest = {f"zoo:{one.name}": one for one in ZOO.values() if one.breed is Breed.HONEST}
    found = asyncio.run(measure_detection(required_profile(BUNDLED)[0], range(1, 11), 48, {**broad, **honest}))
    rows = {row.agent: row.document() for row in found.rows}
    assert all(rows[name]["detected"] == rows[name]["runs"] for name in broad)
    assert all(rows[name]["passes_core"] for name in broad)
    assert all(rows[name]["false_findings"] == 0 for name in honest)
