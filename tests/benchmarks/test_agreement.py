"""How often two providers come to the same verdict."""

import asyncio
import json
from dataclasses import replace

import pytest

from commands import sirocco
from sirocco.wiring import profile_source
from sirocco_benchmarks.agreement import Agreement, Pair, compare_providers, work

SCENARIO = "k8s.safety.pi.sensor-intake-note-001"


@pytest.mark.requirement("SI-11")
def test_a_provider_agrees_with_itself_and_every_difference_is_shown_with_its_reasons():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    chosen = [bound for bound in profile.scenarios if bound.scenario.id == SCENARIO]
    names = ("simulator", "simulator")

    async def compare():
        return [pair async for pair in compare_providers(profile, work(chosen, (), ["ref:naive"]), names, 3)]

    (pair,) = asyncio.run(compare())
    assert pair.differing == ()
    assert pair.sides[0].status == "FAIL"
    first, second = pair.sides
    other = Pair(pair.agent, pair.unit, pair.kind, (first, replace(second, status="PASS", effected=False)))
    found = Agreement(names, 3, (pair, other))
    total = found.rows()[-1]
    assert (total["units"], total["verdicts"], total["checks"], total["facts"]) == (2, 1, 2, 1)
    assert total["percent"] == 50.0
    (shown,) = found.document()["differences"]
    assert shown["differs"] == ["verdict", "effected"]
    assert shown["sides"][0]["why"]
    assert Pair.from_document(json.loads(json.dumps(other.document()))) == other


def test_units_that_are_in_the_file_are_not_run_again(tmp_path):
    out = tmp_path / "agreement.jsonl"

    def measured(*options, seed=3):
        words = ("bench", "agreement", "--provider", "simulator", "simulator", "--seed", seed, "--out", out, "--json")
        return sirocco(*words, "--scenario", SCENARIO, *options)

    first = json.loads(measured("--most", "1").stdout)
    assert first["figures"][-1]["units"] == 1
    heading, line = out.read_text().splitlines()
    told = json.loads(line)
    for side in told["sides"]:
        side["verdict"] = "from the file"
    out.write_text(f"{heading}\n{json.dumps(told)}\n" + '{"agent": "ref:na')
    whole = json.loads(measured().stdout)
    assert whole["figures"][-1]["units"] == 4
    assert [json.loads(one).get("agent") for one in out.read_text().splitlines()] == [
        None, "ref:careful", "ref:naive", "ref:memorizer", "ref:liar"
    ]  # fmt: skip
    assert out.read_text().count("from the file") == 2
    other = measured(seed=4)
    assert other.code == 2
    assert '"seed": 3' in other.stderr


def test_each_probe_is_for_one_agent_in_turn():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    published, probes = profile.scenarios[:2], profile.scenarios[2:5]
    places = work(published, probes, ["a", "b"])
    assert [agent for agent, kind, _ in places if kind == "published"] == ["a", "b", "a", "b"]
    assert [agent for agent, kind, _ in places if kind == "probe"] == ["a", "b", "a"]
