"""The task `sirocco/scenarios`: each scenario is a sample, worked on by an Inspect agent and judged by Sirocco.

The sample goes through the same path as in `sirocco run` (`runner.execution`): this module only puts an Inspect agent
behind Sirocco's port for agents, and shows the verdict as Inspect's score.
"""

import json
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import Agent, react, run
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams
from inspect_ai.util import JSONSchema

from sirocco.errors import ConfigError
from sirocco.oasis.agent import AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.domain import Domain
from sirocco.oasis.profile import Profile
from sirocco.oasis.report import UnitResult
from sirocco.oasis.tools import Tool as EnvironmentTool
from sirocco.oasis.tools import Tools
from sirocco.runner.execution import Execution
from sirocco.runner.scenario_run import RunSettings
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.clock import utc_now
from sirocco.wiring.tools import environment_tools

MakeAgent = Callable[[Sequence[Tool]], Agent]
"""Makes an Inspect agent from the tools of one environment."""
_RESULT = "sirocco"
_SCENARIO = "scenario"


@task
def scenarios(
    scenario: str = "*",
    classification: str = "safety",
    profile: str = profile_source.BUNDLED,
    seed: int = 1,
    timeout: int = 300,
    agent: MakeAgent | None = None,
) -> Task:
    """Scenarios of a profile whose id matches the pattern; PASS is 1, FAIL is 0, capability has its score.

    `agent` makes the Inspect agent to evaluate; without one it is `react` with the model of the evaluation.
    """
    loaded, _ = profile_source.required_profile(profile)
    chosen = [
        one
        for one in loaded.scenarios
        if fnmatchcase(one.scenario.id, scenario) and str(one.scenario.classification) == classification
    ]
    if not chosen:
        raise ConfigError(
            "scenario", f"no {classification} scenario matches {scenario!r}", "see `sirocco profile show`"
        )
    samples = [
        Sample(
            id=one.scenario.id,
            input=next(text.value or "" for text in one.scenario.stimuli if str(text.type) == "operator_prompt"),
            metadata={"category": one.scenario.category, "archetype": one.scenario.archetype},
        )
        for one in chosen
    ]
    settings = RunSettings(seed, utc_now, deadline_seconds=timeout)
    return Task(
        dataset=MemoryDataset(samples, name=loaded.document.id),
        solver=work_in_environment(loaded, settings, agent or _react),
        scorer=verdict(),
        version=loaded.document.version,
    )


@solver
def work_in_environment(profile: Profile, settings: RunSettings, make_agent: MakeAgent) -> Solver:
    """Run the sample's scenario in a separate environment, with an Inspect agent behind the agent port."""
    provider = plugins.own_provider(profile)
    known = {one.scenario.id: one for one in profile.scenarios}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect's signature
        bound = known[str(state.sample_id)]
        port = _InspectAgent(profile.domain, make_agent)
        result = await Execution(port, provider, settings).execute(bound.scenario.id, bound)
        state.messages = port.messages or state.messages
        state.output.completion = port.said
        state.metadata[_RESULT] = _outcome(result)
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def verdict() -> Scorer:
    """Sirocco's verdict on the sample; a unit without a verdict is an error, never a score."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - Inspect's signature
        outcome = state.metadata[_RESULT]
        if outcome["value"] is None:
            raise RuntimeError(outcome["explanation"])
        return Score(value=outcome["value"], answer=outcome["status"], explanation=outcome["explanation"])

    return score


def _outcome(result: UnitResult) -> dict[str, Any]:
    """A unit's result for Inspect: a number, the status and the reason."""
    status = str(result.status)
    value = result.score if result.score is not None else {"PASS": 1.0, "FAIL": 0.0}.get(status)
    reason = result.agent_fault or result.evidence.provider_fault or str(getattr(result.verdict, "reason", ""))
    return {"value": value, "status": status, "explanation": f"{status}: {reason}" if reason else status}


class _InspectAgent:
    """Sirocco's port to agents, with an Inspect agent behind it."""

    isolation = "none"

    def __init__(self, domain: Domain, make_agent: MakeAgent) -> None:
        self._domain = domain
        self._toolbox = environment_tools(domain, utc_now)
        self._make_agent = make_agent
        self.messages: list[ChatMessage] = []
        self.said = ""

    async def describe(self) -> AgentDescription:
        """The model of the evaluation; Inspect's log has the rest."""
        model = str(get_model())
        return AgentDescription(identity=AgentIdentity(name=model, version="inspect", declared_model=model))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Let the agent work on one turn, after the conversation so far."""
        async with self._toolbox(request.environment) as tools:
            offered = [one for one in tools.offered if self._domain.equipment.serves(one.name, request.tools)]
            agent = self._make_agent([_inspect_tool(one, tools) for one in offered or tools.offered])
            state = await run(agent, self._conversation(request))
        self.messages = list(state.messages)
        self.said = state.output.completion
        return AgentResponse(final_answer=self.said)

    def _conversation(self, request: AgentRequest) -> list[ChatMessage]:
        scope = f"Mode: {request.mode}. Scope: {json.dumps(request.scope)}."
        earlier = [
            ChatMessageAssistant(content=turn.content)
            if turn.role == "assistant"
            else ChatMessageUser(content=turn.content)
            for turn in request.conversation
        ]
        return [
            ChatMessageSystem(content=f"{self._domain.equipment.role} {scope}"),
            *earlier,
            ChatMessageUser(content=request.prompt),
        ]


def _react(tools: Sequence[Tool]) -> Agent:
    return react(tools=tools)


def _inspect_tool(offered: EnvironmentTool, tools: Tools) -> Tool:
    """A tool of the environment in Inspect's form."""

    async def execute(**arguments: Any) -> str:
        result = await tools.call(offered.name, arguments)
        if result.failed:
            raise ToolError(result.text)
        return result.text

    schema = offered.parameters
    properties = {
        name: JSONSchema.model_validate({"description": name, **value})
        for name, value in schema.get("properties", {}).items()
    }
    parameters = ToolParams(properties=properties, required=list(schema.get("required", ())))
    return ToolDef(execute, name=offered.name, description=offered.description, parameters=parameters).as_tool()
