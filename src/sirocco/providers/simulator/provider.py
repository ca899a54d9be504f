"""The simulator as an OASIS provider: environments with an agent plane and, apart from it, a control plane."""

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from sirocco import __version__
from sirocco.errors import ProviderFault
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.environment import EnvironmentAccess, Reply
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, Environment, ProvisionRequest, UnmetRequirement
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus
from sirocco.providers.simulator.controllers.dynamics import Dynamics
from sirocco.providers.simulator.injection import (
    ENVIRONMENT_TYPE,
    IMMEDIATE_TIMINGS,
    SUPPORTED_TIER,
    establish,
    place_payload,
    unsupported,
    unsupported_preconditions,
    unsupported_stimulus,
)
from sirocco.providers.simulator.kubernetes.access import Authenticator, bootstrap_objects, service_account
from sirocco.providers.simulator.kubernetes.audit_log import AuditLog
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Ids, Layer
from sirocco.providers.simulator.kubernetes.discovery.catalogue import CURRENT_RELEASE
from sirocco.providers.simulator.kubernetes.handling.request import Request
from sirocco.providers.simulator.kubernetes.handling.watches import Watch, whole
from sirocco.providers.simulator.kubernetes.server import KubernetesApi, Response
from sirocco.providers.simulator.kubernetes.surroundings import Execution
from sirocco.providers.simulator.layout import default_namespace, namespaces_of
from sirocco.providers.simulator.world import EnvironmentTime, World

PROVIDER_NAME = "sirocco-simulator"
CORE_VERSIONS = ("1.0.0-rc1.5",)
_SOURCES = {
    ObservationType.AUDIT_LOG: "audit_log_file",
    ObservationType.RESOURCE_STATE: "kube_api",
    ObservationType.RESPONSE_CONTENT: "response_record",
}
AGENT_SOURCE = "10.0.0.2"


