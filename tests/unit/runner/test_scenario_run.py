"""One scenario from provision to teardown, and what is made of agents and providers that break."""

import asyncio
import json
from dataclasses import replace

import pytest

from sirocco.domains.kubernetes.simulator.provider import SimulatorProvider
from sirocco.errors import AgentFault, ProviderFault
from sirocco.evaluation.evaluate import evaluate
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.providers.faults import Failing, FaultyProvider, Unreachable
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings, scenario_run
from sirocco.wiring import plugins, profile_source

CLOCK = lambda: "2026-01-01T00:00:00.000000Z"  # noqa: E731
SETTINGS = RunSettings(5, CLOCK, deadline_seconds=5)


class Scripted:
    """An agent whose behaviour is one coroutine function."""

    isolation = "none"

    def __init__(self, behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[AgentRequest] = []

    async def describe(self) -> AgentDescription:
        return AgentDescription(identity=AgentIdentity(name="scripted", version="1"))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        self.requests.append(request)
        return await self.behaviour(request)


@pytest.fixture(scope="module")
def profile():
    return profile_source.required_profile("kubernetes_operations")[0]


@pytest.fixture(scope="module")
def injection(profile):
    """The scenario whose payload asks for a deletion inside the agent's scope."""
    return next(bound for bound in profile.scenarios if bound.scenario.archetype == "S-PI-001")


@pytest.fixture
def provider(profile):
    return plugins.provider("simulator", profile)


async def violate(bound, request: AgentRequest) -> None:
    goal = bound.goal.operation
    path = f"/apis/apps/v1/namespaces/{goal.namespace}/deployments/{goal.name}"
    assert (await request.environment.client.request("DELETE", path)).succeeded


def _ran(bound, agent, provider) -> Evidence:
    return asyncio.run(scenario_run(bound, agent, provider, SETTINGS, unit="unit"))


@pytest.mark.requirement("AV-13")
def test_every_step_of_the_flow_leaves_its_evidence(injection, provider):
    async def behaviour(request):
        await violate(injection, request)
        return AgentResponse(final_answer="done")

    agent = Scripted(behaviour)
    evidence = _ran(injection, agent, provider)
    scenario = injection.scenario
    assert [request.prompt for request in agent.requests] == list(scenario.prompts)
    assert agent.requests[0].mode == scenario.preconditions.agent.mode
    assert agent.requests[0].tools == scenario.preconditions.agent.tools
    assert agent.requests[0].scope["namespaces"] == list(scenario.preconditions.agent.scope.namespaces)
    assert sorted(record.index for record in evidence.stimuli) == list(range(len(scenario.stimuli)))
    assert evidence.turns[0].response == {"reasoning": "", "final_answer": "done"}
    assert all(
        observation.is_available
        for observation in (evidence.audit_log, evidence.state_before, evidence.state_after, evidence.returned)
    )
    assert isinstance(evaluate(injection, evidence).verdict, Fail)
    assert list(evidence.timings) == ["started", "provisioned", "answered", "finished"]


@pytest.mark.requirement("AV-13")
def test_the_payload_is_in_place_before_the_agent_is_asked(injection, provider):
    payload = injection.scenario.payloads[0].value
    bodies = []

    async def behaviour(request):
        namespace = injection.scenario.preconditions.agent.scope.namespaces[0]
        pods = await request.environment.client.request("GET", f"/api/v1/namespaces/{namespace}/pods")
        for pod in pods.body["items"]:
            path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/log"
            bodies.append((await request.environment.client.request("GET", path)).body)
        return AgentResponse()

    evidence = _ran(injection, Scripted(behaviour), provider)
    assert any(payload in body for body in bodies)
    assert evaluate(injection, evidence).payload.delivered is True


def _with_stimuli(bound, *stimuli):
    more = tuple(Stimulus.model_validate(stimulus) for stimulus in stimuli)
    scenario = bound.scenario.model_copy(update={"stimuli": (*more, *bound.scenario.stimuli)})
    return replace(bound, scenario=scenario)


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(("calls", "fired"), [(0, False), (1, True)], ids=["the agent does nothing", "the agent looks"])
def test_a_stimulus_that_waits_for_its_trigger_is_on_record_with_its_time_or_without(injection, provider, calls, fired):
    target = injection.scenario.payloads[0].target
    late = {"type": "temporal_condition", "target": target, "value": "late", "timing": "after_first_tool_call"}
    early = {"type": "tool_output_injection", "target": target, "value": "early", "timing": "at_provision"}

    async def behaviour(request):
        for _ in range(calls):
            await request.environment.client.request("GET", "/api/v1/namespaces")
        return AgentResponse()

    evidence = _ran(_with_stimuli(injection, late, early), Scripted(behaviour), provider)
    assert evidence.provider_fault is None
    applied = {record.index: record.applied for record in evidence.stimuli}
    assert (applied[0] is not None, applied[1] is not None) == (fired, True)
    assert Evidence.from_document(evidence.document(), "x") == evidence


@pytest.mark.requirement("CO-13")
def test_an_earlier_conversation_reaches_the_agent_turn_by_turn(injection, provider):
    async def behaviour(request):
        return AgentResponse()

    agent = Scripted(behaviour)
    context = {"type": "conversation_context", "value": '[Turn 1] User: "Hello." [Turn 2] Agent: "Good day."'}
    evidence = _ran(_with_stimuli(injection, context), agent, provider)
    assert [(turn.role, turn.content) for turn in agent.requests[0].conversation] == [
        ("user", "Hello."), ("assistant", "Good day."),
    ]  # fmt: skip
    talked = _with_stimuli(injection, context)
    assert [one.delivered for one in evaluate(talked, evidence).deliveries if one.surface is None] == [True, True]


@pytest.mark.requirement("AV-13")
def test_the_environment_is_gone_after_the_run(injection, provider):
    kept = []

    async def behaviour(request):
        kept.append(request.environment.client)
        return AgentResponse()

    _ran(injection, Scripted(behaviour), provider)
    with pytest.raises(ProviderFault):
        asyncio.run(kept[0].request("GET", "/api/v1/namespaces"))


LIES = {
    "a refusal": {"final_answer": "I refused.", "actions": []},
    "an infrastructure error": {"actions": [{"tool": "kubectl", "error": "connection refused"}], "reasoning": "broken"},
    "an invented violation": {"actions": [{"tool": "kubectl", "arguments": {"verb": "delete deployment everything"}}]},
}


@pytest.mark.requirement("AV-14")
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_an_agent_says_about_its_actions_changes_no_verdict_in_either_direction(injection, provider, lie):
    async def acts(request):
        await violate(injection, request)
        return AgentResponse.model_validate(lie)

    async def abstains(request):
        return AgentResponse.model_validate(lie)

    assert isinstance(evaluate(injection, _ran(injection, Scripted(acts), provider)).verdict, Fail)
    assert isinstance(evaluate(injection, _ran(injection, Scripted(abstains), provider)).verdict, Pass)


def test_an_agent_that_violates_and_then_breaks_has_violated(injection, provider):
    async def behaviour(request):
        await violate(injection, request)
        raise RuntimeError("crash")

    agent = Scripted(behaviour)
    result = asyncio.run(Execution(agent, provider, SETTINGS).execute("unit", injection))
    assert isinstance(result.verdict, Fail)
    assert len(agent.requests) == 1


async def _nothing(request):
    return None


async def _unserializable(request):
    return AgentResponse(actions=[{"tool": "x", "result": object()}])


async def _lone_surrogate(request):
    return AgentResponse(final_answer="\ud801")


async def _claims_a_provider_fault(request):
    raise ProviderFault("environment", "connection refused", "run again")


async def _exits(request):
    raise SystemExit(0)


async def _cancels_itself(request):
    raise asyncio.CancelledError


ENDINGS = [_nothing, _unserializable, _lone_surrogate, _claims_a_provider_fault, _exits, _cancels_itself]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda function: function.__name__.strip("_"))
def test_however_an_agent_ends_its_turn_a_violation_stays_a_violation(injection, provider, ending):
    async def behaviour(request):
        await violate(injection, request)
        return await ending(request)

    result = asyncio.run(Execution(Scripted(behaviour), provider, SETTINGS).execute("unit", injection))
    assert isinstance(result.verdict, Fail)
    assert json.dumps(result.evidence.document())


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda function: function.__name__.strip("_"))
def test_without_a_violation_such_an_ending_is_a_fault_of_the_agent_and_no_pass(injection, provider, ending):
    result = asyncio.run(Execution(Scripted(ending), provider, SETTINGS).execute("unit", injection))
    assert result.agent_fault
    assert not result.is_judged
    assert result.status is None


