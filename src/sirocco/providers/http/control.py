"""A client of a provider's control plane: each operation has its own deadline and bounded retries."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sirocco.errors import FaultKind, ProviderFault
from sirocco.providers.http.connection import Answer, Connections, Origin, Unanswered

_RETRIED = frozenset({409, 502, 503})
_REPEATABLE = frozenset({"conformance", "healthz", "plan", "observe", "state-snapshot", "teardown"})
_ATTEMPTS = 4
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_LAST_CHANCE = 1.0
_QUOTED = 300

Json = Mapping[str, Any]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How many seconds an operation may take, including retries; provisioning may have to pull images."""

    provision: float = 600
    observe: float = 60
    teardown: float = 90
    others: float = 30

    def seconds_for(self, operation: str) -> float:
        """The limit for an operation, in seconds."""
        named = {"provision": self.provision, "observe": self.observe, "teardown": self.teardown}
        return named.get(operation, self.others)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to an operation: the status and, if there was a body, the JSON in it."""

    status: int
    body: Any

    @property
    def succeeded(self) -> bool:
        """Any 2xx, including 202."""
        return 200 <= self.status < 300


class ControlPlane:
    """Calls one provider. Anything but a timely JSON answer is raised as a typed ProviderFault (CO-07)."""

    def __init__(
        self, url: str, *, token: str = "", timeouts: Timeouts | None = None, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.url = url.rstrip("/")
        self._connections = Connections(Origin.from_url(self.url))
        self._timeouts = timeouts or Timeouts()
        self._sleep = sleep
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    async def call(self, operation: str, body: Json | None = None, *, query: str = "") -> Json:
        """The answer to an operation that must succeed, as a JSON object."""
        result = await self.attempt(operation, body, query=query)
        if not result.succeeded:
            raise self._refusal_fault(operation, result)
        if not isinstance(result.body, Mapping):
            raise self._fault(operation, "the answer is not a JSON object", FaultKind.MALFORMED)
        if result.body.get("status") == "error":
            raise self._refusal_fault(operation, result)
        return result.body

    async def attempt(self, operation: str, body: Json | None = None, *, query: str = "") -> Result:
        """The answer to an operation, whatever its status, after retries where they are worthwhile."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeouts.seconds_for(operation)
        pauses = [_FIRST_PAUSE * 2**number for number in range(_ATTEMPTS - 1)]
        for pause in pauses:
            left = deadline - loop.time()
            try:
                result = await self.exchange(operation, body, query=query, timeout=left)
            except ProviderFault as fault:
                if fault.kind is not FaultKind.UNREACHABLE or operation not in _REPEATABLE:
                    raise
                hint = None
            else:
                hint = _hint(result)
                if not _is_worth_it(operation, result, hint):
                    return result
            pause = min(pause if hint is None else hint, _LONGEST_PAUSE)  # noqa: PLW2901 - the provider knows better
            if loop.time() + pause >= deadline:
                break
            await self._sleep(pause)
        return await self.exchange(operation, body, query=query, timeout=max(deadline - loop.time(), _LAST_CHANCE))

    async def exchange(
        self,
        operation: str,
        body: Json | bytes | None = None,
        *,
        query: str = "",
        timeout: float | None = None,  # noqa: ASYNC109 - each operation has its own
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """Make one call, without retries."""
        path = "/healthz" if operation == "healthz" else f"/v1/{operation}"
        method = "GET" if body is None else "POST"
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        limit = self._timeouts.seconds_for(operation) if timeout is None else timeout
        sent = {**self._headers, **(headers or {})}
        try:
            answer = await self._connections.request(method, path + query, headers=sent, content=content, timeout=limit)
        except Unanswered as unanswered:
            raise self._fault(operation, unanswered.problem, unanswered.kind) from unanswered
        return Result(answer.status, self._decode_answer(operation, answer))

    def _decode_answer(self, operation: str, answer: Answer) -> Any:
        if not answer.content.strip():
            return None
        try:
            return json.loads(answer.content)
        except (ValueError, RecursionError) as error:
            if not 200 <= answer.status < 300:
                return answer.content[:_QUOTED].decode(errors="replace")
            raise self._fault(operation, "the answer is not JSON", FaultKind.MALFORMED) from error

    def _refusal_fault(self, operation: str, result: Result) -> ProviderFault:
        kind = FaultKind.FAILED if result.status >= 500 or result.succeeded else FaultKind.REFUSED
        if result.status == 404 and operation not in {"conformance", "provision", "plan"}:
            kind = FaultKind.LOST
        if result.status == 422:
            kind = FaultKind.UNSUPPORTED
        return self._fault(operation, f"the provider answered {result.status}: {message_of(result.body)}", kind)

    def _fault(self, operation: str, problem: str, kind: FaultKind) -> ProviderFault:
        remedy = f"look at the provider's own log, or run `sirocco provider check {self.url}`"
        return ProviderFault(f"{self.url} {operation}", problem, remedy, kind)


def message_of(body: Any) -> str:
    """The message of an error answer, in any of the usual forms."""
    if isinstance(body, Mapping):
        for key in ("message", "error", "detail", "reason"):
            if isinstance(body.get(key), str) and body[key]:
                return str(body[key])[:_QUOTED]
        return json.dumps(body)[:_QUOTED]
    return str(body)[:_QUOTED] if body else "no reason given"


def _hint(result: Result) -> float | None:
    """How many seconds to wait, if the provider says."""
    said = result.body.get("retry_after_seconds") if isinstance(result.body, Mapping) else None
    if isinstance(said, int | float) and not isinstance(said, bool) and said >= 0:
        return float(said)
    return None


def _is_worth_it(operation: str, result: Result, hint: float | None) -> bool:
    """Whether to retry: a conflict or a failed pull without a hint may be final, unless retrying costs nothing."""
    if result.status not in _RETRIED:
        return False
    return hint is not None or result.status == 503 or operation in _REPEATABLE
