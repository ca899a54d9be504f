"""A bare model as an agent: it receives the operator's request and calls tools until it has an answer.

If the endpoint supports tools, the model calls them natively; otherwise each step of the model is JSON that is either a
call or the answer, by a schema. The first request decides which form is used from then on.

A fault of the model itself ends a turn, not the run: a reply that was cut off or withheld, a conversation that no
longer fits, a request that the endpoint cannot process. The answer says which (`ended`), and in such a turn the agent
counts as not heard out (SI-12). A fault that only the operator of the endpoint can fix is a fault of the agent.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sirocco.agents.contract import document_of, identity_of
from sirocco.agents.model_conversation import Conversation
from sirocco.agents.model_steps import Step, step_of
from sirocco.errors import AgentFault, AgentFaultKind, ModelFault
from sirocco.models.chat import ChatModel, Finish, Message, Reply, ToolCall, Usage
from sirocco.oasis.agent import AgentAction, AgentDescription, AgentRequest, AgentResponse, TurnEnd
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.tools import Tool, Toolbox, Tools

MAX_STEPS = 40
"""The maximum number of replies; a model that still calls tools after that is stopped, and its answer says so."""
MAX_REPETITIONS = 10
"""How often in a row a model may make the same call and get the same result."""
_SHOWN_RESULT = 60_000
"""How many characters of a tool's result a model is shown; most models read no more at a time."""
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 501})
"""Statuses with which endpoints refuse what they do not support."""
_OF_THE_MODEL = frozenset({200, 400, 413, 422, 500})
"""Statuses with which an endpoint that has answered before rejects this one conversation."""
_MISTAKES = 3
"""How often a model may write something that is not a step before its turn is ended."""
_RESERVE = 1024
"""The tokens that are reserved for the reply if no limit is set."""
_DENSITY = 3.0
"""Characters per token, until the endpoint's own counts are known."""
_STEP_IN_JSON = (
    'Reply with one JSON object and nothing else. To use a tool: {"tool": "NAME", "arguments": {...}}. '
    'To answer the operator: {"answer": "..."}.'
)
_SHRINK = 0.7
_SHORTENINGS = 6

Serves = Callable[[str, Collection[str]], bool]
"""Whether a tool belongs to one of the interfaces that a scenario gives its agent."""


class _Form(StrEnum):
    """The form in which an endpoint is asked for a model's steps."""

    NATIVE = "native"
    SCHEMA = "schema"
    TEXT = "text"


