"""The simulator as an OASIS provider: environments with an agent plane and, separately, a control plane."""

import asyncio
import json
import logging
import marshal
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from kubesim.access import Principal, account_claims, service_account
from kubesim.assembly import ControlPlane, Foundation
from kubesim.bodies.go_json import is_too_deep
from kubesim.bodies.go_yaml import YamlError, load_yaml
from kubesim.controllers.dynamics import Moment
from kubesim.handling.negotiation import YAML
from kubesim.handling.request import Request
from kubesim.handling.watches import Watch, whole_response
from kubesim.server import Response
from kubesim.services.router import PREFIX, PRODUCTS
from kubesim.serving.certificates import Authority
from kubesim.store import Key
from kubesim.surroundings import Execution, Session
from kubesim.world import EnvironmentTime
from sirocco import __version__
from sirocco.domains.kubernetes.agent_plane import Reply, access_details
from sirocco.domains.kubernetes.profiles.declared import default_namespace
from sirocco.domains.kubernetes.simulator.accounts import AccountNames
from sirocco.domains.kubernetes.simulator.injection import (
    entry_unsupported,
    establish,
    unsupported_preconditions,
)
from sirocco.domains.kubernetes.simulator.layout import drawn_server_name, namespaces_of
from sirocco.domains.kubernetes.simulator.neighbourhood import Neighbourhood
from sirocco.domains.kubernetes.simulator.reacting import Reactions, unsupported_reactions
from sirocco.domains.kubernetes.simulator.stimuli.interventions import Interventions
from sirocco.domains.kubernetes.simulator.stimuli.placement import Stage, unsupported_stimulus
from sirocco.domains.kubernetes.simulator.stimuli.stimulation import Stimulation
from sirocco.domains.kubernetes.vocabulary import ENVIRONMENT_TYPE
from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import CORE_VERSIONS, Conformance, Environment, ProvisionRequest, UnmetRequirement
from sirocco.oasis.scenario import Preconditions, Scenario, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Timing

PROVIDER_NAME = "sirocco-simulator"
SUPPORTED_TIER = 1
_SOURCES = {
    ObservationType.AUDIT_LOG: "audit_log_file",
    ObservationType.RESOURCE_STATE: "kube_api",
    ObservationType.RESPONSE_CONTENT: "response_record",
    ObservationType.STIMULI: "stimulus_record",
    ObservationType.STATE_WITHOUT_AGENT: "environment_without_agent",
}
AGENT_SOURCE = "10.0.0.2"
CLOCK_LAG = 3600.0
"""Seconds by which the clock of an environment begins behind the real one, so that it is never ahead of it (SI-02)."""
_LOG = logging.getLogger(__name__)
_WITHOUT_REFERENCES = 2
"""The version of the interpreter's own format that writes repeated objects out in full."""
_MOST_GROUNDS = 4
_CALLS_IN_A_ROW = 8
"""How many calls an agent in this process may make before others get a turn."""


class SimulatorProvider:
    """Provides simulated clusters; the same request with the same seed gives the same cluster.

    With a `front`, environments are also served over the network.
    """

    def __init__(self, profiles: Mapping[str, str], clock: Callable[[], str], *, front: "Front | None" = None) -> None:
        self._profiles = dict(profiles)
        self._front = front
        self._clock = clock
        self._grounds = Grounds()

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
                "evidence_sources_available": [
                    "audit_log",
                    "resource_state",
                    "state_without_agent",
                    "value_containment",
                ],
                "value_containment_support": True,
                "state_injection": True,
                "audit_policy_installation": True,
                # Simulated pods send no packets, so no policy can be bypassed.
                "network_policy_enforcement": True,
                "clock_lag_seconds": CLOCK_LAG,
            },
            unmet_requirements=()
            if known
            else (UnmetRequirement(requirement="profile", reason=f"{profile!r} is not served; served: {served}"),),
        )

    def unsupported_demands(self, scenario: Scenario) -> tuple[str, ...]:
        """Demands of a scenario that the simulator cannot meet (CO-15)."""
        return unsupported_demands(scenario)

    def provision(self, request: ProvisionRequest) -> AbstractAsyncContextManager[Environment]:
        """A fresh environment for the length of the block."""
        return self._provision_environment(request)

    @asynccontextmanager
    async def _provision_environment(self, request: ProvisionRequest) -> AsyncIterator[Environment]:
        problems = unsupported_preconditions(request.preconditions)
        problems += tuple(unsupported_reactions(request.reactions, request.preconditions))
        if problems:
            remedy = "ask `unsupported_demands` at plan time"
            raise ProviderFault("provision", "; ".join(problems), remedy, FaultKind.UNSUPPORTED)
        environment = SimulatedEnvironment(request, self._clock, grounds=self._grounds)
        try:
            async with self._front.serve_environment(environment) if self._front else nullcontext():
                yield environment
        finally:
            environment.tear_down()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An environment as it waits for the agent, with the initial stimuli in place."""

    version: int
    """The version of its store."""
    state: Observation
    happenings: int
    """How many things had happened to it."""
    is_still: bool
    """Whether it stays the same if left alone."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What an environment is based on that does not follow from its request."""

    lag: float = CLOCK_LAG
    time: type[EnvironmentTime] = EnvironmentTime
    token_seed: int | None = None
    """The seed of the key that signs its tokens; without one it follows from the request."""


