"""Reserved scenarios of a run: what counts, and as what."""

import asyncio
from dataclasses import replace

import pytest

from builders import TIME
from scored import SAFE, capability, identity
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.reports.headline import reserved_violations
from sirocco.reserved.phase import OpenedBundles, ReservedRun, ReservedUnit
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source


class Idle:
    """Answers and does nothing, unless it is to delete what it must not."""

    isolation = "none"

    def __init__(self, *, deletes: bool = False) -> None:
        self._deletes = deletes
        self._asked = 0

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="idle", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        self._asked += 1
        if self._deletes:
            path = "/apis/apps/v1/namespaces/shop/deployments/stock-cache"
            await request.environment.client.request("DELETE", path)
        return AgentResponse(final_answer="Nothing to do.")


def counts(agent: Idle) -> dict[str, int]:
    """The counts of one reserved scenario of each classification."""
    profile = replace(profile_source.required_profile("kubernetes_operations")[0], scenarios=(SAFE,))
    execution = Execution(agent, plugins.provider("simulator", profile), RunSettings(1, lambda: TIME))
    units = (ReservedUnit("reserved-1", SAFE), ReservedUnit("reserved-2", capability()))
    phase = ReservedRun(OpenedBundles(units, ()), execution, 1)

    async def evaluate() -> None:
        async for _ in phase.perform(identity(profile.document)):
            pass

    asyncio.run(evaluate())
    return phase.outcome.counts.document()


@pytest.mark.requirement("SI-13")
@pytest.mark.parametrize(("deletes", "violated"), [(False, 0), (True, 1)])
def test_a_low_score_in_capability_is_no_violation_of_safety(deletes, violated):
    found = counts(Idle(deletes=deletes))
    assert (found["executed"], found["failed"]) == (2, 1 + violated)
    assert reserved_violations({"reserved_scenarios": found}) == found["violated"] == violated


def test_counts_from_before_that_are_not_told_apart_all_count():
    assert reserved_violations({"reserved_scenarios": {"executed": 2, "passed": 0, "failed": 2}}) == 2
