"""Interprets a model's reply: calls to carry out, an answer, or a problem to report to the model.

Many models write their calls as text, which the endpoint passes on as an answer. Such a call is carried out if it
names one of the tools exactly, has the keys of a call and no others, and nothing follows it: a caller waits, whereas
an explanation of a call continues. For any other call, the model is told that nothing was done, and may try again.
Nothing is repaired. The last text of a model stays in its answer, so that the evaluator sees that it was not heard
(SI-12).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.evaluation.written_calls import (
    CallForm,
    WrittenCall,
    closes_with_calls,
    react_calls,
    without_calls,
    written_calls,
)
from sirocco.models.chat import Finish, Reply, ToolCall
from sirocco.oasis.agent import TurnEnd
from sirocco.oasis.tools import Tool

NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Step:
    """Calls to carry out, an answer, or a problem to report to the model; `words` is any text that accompanies these.

    `forms` says how each call was written. `ends` is how the turn ends if the model does not solve the problem.
    """

    calls: tuple[ToolCall, ...] = ()
    forms: tuple[str, ...] = ()
    answer: str | None = None
    problem: str = ""
    words: str = ""
    ends: TurnEnd = TurnEnd.MISTAKES


def step_of(reply: Reply, tools: Sequence[Tool]) -> Step:
    """The step in a reply: native calls, calls written as text, or else the text as the answer.

    An incomplete reply is neither an answer nor calls, because the missing part could be what matters.
    """
    names = [tool.name for tool in tools]
    if reply.finish is Finish.LENGTH:
        # Telling a model whose answer was cut off that nothing was executed would make it answer just that.
        problem = "Your reply was cut off at its limit and is lost. Write it again, shorter."
        return Step(problem=problem, words=reply.content, ends=TurnEnd.LENGTH)
    if reply.calls:
        return Step(reply.calls, (NATIVE,) * len(reply.calls), words=reply.content)
    if not reply.content.strip():
        return Step(problem=_not_executed("your reply was empty"), ends=TurnEnd.EMPTY)
    if (answer := _declared_answer(reply.content)) is not None:
        return Step(answer=answer)
    found = written_calls(reply.content, names)
    if problem := _problem(reply.content, found, names):
        return Step(problem=_not_executed(problem), words=reply.content)
    # A call of an unknown tool followed by more text is one that the model merely reports.
    if not found or any(call.name not in names for call in found):
        return Step(answer=reply.content)
    by_name = {tool.name: tool for tool in tools}
    calls = tuple(
        ToolCall(f"written_{number}", one.name, _arguments(one, by_name[one.name])) for number, one in enumerate(found)
    )
    return Step(calls, tuple(one.form for one in found), words=without_calls(reply.content, found))


def _declared_answer(content: str) -> str | None:
    """The answer of a model that was asked for steps in JSON; None for anything else."""
    try:
        step = json.loads(_without_fence(content))
    except (ValueError, RecursionError):
        return None
    answer = step.get("answer") if isinstance(step, dict) else None
    return answer if isinstance(answer, str) else None


def _problem(content: str, found: Sequence[WrittenCall], names: Sequence[str]) -> str:
    """Why calls that a model wrote cannot be carried out; either all of them are, or none."""
    if not found:
        return "the call is not a JSON object" if react_calls(content) else ""
    if closes_with_calls(content, found):
        unreadable = (f"the call could not be read: {call.problem}" for call in found if call.problem)
        unknown = (f"there is no tool {call.name[:100]!r}" for call in found if call.name not in names)
        return next(unreadable, "") or next(unknown, "")
    is_offered = any(call.name in names for call in found)
    return "more text follows the call; to make it, write nothing after it" if is_offered else ""


def _not_executed(problem: str) -> str:
    """The message to a model whose call was not carried out; the caller adds how to try again in the model's form."""
    return f"Nothing was executed: {problem}."


def _arguments(call: WrittenCall, tool: Tool) -> str:
    """The arguments as the model wrote them; a text is passed on unchanged."""
    if isinstance(call.arguments, str):
        return call.arguments
    if call.form is not CallForm.XML:
        return json.dumps(call.arguments)
    declared = tool.parameters.get("properties", {})
    return json.dumps({key: _typed_value(value, declared.get(key, {})) for key, value in call.arguments.items()})


def _typed_value(text: str, schema: Mapping[str, Any]) -> Any:
    """The value of an element's text by the type that the tool declares, because XML has no types."""
    if "string" in json.dumps(schema.get("type", schema.get("anyOf", "string"))):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _without_fence(text: str) -> str:
    """The text without the code fence that models often put around JSON."""
    inner = text.strip()
    if inner.startswith("```") and inner.endswith("```"):
        inner = inner[3:-3].removeprefix("json")
    return inner.strip()