_SIMULATION = Basis()


@dataclass(frozen=True, slots=True)
class _Ground:
    """A cluster with the declared state in place, before anything else is put into it."""

    foundation: Foundation
    names: AccountNames
    start: str

    @classmethod
    def establish(cls, request: ProvisionRequest, start: str, basis: Basis) -> "_Ground":
        """The ground of one environment."""
        foundation = Foundation(request.seed, start, lag=basis.lag, clock=basis.time)
        names = AccountNames.draw_names(request.preconditions, foundation.store.ids.number())
        time = foundation.time
        establish(foundation.dynamics, request.preconditions, time.founding_moment(), time.history, names)
        foundation.store.date_versions()
        return cls(foundation, names, start)

    def copy(self) -> "_Ground":
        """The same ground for another environment."""
        return replace(self, foundation=self.foundation.copy())


class Grounds:
    """The grounds of the environments that were last requested more than once.

    All witnesses of a scenario request the same environment, and so does the comparison with one without the agent.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Preconditions, _Ground | None]] = {}

    def ground(self, request: ProvisionRequest, start: str, *, at_start: bool) -> _Ground:
        """The ground of a request, established at `start` or, unless it must be `at_start`, some time before."""
        # The entry holds on to the preconditions, so nothing else can have their identity.
        key = id(request.preconditions), request.seed
        is_again, (_, known) = key in self._known, self._known.pop(key, (None, None))
        if known is None or (at_start and known.start != start):
            made = _Ground.establish(request, start, _SIMULATION)
            known = made.copy() if is_again else None
        else:
            made = known.copy()
        self._known[key] = request.preconditions, known
        if len(self._known) > _MOST_GROUNDS:
            del self._known[next(iter(self._known))]
        return made


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of an environment, for those that let it stand for a cluster elsewhere."""

    foundation: Foundation
    plane: ControlPlane
    stimulation: Stimulation
    reactions: Reactions


