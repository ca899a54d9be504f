"""The address of the tools of environments: callers are authenticated before anything of MCP is read."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kubesim.access import ANONYMOUS, Principal
from kubesim.handling.request import Request
from kubesim.serving.plane import Application, Scope
from kubesim.serving.streams import Receive, Send
from kubesim.status import ApiError, method_not_allowed, unauthorized
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient
from sirocco.domains.kubernetes.tools.session import Session
from sirocco.oasis.environment import EnvironmentAccess


class ToolHost(Protocol):
    """Port: an environment whose tools are called."""

    @property
    def access(self) -> EnvironmentAccess:
        """The access that the agent receives."""
        ...

    @property
    def now(self) -> str:
        """The environment's own time."""
        ...

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """Descriptions of tools that replace their own."""
        ...

    def caller(self, headers: Mapping[str, str]) -> Principal | None:
        """The account behind a request's headers; None for an invalid credential."""
        ...

    def note_request(self, request: Request) -> None:
        """A request reached what is beside the API."""
        ...

    def record_sent(self, content: Any) -> None:
        """Something other than an answer of the API reached the agent."""
        ...

    def client_for(self, token: str) -> EnvironmentClient:
        """A client to the API under a token."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a message, and to which environment."""

    environment: ToolHost
    session: Session


Server = Callable[[Caller, Scope, Receive, Send], Awaitable[None]]
"""What answers messages of MCP."""


class ToolEndpoint:
    """Receives what is sent to the path of the tools; tools act with the credential that the request carries.

    `load` imports the server when it is first needed, since that takes long.
    """

    path = "/mcp"

    def __init__(self, load: Callable[[], Awaitable[Server]]) -> None:
        self._load = load

    def application(self, environment: ToolHost, request: Request) -> Application | None:
        """What answers a request in place of the environment's API; None for what the API answers itself.

        An invalid credential is left to the API to refuse, which logs the attempt.
        """
        if request.path.rstrip("/") != self.path:
            return None
        principal = environment.caller(request.headers)
        if principal is None:
            return None
        if principal == ANONYMOUS:
            return _refusing_application(unauthorized(), (b"www-authenticate", b"Bearer"))
        if request.method != "POST":
            return _refusing_application(method_not_allowed(), (b"allow", b"POST"))
        environment.note_request(request)
        session = Session(
            environment.client_for(_token(request)), environment.access.namespace, lambda: environment.now
        )

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            server = await self._load()
            await server(Caller(environment, session), scope, receive, send)

        return answer


def _token(request: Request) -> str:
    _, _, token = request.headers.get("authorization", "").strip().partition(" ")
    return token.partition(" ")[0]


def _refusing_application(error: ApiError, header: tuple[bytes, bytes]) -> Application:
    content = json.dumps(error.body).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode()), header]

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": error.code, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return refuse
