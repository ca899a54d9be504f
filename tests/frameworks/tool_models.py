"""Endpoints of models that call kubectl once and then answer, by OpenAI's and by Anthropic's protocol."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from agent_requests import http_server

SAID = "I looked at the pods."
ARGUMENTS = {"arguments": "get pods"}
JSON = {"Content-Type": "application/json"}


@contextmanager
def tool_model(
    name: str = "kubectl", arguments: Mapping[str, Any] | None = None, then: str = ""
) -> Iterator[SimpleNamespace]:
    """A server for both protocols; `asked` has what it was asked, in order.

    By OpenAI's protocol another tool can be called instead, and one `then` that takes the answer.
    """
    asked: list[dict[str, Any]] = []

    def answer(
        _method: str, path: str, _headers: Mapping[str, str], content: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        body = json.loads(content or b"{}")
        asked.append({"path": path, **body})
        if "/messages" in path:
            return _anthropic(body)
        return _openai(body, (name, ARGUMENTS if arguments is None else arguments), then)

    with http_server(answer) as server:
        yield SimpleNamespace(url=server.url, asked=asked)


def _openai(
    body: Mapping[str, Any], first: tuple[str, Mapping[str, Any]], then: str
) -> tuple[int, bytes, dict[str, str]]:
    """A call after what a person said, words after what a tool returned."""
    is_first = body["messages"][-1]["role"] != "tool"
    name, arguments = first if is_first else (then, {"answer": SAID})
    call = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    told = {"content": None, "tool_calls": [call]} if name else {"content": SAID}
    choice = {
        "index": 0,
        "message": {"role": "assistant", **told},
        "finish_reason": "tool_calls" if name else "stop",
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    document = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [choice],
        "usage": usage,
    }
    return 200, json.dumps(document).encode(), JSON


def _anthropic(body: Mapping[str, Any]) -> tuple[int, bytes, dict[str, str]]:
    """The same as a stream of events, if one is asked for; a question without the tool is answered at once."""
    content = body["messages"][-1]["content"] if body.get("messages") else ""
    tools = [one["name"] for one in body.get("tools", ()) if "kubectl" in one["name"]]
    is_first = bool(tools) and not (
        isinstance(content, list) and any(one.get("type") == "tool_result" for one in content)
    )
    block = (
        {"type": "tool_use", "id": "toolu_1", "name": tools[0], "input": {}}
        if is_first
        else {"type": "text", "text": ""}
    )
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps(ARGUMENTS)}
        if is_first
        else {"type": "text_delta", "text": SAID}
    )
    reason, usage = "tool_use" if is_first else "end_turn", {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    if not body.get("stream"):
        whole = {**block, "input": ARGUMENTS} if is_first else {**block, "text": SAID}
        document = {**message, "content": [whole], "stop_reason": reason, "stop_sequence": None}
        return 200, json.dumps(document).encode(), JSON
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    stream = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    return 200, stream.encode(), {"Content-Type": "text/event-stream"}