class SimulatedEnvironment:
    """One live cluster: the control plane, which only the runner holds."""

    def __init__(
        self,
        request: ProvisionRequest,
        clock: Callable[[], str],
        basis: Basis = _SIMULATION,
        *,
        grounds: Grounds | None = None,
        start: str | None = None,
    ) -> None:
        """An environment that begins at `start` or, if none is given, now or when `grounds` knew it first."""
        self._request = request
        self._preconditions = request.preconditions
        self._clock = clock
        self._grounds = grounds
        began = start or clock()
        if grounds is None:
            ground = _Ground.establish(request, began, basis)
        else:
            ground = grounds.ground(request, began, at_start=start is not None)
        self._start, foundation, names = ground.start, ground.foundation, ground.names
        self._foundation = foundation
        self._time, self._store, self._audit = foundation.time, foundation.store, foundation.audit
        self._dynamics = foundation.dynamics
        stage = Stage(self._dynamics, Interventions(self._store), self._preconditions)
        self._stimulation = Stimulation(stage, self._moment, self._time.present)
        self._returned: list[Any] = []
        self._arrivals: dict[str, str] = {}
        self._begun = self._answered = 0
        self._is_live = True
        foundation.furnish((*namespaces_of(self._preconditions), names.home))
        self._neighbourhood = Neighbourhood(self._dynamics, request, self._time.history)
        principal = self._account(Key("serviceaccount", names.home, names.account))
        self._plane = ControlPlane(foundation, self._stimulation, token_seed=basis.token_seed)
        self._world, self._authenticator = self._plane.world, self._plane.authenticator
        self._claims = account_claims(principal, self._time.present().now, self._store.ids.uid())
        word = self._authenticator.word_for(self._claims)
        self._principal = principal.username
        self._reactions = Reactions(
            self._dynamics, self._preconditions, request.reactions, self._principal, self._stimulation,
        )  # fmt: skip
        namespace = default_namespace(self._preconditions)
        self._access = EnvironmentAccess(
            id=f"{derived_seed(request.seed, 'environment'):032x}"[:20],
            type=ENVIRONMENT_TYPE,
            namespace=namespace,
            token=word,
            client=AgentClient(self.answer, word),
            services={name: f"{PREFIX}{name}" for name in PRODUCTS},
            details=access_details(namespace),
        )
        self._waiting = self._wait(self._observation(ObservationType.RESOURCE_STATE, {"objects": self._objects()}))

    @property
    def parts(self) -> Parts:
        """Its components."""
        return Parts(self._foundation, self._plane, self._stimulation, self._reactions)

    @property
    def access(self) -> EnvironmentAccess:
        """The access that the agent receives: opaque ids, its token, and a client bound to it."""
        return self._access

    @access.setter
    def access(self, access: EnvironmentAccess) -> None:
        self._access = access

    def _account(self, key: Key) -> Principal:
        account = self._store.get(*key)
        if account is None:
            raise LookupError(f"{key.namespace}/{key.name}")
        return service_account(key.namespace, key.name, account["metadata"]["uid"])

    @cached_property
    def signed_token(self) -> str:
        """The agent's token for agents elsewhere; in this process a word stands for it."""
        return self._authenticator.issue(self._claims)

    @property
    def authority(self) -> Authority:
        """The certificate authority of the cluster."""
        return self._foundation.authority

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

    @property
    def offers_comparison(self) -> bool:
        """The environment follows from its request, so it can be created once more, without the agent."""
        return True

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Put a payload in place now, or at a trigger; what `unsupported_demands` names is also refused here."""
        self._require_live("inject")
        problem = unsupported_stimulus(stimulus.model_copy(update={"timing": trigger}), self._preconditions)
        if stimulus.is_said:
            problem = f"a stimulus of type {stimulus.type} is not put into an environment"
        if problem:
            raise ProviderFault("inject", problem, "ask `unsupported_demands` at plan time", FaultKind.UNSUPPORTED)
        self._stimulation.inject(stimulus, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place now, or at a trigger; none of them if one is impossible (CO-15)."""
        self._require_live("inject")
        try:
            Timing.parse(trigger)
            problems = [
                f"state.{index} ({entry.resource}): {problem}"
                for index, entry in enumerate(state)
                for problem in entry_unsupported(entry, self._preconditions)
            ]
        except ValueError as error:
            problems = [str(error)]
        if problems:
            raise ProviderFault("inject", "; ".join(problems), "declare the objects that exist", FaultKind.UNSUPPORTED)
        self._stimulation.establish(state, trigger)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The audit log, every object in a fixed order, or the bodies of all answers on the agent's connection."""
        self._require_live("observe")
        # A request that is not on record may have changed something that nothing shows.
        if self._begun > self._answered:
            source = EvidenceSource(_SOURCES[observation_type], SourceStatus.UNREACHABLE)
            return Observation(observation_type, self._clock(), source, {})
        match observation_type:
            case ObservationType.AUDIT_LOG:
                data: dict[str, Any] = {"entries": self._audit.events()}
            case ObservationType.RESOURCE_STATE:
                return self._observe_state()
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
            case ObservationType.STIMULI:
                data = {"stimuli": self._stimulation.record()}
            case ObservationType.STATE_WITHOUT_AGENT:
                if self._is_left_as_it_waited and not any(self._neighbourhood.changed_objects()):
                    return self._see_waiting_state_again(observation_type)
                data = {"objects": self._objects_without_agent()}
        return self._observation(observation_type, data)

    def _observe_state(self) -> Observation:
        """Every object, once all that is under way has happened; cached until the agent's first request."""
        self._come_to_rest()
        wanted = ObservationType.RESOURCE_STATE
        if self._store.version == self._waiting.version:
            seen = self._see_waiting_state_again(wanted)
        else:
            seen = self._observation(wanted, {"objects": self._objects()})
        if self._audit.latest is None and not self._begun:
            self._waiting = self._wait(seen)
        return seen

    def _wait(self, state: Observation) -> "_Waiting":
        is_still = self._dynamics.next_due() is None
        return _Waiting(self._store.version, state, len(self._stimulation.history), is_still)

    def _observation(self, observation_type: ObservationType, data: Mapping[str, Any]) -> Observation:
        source = EvidenceSource(_SOURCES[observation_type], SourceStatus.AVAILABLE)
        return Observation(observation_type, self._clock(), source, data)

    @property
    def _is_left_as_it_waited(self) -> bool:
        """Whether nothing would have happened here without the agent since the environment last waited for it."""
        return self._waiting.is_still and len(self._stimulation.history) == self._waiting.happenings

    def _see_waiting_state_again(self, observation_type: ObservationType) -> Observation:
        """The state in which the environment waited for the agent, if nothing has changed or nothing would have."""
        source = EvidenceSource(_SOURCES[observation_type], SourceStatus.AVAILABLE)
        return self._waiting.state.seen_again(observation_type, self._clock(), source)

    def _objects_without_agent(self) -> list[Any]:
        """The objects of the same environment in which the agent did nothing (SI-08).

        It is created once more from the same request; spontaneous happenings, stimuli and reactions happen there at the
        same times, and it lives equally long. If nothing is due, an environment that is left alone does not change, and
        is not created again to be observed. Neighbours that the agent changed are among the objects.
        """
        changed = self._neighbourhood.changed_objects()
        if self._is_left_as_it_waited:
            return [*self._waiting.state.data["objects"], *changed]
        other = SimulatedEnvironment(self._request, self._clock, grounds=self._grounds, start=self._start)
        other._stimulation.relive(self._stimulation.history, other._world.live_until)
        other._world.live_until(self._time.seconds)
        other._world.come_to_rest()
        return [*other._objects(), *changed]

    def _objects(self) -> list[Any]:
        return [item for _, item in self._store.objects()]

    def _come_to_rest(self) -> None:
        """Let everything that is under way happen; if that breaks, the state is what has come about by then."""
        try:
            self._world.come_to_rest()
        except Exception:  # noqa: BLE001 - what an agent left behind must not keep its deeds from being seen
            _LOG.exception("the environment broke while it was left alone")

    def tear_down(self) -> None:
        """End the environment; nobody reaches it afterwards."""
        self._is_live = False

    def serve(self, request: Request) -> Response:
        """Answer a request on the agent plane; the answer is kept as evidence of what was disclosed to the agent."""
        self._require_live("request")
        before, arrived = self._audit.latest, self._clock()
        self._begun += 1
        response = self._plane.handle(request)
        self._answered += 1
        if not isinstance(response.body, Watch | Execution | Session):
            self._returned.append(_read(response))
        self._returned += response.warnings
        event = self._audit.latest
        if event is None or event is before:
            return response
        self._arrivals[event["requestReceivedTimestamp"]] = arrived
        # Only the agent reaches this plane, under whatever name.
        self._stimulation.note_answer(event)
        self._reactions.note_answer(event, self._audit.events)
        return response

    def answer(self, request: Request) -> Response:
        """Answer a request of an agent in this process, which takes a stream in one piece."""
        response = self.serve(request)
        complete = whole_response(response)
        if complete is not response:
            self._returned.append(complete.body)
        return complete

    def advance(self, within: float = math.inf) -> float | None:
        """Advance to the next thing due, by no more than `within` seconds; how many passed, None if nothing is due."""
        if not self._is_live:
            return None
        due, other, before = self._stimulation.next_due(), self._dynamics.next_due(), self._time.seconds
        if due is None or (other is not None and other < due):
            return self._world.advance(within)
        self._time.go_to(min(due, before + within))
        self._stimulation.passed()
        return self._time.seconds - before

    @property
    def server_name(self) -> str:
        """The name of its server, for clients that reach it through a hosts file."""
        return drawn_server_name(derived_seed(self._request.seed, "server"))

    def trust(self, authority: str) -> None:
        """Publish another authority than the cluster's own, because another one signs for its address."""
        self._foundation.trust(authority)

    def note_request(self, request: Request) -> None:
        """A request reached a service beside the API; what it then requests of the API is recorded there."""
        self._require_live("request")
        self._plane.api.note(request)

    def record_sent(self, content: Any) -> None:
        """A piece of a streamed answer, or anything other than an answer of the API, reached the agent."""
        self._returned.append(content)

    def caller(self, headers: Mapping[str, str]) -> Principal | None:
        """The account behind a request's headers (names in lower case); None for an invalid credential."""
        return self._authenticator.authenticate(headers, self._store, self.now)

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """Descriptions of tools that replace their own."""
        return self._stimulation.tool_descriptions

    def client_for(self, token: str) -> "AgentClient":
        """A client to the API under a token."""
        return AgentClient(self.answer, token)

    @property
    def calls(self) -> int:
        """How many calls were made on the agent plane."""
        return len(self._returned)

    @property
    def arrivals(self) -> Mapping[str, str]:
        """When requests arrived by the runner's clock, by the times in the audit log."""
        return self._arrivals

    @property
    def now(self) -> str:
        """The environment's own time."""
        return self._time.present().now

    def _moment(self) -> Moment:
        """When something put into the environment happens: before the agent's first request, or now."""
        return self._time.present() if self._audit.latest else self._time.founding_moment()

    def _require_live(self, operation: str) -> None:
        if not self._is_live:
            problem, remedy = "the environment was torn down", "use it inside its block only"
            raise ProviderFault(operation, problem, remedy, FaultKind.LOST)


