"""The protocol that most model endpoints speak: OpenAI's chat completions, over HTTP.

Requests to a model have no side effects, so failed ones are repeated: if nothing answers, if the endpoint is busy, or
if it breaks, with growing pauses in between.
"""

import asyncio
import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from sirocco.errors import ConfigError, ModelFault
from sirocco.models.chat import Finish, Message, Parameters, Reply, ToolCall, Usage
from sirocco.models.endpoints import Endpoint
from sirocco.oasis.tools import Tool

_TRIES = 4
_TRIES_WHEN_BUSY = 8
"""Overload is temporary: an endpoint that only asks for patience is asked more often."""
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_CONNECT_SECONDS = 10.0
_BUSY = frozenset({408, 409, 425, 429, 503, 529})
_REFUSING = frozenset({501, 505, 511})
"""Status codes above 500 that are not temporary."""
_MOVED = frozenset({307, 308})
_MOST_MOVES = 3
_LIMIT = 32 * 1024 * 1024
_SHOWN = 300
_OVERFLOW = re.compile(
    r"context[_ ](?:length|window|size)|exceed_context|(?:prompt|input|request|conversation) (?:is )?too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|tokens? (?:count|limit)[^.]{0,40} exceed"
    r"|maximum (?:number of )?(?:input |prompt )?tokens|maximum (?:input|prompt|sequence|model) length"
    r"|(?:too large|too long) for (?:the )?model|reduce the length|max_(?:seq|model)_len",
    re.IGNORECASE,
)
"""How endpoints say that a conversation is longer than the model can read; the status differs."""
_FILTER = "content_filter"
_FINISHES = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), Finish.LENGTH),
    **dict.fromkeys(
        (_FILTER, "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii"),
        Finish.CONTENT_FILTER,
    ),
}
"""How endpoints say why a reply ended; some in capitals. With anything else, the reply counts as complete."""
_BROKE = "error"
_MOST_TOKENS = 10**12
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]+)?")
_REMEDIES = {
    401: "check the key that is in the provider's variable",
    403: "check the key that is in the provider's variable",
    404: "check the model's name and --model-url, which ends before /chat/completions",
    429: "wait, or use fewer at once with --parallel",
}


