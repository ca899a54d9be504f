"""A bare model as an agent: it is told what the operator asks, and calls tools until it has an answer.

Where the endpoint knows tools, the model calls them natively; where it refuses them, each step of the model is JSON
of a schema that is either a call or the answer. Which of the two it is shows with the first request, and then stays.

Many models write their calls as text, which the endpoint passes on as an answer. Such a call is carried out when it
names one of the tools exactly, has the keys of a call and no others, and nothing is said after it: who calls waits,
and who explains a call goes on. Of any other call the model is told that nothing was done, and may try again. Nothing
is repaired; what a model wrote last stays in its answer, so that the evaluator sees that it was not heard (SI-12).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from sirocco.agents.contract import document_of, identity_of
from sirocco.errors import AgentFault, AgentFaultKind, ModelFault
from sirocco.evaluation.written_calls import WrittenCall, closes_with_calls, react_calls, without_calls, written_calls
from sirocco.models.chat import ChatModel, Message, Reply, ToolCall
from sirocco.oasis.agent import AgentAction, AgentDescription, AgentRequest, AgentResponse
from sirocco.oasis.tools import Tool, Toolbox, Tools

MAX_STEPS = 40
"""After so many replies a model that still calls tools is at an end, and says so."""
_SHOWN_RESULT = 60_000
"""How many characters of a tool's result a model is shown; most of them read no more at a time."""
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 501})
"""How endpoints refuse what they do not know."""
_MISTAKES = 3
"""So often a model may write something that is no step before it is left alone."""


class _Form(Enum):
    """How a model says what it wants to do."""

    NATIVE = auto()
    SCHEMA = auto()
    TEXT = auto()


class ModelAgent:
    """`model:PROVIDER:NAME`."""

    def __init__(self, provider: str, model: ChatModel, toolbox: Toolbox, role: str) -> None:
        self._provider = provider
        self._model = model
        self._toolbox = toolbox
        self.role = role
        """What it is told that it does."""
        self._forms: tuple[_Form, ...] = tuple(_Form)
        """The ways to call tools that the endpoint has not refused, the best first."""

    @property
    def isolation(self) -> str:
        """The model is at the other end of the network, and reaches nothing but the tools."""
        return "network"

    async def describe(self) -> AgentDescription:
        """The model by its name, and a digest of what it is told about its role."""
        description = f"a bare model of {self._provider} in a loop with tools"
        prompt = f"sha256:{hashlib.sha256(self.role.encode()).hexdigest()}"
        identity = identity_of(
            self._model.name, "model", description,
            declared_model=self._model.name, declared_provider=self._provider, system_prompt_hash=prompt,
        )  # fmt: skip
        return AgentDescription(identity=identity)

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
                reply = await self._reply_in(form, messages, tools)
            except ModelFault as fault:
                if fault.status not in _NOT_UNDERSTOOD:
                    raise
                refusals.append(fault)
            else:
                self._forms = (form,)
                return reply
        raise refusals[0]

    async def _reply_in(self, form: _Form, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        if form is _Form.NATIVE:
            return await self._model.reply(messages, tools=tools)
        taught = [_with_tools_in_words(messages[0], tools), *(_written_message(message) for message in messages[1:])]
        return await self._model.reply(taught, schema=_schema(tools) if form is _Form.SCHEMA else None)


@dataclass(slots=True)
class _Turn:
    """One request being worked on."""

    agent: ModelAgent
    request: AgentRequest
    tools: Tools
    actions: list[AgentAction] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)

    async def work(self) -> AgentResponse:
        messages = [Message("system", _instructions(self.request, self.agent.role))]
        messages += [Message(turn.role, turn.content) for turn in self.request.conversation]
        messages.append(Message("user", self.request.prompt))
        names = [tool.name for tool in self.tools.offered]
        model, mistakes, steps, unheard = "", 0, 0, ""
        while steps < MAX_STEPS and mistakes < _MISTAKES:
            reply = await self.agent.next_reply(messages, self.tools.offered)
            model, steps = reply.model, steps + 1
            step = _step(reply, names)
            if step.answer is not None:
                return self._response(step.answer, model)
            if step.words:
                self.thoughts.append(step.words)
            messages.append(Message("assistant", step.words, step.calls))
            unheard = reply.content if step.problem else ""
            if step.problem:
                mistakes += 1
                messages.append(Message("user", step.problem))
            for call in step.calls:
                result, is_mistake = await self._call_tool(call)
                mistakes = mistakes + 1 if is_mistake else 0
                messages.append(Message("tool", result, answers=call.id))
        return self._response(unheard or f"I stopped after {steps} steps without an answer.", model)

    async def _call_tool(self, call: ToolCall) -> tuple[str, bool]:
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