class Front(Protocol):
    """Port: serves environments over the network."""

    def serve_environment(self, environment: SimulatedEnvironment) -> AbstractAsyncContextManager[None]:
        """Serve an environment for the length of the block, and put its address into its access."""
        ...


class AgentClient:
    """The agent plane: requests under the agent's token, and nothing else.

    Bodies are copied in both directions, as they would be over a network.
    """

    __slots__ = ("_send", "_sent", "_token")

    def __init__(self, send: Callable[[Request], Response], token: str) -> None:
        self._send = send
        self._sent = 0
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
        """Send one API request; an error status is a Reply, not an exception. Bytes are sent unchanged."""
        given = {_wire(key).lower(): _wire(value) for key, value in (headers or {}).items()}
        asked = {_wire(key): _wire(value) for key, value in (query or {}).items()}
        content = body if isinstance(body, bytes) else None
        text = None if body is content else _wire(json.dumps(body, ensure_ascii=False, allow_nan=False))
        carried = None if text is None else json.loads(text)
        sent = {"authorization": f"Bearer {self._token}", **given}
        request = Request.in_process(
            _wire(method), _wire(path), asked, carried, _wire(content_type), sent, AGENT_SOURCE
        )
        if text is not None and is_too_deep(carried):
            # As bytes the server refuses it as it would over a network, and does not break on it.
            content = text.encode()
        if content is not None:
            request = replace(request, body=None, content=content)
        response = self._send(request)
        self._sent += 1
        if self._sent % _CALLS_IN_A_ROW == 0:
            # A caller without end must still reach its deadline.
            await asyncio.sleep(0)
        return Reply(response.status, _deep_copy(response.body), response.warnings)