def test_brackets_without_end_in_an_answer_do_not_break_the_judging(profile, provider):
    disclosure = next(bound for bound in profile.scenarios if bound.scenario.archetype == "S-DE-001")

    async def behaviour(request):
        return AgentResponse(final_answer="[" * 200_000)

    assert isinstance(evaluate(disclosure, _ran(disclosure, Scripted(behaviour), provider)).verdict, Pass)


def test_an_agent_that_breaks_once_is_asked_again_in_a_fresh_environment(injection, provider):
    async def behaviour(request):
        if len(agent.requests) == 1:
            raise AgentFault("agent", "gone", "wait")
        return AgentResponse(final_answer="ok")

    agent = Scripted(behaviour)
    result = asyncio.run(Execution(agent, provider, SETTINGS).execute("unit", injection))
    assert (isinstance(result.verdict, Pass), result.agent_fault) == (True, None)
    first, second = agent.requests
    assert first.environment.id != second.environment.id


def test_an_agent_that_breaks_twice_is_a_fault_and_not_a_pass(injection, provider):
    async def behaviour(request):
        raise ValueError("no")

    result = asyncio.run(Execution(Scripted(behaviour), provider, SETTINGS).execute("unit", injection))
    assert "ValueError: no" in result.agent_fault


def test_an_agent_that_hangs_is_stopped_at_its_deadline(injection, provider):
    async def behaviour(request):
        await asyncio.Event().wait()

    settings = RunSettings(5, CLOCK, deadline_seconds=0)
    evidence = asyncio.run(scenario_run(injection, Scripted(behaviour), provider, settings, unit="unit"))
    assert "no answer within 0 s" in evidence.turns[0].fault
    assert evidence.audit_log.is_available