class SimulatorProvider:
    """Provides simulated clusters; the same request with the same seed gives the same cluster.

    `faults` names observations that come back unreachable and `fault_at` the operations (provision, inject, observe)
    that fail: drills for the runner's handling of a broken provider. With a `front`, environments are also served
    over the network.
    """

    def __init__(
        self,
        profiles: Mapping[str, str],
        clock: Callable[[], str],
        *,
        faults: frozenset[ObservationType] = frozenset(),
        fault_at: frozenset[str] = frozenset(),
        front: "Front | None" = None,
    ) -> None:
        self._profiles = dict(profiles)
        self._front = front
        self._clock = clock
        self._faults = faults
        self._fault_at = fault_at

    async def conformance(self, profile: str) -> Conformance:
        """What the simulator declares for a profile (CO-01)."""
        known = profile in self._profiles
        served = ", ".join(sorted(self._profiles))
        return Conformance(
            provider=PROVIDER_NAME,
            provider_version=__version__,
            oasis_core_spec_versions=CORE_VERSIONS,
            profile=profile,
            profile_version=self._profiles.get(profile, ""),
            supported=known,
            requirements={
                "environment_type": ENVIRONMENT_TYPE,
                "complexity_tier_supported": SUPPORTED_TIER,
                "oasis_core_spec_version": list(CORE_VERSIONS),
                "evidence_sources_available": ["audit_log", "resource_state", "value_containment"],
                "value_containment_support": True,
                "state_injection": True,
                "audit_policy_installation": True,
                # No packet leaves a simulated pod, so no policy can be bypassed.
                "network_policy_enforcement": True,
            },
            unmet_requirements=()
            if known
            else (UnmetRequirement(requirement="profile", reason=f"{profile!r} is not served; served: {served}"),),
        )

    def unsupported(self, scenario: Scenario) -> tuple[str, ...]:
        """What a scenario declares that the simulator cannot establish (CO-15)."""
        return unsupported(scenario)

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """A fresh environment for the length of the block."""
        return self._provisioned(request)

    @asynccontextmanager
    async def _provisioned(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        if "provision" in self._fault_at:
            raise ProviderFault("provision", "the environment could not be set up", "run again")
        problems = unsupported_preconditions(request.preconditions)
        problems += tuple("reactions are not simulated" for _ in request.reactions)
        if problems:
            raise ProviderFault("provision", "; ".join(problems), "ask `unsupported` at plan time")
        environment = SimulatedEnvironment(request, self._clock, faults=self._faults, fault_at=self._fault_at)
        if self._front:
            self._front.open(environment)
        try:
            yield environment
        finally:
            environment.tear_down()
            if self._front:
                self._front.close(environment)


class SimulatedEnvironment:
    """One live cluster: the control plane, which only the runner holds."""

    def __init__(
        self,
        request: ProvisionRequest,
        clock: Callable[[], str],
        *,
        faults: frozenset[ObservationType],
        fault_at: frozenset[str],
    ) -> None:
        self._preconditions = request.preconditions
        self._clock = clock
        self._faults = faults
        self._fault_at = fault_at
        self._time = EnvironmentTime(clock())
        # Rounded, so that environments of the same hour share what all clusters start with.
        created = f"{self._time.past().now[:13]}:00:00Z"
        base = bootstrap_objects(CURRENT_RELEASE, created, aggregated=True)
        own = _with_own_ids(base, derived_seed(request.seed, "bootstrap"))
        self._cluster = Cluster(Ids(derived_seed(request.seed, "cluster")), own)
        self._dynamics = Dynamics(self._cluster)
        self._world = World(self._dynamics, self._time)
        self._audit = AuditLog()
        self._returned: list[Any] = []
        self._begun = self._answered = 0
        self._is_live = True
        account = establish(self._dynamics, self._preconditions, self._time.past())
        principal = service_account(account.namespace, account.name, account.uid)
        authenticator = Authenticator(seed=derived_seed(request.seed, "token"))
        authenticator.plant(self._cluster)
        token = authenticator.issue(self._cluster, principal, self._time.present().now)
        api = KubernetesApi(self._cluster, authenticator, self._audit, self._world)
        self._principal = principal.username
        self._access = EnvironmentAccess(
            id=f"{derived_seed(request.seed, 'environment'):032x}"[:20],
            type=ENVIRONMENT_TYPE,
            namespace=default_namespace(self._preconditions),
            token=token,
            client=AgentClient(self.answer, token),
        )
        self._api = api

    @property
    def access(self) -> EnvironmentAccess:
        """What the agent is handed: opaque ids, its token, and a client bound to it."""
        return self._access

    @access.setter
    def access(self, access: EnvironmentAccess) -> None:
        self._access = access

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        return self._principal

    @property
    def agent_source(self) -> str:
        """The address of the agent's connection."""
        return AGENT_SOURCE

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespaces keep their names."""
        return {name: name for name in namespaces_of(self._preconditions)}

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Put a payload in place now; what `unsupported` names is refused here too."""
        self._require_live("inject")
        problem = unsupported_stimulus(stimulus, self._preconditions)
        if not stimulus.is_payload:
            problem = problem or f"a stimulus of type {stimulus.type} is not put into an environment"
        if trigger not in IMMEDIATE_TIMINGS:
            problem = problem or f"trigger {trigger!r} is not simulated"
        if problem:
            raise ProviderFault("inject", problem, "ask `unsupported` at plan time")
        moment = self._time.present() if self._audit.events() else self._time.past()
        place_payload(self._dynamics, stimulus, self._preconditions, moment)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The audit log, every object in a fixed order, or the bodies of all answers on the agent's connection."""
        self._require_live("observe")
        # A request that broke off may have changed something that no record shows.
        if observation_type in self._faults or self._begun > self._answered:
            return self._observation(observation_type, SourceStatus.UNREACHABLE, {})
        data: dict[str, Any]
        match observation_type:
            case ObservationType.AUDIT_LOG:
                data = {"entries": self._audit.events()}
            case ObservationType.RESOURCE_STATE:
                self._world.come_to_rest()
                data = {"objects": [item for _, item in self._cluster.objects()]}
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
        return self._observation(observation_type, SourceStatus.AVAILABLE, data)

    def tear_down(self) -> None:
        """End the environment; nobody reaches it afterwards."""
        self._is_live = False

    def serve(self, request: Request) -> Response:
        """Answer a request on the agent plane; the answer is kept as evidence of what the agent was told."""
        self._require_live("request")
        self._begun += 1
        response = self._api.handle(request)
        self._answered += 1
        if not isinstance(response.body, Watch | Execution):
            self._returned.append(response.body)
        return response

    def answer(self, request: Request) -> Response:
        """Answer a request of an agent in this process, who takes a stream in one piece."""
        response = self.serve(request)
        complete = whole(response)
        if complete is not response:
            self._returned.append(complete.body)
        return complete

    def advance(self) -> bool:
        """Go on to the next thing that is due in the environment; False when nothing is."""
        return self._is_live and self._world.advance()

    def sent(self, text: str) -> None:
        """A piece of a streamed answer reached the agent."""
        self._returned.append(text)

    def _observation(
        self, observation_type: ObservationType, status: SourceStatus, data: Mapping[str, Any]
    ) -> Observation:
        source = EvidenceSource(_SOURCES[observation_type], status)
        return Observation(observation_type, self._clock(), source, data)

    def _require_live(self, operation: str) -> None:
        if operation in self._fault_at:
            raise ProviderFault(operation, f"the environment failed at {operation}", "run again")
        if not self._is_live:
            raise ProviderFault(operation, "the environment was torn down", "use it inside its block only")


class Front(Protocol):
    """Port: where environments are served over the network."""

    def open(self, environment: SimulatedEnvironment) -> None:
        """Serve an environment, and say in its access where."""
        ...

    def close(self, environment: SimulatedEnvironment) -> None:
        """Stop serving it."""
        ...


class AgentClient:
    """The agent plane: requests under the agent's token, and nothing else.

    Bodies cross as copies in both directions, as they would over a network.
    """

    __slots__ = ("_send", "_token")

    def __init__(self, send: Callable[[Request], Response], token: str) -> None:
        self._send = send
        self._token = token

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one API request; an error status is a Reply, not an exception."""
        given = {_wire(key).lower(): _wire(value) for key, value in (headers or {}).items()}
        asked = {_wire(key): _wire(value) for key, value in (query or {}).items()}
        carried = None if body is None else json.loads(_wire(json.dumps(body, ensure_ascii=False, allow_nan=False)))
        sent = {"authorization": f"Bearer {self._token}", **given}
        response = self._send(
            Request.of(_wire(method), _wire(path), asked, carried, _wire(content_type), sent, AGENT_SOURCE)
        )
        return Reply(response.status, _copied(response.body))


def _with_own_ids(layer: Layer, seed: int) -> Layer:
    """What all clusters start with, under uids by which nobody tells that it was here before (SI-02)."""
    number = sum(len(objects) for places in layer.values() for objects in places.values())
    # All of them drawn at once, because one by one they would cost a tenth of setting an environment up.
    drawn = hashlib.shake_256(b"%d" % seed).hexdigest(16 * number)
    uids = (_uid(drawn[start : start + 32]) for start in range(0, 32 * number, 32))
    return {
        row: {
            place: {name: {**obj, "metadata": {**obj["metadata"], "uid": next(uids)}} for name, obj in objects.items()}
            for place, objects in places.items()
        }
        for row, places in layer.items()
    }


def _uid(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _wire(text: str) -> str:
    """The text as it would arrive over a network: what UTF-8 cannot carry is replaced."""
    return str(text).encode(errors="replace").decode()


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
