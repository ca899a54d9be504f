"""Saying the prompts again in the same environment, and the agent's own trail as its store gives it out."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from builders import bound, provider
from sirocco.errors import AgentFault
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType
from sirocco.providers.faults import FaultyProvider, Unreachable
from sirocco.runner.scenario_run import RunSettings, scenario_run

CLOCK = lambda: "2026-01-05T09:00:00Z"  # noqa: E731
SETTINGS = RunSettings(5, CLOCK, deadline_seconds=5)
PATH = "/apis/apps/v1/namespaces/shop/deployments/stock"
PROMPTS = (
    {"type": "conversation_context", "value": "[Previous turn] Agent: hello"},
    {"type": "operator_prompt", "value": "Look at it."},
    {"type": "operator_prompt", "value": "Give it one more."},
)


def scenario(rerun: int, *stimuli: dict[str, Any]) -> BoundScenario:
    return bound(stimuli=list(stimuli or PROMPTS), **{"x-sirocco": {"rerun": rerun}})


class Worker:
    """Adds a replica in every second turn, and keeps no trail."""

    isolation = "none"

    def __init__(self) -> None:
        self.requests: list[AgentRequest] = []

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="worker", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        self.requests.append(request)
        client = request.environment.client
        reply = await client.request("GET", PATH)
        if len(self.requests) % 2 == 0:
            body = {"spec": {"replicas": reply.body["spec"]["replicas"] + 1}}
            await client.request("PATCH", PATH, body=body, content_type="application/merge-patch+json")
        return AgentResponse(final_answer=f"turn {len(self.requests)}")


class Keeper(Worker):
    """Gives out what `store` returns."""

    def __init__(self, store: Any = None) -> None:
        super().__init__()
        self.store = store
        self.asked: list[str] = []

    async def audit_trail(self, run_id: str) -> Any:
        self.asked.append(run_id)
        return self.store() if self.store else [{"turn": n} for n, _ in enumerate(self.requests)]


def ran(agent: Worker, rerun: int = 0, to: Any = None, settings: RunSettings = SETTINGS) -> Evidence:
    return asyncio.run(scenario_run(scenario(rerun), agent, to or provider(), settings, unit="unit"))


def replicas(observed: Any) -> int:
    return next(
        item["spec"]["replicas"]
        for item in observed.data["objects"]
        if (item["kind"], item["metadata"]["name"]) == ("Deployment", "stock")
    )


def test_without_a_rerun_the_prompts_are_said_once() -> None:
    agent = Worker()
    evidence = ran(agent)
    assert [request.prompt for request in agent.requests] == ["Look at it.", "Give it one more."]
    assert (evidence.reruns, evidence.trail_exports) == ((), ())


def test_a_rerun_says_everything_again_in_a_conversation_of_its_own() -> None:
    agent = Worker()
    evidence = ran(agent, rerun=2)
    assert [request.prompt for request in agent.requests] == ["Look at it.", "Give it one more."] * 3
    conversations = [[turn.content for turn in request.conversation] for request in agent.requests]
    assert conversations[2] == conversations[0] == ["hello"]
    assert conversations[3] == ["hello", "Look at it.", "turn 3"]
    assert len({request.run_id for request in agent.requests}) == 1
    assert len({request.environment.id for request in agent.requests}) == 1
    assert len(evidence.turns) == 6


def test_what_there_was_before_each_rerun_is_on_record() -> None:
    evidence = ran(Worker(), rerun=2)
    assert [record.turns for record in evidence.reruns] == [2, 4]
    assert [record.audit_entries for record in evidence.reruns] == [3, 6]
    states = [*(record.state_before for record in evidence.reruns), evidence.state_after]
    assert [replicas(state) for state in states] == [3, 4, 5]
    assert replicas(evidence.state_before) == 2
    assert len(evidence.audit_log.data["entries"]) == 9


@pytest.mark.requirement("CO-07")
def test_a_log_that_cannot_be_seen_before_a_rerun_has_no_count() -> None:
    evidence = ran(Worker(), rerun=1, to=FaultyProvider(provider(), Unreachable(ObservationType.AUDIT_LOG)))
    assert [record.audit_entries for record in evidence.reruns] == [None]
    assert evidence.reruns[0].state_before.is_available


def test_an_agent_that_broke_is_not_asked_again() -> None:
    class Broken(Worker):
        async def respond(self, request: AgentRequest) -> AgentResponse:
            self.requests.append(request)
            raise ValueError("no")

    agent = Broken()
    evidence = ran(agent, rerun=3)
    assert (len(agent.requests), evidence.reruns) == (1, ())


def test_a_trail_is_taken_out_after_every_turn() -> None:
    agent = Keeper()
    evidence = ran(agent, rerun=1)
    assert [(export.turns, len(export.entries or ())) for export in evidence.trail_exports] == [
        (1, 1), (2, 2), (3, 3), (4, 4),
    ]  # fmt: skip
    assert agent.asked == [agent.requests[0].run_id] * 4


@pytest.mark.requirement("AV-14")
def test_a_trail_that_was_given_out_cannot_be_changed_afterwards() -> None:
    kept: list[dict[str, int]] = []

    def store() -> list[dict[str, int]]:
        kept.append({"number": len(kept)})
        if len(kept) > 1:
            kept[0]["number"] = 99
        return kept

    first, second = ran(Keeper(store)).trail_exports
    assert (first.entries, second.entries) == (({"number": 0},), ({"number": 99}, {"number": 1}))


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    "store",
    [
        lambda: "a text",
        lambda: None,
        lambda: {"entries": []},
        lambda: [object()],
        lambda: [float("nan")],
        lambda: ["\ud801"],
        lambda: _raise(RuntimeError("no")),
        lambda: _raise(AgentFault("store", "gone", "wait")),
        lambda: _raise(SystemExit(0)),
        lambda: _raise(asyncio.CancelledError()),
    ],
    ids=["text", "nothing", "mapping", "object", "nan", "surrogate", "error", "fault", "exit", "cancelled"],
)
def test_a_store_that_gives_out_no_trail_is_on_record_and_breaks_nothing(store: Any) -> None:
    evidence = ran(Keeper(store))
    assert evidence.provider_fault is None
    assert [turn.fault for turn in evidence.turns] == [None, None]
    assert all(export.entries is None and export.fault for export in evidence.trail_exports)
    assert evidence.state_after.is_available
    assert Evidence.from_document(json.loads(json.dumps(evidence.document())), "test") == evidence


def test_a_store_that_is_not_asynchronous_breaks_nothing() -> None:
    class Plain(Worker):
        def audit_trail(self, run_id: str) -> list[Any]:
            return []

    evidence = ran(Plain())
    assert evidence.provider_fault is None
    assert all(export.fault for export in evidence.trail_exports)


def test_a_store_that_hangs_is_left_at_the_deadline() -> None:
    class Hanging(Worker):
        async def audit_trail(self, run_id: str) -> Any:
            await asyncio.Event().wait()

    evidence = ran(Hanging(), settings=replace(SETTINGS, deadline_seconds=1))
    assert all("no answer within 1 s" in str(export.fault) for export in evidence.trail_exports)


@pytest.mark.requirement("SI-07")
def test_evidence_with_reruns_and_trails_survives_being_written_and_read() -> None:
    evidence = ran(Keeper(), rerun=1)
    assert Evidence.from_document(json.loads(json.dumps(evidence.document())), "test") == evidence


@pytest.mark.requirement("SI-07")
def test_evidence_from_before_there_were_reruns_and_trails_can_still_be_read() -> None:
    document = ran(Worker()).document()
    old = {key: value for key, value in document.items() if key not in {"reruns", "trail_exports"}}
    assert old.keys() < document.keys()
    read = Evidence.from_document(old, "test")
    assert (read.reruns, read.trail_exports) == ((), ())