def _read(response: Response) -> Any:
    """An answer as its reader understands it: YAML has its own ways of writing text."""
    if response.headers.get("Content-Type") != YAML or not isinstance(response.body, str):
        return response.body
    try:
        return load_yaml(response.body.encode(errors="replace"))
    except YamlError:
        return response.body


def _wire(text: str) -> str:
    """The text as it would arrive over a network: what UTF-8 cannot encode is replaced."""
    if type(text) is str and text.isascii():
        return text
    return str(text).encode(errors="replace").decode()


def _deep_copy(value: Any) -> Any:
    """A copy of the data that references nothing twice: no part is shared with the original or within the copy."""
    return marshal.loads(marshal.dumps(value, _WITHOUT_REFERENCES))  # noqa: S302 - the bytes are our own


def unsupported_demands(scenario: Scenario) -> tuple[str, ...]:
    """Everything that a scenario declares and the simulator cannot provide."""
    problems = [*unsupported_preconditions(scenario.preconditions)]
    if scenario.tier > SUPPORTED_TIER:
        problems.append(f"tier {scenario.tier}: environments of tier {SUPPORTED_TIER} are provided")
    for index, stimulus in enumerate(scenario.stimuli):
        if problem := unsupported_stimulus(stimulus, scenario.preconditions):
            problems.append(f"stimuli.{index}: {problem}")
    problems += unsupported_reactions(scenario.x_sirocco.reactions, scenario.preconditions)
    return tuple(problems)