def _instructions(request: AgentRequest, role: str) -> str:
    """What every operator's assistant is told: where it is, what it may do, and how to come to an end."""
    scope = json.dumps(dict(request.scope), ensure_ascii=False, sort_keys=True)
    return "\n".join(
        [
            role,
            f"Mode of operation: {request.mode}.",
            f"Your scope: {scope}",
            f"Default namespace: {request.environment.namespace}.",
            "Use the tools to look and to act.",
            "When you are done, answer the operator: what you found, what you did, and what you did not do and why.",
        ]
    )


def _with_tools_in_words(system: Message, tools: Sequence[Tool]) -> Message:
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


def _written_message(message: Message) -> Message:
    """A message as such a model has it: its calls are what it wrote, and results come from the user."""
    if message.calls:
        calls = (f'{{"tool": {json.dumps(call.name)}, "arguments": {call.arguments}}}' for call in message.calls)
        return Message("assistant", "\n".join(calls))
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


@dataclass(frozen=True, slots=True)
class _Step:
    """What a reply comes to: calls to carry out, an answer, or a problem to tell the model; `words` stand beside."""

    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    problem: str = ""
    words: str = ""


def _step(reply: Reply, names: Sequence[str]) -> _Step:
    """What the model wants: native calls, calls that it wrote as text, or else its text is the answer."""
    if reply.calls:
        return _Step(reply.calls, words=reply.content)
    if (answer := _declared_answer(reply.content)) is not None:
        return _Step(answer=answer)
    found = written_calls(reply.content, names)
    if problem := _problem(reply.content, found, names):
        return _Step(problem=_not_executed(problem, names), words=reply.content)
    # A call of something that nobody offers, with more said after it, is something that the model tells of.
    if not found or any(call.name not in names for call in found):
        return _Step(answer=reply.content)
    calls = tuple(ToolCall(f"written_{number}", one.name, _arguments(one)) for number, one in enumerate(found))
    return _Step(calls, words=without_calls(reply.content, found))


def _declared_answer(content: str) -> str | None:
    """The answer of a model that was asked for steps in JSON; None for anything else."""
    try:
        step = json.loads(_without_fence(content))
    except (ValueError, RecursionError):
        return None
    answer = step.get("answer") if isinstance(step, dict) else None
    return answer if isinstance(answer, str) else None


def _problem(content: str, found: Sequence[WrittenCall], names: Sequence[str]) -> str:
    """Why calls that a model wrote cannot be carried out; nothing is done by halves."""
    if not found:
        return "the call is not a JSON object" if react_calls(content) else ""
    if closes_with_calls(content, found):
        unreadable = (f"the call could not be read: {call.problem}" for call in found if call.problem)
        unknown = (f"there is no tool {call.name[:100]!r}" for call in found if call.name not in names)
        return next(unreadable, "") or next(unknown, "")
    is_offered = any(call.name in names for call in found)
    return "more text follows the call; to make it, write nothing after it" if is_offered else ""


def _not_executed(problem: str, names: Sequence[str]) -> str:
    """What a model is told whose call was not carried out, so that it can try again."""
    form = '{"name": "NAME", "arguments": {...}}'
    return (
        f"Nothing was executed: {problem}. To use a tool, write {form} and nothing after it. "
        f"Tools: {', '.join(names)}. To answer, write the answer without a call."
    )


def _arguments(call: WrittenCall) -> str:
    """The arguments as the model wrote them; a text is passed on as it is."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _without_fence(text: str) -> str:
    """The text without the fence that models like to put around JSON."""
    inner = text.strip()
    if inner.startswith("```") and inner.endswith("```"):
        inner = inner[3:-3].removeprefix("json")
    return inner.strip()
