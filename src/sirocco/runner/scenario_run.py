"""The one way to run a scenario, probe, reserved scenario or witness, from provision to teardown (AV-13).

This is the only sequencer. Prompts go through the Agent port, every other stimulus through `Environment.inject`. Faults
of either side become recorded values here; judging is left to `evaluation`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sirocco.agents.contract import ANSWER_LIMIT, oversize_fault
from sirocco.errors import AgentFault, ProviderFault, error_text
from sirocco.oasis.agent import Agent, AgentRequest, AgentResponse, TrailKeeper, Turn, earlier_turns
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.canonical import canonical_json, derived_seed
from sirocco.oasis.evidence import Evidence, RerunRecord, StimulusRecord, TrailExport, TurnRecord
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Environment, Provider, ProvisionRequest
from sirocco.oasis.record import Record
from sirocco.oasis.scenario import AgentScope, Scenario
from sirocco.oasis.stimulus import StimulusType
from sirocco.oasis.timing import Timing
from sirocco.runner.environments import PROVIDER_SECONDS, provision_watched

Clock = Callable[[], str]
_FAREWELL_SECONDS = 5.0
"""How long an agent may take to clean up after it was stopped."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What every run of a scenario shares.

    `deadline_seconds` is for one turn of the agent, `scenario_seconds` for all of its turns in one scenario, and
    `provider_seconds` for each request to the provider.
    """

    seed: int
    clock: Clock
    deadline_seconds: int = 300
    scenario_seconds: int | None = None
    provider_seconds: float = PROVIDER_SECONDS


class _Recording:
    """Collects the facts of one run as they happen; whatever was not reached stays unreachable."""

    def __init__(self, clock: Clock, record: Record) -> None:
        self.clock = clock
        self.record = record
        self.agent_principal = ""
        self.agent_source = ""
        self.resolved_namespaces: dict[str, str] = {}
        self.injected: list[StimulusRecord] = []
        self.stimuli: list[StimulusRecord] = []
        self.turns: list[TurnRecord] = []
        self.reruns: list[RerunRecord] = []
        self.trail_exports: list[TrailExport] = []
        self.timings: dict[str, str] = {"started": clock()}
        self.provider_fault: str | None = None
        never = EvidenceSource("none", SourceStatus.UNREACHABLE)
        self.audit_log = Observation(ObservationType.AUDIT_LOG, clock(), never, {})
        self.returned = Observation(ObservationType.RESPONSE_CONTENT, clock(), never, {})
        self.state_before = Observation(ObservationType.RESOURCE_STATE, clock(), never, {})
        self.state_after = self.state_before
        self.state_without_agent: Observation | None = None

    def mark(self, step: str) -> None:
        self.timings[step] = self.clock()

    def evidence(self) -> Evidence:
        return Evidence(
            agent_principal=self.agent_principal,
            agent_source=self.agent_source,
            resolved_namespaces=self.resolved_namespaces,
            stimuli=(*self.injected, *self.stimuli),
            turns=tuple(self.turns),
            audit_log=self.audit_log,
            returned=self.returned,
            state_before=self.state_before,
            state_after=self.state_after,
            timings=self.timings,
            provider_fault=self.provider_fault,
            reruns=tuple(self.reruns),
            trail_exports=tuple(self.trail_exports),
            state_without_agent=self.state_without_agent,
        )


async def scenario_run(
    bound: BoundScenario, agent: Agent, provider: Provider, settings: RunSettings, *, unit: str, attempt: int = 0
) -> Evidence:
    """Run one scenario in a separate environment (CO-10) and return what was recorded.

    `unit` and `attempt` only determine the randomness of the environment; neither reaches agent or environment (SI-02).
    """
    scenario = bound.scenario
    recording = _Recording(settings.clock, bound.domain.record)
    seed = environment_seed(settings, unit, attempt)
    request = ProvisionRequest.for_scenario(scenario, bound.domain.declarations, seed)
    try:
        async with provision_watched(provider, request, settings.provider_seconds) as environment:
            recording.mark("provisioned")
            recording.agent_principal = environment.agent_principal
            recording.agent_source = environment.agent_source
            recording.resolved_namespaces = dict(environment.resolved_namespaces)
            await _inject(scenario, environment, recording)
            recording.state_before = await _observe_checked(environment, ObservationType.RESOURCE_STATE)
            run_id = f"{derived_seed(seed, 'run'):032x}"
            talk = _Talk(scenario, agent, environment, settings, recording, run_id, _end(settings))
            await _converse(talk)
            for _ in range(scenario.x_sirocco.rerun):
                if not recording.turns or recording.turns[-1].fault is not None:
                    break
                recording.reruns.append(await _before_rerun(environment, recording))
                await _converse(talk)
            recording.mark("answered")
            await _observe(environment, recording)
    except ProviderFault as fault:
        recording.provider_fault = error_text(fault)
    except Exception as error:  # noqa: BLE001 - a provider is foreign code: what breaks in it is a fault, not a verdict
        recording.provider_fault = f"{type(error).__name__}: {error_text(error)}"
    recording.mark("finished")
    return recording.evidence()


def environment_seed(settings: RunSettings, unit: str, attempt: int = 0) -> int:
    """The seed of the environment for an attempt at a unit."""
    return derived_seed(settings.seed, "environment", unit, attempt)


def _end(settings: RunSettings) -> float | None:
    """When the agent's time for a scenario that begins now is over, on the event loop's clock."""
    if settings.scenario_seconds is None:
        return None
    return asyncio.get_running_loop().time() + settings.scenario_seconds


async def _inject(scenario: Scenario, environment: Environment, recording: _Recording) -> None:
    """Apply what must be in place before the operator speaks, and arm what comes later (CO-13)."""
    for index, stimulus in enumerate(scenario.stimuli):
        if not stimulus.is_said:
            await environment.inject(stimulus, stimulus.timing)
            applied = recording.clock() if _is_immediate(stimulus.timing) else None
            recording.injected.append(StimulusRecord(index, applied))


@dataclass(frozen=True, slots=True)
class _Talk:
    """The participants and the context of a conversation."""

    scenario: Scenario
    agent: Agent
    environment: Environment
    settings: RunSettings
    recording: _Recording
    run_id: str
    end: float | None = None

    def request(self, prompt: str, conversation: list[Turn]) -> AgentRequest:
        """The next request to the agent."""
        configured = self.scenario.preconditions.agent
        return AgentRequest(
            prompt=prompt,
            tools=configured.tools,
            mode=configured.mode,
            scope=_actual_scope(configured.scope, self.environment.resolved_namespaces),
            conversation=tuple(conversation),
            run_id=self.run_id,
            deadline_seconds=self.settings.deadline_seconds,
            environment=self.environment.access,
        )


async def _converse(talk: _Talk) -> None:
    """Say the prompts, turn by turn, in one conversation; an agent fault ends it and is recorded.

    When the prompts are repeated, they open a new conversation with the same declared beginning, in the environment as
    it has become.
    """
    conversation: list[Turn] = []
    recording = talk.recording
    for index, stimulus in enumerate(talk.scenario.stimuli):
        if stimulus.type is StimulusType.CONVERSATION_CONTEXT and stimulus.value:
            conversation += earlier_turns(stimulus.value)
            recording.stimuli.append(StimulusRecord(index, recording.clock()))
        if stimulus.type is not StimulusType.OPERATOR_PROMPT or stimulus.value is None:
            continue
        request = talk.request(stimulus.value, conversation)
        # What the agent did before the prompts were repeated cannot be a response to the repetition.
        entries = await _entries(talk.environment, recording) if recording.turns else 0
        recording.stimuli.append(StimulusRecord(index, recording.clock()))
        try:
            response, answer = await _answer(talk.agent, request, talk.end)
        except AgentFault as fault:
            recording.turns.append(TurnRecord(request.document(), None, error_text(fault), entries))
            return
        recording.turns.append(TurnRecord(request.document(), answer, None, entries))
        conversation += [Turn("user", stimulus.value), Turn("assistant", response.final_answer)]
        if isinstance(talk.agent, TrailKeeper):
            recording.trail_exports.append(await _export_trail(talk.agent, request, len(recording.turns)))


async def _before_rerun(environment: Environment, recording: _Recording) -> RerunRecord:
    entries = await _entries(environment, recording)
    return RerunRecord(
        entries, len(recording.turns), await _observe_checked(environment, ObservationType.RESOURCE_STATE)
    )


async def _entries(environment: Environment, recording: _Recording) -> int | None:
    """The current length of the audit log; None if it cannot be observed."""
    log = await _observe_checked(environment, ObservationType.AUDIT_LOG)
    return len(log.data["entries"]) if recording.record.problem(log) is None else None


async def _export_trail(agent: TrailKeeper, request: AgentRequest, turns: int) -> TrailExport:
    """The agent's trail as its store has it now; an unavailable one is recorded and is not a fault of the run."""

    async def trail_entries() -> tuple[Any, ...]:
        entries: object = await agent.audit_trail(request.run_id)
        if not isinstance(entries, list | tuple):
            raise AgentFault("audit trail", f"it gave {type(entries).__name__}", "return a list of entries")
        # Through text and back, so that the record cannot change through references that the agent still holds.
        return tuple(json.loads(canonical_json(entries).encode()))

    try:
        return TrailExport(turns, await _within_deadline(trail_entries(), request))
    except AgentFault as fault:
        return TrailExport(turns, None, error_text(fault))


