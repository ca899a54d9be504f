"""The protocol that most model endpoints speak: OpenAI's chat completions, over HTTP.

A model acts on nothing, so what failed on the way is asked again: when nobody answers, when the endpoint is busy, and
when it breaks, with a growing pause in between.
"""

import asyncio
import ipaddress
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from sirocco.errors import ConfigError, ModelFault
from sirocco.models.chat import Message, Reply, ToolCall, Usage
from sirocco.models.endpoints import Endpoint
from sirocco.oasis.tools import Tool

_TRIES = 4
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_CONNECT_SECONDS = 10.0
_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LIMIT = 32 * 1024 * 1024
_SHOWN = 300
_REMEDIES = {
    401: "check the key that is in the provider's variable",
    403: "check the key that is in the provider's variable",
    404: "check the model's name and --model-url, which ends before /chat/completions",
    429: "wait, or use fewer at once with --parallel",
}


class OpenAiModel:
    """One model at one endpoint."""

    def __init__(self, endpoint: Endpoint, name: str, *, seconds: float = 300.0, pause: float = _FIRST_PAUSE) -> None:
        self._url = f"{_checked_url(endpoint.url)}/chat/completions"
        self._name = name
        self._key = endpoint.key
        self._seconds = seconds
        self._pause = pause

    @property
    def name(self) -> str:
        """What the endpoint knows it by."""
        return self._name

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """What the model says next; ModelFault with the endpoint's own words when it says nothing."""
        body: dict[str, Any] = {"model": self._name, "messages": [_message(message) for message in messages]}
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        if schema is not None:
            form = {"name": "reply", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return self._read(await self._ask_with_retries(body))

    async def _ask_with_retries(self, body: Mapping[str, Any]) -> Any:
        pause = self._pause
        for number in range(1, _TRIES + 1):
            try:
                async with asyncio.timeout(self._seconds):
                    status, content, wait = await self._exchange_once(body)
            except TimeoutError as error:
                raise self._fault(f"no reply within {self._seconds:g} s", "raise --timeout") from error
            except (httpx.HTTPError, OSError) as error:
                if number == _TRIES:
                    said = str(error) or type(error).__name__
                    raise self._fault(f"cannot be reached: {said}", "check --model-url and the network") from error
                status, content, wait = 0, b"", 0.0
            if status and (status not in _BUSY or number == _TRIES):
                return self._content(status, content)
            await asyncio.sleep(min(max(pause, wait), _LONGEST_PAUSE))
            pause *= 2
        raise AssertionError("the last try returns or raises")

    async def _exchange_once(self, body: Mapping[str, Any]) -> tuple[int, bytes, float]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        client = httpx.AsyncClient(
            headers=headers, timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS), trust_env=not _is_here(self._url)
        )
        async with client, client.stream("POST", self._url, json=body) as answer:
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > _LIMIT:
                    raise self._fault(f"the reply is longer than {_LIMIT} bytes", "use another endpoint")
            return answer.status_code, bytes(content), _wait(answer.headers.get("retry-after", ""))

    def _content(self, status: int, content: bytes) -> Any:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if status != 200:
            said = _error(document) or " ".join(content.decode(errors="replace").split())[:_SHOWN]
            remedy = _REMEDIES.get(status, "see the endpoint's own documentation and log")
            raise self._fault(f"status {status}: {said}" if said else f"status {status}", remedy, status)
        return document

    def _read(self, document: Any) -> Reply:
        """The first choice; what other endpoints leave out is taken as empty."""
        try:
            said = document["choices"][0]["message"]
            calls = tuple(_call(call, number) for number, call in enumerate(said.get("tool_calls") or ()))
            content = said.get("content") or ""
            usage = document.get("usage") or {}
            return Reply(
                content=content if isinstance(content, str) else _text(content),
                calls=calls,
                model=str(document.get("model") or self._name),
                usage=Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            problem = f"the reply is no chat completion: {type(error).__name__} {error}"
            raise self._fault(problem, "check that --model-url speaks OpenAI's protocol") from error

    def _fault(self, problem: str, remedy: str, status: int = 0) -> ModelFault:
        return ModelFault(f"{self._name} at {urlsplit(self._url).netloc}", problem, remedy, status)


def _message(message: Message) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        document["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
        document["content"] = message.content or None
    if message.answers:
        document["tool_call_id"] = message.answers
    return document


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    function = call["function"]
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(str(call.get("id") or f"call_{number}"), str(function["name"]), text)


def _text(parts: Any) -> str:
    """The text in content that comes in parts."""
    return "".join(str(part.get("text") or "") for part in parts)


def _error(document: Any) -> str:
    found = document.get("error") if isinstance(document, Mapping) else None
    said = found.get("message") if isinstance(found, Mapping) else found
    return said[:_SHOWN] if isinstance(said, str) else ""


def _wait(text: str) -> float:
    return float(text) if text.isascii() and text.isdecimal() else 0.0


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isprintable() or " " in url:
        raise ConfigError("--model-url", f"{url!r} is not a URL", "write one such as http://127.0.0.1:8000/v1")
    return url


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