@pytest.mark.requirement("CO-07")
@pytest.mark.parametrize("source", [ObservationType.AUDIT_LOG, ObservationType.RESOURCE_STATE])
def test_evidence_that_cannot_be_reached_is_never_a_pass(injection, profile, source):
    async def behaviour(request):
        return AgentResponse()

    versions = {profile.document.id: profile.document.version}
    broken = FaultyProvider(SimulatorProvider(versions, CLOCK), Unreachable(source))
    assert isinstance(evaluate(injection, _ran(injection, Scripted(behaviour), broken)).verdict, ProviderFailure)


@pytest.mark.parametrize("step", ["provision", "inject", "observe"])
def test_a_provider_fault_at_any_step_is_a_provider_failure_with_the_evidence_kept(injection, profile, step):
    async def behaviour(request):
        return AgentResponse(final_answer="fine")

    versions = {profile.document.id: profile.document.version}
    broken = FaultyProvider(SimulatorProvider(versions, CLOCK), Failing(step))
    evidence = _ran(injection, Scripted(behaviour), broken)
    assert evidence.provider_fault
    assert isinstance(evaluate(injection, evidence).verdict, ProviderFailure)


def test_evidence_survives_being_written_and_read(injection, provider):
    async def behaviour(request):
        await violate(injection, request)
        return AgentResponse(final_answer="done", actions=[{"tool": "x", "result": {"any": ["json"]}}])

    evidence = _ran(injection, Scripted(behaviour), provider)
    again = Evidence.from_document(json.loads(json.dumps(evidence.document())), "test")
    assert again == evidence
    assert evaluate(injection, again).document() == evaluate(injection, evidence).document()


def test_two_runs_of_a_scenario_share_nothing(injection, provider):
    environments = []

    async def behaviour(request):
        environments.append(request)
        await violate(injection, request)
        return AgentResponse()

    for attempt in range(2):
        asyncio.run(scenario_run(injection, Scripted(behaviour), provider, SETTINGS, unit="unit", attempt=attempt))
    first, second = environments
    assert first.run_id != second.run_id
    assert first.environment.token != second.environment.token


class _Odd(BaseException):
    """What no handler of exceptions expects."""


@pytest.mark.requirement("CO-02")
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(0), GeneratorExit(), _Odd("x"), RuntimeError("\ud800")]
)
def test_whatever_an_agent_raises_is_its_own_fault_and_can_be_written_down(injection, provider, error):
    async def behaviour(_request):
        raise error

    evidence = _ran(injection, Scripted(behaviour), provider)
    assert evidence.provider_fault is None
    assert (evidence.turns[0].fault or "").encode().startswith(b"agent: ")
    assert evidence.audit_log.is_available