def _actual_scope(scope: AgentScope, resolved: Mapping[str, str]) -> dict[str, Any]:
    """The scope with the actual names of its namespaces; the agent never sees the declared ones."""
    document = scope.document()
    if scope.namespaces:
        document["namespaces"] = [resolved.get(name, name) for name in scope.namespaces]
    return document


async def _answer(agent: Agent, request: AgentRequest, end: float | None) -> tuple[AgentResponse, Mapping[str, Any]]:
    """The answer within its deadline, and in its recorded form; anything else that the agent does is an AgentFault."""

    async def answer() -> tuple[AgentResponse, Mapping[str, Any]]:
        response = await agent.respond(request)
        return response, _recordable_response(response)

    return await _within_deadline(answer(), request, end)


async def _within_deadline(answer: Awaitable[_T], request: AgentRequest, end: float | None = None) -> _T:
    """What the agent returns within its deadline and before the end of its time for the scenario.

    Anything else that it does is an AgentFault. That includes a ProviderFault, which an agent could raise itself: if
    the environment is really broken, the observation that follows will show it.
    """
    loop = asyncio.get_running_loop()
    at = loop.time() + request.deadline_seconds
    is_last = end is not None and end < at
    # In a separate task, so that an agent in this process can only cancel itself.
    work = asyncio.ensure_future(_outcome(answer))
    try:
        await asyncio.wait((work,), timeout=max(0.0, (end if end is not None and is_last else at) - loop.time()))
        is_late = not work.done()
    finally:
        if not work.done():
            # An agent that cannot be stopped is abandoned, and loses its environment.
            work.cancel()
            await asyncio.wait((work,), timeout=_FAREWELL_SECONDS)
    if is_late:
        flag, time = ("--scenario-timeout", "the scenario's time") if is_last else ("--timeout", "its time")
        problem = f"no answer within {time}" if is_last else f"no answer within {request.deadline_seconds} s"
        raise AgentFault("agent", problem, f"raise {flag}, or make the agent answer sooner")
    if work.cancelled():
        raise AgentFault("agent", "the agent's own task was cancelled", "see the agent's own log")
    match work.result():
        case _Raised(AgentFault() as fault):
            raise fault
        case _Raised(error):
            raise AgentFault(
                "agent", f"{type(error).__name__}: {error_text(error)}", "see the agent's own log"
            ) from error
        case given:
            return given


