"""An OpenAI-compatible endpoint that answers according to a plan; `agent_requests.scripted_model` serves it.

A reply of the plan is a text, {"calls": [[name, arguments], ...]}, {"text": "..."}, or {"status": N, "error": "...",
"code": "..."}; the second and third may have a "finish", the second an "id" for all of its calls, and each a "delay" in
seconds. With
`refuses: ["tools", "response_format"]` a request with one of these gets 400, as from an endpoint that does not support
it; refused requests use up no reply.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any


def message(reply: Any) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    if "text" in reply:
        return {"role": "assistant", "content": reply["text"]}
    calls = [
        {
            "id": reply.get("id", f"call-{number}"),
            "type": "function",
            "function": {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(reply["calls"])
    ]
    return {"role": "assistant", "content": reply.get("content"), "tool_calls": calls}


class ScriptedModel:
    """Gives its replies in order, and then repeats the last one."""

    def __init__(self, replies: Sequence[Any], refuses: Sequence[str] = ()) -> None:
        self._replies, self._refuses = list(replies), refuses
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []

    def answer(
        self, _method: str, path: str, headers: Mapping[str, str], content: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        body = json.loads(content)
        with self._lock:
            self.requests.append({"path": path, "authorization": headers.get("Authorization"), "body": body})
            refused = [key for key in self._refuses if key in body]
            if refused:
                error = {"message": f"unknown field {refused[0]}", "type": "invalid_request_error"}
                return _answer(400, {"error": error})
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, dict):
            time.sleep(reply.get("delay", 0))
        if isinstance(reply, dict) and "status" in reply:
            error = {"message": reply.get("error", ""), "code": reply.get("code")}
            return _answer(reply["status"], {"error": error}, reply.get("headers", {}))
        if isinstance(reply, dict) and "raw" in reply:
            return _answer(200, reply["raw"])
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        finish = {"finish_reason": reply["finish"]} if isinstance(reply, dict) and "finish" in reply else {}
        choice = {"message": message(reply), **finish}
        return _answer(200, {"model": "scripted-1", "choices": [choice], "usage": usage})


def _answer(status: int, document: Any, headers: Mapping[str, str] | None = None) -> tuple[int, bytes, dict[str, str]]:
    return status, json.dumps(document).encode(), {**(headers or {}), "Content-Type": "application/json"}