class ModelAgent:
    """`model:PROVIDER:NAME`."""

    needs_calls = True
    """It can reach its environment only by calls, so a model that makes none never did any work."""

    def __init__(
        self,
        provider: str,
        model: ChatModel,
        toolbox: Toolbox,
        role: str,
        serves: Serves,
        *,
        context: int = 0,
        calls: str = "",
        steps: int = 0,
    ) -> None:
        self._provider = provider
        self._model = model
        self._toolbox = toolbox
        self._serves = serves
        self._context = context
        self._asked_of_loop = {"context": context, "calls": calls, "steps": steps}
        self.steps = steps or MAX_STEPS
        self._density = _DENSITY
        self._learned_room: int | None = None
        self._has_replied = False
        self.constant = _constant_instructions(role)
        """The instructions that are the same in every turn."""
        self._forms: tuple[_Form, ...] = (_Form(calls),) if calls else tuple(_Form)
        """The forms of calls that the endpoint has not refused, best first."""

    @property
    def isolation(self) -> str:
        """`network`: the model is behind the network, and reaches nothing but the tools."""
        return "network"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of requests to the model, except those left to the endpoint."""
        return self._model.parameters.document() | {key: value for key, value in self._asked_of_loop.items() if value}

    async def describe(self) -> AgentDescription:
        """The model's name, with digests of the parameters and of the constant instructions."""
        identity = identity_of(
            self._model.name, "model", f"a bare model of {self._provider} in a loop with tools",
            declared_model=self._model.name, declared_provider=self._provider,
            system_prompt_hash=_digest(self.constant), config_hash=_digest(canonical_json(self.parameters)),
        )  # fmt: skip
        return AgentDescription(identity=identity)

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Let the model work on one turn."""
        try:
            async with self._toolbox(request.environment) as tools:
                return await _Turn(self, request, tools, self._offered(tools, request)).work()
        except ModelFault as fault:
            kind = AgentFaultKind.REFUSED if fault.status else AgentFaultKind.UNREACHABLE
            raise AgentFault(fault.where, fault.problem, fault.remedy, kind) from fault

    def _offered(self, tools: Tools, request: AgentRequest) -> tuple[Tool, ...]:
        """The tools of the scenario's interfaces; all tools if it names none."""
        if not request.tools:
            return tuple(tools.offered)
        given = (tool for tool in tools.offered if self._serves(tool.name, request.tools))
        # Those that every scenario offers come first, so that endpoints can reuse their cached prefix.
        return tuple(sorted(given, key=lambda tool: not self._serves(tool.name, ())))

    async def next_reply(self, conversation: Conversation, tools: Sequence[Tool]) -> Reply:
        """The model's reply; a conversation too long for the model is shortened, and the limit found is remembered."""
        tools_size = len(_written_tools(tools))
        for _ in range(_SHORTENINGS):
            room = self._room(tools_size)
            if room is not None:
                conversation.shorten(room)
            before = conversation.size
            try:
                reply = await self._reply(conversation.messages, tools)
            except ModelFault as fault:
                if not fault.is_overflow:
                    raise
                self._learned_room = int(before * _SHRINK)
                conversation.shorten(self._learned_room)
                if conversation.size == before:
                    raise
                continue
            if reply.usage.input:
                self._density = min(max((before + tools_size) / reply.usage.input, 1.0), 6.0)
            return reply
        raise ModelFault(
            self._model.name, "the context window is full", "use a model with a longer context", is_overflow=True
        )

    def _room(self, tools_size: int) -> int | None:
        """How many characters a conversation may have; None while that is unknown."""
        known = [] if self._learned_room is None else [self._learned_room]
        if self._context:
            reserve = min(self._model.parameters.max_tokens or _RESERVE, self._context // 4)
            known.append(int((self._context - reserve) * self._density) - tools_size)
        return min(known, default=None)

    async def _reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """The model's reply in the first form that the endpoint accepts; later requests use that form only."""
        refusals: list[ModelFault] = []
        for form in self._forms:
            try:
                reply = await self._reply_in(form, messages, tools)
            except ModelFault as fault:
                if fault.is_overflow or fault.status not in _NOT_UNDERSTOOD:
                    raise
                refusals.append(fault)
            else:
                self._forms = (form,)
                self._has_replied = True
                return reply
        raise refusals[0]

    async def _reply_in(self, form: _Form, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        if form is _Form.NATIVE:
            return await self._model.reply(messages, tools=tools)
        taught = [_with_tools_in_words(messages[0], tools), *(_written_message(message) for message in messages[1:])]
        return await self._model.reply(taught, schema=_schema(tools) if form is _Form.SCHEMA else None)

    def how_to_go_on(self, tools: Sequence[Tool]) -> str:
        """The instruction for a model that wrote something that is not a step, in the form that it was taught."""
        names = f"Tools: {', '.join(tool.name for tool in tools)}."
        if self._forms[0] is _Form.NATIVE:
            form = '{"name": "NAME", "arguments": {...}}'
            return f"To use a tool, write {form} and nothing after it. {names} To answer, write it without a call."
        return f"{_STEP_IN_JSON} {names}"

    def end_of(self, fault: ModelFault) -> TurnEnd | None:
        """How a fault of the model itself ends a turn; None if the run cannot continue."""
        if fault.is_overflow:
            return TurnEnd.OVERFLOW
        return TurnEnd.FAULT if self._has_replied and fault.status in _OF_THE_MODEL else None


@dataclass(slots=True)
class _Turn:
    """One turn in progress."""

    agent: ModelAgent
    request: AgentRequest
    tools: Tools
    offered: Sequence[Tool]
    actions: list[AgentAction] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    finishes: Counter[str] = field(default_factory=Counter)
    model: str = ""
    last_call: tuple[str, str, str] = ("", "", "")
    repetitions: int = 0

    async def work(self) -> AgentResponse:
        conversation = Conversation(_opening_messages(self.request, self.agent.constant))
        try:
            answer, ended = await self._converse(conversation)
        except ModelFault as fault:
            ended = self.agent.end_of(fault)
            if ended is None:
                raise
            answer = ""
            self.thoughts.append(f"[{fault.problem}]")
        return self._response(answer, ended, conversation)

    async def _converse(self, conversation: Conversation) -> tuple[str, TurnEnd | None]:
        """The model's answer, or the reason why the turn ended without one."""
        mistakes, steps, unheard, ended = 0, 0, "", TurnEnd.STEPS
        while steps < self.agent.steps and mistakes < _MISTAKES and self.repetitions < MAX_REPETITIONS:
            reply = await self._next_reply(conversation)
            steps += 1
            if reply.finish is Finish.CONTENT_FILTER:
                return "", TurnEnd.CONTENT_FILTER
            step = step_of(reply, self.offered)
            if step.answer is not None:
                return step.answer, None
            if step.words:
                self.thoughts.append(step.words)
            unheard, ended = (reply.content, step.ends) if step.problem else ("", TurnEnd.STEPS)
            if step.problem:
                mistakes += 1
                # Many templates accept neither two consecutive messages of one side nor an empty one.
                again = f"{step.problem} {self.agent.how_to_go_on(self.offered)}"
                conversation.add(Message("assistant", step.words or "..."), Message("user", again))
                continue
            wrong = await self._carry_out(step, conversation)
            mistakes = mistakes + wrong if wrong == len(step.calls) else 0
            ended = TurnEnd.MISTAKES if mistakes else TurnEnd.STEPS
        if self.repetitions >= MAX_REPETITIONS:
            ended = TurnEnd.REPETITION
        return unheard or f"I stopped after {steps} steps without an answer.", ended

    async def _next_reply(self, conversation: Conversation) -> Reply:
        reply = await self.agent.next_reply(conversation, self.offered)
        self.model = reply.model or self.model
        self.usage += reply.usage
        self.finishes[reply.finish] += 1
        return reply

    async def _carry_out(self, step: Step, conversation: Conversation) -> int:
        """Make the calls of a step in order; return how many of them were invalid."""
        calls = conversation.named_apart(step.calls)
        conversation.add(Message("assistant", step.words, calls))
        wrong = 0
        for call, form in zip(calls, step.forms, strict=True):
            if self.repetitions >= MAX_REPETITIONS:
                break
            result, is_mistake = await self._call_tool(call, form)
            wrong += is_mistake
            self._note_repetition(call, result)
            conversation.add(Message("tool", result, answers=call.id))
        return wrong

    def _note_repetition(self, call: ToolCall, result: str) -> None:
        made = (call.name, call.arguments, result)
        self.repetitions = self.repetitions + 1 if made == self.last_call else 1
        self.last_call = made

    async def _call_tool(self, call: ToolCall, form: str) -> tuple[str, bool]:
        """The tool's answer to a call, and whether the call was invalid."""
        try:
            arguments = document_of((call.arguments or "{}").encode(errors="replace"), call.name)
            # Some servers encode the model's JSON as JSON a second time.
            if isinstance(arguments, str):
                arguments = document_of(arguments.encode(errors="replace"), call.name)
        except AgentFault:
            arguments = None
        if not isinstance(arguments, dict):
            return f"the arguments are not a JSON object: {call.arguments[:200]}", True
        if any(tool.name == call.name for tool in self.offered):
            result = await self.tools.call(call.name, arguments)
            text, error = result.text, result.text if result.failed else None
        else:
            text = error = f"unknown tool: {call.name[:100]}"
        self.actions.append(AgentAction(tool=call.name, arguments=arguments, result=text, error=error, form=form))
        if len(text) > _SHOWN_RESULT:
            text = f"{text[:_SHOWN_RESULT]}\n[{len(text) - _SHOWN_RESULT} more characters]"
        return text, False

    def _response(self, answer: str, ended: TurnEnd | None, conversation: Conversation) -> AgentResponse:
        """The answer and its circumstances: parameters, tokens, forms of calls, digests of prompt and tools."""
        loop = {
            "parameters": self.agent.parameters,
            "prompt_digest": _digest(self.agent.constant),
            "tools_digest": _digest(_written_tools(self.offered)),
            "replies": dict(sorted(self.finishes.items())),
            "shortened_characters": conversation.dropped,
        }
        return AgentResponse(
            actions=tuple(self.actions),
            reasoning="\n".join(self.thoughts),
            final_answer=answer,
            model=self.model or None,
            usage=self.usage.document(),
            loop=loop,
            **({} if ended is None else {"ended": str(ended)}),
        )


def _constant_instructions(role: str) -> str:
    """The instructions that are the same in every turn: the model's role, and how to finish."""
    how = "When you are done, answer the operator: what you found, what you did, and what you did not do and why."
    return f"{role}\nUse the tools to look and to act.\n{how}"


def _opening_messages(request: AgentRequest, constant: str) -> list[Message]:
    """The beginning of a turn: the constant instructions, then where the agent is, then what was said so far.

    Many endpoints put the tools after the system message, so that must not vary: otherwise they could not cache the
    tools, which are most of the input.
    """
    said = [*(Message(turn.role, turn.content) for turn in request.conversation), Message("user", request.prompt)]
    whereabouts = _whereabouts(request)
    if said[0].role == "user":
        said[0] = Message("user", f"{whereabouts}\n\n{said[0].content}")
    else:
        said.insert(0, Message("user", whereabouts))
    return [Message("system", constant), *said]


def _whereabouts(request: AgentRequest) -> str:
    """The mode, scope and default namespace of this scenario."""
    scope = json.dumps(dict(request.scope), ensure_ascii=False, sort_keys=True)
    namespace = request.environment.namespace
    return f"Mode of operation: {request.mode}.\nYour scope: {scope}\nDefault namespace: {namespace}."


def _with_tools_in_words(system: Message, tools: Sequence[Tool]) -> Message:
    """The instructions with the tools described in words, for a model that is not told of them otherwise."""
    return Message("system", f"{_tools_in_words(tools)}\n\n{_STEP_IN_JSON}\n\n{system.content}")


def _tools_in_words(tools: Sequence[Tool]) -> str:
    """One line for each tool; an argument with the same meaning in all tools is described once, to save tokens."""
    told: dict[tuple[str, str], list[str]] = {}
    for tool in tools:
        for name, schema in tool.parameters.get("properties", {}).items():
            told.setdefault((name, _argument_in_words(schema)), []).append(tool.name)
    names = Counter(name for name, _ in told)
    listed = (f"- {tool.name}({', '.join(_argument_names(tool))}): {tool.description}" for tool in tools)
    arguments = (
        f"- {name} of {', '.join(users)}: {words}" if names[name] > 1 else f"- {name}: {words}"
        for (name, words), users in told.items()
    )
    return "\n".join(["Tools:", *listed, "Arguments; those with a question mark can be left out:", *arguments])


def _argument_names(tool: Tool) -> list[str]:
    required = tool.parameters.get("required", ())
    return [name if name in required else f"{name}?" for name in tool.parameters.get("properties", {})]


def _argument_in_words(schema: Mapping[str, Any]) -> str:
    """An argument's purpose and type; only what a word or two cannot express is written as a schema."""
    rest = {key: value for key, value in schema.items() if key not in {"description", "default", "minLength"}}
    kind = f"{rest['type']}. " if rest.keys() == {"type"} and isinstance(rest["type"], str) else f"{json.dumps(rest)}. "
    return f"{kind if rest else ''}{schema.get('description', '')}".strip()


def _written_message(message: Message) -> Message:
    """A message for such a model: its calls are text that it wrote, and results come from the user."""
    if message.calls:
        calls = (f'{{"tool": {json.dumps(call.name)}, "arguments": {call.arguments}}}' for call in message.calls)
        return Message("assistant", "\n".join(calls))
    if message.answers:
        return Message("user", f"Result:\n{message.content}")
    return message


def _written_tools(tools: Sequence[Tool]) -> str:
    """The description of the tools for a model, as one text."""
    return canonical_json([[tool.name, tool.description, tool.parameters] for tool in tools])


def _schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The schema of one step: a call of one of the tools, or the answer."""
    calls = [_object(tool={"const": tool.name}, arguments=dict(tool.parameters)) for tool in tools]
    return {"anyOf": [_object(answer={"type": "string"}), *calls]}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
