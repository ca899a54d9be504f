"""What environments on a real API server have in common: access to them, and what the agent plane answers."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from kubesim.handling.exchange import Response
from kubesim.handling.request import Request
from kubesim.serving.certificates import Authority
from sirocco.domains.kubernetes.agent_access import HttpAgentClient
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, SimulatedEnvironment
from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus

_ANSWER_SECONDS = 3.0
"""How long an observation waits for answers that are under way."""
_STEP_SECONDS = 0.02


class FrontedEnvironment(ABC):
    """An environment whose API is a real server's, behind the agent plane; the simulator computes what is declared."""

    _sources: ClassVar[Mapping[ObservationType, str]]
    """What each kind of evidence is read from."""

    def __init__(self, clock: Callable[[], str], model: SimulatedEnvironment) -> None:
        self._clock, self.model = clock, model
        self._access = model.access
        self._returned: list[Any] = []
        self._arrivals: dict[str, str] = {}
        self._under_way: set[object] = set()
        """The requests that are not answered yet."""
        self._coming = asyncio.Lock()
        self._is_over = False

    @property
    def access(self) -> EnvironmentAccess:
        """The access that the agent receives."""
        return self._access

    @access.setter
    def access(self, access: EnvironmentAccess) -> None:
        self._access = access

    @property
    @abstractmethod
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""

    @property
    def agent_source(self) -> str:
        """The address of the agent's connection, as the audit log shows it."""
        return AGENT_SOURCE

    @property
    @abstractmethod
    def authority(self) -> Authority:
        """The certificate authority of the agent plane."""

    @property
    @abstractmethod
    def server_name(self) -> str:
        """The name of its server, for clients that reach it through a hosts file; empty if it has none."""

    @property
    def calls(self) -> int:
        """How many calls were answered on the agent plane."""
        return len(self._returned)

    @property
    def arrivals(self) -> Mapping[str, str]:
        """When requests arrived by the runner's clock, by the times in the audit log."""
        return self._arrivals

    def client_for(self, token: str) -> EnvironmentClient:
        """A client to the API under a token."""
        client: HttpAgentClient = self._access.client
        return client.with_token(token)

    async def _has_answered(self) -> bool:
        """Whether every request is answered, after a moment for those that are under way."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while self._under_way and time.monotonic() < deadline:  # noqa: ASYNC110 - requests end by themselves
            await asyncio.sleep(_STEP_SECONDS)
        return not self._under_way

    def _observation(self, observation_type: ObservationType, data: Mapping[str, Any]) -> Observation:
        source = EvidenceSource(self._sources[observation_type], SourceStatus.AVAILABLE)
        return Observation(observation_type, self._clock(), source, data)

    def _unreachable(self, observation_type: ObservationType) -> Observation:
        source = EvidenceSource(self._sources[observation_type], SourceStatus.UNREACHABLE)
        return Observation(observation_type, self._clock(), source, {})

    def _has_ended(self, operation: str) -> bool:
        """Whether it is too late for an operation."""
        del operation
        return self._is_over

    def _require_live(self, operation: str) -> None:
        if self._has_ended(operation):
            problem, remedy = "the environment was torn down", "use it inside its block only"
            raise ProviderFault(operation, problem, remedy, FaultKind.LOST)

    # The following methods are for the agent plane.

    @abstractmethod
    async def open_server(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection to the server, not authenticated yet."""

    @abstractmethod
    async def come_alive(self) -> object:
        """Come to life before the first request."""

    @asynccontextmanager
    async def request_under_way(self) -> AsyncIterator[object]:
        """Count a request as unanswered until the block is left, or its answer continues as a stream."""
        await self.come_alive()
        request = object()
        self._under_way.add(request)
        try:
            yield request
        finally:
            self._under_way.discard(request)

    def note_stream(self, request: object) -> None:
        """The answer to a request has begun as a stream: its changes are on record, whenever it ends."""
        self._under_way.discard(request)

    @abstractmethod
    def serves_itself(self, request: Request) -> bool:
        """Whether a request is for a service beside the API."""

    @abstractmethod
    async def serve_beside(self, request: Request) -> Response:
        """The answer of a service beside the API."""

    @abstractmethod
    async def meet(self, request: Request) -> tuple[str, Response | None]:
        """The id that a request gets, and an answer if it is to fail."""

    @abstractmethod
    async def note_answer(self, audit_id: str, bodies: list[Any]) -> None:
        """A request was answered by the server."""

    def record_sent(self, content: Any) -> None:
        """A piece of a streamed answer reached the agent."""
        self._returned.append(content)

    # What tools ask of their environment.

    @property
    @abstractmethod
    def now(self) -> str:
        """The environment's own time."""

    @property
    @abstractmethod
    def tool_descriptions(self) -> Mapping[str, str]:
        """Descriptions of tools that replace their own."""

    @abstractmethod
    def caller(self, headers: Mapping[str, str]) -> Any:
        """The account behind a request's headers (names in lower case); None for an invalid credential."""

    @abstractmethod
    def note_request(self, request: Request) -> None:
        """A request reached a service beside the API."""
