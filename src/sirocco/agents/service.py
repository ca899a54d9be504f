"""Serves any of our agents by the agent contract: an ASGI application to which other runners post turns."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from sirocco.errors import AgentFault, SiroccoError
from sirocco.oasis.agent import Agent, AgentRequest, TrailKeeper, Turn
from sirocco.oasis.environment import EnvironmentAccess

BODY_LIMIT = 4 * 1024 * 1024
_DEADLINE_SECONDS = 300
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]

Access = Callable[[Mapping[str, Any]], EnvironmentAccess | None]
"""The access to the environment that a request names; None if it names none. SiroccoError for an unusable one."""


class BadRequest(Exception):  # noqa: N818 - it names what came
    """The problem with a request, and the status for it."""

    def __init__(self, problem: str, status: int = 400) -> None:
        self.status = status
        super().__init__(problem)


class AgentService:
    """Answers turns at every path, and serves identity and audit trail at those of the contract."""

    def __init__(self, agent: Agent, access: Access) -> None:
        self._agent = agent
        self._access = access

    async def __call__(self, scope: MutableMapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Handle one request; errors are reported in words, as JSON."""
        if scope["type"] != "http":
            return
        try:
            status, document = 200, await self._answer(scope, receive)
        except BadRequest as bad:
            status, document = bad.status, {"error": str(bad)}
        except SiroccoError as error:
            status, document = 500, {"error": f"{error.problem}; {error.remedy}"}
        content = json.dumps(document, ensure_ascii=True).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _answer(self, scope: Mapping[str, Any], receive: _Receive) -> Any:
        path, method = str(scope["path"]).rstrip("/"), scope["method"]
        last = path.rpartition("/")[2]
        if method == "GET" and last == "identity-and-configuration":
            return (await self._agent.describe()).document()
        if method == "GET" and last == "audit-trail":
            return await self._trail(scope["query_string"].decode("latin-1"))
        if method != "POST":
            raise BadRequest("post a turn, or get /identity-and-configuration", 405 if method != "GET" else 404)
        return await self._turn(_document(await _content(receive)))

    async def _trail(self, query: str) -> Any:
        if not isinstance(self._agent, TrailKeeper):
            raise BadRequest("this agent keeps no audit trail", 404)
        run_id = parse_qs(query).get("run_id", [""])[0]
        if not run_id:
            raise BadRequest("run_id is missing")
        return {"audit_trail": list(await self._agent.audit_trail(run_id))}

    async def _turn(self, document: Mapping[str, Any]) -> Any:
        access = self._access(document)
        if access is None:
            # A runner that hands over no environment still gets an answer that meets the contract.
            return {"actions": [], "final_answer": "I was given no way into an environment, so I did nothing."}
        try:
            request = request_of(document, access)
            response = await self._agent.respond(request)
        except (BadRequest, SiroccoError):
            raise
        except Exception as error:
            # The agent is foreign code to the runner: an error in it is a fault of the agent.
            raise AgentFault("agent", f"{type(error).__name__}: {error}", "see its own log") from error
        finally:
            close = getattr(access.client, "close", None)
            if close is not None:
                close()
        return _for_any_runner(response.document())


def _for_any_runner(document: dict[str, Any]) -> dict[str, Any]:
    """An answer that typed runners can decode, too: for them the result of an action is a text."""
    for action in document.get("actions", ()):
        if not isinstance(action.get("result", ""), str):
            action["result"] = json.dumps(action["result"], ensure_ascii=False)
    return document


def request_of(document: Mapping[str, Any], access: EnvironmentAccess) -> AgentRequest:
    """A turn from its document; a value that is missing or null is empty."""
    prompt = document.get("prompt")
    if not isinstance(prompt, str):
        raise BadRequest("prompt must be a string")
    deadline = document.get("deadline_seconds")
    return AgentRequest(
        prompt=prompt,
        tools=tuple(str(tool) for tool in _typed_value(document, "tools", list)),
        mode=_typed_value(document, "mode", str),
        scope=_typed_value(document, "scope", dict),
        conversation=tuple(_turn(turn) for turn in _typed_value(document, "conversation", list)),
        run_id=_typed_value(document, "run_id", str),
        deadline_seconds=deadline if isinstance(deadline, int) and deadline > 0 else _DEADLINE_SECONDS,
        environment=access,
    )


def _turn(turn: Any) -> Turn:
    if not isinstance(turn, Mapping) or not all(isinstance(turn.get(key), str) for key in ("role", "content")):
        raise BadRequest("a turn of the conversation has a role and a content, both strings")
    return Turn(turn["role"], turn["content"])


def _typed_value(document: Mapping[str, Any], key: str, kind: type) -> Any:
    value = document.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise BadRequest(f"{key} must be of type {kind.__name__}")
    return value


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadRequest("the request is not a JSON object")
    return document


async def _content(receive: _Receive) -> bytes:
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise BadRequest("the request broke off")
        content += message.get("body", b"")
        if len(content) > BODY_LIMIT:
            raise BadRequest(f"the request is longer than {BODY_LIMIT} bytes", 413)
        if not message.get("more_body"):
            return bytes(content)
