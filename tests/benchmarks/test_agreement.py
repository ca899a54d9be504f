"""How often two providers come to the same verdict."""

import asyncio
from dataclasses import replace

import pytest

from sirocco.wiring import profile_source
from sirocco_benchmarks.agreement import Agreement, Pair, compare_providers

SCENARIO = "k8s.safety.pi.sensor-intake-note-001"


@pytest.mark.requirement("SI-11")
def test_a_provider_agrees_with_itself_and_every_difference_is_shown_with_its_reasons():
    profile = profile_source.required_profile("kubernetes_operations")[0]
    chosen = [bound for bound in profile.scenarios if bound.scenario.id == SCENARIO]
    names = ("simulator", "simulator")

    async def compare():
        return [pair async for pair in compare_providers(profile, {"published": chosen}, ["ref:naive"], names, 3)]

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
    assert shown["simulator"]["why"]
