"""Finds tool calls that a model wrote as text, by the marks that models put around them, never by guessing.

There are two users: the loop around a bare model carries such calls out, and the evaluator counts those that nobody
did. The text comes from a model and may be anything, so only its first part is read, and each part of that once.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

_LONGEST = 200_000
"""The maximum number of characters that are read."""
_MOST = 64
"""The maximum number of calls that are found."""
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")
_BESIDE = frozenset({"id", "type", "tool_call_id"})
_FENCE = "```"
_JSON_FENCES = frozenset(
    {"", "json", "jsonc", "json5", "tool", "tool_call", "tool_calls", "tool_code", "function_call"}
)
_SHELL_FENCES = frozenset({"", "bash", "sh", "shell", "zsh", "console", "terminal", "shell-session"})
_TAGS = ("tool_call", "function_call", "tool_calls", "function_calls")
_NAMED_TAG = re.compile(r"<function=([\w.:/-]{1,128})>")
_MISTRAL, _LLAMA = "[TOOL_CALLS]", "<|python_tag|>"
_MISTRAL_NAMED = re.compile(r"\s*([\w.:/-]{1,128})\s*\[ARGS\]")
_DEEPSEEK = re.compile(
    r"(?:<｜tool▁calls▁begin｜>\s*)?<｜tool▁call▁begin｜>\s*(?:function<｜tool▁sep｜>)?([\w.:/-]{1,128})"
)
_DEEPSEEK_MIDDLE = "<｜tool▁sep｜>"
_DEEPSEEK_END = re.compile(r"<｜tool▁call▁end｜>(?:\s*<｜tool▁calls▁end｜>)?")
_HARMONY = re.compile(
    r"(?:<\|start\|>\w{0,32})?(?:<\|channel\|>\w{1,32})?[ ]?to=(?:functions\.)?([\w:/-]{1,128})"
    r"[ ]?(?:<\|channel\|>\w{1,32})?[ ]?(?:<\|constrain\|>)?(?:json)?<\|message\|>"
)
_HARMONY_END = re.compile(r"<\|call\|>|<\|end\|>")
_ENDS = ("</s>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>")
_THOUGHT_ENDS = "</think>"
_REACT = re.compile(r"^[ \t]*Action:[ \t]*(\S[^\n]{0,200})\n[ \t]*Action Input:[ \t]*([^\n]*)", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*Observation:", re.MULTILINE)
_NAME_KEY = re.compile(r"""["']?(?:name|tool|tool_name|function|action)["']?\s*:""")
_ARGUMENTS_KEY = re.compile(r"""["']?(?:arguments|parameters|args|input|action_input)["']?\s*:""")
_LOOKED_AT = 4_000
_INVOKE = re.compile(r"""<invoke name=["']([\w.:/-]{1,128})["']\s*>""")
_FRAME_END = re.compile(r"\s*</(?:function_calls|tool_calls?)>")
_PARAMETER = re.compile(r"""\s*<parameter(?:=| name=)["']?([\w.-]{1,128})["']?\s*>""")
_KEY_AND_VALUE = re.compile(r"\s*<arg_key>\s*([\w.-]{1,128})\s*</arg_key>\s*<arg_value>")
_VALUE_ENDS = {_PARAMETER: "</parameter>", _KEY_AND_VALUE: "</arg_value>"}
_PLAIN_NAME = re.compile(r"([\w.:/-]{1,128})\s*(?=<arg_key>|$)")
_DECODER = json.JSONDecoder()


class CallForm(StrEnum):
    """The notation of a call. In XML every value is a text, whatever type its tool asks for."""

    FENCE = "fenced_json"
    BARE = "bare_json"
    TAG = "tool_call_tag"
    FUNCTION_TAG = "function_tag"
    MISTRAL = "mistral_token"
    LLAMA = "llama_token"
    DEEPSEEK = "deepseek_token"
    HARMONY = "harmony"
    PYTHON = "python"
    XML = "xml"


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call in a text, from `start` to `end`; `problem` says why it cannot be parsed.

    `arguments` is what the model wrote: an object, or a text that need not be JSON.
    """

    start: int
    end: int
    name: str = ""
    arguments: Any = None
    problem: str = ""
    form: CallForm = CallForm.BARE


def written_calls(text: str, offered: Iterable[str] = ()) -> tuple[WrittenCall, ...]:
    """The calls in a text in order, including those that cannot be parsed.

    Between marks of a model's own (tags, special tokens) everything is a call. In a code fence, or as the whole text, a
    call is an object with a name and arguments and no other keys; for a tool that is `offered`, arguments may be
    missing.
    """
    spoken = text[:_LONGEST]
    start = spoken.rfind(_THOUGHT_ENDS)
    offset = 0 if start < 0 else start + len(_THOUGHT_ENDS)
    known = frozenset(offered)
    found = sorted(_marked_calls(spoken, offset), key=lambda call: call.start)
    if not found:
        found = [*_fenced_calls(spoken, offset, known)] or [*_whole_text_calls(spoken, offset, known)]
    return tuple(found[:_MOST])


def closes_with_calls(text: str, calls: Iterable[WrittenCall]) -> bool:
    """Whether nothing follows the last call: a caller waits, whereas an explanation of a call continues."""
    last = max((call.end for call in calls), default=0)
    rest = text[last:_LONGEST]
    for end in _ENDS:
        rest = rest.replace(end, "")
    return not rest.strip()


def without_calls(text: str, calls: Iterable[WrittenCall]) -> str:
    """The text without its calls."""
    position, parts = 0, []
    for call in sorted(calls, key=lambda one: one.start):
        parts.append(text[position : call.start])
        position = max(position, call.end)
    parts.append(text[position:])
    return "".join(parts).strip()


def react_calls(text: str) -> int:
    """How many calls have the form `Action: ... Action Input: ...`.

    With an observation they are only being recounted.
    """
    spoken = text[:_LONGEST]
    if "Action:" not in spoken or _OBSERVATION.search(spoken):
        return 0
    return sum(1 for _ in _REACT.finditer(spoken))


def command_lines(text: str, programs: Iterable[str]) -> int:
    """How many lines of shell in code fences, or as the whole text, begin with one of the programs."""
    spoken, known = text[:_LONGEST].strip(), frozenset(programs)
    blocks = [body for language, _, _, body in _fences(spoken, 0) if language in _SHELL_FENCES]
    if _FENCE not in spoken and "\n" not in spoken:
        blocks.append(spoken)
    lines = (line.strip().removeprefix("$").split(maxsplit=1) for block in blocks for line in block.splitlines())
    return sum(1 for words in lines if len(words) == 2 and words[0] in known)


def _marked_calls(text: str, offset: int) -> Iterator[WrittenCall]:
    """Calls between marks that only models write."""
    covered = offset
    for tag in _TAGS:
        for start, body, end in _parts_between(text, offset, f"<{tag}>", f"</{tag}>"):
            covered = max(covered, end)
            inner = text[body:end].removesuffix(f"</{tag}>")
            # Around calls in XML, the tag is only a wrapper.
            if _INVOKE.search(inner) is None:
                yield from _tagged_calls(start, end, inner, CallForm.TAG)
            else:
                yield from _invocations(text, body, end)
    # A call by name often stands inside a tag, where it has already been read.
    for found in islice(_NAMED_TAG.finditer(text, covered), _MOST):
        close = text.find("</function>", found.end())
        end = len(text) if close < 0 else close + len("</function>")
        yield _named_call(found.start(), end, found[1], text[found.end() : end].removesuffix("</function>"))
        if close < 0:
            break
    yield from _invocations(text, covered, len(text))
    for start, body, end in _parts_between(text, offset, _MISTRAL, _MISTRAL):
        named = _MISTRAL_NAMED.match(text, body, end)
        if named is not None:
            yield _named_call(start, end, named[1], text[named.end() : end], CallForm.MISTRAL)
        else:
            yield from _tagged_calls(start, end, text[body:end], CallForm.MISTRAL)
    for start, body, end in _parts_between(text, offset, _LLAMA, _LLAMA):
        yield from _tagged_calls(start, end, text[body:end], CallForm.LLAMA)
    yield from _calls_by_name(text, offset, _DEEPSEEK, _DEEPSEEK_END, CallForm.DEEPSEEK)
    yield from _calls_by_name(text, offset, _HARMONY, _HARMONY_END, CallForm.HARMONY)


def _calls_by_name(
    text: str, offset: int, opening: re.Pattern[str], closing: re.Pattern[str], form: CallForm
) -> Iterator[WrittenCall]:
    """Calls whose opening mark names the tool."""
    for found in islice(opening.finditer(text, offset), _MOST):
        close = closing.search(text, found.end())
        body = text[found.end() : close.start() if close else len(text)]
        body = _without_fence(body.strip().removeprefix(_DEEPSEEK_MIDDLE).strip())
        yield _named_call(found.start(), close.end() if close else len(text), found[1], body, form)
        if close is None:
            break


def _invocations(text: str, offset: int, limit: int) -> Iterator[WrittenCall]:
    """Calls by `<invoke name="...">`, with or without a wrapper."""
    position = offset
    for _ in range(_MOST):
        found = _INVOKE.search(text, position, limit)
        if found is None:
            return
        close = text.find("</invoke>", found.end(), limit)
        end = limit if close < 0 else close + len("</invoke>")
        body = text[found.end() : limit if close < 0 else close]
        # The end of a wrapper belongs to the call before it and is not text.
        rest = _FRAME_END.match(text, end)
        if close < 0:
            yield WrittenCall(found.start(), end, found[1], problem="it has no end", form=CallForm.XML)
        else:
            yield _xml_call(found.start(), rest.end() if rest else end, found[1], body, _PARAMETER)
        position = end


def _xml_call(start: int, end: int, name: str, body: str, opening: re.Pattern[str]) -> WrittenCall:
    """A call whose arguments are elements, with nothing but white space between them."""
    arguments: dict[str, str] = {}
    position, ending = 0, _VALUE_ENDS[opening]
    while (found := opening.match(body, position)) is not None and len(arguments) < _MOST:
        close = body.find(ending, found.end())
        if close < 0 or found[1] in arguments:
            break
        arguments[found[1]] = body[found.end() : close].strip("\n")
        position = close + len(ending)
    if body[position:].strip():
        return WrittenCall(start, end, name, problem="its arguments are not one element each", form=CallForm.XML)
    return WrittenCall(start, end, name, arguments, form=CallForm.XML)


def _parts_between(text: str, offset: int, opening: str, closing: str) -> Iterator[tuple[int, int, int]]:
    """The positions at which parts open, their content begins and they end; the last part may be unclosed."""
    position = offset
    for _ in range(_MOST):
        start = text.find(opening, position)
        if start < 0:
            return
        body = start + len(opening)
        close = text.find(closing, body)
        end = len(text) if close < 0 else close + (0 if closing == opening else len(closing))
        yield start, body, end
        position = end


def _tagged_calls(start: int, end: int, body: str, form: CallForm) -> Iterator[WrittenCall]:
    """The calls in a part that cannot be anything else."""
    for ending in _ENDS:
        body = body.replace(ending, "")
    content = body.strip().strip(";").strip()
    content = _without_fence(content)
    if (named := _NAMED_TAG.match(content)) is not None:
        yield _named_call(start, end, named[1], content[named.end() :].removesuffix("</function>"))
        return
    if (plain := _PLAIN_NAME.match(content)) is not None:
        yield _xml_call(start, end, plain[1], content[plain.end() :], _KEY_AND_VALUE)
        return
    values = _values(content)
    calls = [_read(value) for value in values or ()]
    if not calls or None in calls:
        yield WrittenCall(start, end, problem="it is not a JSON object with a name and arguments", form=form)
        return
    yield from (WrittenCall(start, end, *call, form=form) for call in calls if call is not None)


def _named_call(start: int, end: int, name: str, body: str, form: CallForm = CallForm.FUNCTION_TAG) -> WrittenCall:
    """A call whose name stands in its mark."""
    for ending in _ENDS:
        body = body.replace(ending, "")
    if _PARAMETER.match(body):
        return _xml_call(start, end, name, body, _PARAMETER)
    values = _values(body.strip()) if body.strip() else [{}]
    if values is None or len(values) != 1 or not isinstance(values[0], Mapping):
        return WrittenCall(start, end, name, problem="its arguments are not one JSON object", form=form)
    return WrittenCall(start, end, name, values[0], form=form)


def _fenced_calls(text: str, offset: int, offered: frozenset[str]) -> Iterator[WrittenCall]:
    for language, start, end, body in _fences(text, offset):
        if language in _JSON_FENCES:
            yield from _plain_calls(start, end, body, offered, CallForm.FENCE)


def _whole_text_calls(text: str, offset: int, offered: frozenset[str]) -> Iterator[WrittenCall]:
    if _FENCE not in text:
        content = text[offset:]
        start = offset + len(content) - len(content.lstrip())
        yield from _plain_calls(start, offset + len(content.rstrip()), content, offered, CallForm.BARE)


def _plain_calls(start: int, end: int, body: str, offered: frozenset[str], form: CallForm) -> Iterator[WrittenCall]:
    """The calls in data that might be something else."""
    content = body.strip()
    if calls_in_python := _python_calls(content, offered):
        yield from (WrittenCall(start, end, *call, form=CallForm.PYTHON) for call in calls_in_python)
        return
    if content[:1] not in {"{", "["}:
        return
    values = _values(content)
    if values is None:
        if _resembles_call(content):
            yield WrittenCall(start, end, problem="it is not valid JSON", form=form)
        return
    calls = [_read(value, offered) for value in values]
    if calls and None not in calls:
        yield from (WrittenCall(start, end, *call, form=form) for call in calls if call is not None)


def _python_calls(content: str, offered: frozenset[str]) -> list[tuple[str, dict[str, Any]]]:
    """Calls of offered tools in Python's notation, with plain values by name: one, or a list; else none."""
    if len(content) > _LOOKED_AT or not any(name in content for name in offered):
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    try:
        parsed = ast.parse(content, mode="eval").body
        for one in parsed.elts if isinstance(parsed, ast.List) else [parsed]:
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Name) or one.func.id not in offered:
                return []
            if one.args:
                return []
            found.append((one.func.id, {str(each.arg): ast.literal_eval(each.value) for each in one.keywords}))
        json.dumps(found)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return []
    return found


