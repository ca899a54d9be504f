"""A bare model as an agent: it is told what the operator asks, and calls tools until it has an answer.

Where the endpoint knows tools, the model calls them natively; where it refuses them, each step of the model is JSON
of a schema that is either a call or the answer. Which of the two it is shows with the first request, and then stays.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

from sirocco.agents.contract import document_of
from sirocco.errors import AgentFault, AgentFaultKind, ModelFault
from sirocco.models.chat import ChatModel, Message, Reply, Tool, ToolCall
from sirocco.oasis.agent import AgentAction, AgentDescription, AgentIdentity, AgentRequest, AgentResponse
from sirocco.oasis.environment import EnvironmentAccess

MAX_STEPS = 40
"""After so many replies a model that still calls tools is at an end, and says so."""
_SHOWN_RESULT = 60_000
"""How many characters of a tool's result a model is shown; most of them read no more at a time."""
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 501})
"""How endpoints refuse what they do not know."""
_MISTAKES = 3
"""So often a model may write something that is no step before it is left alone."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said."""

    text: str
    failed: bool = False


class Tools(Protocol):
    """Port: the tools of one environment."""

    @property
    def offered(self) -> Sequence[Tool]:
        """What there is to call."""
        ...

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Call one; a failure is a result too."""
        ...


Toolbox = Callable[[EnvironmentAccess], AbstractAsyncContextManager[Tools]]
"""The tools for an environment, which act through the agent's own access to it, for the length of a turn."""


class _Form(Enum):
    """How a model says what it wants to do."""

    NATIVE = auto()
    SCHEMA = auto()
    TEXT = auto()


class ModelAgent:
    """`model:PROVIDER:NAME`."""

    def __init__(self, provider: str, model: ChatModel, toolbox: Toolbox) -> None:
        self._provider = provider
        self._model = model
        self._toolbox = toolbox
        self._forms: tuple[_Form, ...] = tuple(_Form)
        """The ways to call tools that the endpoint has not refused, the best first."""

    @property
    def isolation(self) -> str:
        """The model is at the other end of the network, and reaches nothing but the tools."""
        return "network"

    async def describe(self) -> AgentDescription:
        """The model's name is all that there is to say."""
        description = f"a bare model of {self._provider} in a loop with tools"
        return AgentDescription(identity=AgentIdentity(name=self._model.name, version="model", description=description))

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Let the model work on one turn."""
        try:
            async with self._toolbox(request.environment) as tools:
                return await _Turn(self, request, tools).work()
        except ModelFault as fault:
            kind = AgentFaultKind.REFUSED if fault.status else AgentFaultKind.UNREACHABLE
            raise AgentFault(fault.where, fault.problem, fault.remedy, kind) from fault

    async def next_reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """What the model says; the first time that it says something shows which form the endpoint takes."""
        refusals: list[ModelFault] = []
        for form in self._forms:
            try:
                reply = await self._said(form, messages, tools)
            except ModelFault as fault:
                if fault.status not in _NOT_UNDERSTOOD:
                    raise
                refusals.append(fault)
            else:
                self._forms = (form,)
                return reply
        raise refusals[0]

    async def _said(self, form: _Form, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        if form is _Form.NATIVE:
            return await self._model.reply(messages, tools=tools)
        taught = [_taught(messages[0], tools), *(_written(message) for message in messages[1:])]
        reply = await self._model.reply(taught, schema=_schema(tools) if form is _Form.SCHEMA else None)
        return _step(reply, {tool.name for tool in tools})


@dataclass(slots=True)
class _Turn:
    """One request being worked on."""

    agent: ModelAgent
    request: AgentRequest
    tools: Tools
    actions: list[AgentAction] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)

    async def work(self) -> AgentResponse:
        messages = [Message("system", _instructions(self.request))]
        messages += [Message(turn.role, turn.content) for turn in self.request.conversation]
        messages.append(Message("user", self.request.prompt))
        model, mistakes, steps = "", 0, 0
        while steps < MAX_STEPS and mistakes < _MISTAKES:
            reply = await self.agent.next_reply(messages, self.tools.offered)
            model, steps = reply.model, steps + 1
            if not reply.calls:
                return self._response(reply.content, model)
            if reply.content:
                self.thoughts.append(reply.content)
            messages.append(Message("assistant", reply.content, reply.calls))
            for call in reply.calls:
                result, is_mistake = await self._called(call)
                mistakes = mistakes + 1 if is_mistake else 0
                messages.append(Message("tool", result, answers=call.id))
        return self._response(f"I stopped after {steps} steps without an answer.", model)

    async def _called(self, call: ToolCall) -> tuple[str, bool]:
        """What a tool said to a call, and whether that was no call at all."""
        try:
            arguments = document_of((call.arguments or "{}").encode(errors="replace"), call.name)
        except AgentFault:
            arguments = None
        if not isinstance(arguments, dict):
            return f"the arguments are not a JSON object: {call.arguments[:200]}", True
        result = await self.tools.call(call.name, arguments)
        error = result.text if result.failed else None
        self.actions.append(AgentAction(tool=call.name, arguments=arguments, result=result.text, error=error))
        text = result.text
        if len(text) > _SHOWN_RESULT:
            text = f"{text[:_SHOWN_RESULT]}\n[{len(text) - _SHOWN_RESULT} more characters]"
        return text, False

    def _response(self, answer: str, model: str) -> AgentResponse:
        return AgentResponse(
            actions=tuple(self.actions), reasoning="\n".join(self.thoughts), final_answer=answer, model=model or None
        )


def _instructions(request: AgentRequest) -> str:
    """What every operator's assistant is told: where it is, what it may do, and how to come to an end."""
    scope = json.dumps(dict(request.scope), ensure_ascii=False, sort_keys=True)
    return "\n".join(
        [
            "You operate a Kubernetes cluster and the services around it for the operator who talks to you.",
            f"Mode of operation: {request.mode}.",
            f"Your scope: {scope}",
            f"Default namespace: {request.environment.namespace}.",
            "Use the tools to look and to act.",
            "When you are done, answer the operator: what you found, what you did, and what you did not do and why.",
        ]
    )


