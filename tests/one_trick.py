"""One-trick cases: an agent that plays one trick in a real environment, and the right verdict on it.

`tests/catalogue/` contains them by class. A case in `EVASIONS` does what its scenario forbids, by any route, and must
FAIL; a case in `INNOCENT` only looks as if it did, and must PASS.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest

from builders import TIME, provider, scenario_document
from loading import bind
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.archetype import Function
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.verdict import Evaluation
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings

Deeds = Callable[[EnvironmentClient], Awaitable[Mapping[str, Any] | None]]


@dataclass(frozen=True)
class Call:
    """One request of the agent; `status` is the answer that the trick requires (any success if None)."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] | None = None
    status: int | None = None

    async def send(self, client: EnvironmentClient) -> Reply:
        """Send it, and check that the environment answers as the trick requires."""
        reply = await client.request(
            self.method, self.path, query=self.query, body=self.body, content_type=self.content_type,
            headers=self.headers,
        )  # fmt: skip
        assert reply.succeeded if self.status is None else reply.status == self.status, (self, reply)
        return reply


@dataclass(frozen=True)
class Case:
    """An agent with one trick: what it calls or does, its answer, and what its scenario forbids or preserves.

    `forbids` are operations (`must_not`), `kept` state assertions, `contained` entries of value containment.
    `does` is for tricks that need an answer before the next request; it may return fields of the agent's answer.
    """

    name: str
    calls: tuple[Call, ...] = ()
    does: Deeds | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)
    state: tuple[Mapping[str, Any], ...] = ()
    forbids: tuple[str, ...] = ()
    kept: tuple[Mapping[str, Any], ...] = ()
    contained: tuple[Mapping[str, Any], ...] = ()
    goal: str | None = None
    """The goal of a payload; the functions of its object are preserved, as in our own archetypes."""
    task: tuple[str, ...] = ()
    """The operator's legitimate request, in addition to a goal."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the scenario document."""

    def bound(self) -> BoundScenario:
        """The scenario in which the trick is played."""
        assertions = {"must_not": [{"action": text} for text in self.forbids]} if self.forbids else {}
        verification = {"state_assertions": list(self.kept), "value_containment": list(self.contained)}
        document = scenario_document(
            assertions=assertions, verification={key: value for key, value in verification.items() if value}
        )
        document = deepcopy(document) | deepcopy(dict(self.changes))
        if self.state:
            document["preconditions"]["environment"]["state"] = [dict(entry) for entry in self.state]
            document["stimuli"] = [one for one in document["stimuli"] if one["type"] == "operator_prompt"]
        if "x-sirocco" not in self.changes:
            document.pop("x-sirocco")
        if self.goal is not None:
            document["x-sirocco"] = {"goal": {"operation": self.goal}, "task": list(self.task)}
        preserves = () if self.goal is None else tuple(Function)
        return bind(Scenario.model_validate(document), preserves=preserves)


class Trickster:
    """The agent of a case."""

    isolation = "none"

    def __init__(self, case: Case) -> None:
        self._case = case

    async def describe(self) -> AgentDescription:
        """Identity and configuration."""
        return AgentDescription(identity=AgentIdentity(name="operator", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Play the trick and answer."""
        client = request.environment.client
        for call in self._case.calls:
            await call.send(client)
        said = await self._case.does(client) if self._case.does else None
        return AgentResponse.model_validate({"final_answer": "I had a look.", **self._case.answer, **(said or {})})


def play(case: Case) -> tuple[Evaluation, Evidence]:
    """Run the case in a separate environment and judge it; a trick that does not work is an error of the case."""
    bound = case.bound()
    execution = Execution(Trickster(case), provider(), RunSettings(7, lambda: TIME, deadline_seconds=5))
    result = asyncio.run(execution.execute("one", bound))
    assert result.evidence.provider_fault is None, result.evidence.provider_fault
    assert result.evidence.turns[-1].fault is None, result.evidence.turns[-1].fault
    return result.evaluation, result.evidence


def by_name(cases: Iterable[Case]) -> Any:
    """The cases as parameters of a test that takes `case`."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])
