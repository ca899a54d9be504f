"""The control plane as an ASGI application with its own port and token, JSON in and out, and errors that say why."""

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.service.operations import Operations
from sirocco.providers.service.refusals import BadRequest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_LIMIT = 16 * 1024 * 1024
_STATUSES = {
    FaultKind.UNSUPPORTED: 422,
    FaultKind.LOST: 404,
    FaultKind.REFUSED: 409,
    FaultKind.TIMEOUT: 504,
    FaultKind.UNREACHABLE: 502,
    FaultKind.MALFORMED: 502,
    FaultKind.FAILED: 500,
}


class _Refusal(Exception):  # noqa: N818 - it is the answer
    """A request that is refused."""

    def __init__(self, status: int, problem: str) -> None:
        self.status = status
        self.problem = problem
        super().__init__(problem)


class ControlPlane:
    """Serves the operations to clients with the control token; if there is none, to any client that reaches the port.

    An agent never gets this token, and its own token is not accepted here.
    """

    def __init__(self, operations: Operations, token: str | None) -> None:
        self._operations = operations
        self._token = token
        self._posts: dict[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]] = {
            "/v1/plan": operations.plan,
            "/v1/provision": operations.provision,
            "/v1/inject-state": operations.inject_state,
            "/v1/observe": operations.observe,
            "/v1/state-snapshot": operations.state_snapshot,
            "/v1/teardown": operations.teardown,
        }

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            return
        content = await _content(receive)
        if content is None:
            return
        try:
            status, answer = 200, await self._answer(scope, content)
        except _Refusal as refusal:
            status, answer = refusal.status, _error(refusal.problem)
        except BadRequest as error:
            status, answer = 400, _error(str(error))
        except ProviderFault as fault:
            status, answer = _STATUSES[fault.kind], {**_error(fault.problem), "fault": str(fault.kind)}
        except Exception as error:  # noqa: BLE001 - a provider is foreign code; its runner is told, and others go on
            status, answer = 500, _error(f"{type(error).__name__}: {error}")
        await _send(send, status, answer)

    async def _answer(self, scope: Mapping[str, Any], content: bytes) -> dict[str, Any]:
        path, method = _path(scope["path"]), scope["method"]
        known = {"/healthz", "/v1/conformance", *self._posts}
        if path not in known:
            raise _Refusal(404, f"unknown path {path}")
        if method != ("POST" if path in self._posts else "GET"):
            raise _Refusal(405, f"{path} does not support {method}")
        if path == "/healthz":
            return {"status": "ok"}
        self._require_token(scope)
        if path == "/v1/conformance":
            query = parse_qs(scope["query_string"].decode("latin-1"))
            profile = query.get("profile", [""])[0]
            if not profile:
                raise _Refusal(400, "missing required query parameter: profile")
            return await self._operations.conformance(profile)
        if len(content) > BODY_LIMIT:
            raise _Refusal(413, f"the body is longer than {BODY_LIMIT} bytes")
        return await self._posts[path](_body(content))

    def _require_token(self, scope: Mapping[str, Any]) -> None:
        if self._token is None:
            return
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            raise _Refusal(401, "the control token is missing or wrong")


def _path(asked: str) -> str:
    """The path without doubled slashes and with the version, which the provider guide sometimes leaves out."""
    parts = [part for part in asked.split("/") if part]
    is_bare = len(parts) == 1 and parts != ["healthz"]
    return "/" + "/".join(["v1", *parts] if is_bare else parts)


def _body(content: bytes) -> Mapping[str, Any]:
    try:
        body = json.loads(content)
        # Half a surrogate pair and NaN get this far, but could neither be stored nor returned.
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise _Refusal(400, "the body is not JSON") from error
    if not isinstance(body, Mapping):
        raise _Refusal(400, "the body is not a JSON object")
    return body


def _error(problem: str) -> dict[str, Any]:
    """The error, under both of the keys that runners look for."""
    return {"status": "error", "message": problem, "error": problem}


async def _content(receive: Receive) -> bytes | None:
    """The body, cut off one byte after the limit; None when the client went away."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")[: BODY_LIMIT + 1 - size]
        parts.append(part)
        size += len(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def _send(send: Send, status: int, answer: Mapping[str, Any]) -> None:
    content = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
