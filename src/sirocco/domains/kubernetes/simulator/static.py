"""One endpoint for a whole run, with the environment behind it swapped: for clients that read a kubeconfig once."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from kubesim.handling.request import Request
from kubesim.server import Response
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import ApiPlane, Application
from kubesim.status import ApiError
from sirocco.domains.kubernetes.simulator.front import Tools, reached_at
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment

_NAMESPACE = "default"
"""The namespace in the kubeconfig for all environments; that of one environment names its own."""


class StaticFront:
    """A permanent address and token; requests reach the current environment, under its own account.

    One environment at a time can be behind it; between two of them requests get no useful answer.
    """

    def __init__(self, plane: ApiPlane, server: str, authority: str, tools: Tools | None = None) -> None:
        self._plane = plane
        self._server = server
        self._authority = authority
        self._tools = tools
        self._token = secrets.token_urlsafe(32)
        self._environment: SimulatedEnvironment | None = None
        self.kubeconfig = kubeconfig(server, authority, self._token, _NAMESPACE)
        plane.mount(_Nothing())

    def now(self, otherwise: Callable[[], str]) -> str:
        """The time behind the endpoint: that of the environment, or else another clock's."""
        return self._environment.now if self._environment else otherwise()

    @asynccontextmanager
    async def serve_environment(self, environment: SimulatedEnvironment) -> AsyncIterator[None]:
        """Put an environment behind the endpoint for the length of the block; then open watches end."""
        if self._environment is not None:
            raise RuntimeError("one environment at a time is behind a static endpoint")
        self._environment = environment
        environment.trust(self._authority)
        behind = _Behind(environment, self._token, environment.signed_token, self._tools)
        access = replace(environment.access, token=self._token)
        # Agents that have only this file are not told of the services in any other way.
        services = {name: f"{self._server}{path}" for name, path in access.services.items()}
        text = kubeconfig(self._server, self._authority, self._token, access.namespace, services=services)
        environment.access = reached_at(access, self._server, self._authority, text, self._tools)
        self._plane.mount(behind, behind.extension)
        try:
            yield
        finally:
            self._plane.mount(_Nothing())
            self._environment = None


@dataclass(frozen=True, slots=True)
class _Behind:
    """An environment that receives requests with a token that is not its own."""

    environment: SimulatedEnvironment
    token: str = field(repr=False)
    own_token: str = field(repr=False)
    tools: Tools | None

    def serve(self, request: Request) -> Response:
        return self.environment.serve(self._translate_request(request))

    def advance(self, within: float) -> float | None:
        return self.environment.advance(within)

    def record_sent(self, text: str) -> None:
        self.environment.record_sent(text)

    def extension(self, request: Request) -> Application | None:
        return self.tools.application(self.environment, self._translate_request(request)) if self.tools else None

    def _translate_request(self, request: Request) -> Request:
        if request.headers.get("authorization", "") != f"Bearer {self.token}":
            return request
        return replace(request, headers={**request.headers, "authorization": f"Bearer {self.own_token}"})


class _Nothing:
    """Stands in while there is no environment."""

    def serve(self, request: Request) -> Response:
        del request
        error = ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request", {})
        return Response(error.code, error.body, {"content-type": "application/json", "retry-after": "1"})

    def advance(self, within: float) -> float | None:
        del within
        return None

    def record_sent(self, text: str) -> None:
        del text
