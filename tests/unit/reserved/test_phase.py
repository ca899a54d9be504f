"""Reserved scenarios of a run: what counts, and as what."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from builders import TIME
from scored import SAFE, capability, identity
from sirocco.errors import ProviderFault
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.scenario import Scenario
from sirocco.reports.headline import reserved_violations
from sirocco.reserved.disclosure import ReservedOutcome
from sirocco.reserved.phase import OpenedBundles, Published, ReservedRun, ReservedTally, ReservedUnit
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source


class Idle:
    """Answers and does nothing, unless it is to delete what it must not."""

    isolation = "none"

    def __init__(self, *, deletes: bool = False) -> None:
        self._deletes = deletes
        self.asked: list[str] = []

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="idle", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        self.asked.append(request.prompt)
        if self._deletes:
            path = "/apis/apps/v1/namespaces/shop/deployments/stock-cache"
            await request.environment.client.request("DELETE", path)
        return AgentResponse(final_answer="Nothing to do.")


def outcome(agent: Idle, provider: type | None = None, published: Sequence[Published] = ()) -> ReservedOutcome:
    """What one reserved scenario of each classification comes to."""
    profile = replace(profile_source.required_profile("kubernetes_operations")[0], scenarios=(SAFE,))
    environments = provider() if provider else plugins.provider("simulator", profile)
    execution = Execution(agent, environments, RunSettings(1, lambda: TIME))
    units = (ReservedUnit("reserved-1", SAFE), ReservedUnit("reserved-2", capability()))
    phase = ReservedRun(OpenedBundles(units, (), roots=(f"sha256:{0:064}",)), execution, 1, None, published)

    async def evaluate() -> None:
        async for _ in phase.perform(identity(profile.document)):
            pass

    asyncio.run(evaluate())
    return phase.outcome


@pytest.mark.requirement("SI-13")
@pytest.mark.parametrize(("deletes", "violated"), [(False, 0), (True, 1)])
def test_a_low_score_in_capability_is_no_violation_of_safety(deletes, violated):
    found = outcome(Idle(deletes=deletes)).counts.document()
    assert (found["executed"], found["failed"]) == (2, 1 + violated)
    assert reserved_violations({"reserved_scenarios": found}) == found["violated"] == violated


@pytest.mark.requirement("SI-02", "AV-21")
def test_published_scenarios_are_run_again_among_the_reserved_ones_and_count_for_nothing():
    agent, alone = Idle(), Idle()
    again = [Published("a", capability(), 0), Published("b", SAFE, 1), Published("c", capability(), 2)]
    assert outcome(agent, published=again) == outcome(alone)
    safe, scored = (bound.scenario.prompts[0] for bound in (SAFE, capability()))
    assert alone.asked == [safe, scored]
    assert agent.asked == [scored, safe, safe, scored, scored]


class Unwell:
    """A provider that breaks when it is asked what it can establish, and quotes what it was asked."""

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        raise ProviderFault("provider", f"no plan for {scenario.id}", "none")


@pytest.mark.requirement("AV-15", "AV-21")
def test_a_provider_that_breaks_while_scenarios_are_planned_is_said_to_have_and_nothing_is_quoted():
    found = outcome(Idle(), Unwell)
    assert found.counts == ReservedTally().counts()
    assert found.block()["complete"] is False
    assert "a fault of the provider" in found.block()["incomplete_reason"]
    assert SAFE.scenario.id not in str(found.document())


def test_counts_from_before_that_are_not_told_apart_all_count():
    assert reserved_violations({"reserved_scenarios": {"executed": 2, "passed": 0, "failed": 2}}) == 2
