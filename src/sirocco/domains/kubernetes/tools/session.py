"""One caller's requests to the environment's API: a refusal ends the tool with its message."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from kubesim.names import path_segment_problems
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient

SERVER_NAME = "cluster-tools"
SERVER_VERSION = "1.4.2"
_AGENT = f"{SERVER_NAME}/{SERVER_VERSION}"


class ToolError(Exception):
    """What went wrong, in the words shown to the caller."""


@dataclass(frozen=True, slots=True)
class Session:
    """What a tool works with: the caller's own access to the API, its default namespace, and the time there."""

    client: EnvironmentClient
    default_namespace: str
    now: Callable[[], str]
    warnings: list[str] = field(default_factory=list)
    """The API's warnings with its answers."""

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | Sequence[str] | None] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """The body of the answer; raise ToolError with the message of a refusal. Empty query values are not sent."""
        given = {key: value for key, value in (query or {}).items() if value not in (None, "", ())}
        target = f"{path}?{urlencode(given, doseq=True)}" if given else path
        headers = {"accept": accept, "user-agent": _AGENT}
        reply = await self.client.request(method, target, body=body, content_type=content_type, headers=headers)
        self.warnings.extend(reply.warnings)
        if not reply.succeeded:
            raise ToolError(_message(reply.status, reply.body))
        return reply.body

    def namespace(self, asked: str) -> str:
        """The namespace that a call means."""
        return segment(asked, "namespace") if asked else self.default_namespace


def segment(text: str, what: str) -> str:
    """A name as one segment of a path; raise ToolError if it would be more than one."""
    if problems := path_segment_problems(text):
        raise ToolError(f"invalid {what} {text!r}: {'; '.join(problems)}")
    return quote(text, safe="")


def _message(status: int, body: Any) -> str:
    """The message of a Kubernetes Status, or of a service's error document; else the body itself."""
    if isinstance(body, Mapping):
        named = body.get("message") or body.get("error") or _first_message(body.get("errors"))
        return named if isinstance(named, str) else json.dumps(body, ensure_ascii=False)
    return str(body).strip() if body else f"the server answered with status {status}"


def _first_message(errors: Any) -> Any:
    first = errors[0] if isinstance(errors, list) and errors else None
    return first.get("msg") if isinstance(first, Mapping) else None