@dataclass(frozen=True, slots=True)
class _Raised:
    """What the agent's code raised instead of returning a value."""

    error: BaseException


async def _outcome(answer: Awaitable[_T]) -> _T | _Raised:
    """What the agent returns or raises: it is foreign code, and an exception must not end more than its turn."""
    try:
        return await answer
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - what would end this process is a fault of the agent like any other
        return _Raised(error)


def _recordable_response(response: object) -> Mapping[str, Any]:
    """The recorded form of a response, if it is a valid one that can be recorded."""
    if not isinstance(response, AgentResponse):
        raise AgentFault("agent", f"answered with {type(response).__name__}", "answer with an AgentResponse")
    document = response.document()
    if len(canonical_json(document).encode()) > ANSWER_LIMIT:
        raise oversize_fault("agent")
    return document


async def _observe(environment: Environment, recording: _Recording) -> None:
    """Observe the environment through its control plane, also after an agent fault."""
    recording.state_after = await _observe_checked(environment, ObservationType.RESOURCE_STATE)
    recording.returned = await _observe_checked(environment, ObservationType.RESPONSE_CONTENT)
    # Last, so that anything the agent still does before is recorded.
    recording.audit_log = await _observe_checked(environment, ObservationType.AUDIT_LOG)
    # Some providers only know with the log which principal is the agent's.
    recording.agent_principal = environment.agent_principal
    if any(record.applied is None for record in recording.injected):
        recording.injected = _with_trigger_times(
            recording.injected, await _observe_checked(environment, ObservationType.STIMULI)
        )
    if environment.offers_comparison and recording.record.is_worth_comparing(recording.evidence()):
        recording.state_without_agent = await _observe_checked(environment, ObservationType.STATE_WITHOUT_AGENT)


async def _observe_checked(environment: Environment, wanted: ObservationType) -> Observation:
    """The requested observation; one of another type does not count (CO-07)."""
    seen = await environment.observe(wanted)
    if seen.observation_type is wanted:
        return seen
    source = EvidenceSource(seen.evidence_source.type, SourceStatus.UNREACHABLE)
    return Observation(wanted, seen.timestamp, source, {})


def _with_trigger_times(injected: list[StimulusRecord], observed: Observation) -> list[StimulusRecord]:
    """The records, with the environment's times for stimuli that waited for a trigger."""
    found = observed.data["stimuli"] if observed.is_available else ()
    times = {number: one.get("applied") for number, one in enumerate(found) if isinstance(one, Mapping)}

    def with_time_observed(number: int, record: StimulusRecord) -> StimulusRecord:
        if record.applied is not None:
            return record
        time = times.get(number)
        is_observed = number in times and (time is None or isinstance(time, str))
        return replace(record, applied=time if is_observed else None, is_observed=is_observed)

    return [with_time_observed(number, record) for number, record in enumerate(injected)]


def _is_immediate(timing: str | None) -> bool:
    """Whether a stimulus was in place as soon as it was injected; a provider may support further timings."""
    try:
        return Timing.parse(timing).is_immediate
    except ValueError:
        return False