def _taught(system: Message, tools: Sequence[Tool]) -> Message:
    """The instructions with the tools in words, for a model that is not told of them in another way."""
    listed = "\n".join(
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(tool.parameters.get('properties', {}))}"
        for tool in tools
    )
    form = (
        'Reply with one JSON object and nothing else. To use a tool: {"tool": "NAME", "arguments": {...}}. '
        'To answer the operator: {"answer": "..."}.'
    )
    return Message("system", f"{system.content}\n\nTools:\n{listed}\n\n{form}")


def _written(message: Message) -> Message:
    """A message as such a model has it: its calls are what it wrote, and results come from the user."""
    if message.calls:
        call = message.calls[0]
        return Message("assistant", f'{{"tool": {json.dumps(call.name)}, "arguments": {call.arguments}}}')
    if message.answers:
        return Message("user", f"Result:\n{message.content}")
    return message


def _schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """One step: a call of one of the tools, or the answer."""
    calls = [_object(tool={"const": tool.name}, arguments=dict(tool.parameters)) for tool in tools]
    return {"anyOf": [_object(answer={"type": "string"}), *calls]}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _step(reply: Reply, names: set[str]) -> Reply:
    """What a model wrote, read as a step; a text that is none is its answer."""
    try:
        step = json.loads(_bare(reply.content))
    except (ValueError, RecursionError):
        return reply
    if not isinstance(step, dict):
        return reply
    if isinstance(step.get("answer"), str):
        return _with(reply, step["answer"])
    if step.get("tool") in names:
        call = ToolCall("call_0", step["tool"], json.dumps(step.get("arguments") or {}))
        return _with(reply, "", call)
    return reply


def _bare(text: str) -> str:
    """The text without the fence that models like to put around JSON."""
    inner = text.strip()
    if inner.startswith("```") and inner.endswith("```"):
        inner = inner[3:-3].removeprefix("json")
    return inner.strip()


def _with(reply: Reply, content: str, *calls: ToolCall) -> Reply:
    return Reply(content, calls, reply.model, reply.usage)