class OpenAiModel:
    """One model at one endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        parameters: Parameters = Parameters(),  # noqa: B008 - a frozen value
        *,
        seconds: float = 300.0,
        pause: float = _FIRST_PAUSE,
    ) -> None:
        self._url = f"{_checked_url(endpoint.url)}/chat/completions"
        self._name = name
        self._parameters = parameters
        self._key = endpoint.key
        self._seconds = seconds
        self._pause = pause

    @property
    def name(self) -> str:
        """The endpoint's name for it."""
        return self._name

    @property
    def parameters(self) -> Parameters:
        """What is sent with every request."""
        return self._parameters

    async def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The next reply; ModelFault with the endpoint's own words if there is none."""
        body: dict[str, Any] = {"model": self._name, **self._parameters.document()}
        # The unchanging part of every request comes first, so that endpoints can cache it.
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        body["messages"] = [_message(message) for message in messages]
        if schema is not None:
            form = {"name": "reply", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return await self._ask_with_retries(body)

    async def _ask_with_retries(self, body: Mapping[str, Any]) -> Reply:
        pause, number = self._pause, 0
        while True:
            number, wait = number + 1, 0.0
            try:
                async with asyncio.timeout(self._seconds):
                    status, content, wait = await self._exchange_once(body)
                return self._reply(status, content)
            except TimeoutError as error:
                raise self._fault(f"no reply within {self._seconds:g} s", "raise --timeout") from error
            except (httpx.HTTPError, OSError) as error:
                if number >= _TRIES:
                    said = str(error) or type(error).__name__
                    raise self._fault(f"cannot be reached: {said}", "check --model-url and the network") from error
            except ModelFault as fault:
                if number >= _tries_after(fault):
                    raise
            await asyncio.sleep(min(max(pause, wait), _LONGEST_PAUSE))
            pause *= 2

    async def _exchange_once(self, body: Mapping[str, Any]) -> tuple[int, bytes, float]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        client = httpx.AsyncClient(
            headers=headers, timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS), trust_env=not _is_here(self._url)
        )
        url = httpx.URL(self._url)
        async with client:
            for _ in range(_MOST_MOVES):
                async with client.stream("POST", url, json=body) as answer:
                    content = await self._read(answer)
                target = url.join(answer.headers.get("location", ""))
                if answer.status_code not in _MOVED or (target.scheme, target.netloc) != (url.scheme, url.netloc):
                    break
                url = target
        if answer.is_redirect:
            # Conversation and key are for the named endpoint, not for wherever it redirects.
            raise self._fault(f"it redirects to {target}", "give the address that it redirects to", answer.status_code)
        return answer.status_code, content, _wait(answer.headers)

    async def _read(self, answer: httpx.Response) -> bytes:
        content = bytearray()
        async for part in answer.aiter_bytes():
            content += part
            if len(content) > _LIMIT:
                raise self._fault(f"the reply is longer than {_LIMIT} bytes", "use another endpoint")
        return bytes(content)

    def _reply(self, status: int, content: bytes) -> Reply:
        """The first choice; fields that other endpoints leave out count as empty."""
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if not 200 <= status < 300:
            return self._refusal(status, document, content)
        try:
            choice = document["choices"][0]
            finish = _finish(choice.get("finish_reason"))
            # A withheld reply may have no message at all.
            said = choice["message"] if finish is not Finish.CONTENT_FILTER else choice.get("message") or {}
            return Reply(
                content=_text(said.get("content")) or _text(said.get("refusal")),
                calls=tuple(_call(call, number) for number, call in enumerate(_asked_calls(said))),
                model=str(document.get("model") or self._name),
                usage=_usage(document.get("usage")),
                finish=finish,
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            found = _error(document) or f"{type(error).__name__} {error}"
            problem = f"the reply is not a chat completion: {found}"
            is_overflow = bool(_OVERFLOW.search(found))
            remedy = "check that the endpoint supports OpenAI's protocol"
            raise self._fault(problem, remedy, httpx.codes.OK, is_overflow=is_overflow) from error

    def _refusal(self, status: int, document: Any, content: bytes) -> Reply:
        """A reply that the endpoint's filter withheld; any other non-reply is a fault."""
        said = _error(document) or " ".join(content.decode(errors="replace").split())[:_SHOWN]
        if _error_code(document) == _FILTER:
            return Reply("", model=self._name, finish=Finish.CONTENT_FILTER)
        is_overflow = status == httpx.codes.REQUEST_ENTITY_TOO_LARGE or bool(
            _OVERFLOW.search(f"{_error_code(document)} {said}")
        )
        remedy = _REMEDIES.get(status, "see the endpoint's own documentation and log")
        problem = f"status {status}: {said}" if said else f"status {status}"
        raise self._fault(problem, remedy, status, is_overflow=is_overflow)

    def _fault(self, problem: str, remedy: str, status: int = 0, *, is_overflow: bool = False) -> ModelFault:
        where = f"{self._name} at {urlsplit(self._url).netloc}"
        return ModelFault(where, problem, remedy, status, is_overflow=is_overflow)


def _tries_after(fault: ModelFault) -> int:
    """The number of attempts for this kind of failure; a refused request would be refused again."""
    if fault.is_overflow:
        return 1
    if fault.status in _BUSY:
        return _TRIES_WHEN_BUSY
    is_broken = fault.status >= 500 and fault.status not in _REFUSING
    return _TRIES if is_broken or fault.status == httpx.codes.OK else 1


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


def _finish(word: Any) -> Finish:
    """Why a reply ended; ValueError if the endpoint says that it broke."""
    if str(word).lower() == _BROKE:
        raise ValueError("the endpoint broke off")
    return _FINISHES.get(str(word).lower(), Finish.WHOLE)


def _asked_calls(said: Mapping[str, Any]) -> list[Any]:
    """The calls of a message, by the current key or by the one that older servers use."""
    calls = said.get("tool_calls") or said.get("function_call") or []
    return calls if isinstance(calls, list) else [calls]


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    """A call; servers that omit the function object put its keys next to the id."""
    function = call.get("function", call)
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(str(call.get("id") or f"call_{number}"), str(function["name"]), text)


def _text(content: Any) -> str:
    """The text of a message: a string, parts, or an object that contains it; a number becomes its digits."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "".join(map(_text, content))
        case Mapping():
            return _text(content.get("text"))
        case _:
            return json.dumps(content)


def _usage(found: Any) -> Usage:
    """The endpoint's counts; invalid ones do not count, and do not invalidate a reply."""
    counts = found if isinstance(found, Mapping) else {}
    return Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _count(figure: Any) -> int:
    is_count = isinstance(figure, int | float) and not isinstance(figure, bool) and 0 <= figure < _MOST_TOKENS
    return int(figure) if is_count else 0


def _error(document: Any) -> str:
    found = document.get("error") if isinstance(document, Mapping) else None
    said = found.get("message") if isinstance(found, Mapping) else found
    return said[:_SHOWN] if isinstance(said, str) else ""


def _error_code(document: Any) -> str:
    found = document.get("error") if isinstance(document, Mapping) else None
    if not isinstance(found, Mapping):
        return ""
    return next((code for key in ("code", "type") if isinstance(code := found.get(key), str)), "")


def _wait(headers: Mapping[str, str]) -> float:
    """How many seconds an endpoint asks to wait: a number of seconds, or until a time by its own clock."""
    text = headers.get("retry-after", "")
    try:
        if _NUMBER.fullmatch(text):
            return float(text)
        moment, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max((moment - now).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return 0.0


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
