"""One endpoint for a whole run, with the environment behind it swapped: for clients that read a kubeconfig at start."""

import secrets
from dataclasses import dataclass, field, replace

from kubesim.handling.request import Request
from kubesim.server import Response
from kubesim.serving.kubeconfig import kubeconfig
from kubesim.serving.plane import ApiPlane, Application
from kubesim.status import ApiError
from sirocco.domains.kubernetes.agent_plane import KUBECONFIG, access_details
from sirocco.domains.kubernetes.simulator.front import Tools
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment
from sirocco.oasis.environment import ServedAccess

_NAMESPACE = "default"
"""What the kubeconfig for all environments says; that of an environment names its own."""


class StaticFront:
    """An address and a token that stay; requests reach the environment that is up, under its own account.

    One environment at a time can be behind it; between two of them there is no server to speak of.
    """

    def __init__(self, plane: ApiPlane, address: str, authority: str, tools: Tools | None = None) -> None:
        self._plane = plane
        self._authority = authority
        self._tools = tools
        self._token = secrets.token_urlsafe(32)
        self._prefix = plane.mount(secrets.token_hex(10), _Nothing())
        self._is_taken = False
        self.server = f"https://{address}/{self._prefix}"
        self.kubeconfig = kubeconfig(self.server, authority, self._token, _NAMESPACE)

    def open(self, environment: SimulatedEnvironment) -> None:
        """Put an environment behind the endpoint."""
        if self._is_taken:
            raise RuntimeError("one environment at a time is behind a static endpoint")
        self._is_taken = True
        behind = _Behind(environment, self._token, environment.signed_token, self._tools)
        mcp = f"{self.server}{self._tools.path}" if self._tools else ""
        access = environment.access
        # Whoever works by this file alone is not told of the services in any other way.
        services = {name: f"{self.server}{path}" for name, path in access.services.items()}
        text = kubeconfig(self.server, self._authority, self._token, access.namespace, services)
        environment.access = replace(
            access,
            served=ServedAccess(self.server, self._authority, {KUBECONFIG: text}, mcp),
            token=self._token,
            details=access_details(access.namespace, self.server, text),
        )
        self._plane.unmount(self._prefix)
        self._plane.mount(self._prefix, behind, behind.extension)

    def close(self, environment: SimulatedEnvironment) -> None:
        """Take it away again; open watches end."""
        del environment
        self._plane.unmount(self._prefix)
        self._plane.mount(self._prefix, _Nothing())
        self._is_taken = False


@dataclass(frozen=True, slots=True)
class _Behind:
    """An environment that is asked with a token that is not its own."""

    environment: SimulatedEnvironment
    token: str = field(repr=False)
    own_token: str = field(repr=False)
    tools: Tools | None

    def serve(self, request: Request) -> Response:
        return self.environment.serve(self._translated(request))

    def advance(self) -> bool:
        return self.environment.advance()

    def sent(self, text: str) -> None:
        self.environment.sent(text)

    def extension(self, request: Request) -> Application | None:
        return self.tools.application(self.environment, self._translated(request)) if self.tools else None

    def _translated(self, request: Request) -> Request:
        if request.headers.get("authorization", "") != f"Bearer {self.token}":
            return request
        return replace(request, headers={**request.headers, "authorization": f"Bearer {self.own_token}"})


class _Nothing:
    """What is there while no environment is."""

    def serve(self, request: Request) -> Response:
        del request
        error = ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request", {})
        return Response(error.code, error.body, {"content-type": "application/json", "retry-after": "1"})

    def advance(self) -> bool:
        return False

    def sent(self, text: str) -> None:
        del text