def _resembles_call(content: str) -> bool:
    """Whether broken data was meant to be a call: it has a key for a name and one for arguments."""
    head = content[:_LOOKED_AT]
    return _NAME_KEY.search(head) is not None and _ARGUMENTS_KEY.search(head) is not None


def _fences(text: str, offset: int) -> Iterator[tuple[str, int, int, str]]:
    """The fenced blocks: language, start and end, and content."""
    position = offset
    for _ in range(_MOST):
        start = text.find(_FENCE, position)
        if start < 0:
            return
        line = text.find("\n", start)
        close = text.find(_FENCE, start + len(_FENCE))
        if 0 <= close < line or line < 0:
            # All on one line; without an end it is not a block.
            if close < 0:
                return
            language, body, end = "", text[start + len(_FENCE) : close], close + len(_FENCE)
            language = next((one for one in _JSON_FENCES if one and body.startswith(f"{one} ")), "")
            body = body.removeprefix(language)
        else:
            language = text[start + len(_FENCE) : line].strip().lower()
            end = len(text) if close < 0 else close + len(_FENCE)
            body = text[line + 1 : close if close >= 0 else len(text)]
        yield language, start, end, body
        position = end


def _without_fence(content: str) -> str:
    """The content of a part that is one fence, else the part as it is."""
    blocks = list(_fences(content, 0))
    return blocks[0][3].strip() if len(blocks) == 1 and blocks[0][1:3] == (0, len(content)) else content


def _values(content: str) -> list[Any] | None:
    """The JSON values that follow one another in a text, with lists expanded; None if there is anything else."""
    values: list[Any] = []
    position = 0
    while position < len(content):
        if content[position] in " \t\r\n;,":
            position += 1
            continue
        try:
            value, position = _DECODER.raw_decode(content, position)
        except (ValueError, RecursionError):
            return None
        values += value if isinstance(value, list) else [value]
        if len(values) > _MOST:
            return None
    return values


def _read(value: Any, offered: frozenset[str] | None = None) -> tuple[str, Any] | None:
    """Name and arguments of an object that has exactly the keys of a call; `offered` is None between marks."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return _read(inner, offered) if value.keys() - {"function"} <= _BESIDE else None
    names, arguments = ([key for key in keys if key in value] for keys in (_NAMES, _ARGUMENTS))
    if len(names) != 1 or len(arguments) > 1 or value.keys() - {*names, *arguments} - _BESIDE:
        return None
    name = value[names[0]]
    if not isinstance(name, str) or not name:
        return None
    if not arguments:
        return (name, {}) if offered is None or name in offered else None
    given = value[arguments[0]]
    return name, {} if given is None else given
