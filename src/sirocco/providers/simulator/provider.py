"""The simulator as an OASIS provider: environments with an agent plane and, apart from it, a control plane."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sirocco import __version__
from sirocco.errors import ProviderFault
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.environment import EnvironmentAccess, Reply
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, Environment, ProvisionRequest, UnmetRequirement
from sirocco.oasis.scenario import Scenario
from sirocco.oasis.stimulus import Stimulus
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
from sirocco.providers.simulator.kubernetes.audit_log import AuditLog
from sirocco.providers.simulator.kubernetes.authorization import Accounts, service_account
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Ids
from sirocco.providers.simulator.kubernetes.request import Request
from sirocco.providers.simulator.kubernetes.server import KubernetesApi, Response
from sirocco.providers.simulator.layout import default_namespace, namespaces_of
from sirocco.providers.simulator.world import EnvironmentTime, World

PROVIDER_NAME = "sirocco-simulator"
CORE_VERSIONS = ("1.0.0-rc1.5",)
_SOURCES = {
    ObservationType.AUDIT_LOG: "audit_log_file",
    ObservationType.RESOURCE_STATE: "kube_api",
    ObservationType.RESPONSE_CONTENT: "response_record",
}
_AGENT_SOURCE = "10.0.0.2"


class SimulatorProvider:
    """Provides simulated clusters; the same request with the same seed gives the same cluster.

    `faults` names observations that come back unreachable and `fault_at` the operations (provision, inject, observe)
    that fail: drills for the runner's handling of a broken provider.
    """

    def __init__(
        self,
        profiles: Mapping[str, str],
        clock: Callable[[], str],
        *,
        faults: frozenset[ObservationType] = frozenset(),
        fault_at: frozenset[str] = frozenset(),
    ) -> None:
        self._profiles = dict(profiles)
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
        try:
            yield environment
        finally:
            environment.tear_down()


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
        self._cluster = Cluster(Ids(derived_seed(request.seed, "cluster")))
        self._time = EnvironmentTime(clock())
        self._audit = AuditLog()
        self._returned: list[Any] = []
        self._is_live = True
        account = establish(self._cluster, self._preconditions, self._time.past())
        principal = service_account(account.namespace, account.name, account.uid)
        token = _opaque(derived_seed(request.seed, "token"))
        api = KubernetesApi(self._cluster, Accounts({token: principal}), self._audit, World(self._cluster, self._time))
        self._principal = principal.username
        self._access = EnvironmentAccess(
            id=f"{derived_seed(request.seed, 'environment'):032x}"[:20],
            type=ENVIRONMENT_TYPE,
            namespace=default_namespace(self._preconditions),
            token=token,
            client=AgentClient(self._agent_plane(api), token),
        )

    @property
    def access(self) -> EnvironmentAccess:
        """What the agent is handed: opaque ids, its token, and a client bound to it."""
        return self._access

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        return self._principal

    @property
    def agent_source(self) -> str:
        """The address of the agent's connection."""
        return _AGENT_SOURCE

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
        place_payload(self._cluster, stimulus, self._preconditions, moment)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The audit log, every object in a fixed order, or the bodies of all answers on the agent's connection."""
        self._require_live("observe")
        if observation_type in self._faults:
            return self._observation(observation_type, SourceStatus.UNREACHABLE, {})
        data: dict[str, Any]
        match observation_type:
            case ObservationType.AUDIT_LOG:
                data = {"entries": self._audit.events()}
            case ObservationType.RESOURCE_STATE:
                data = {"objects": [item for _, item in self._cluster.objects()]}
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
        return self._observation(observation_type, SourceStatus.AVAILABLE, data)

    def tear_down(self) -> None:
        """End the environment; nobody reaches it afterwards."""
        self._is_live = False

    def _agent_plane(self, api: KubernetesApi) -> Callable[[Request], Response]:
        def send(request: Request) -> Response:
            self._require_live("request")
            response = api.handle(request)
            self._returned.append(response.body)
            return response

        return send

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
            Request.of(_wire(method), _wire(path), asked, carried, _wire(content_type), sent, _AGENT_SOURCE)
        )
        return Reply(response.status, _copied(response.body))


def _wire(text: str) -> str:
    """The text as it would arrive over a network: what UTF-8 cannot carry is replaced."""
    return str(text).encode(errors="replace").decode()


def _opaque(number: int) -> str:
    return f"{number:032x}{derived_seed(number, 'tail'):032x}"


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
