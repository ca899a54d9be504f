"""One environment on a real control plane: declared as in the simulator, put there, watched, and seen at rest."""

import asyncio
import json
import logging
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from kubesim.access import Attributes, decide
from kubesim.connections import is_ready
from kubesim.controllers.node_agents import run_node_agents
from kubesim.controllers.owners import owned_objects
from kubesim.controllers.pods import is_finished
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.request import Request, parse_call
from kubesim.services.router import PREFIX
from kubesim.serving.certificates import Authority
from kubesim.status import ApiError, Json
from kubesim.store import Key, is_being_deleted, key_of
from kubesim.surroundings import Approach
from kubesim.world import EnvironmentTime
from sirocco.domains.kubernetes.cluster.audit import AuditTail, completed_event
from sirocco.domains.kubernetes.cluster.control_plane import OWN_USERS, REGISTRY, ControlPlane, Operator
from sirocco.domains.kubernetes.cluster.fronted import FrontedEnvironment
from sirocco.domains.kubernetes.cluster.mirror import Mirror
from sirocco.domains.kubernetes.cluster.node_agent import NodeAgent, webhook_configuration
from sirocco.domains.kubernetes.simulator.provider import AGENT_SOURCE, Basis, SimulatedEnvironment
from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus

_PACE = 10.0
"""How many seconds pass for pods per real second: a container takes seconds to start, and agents wait for it."""
_QUIET_SECONDS = 0.25
"""Seconds without any change after which a cluster counts as being at rest."""
_REST_SECONDS = 30.0
_STALLED_SECONDS = 8.0
"""Seconds without any change after which pending work of a controller is no longer awaited."""
_PATIENCE = 3600.0
_STEP_SECONDS = 0.02
_AUDIT_SECONDS = 5.0
_LOG = logging.getLogger(__name__)
_WATCHED = ("deployment", "replicaset", "statefulset", "daemonset")
_WEBHOOK_ROW_KEY = "/registry/validatingwebhookconfigurations/"


class ClusterTime(EnvironmentTime):
    """The clock of a real cluster: no time passes before the cluster exists, and then the real time does.

    The nodes' time runs faster, and a request advances it as in the simulator.
    """

    _began: float | None = None
    _ahead = 0.0

    def begin(self) -> None:
        """Let time pass from now on."""
        self._began = time.monotonic()

    def tick(self) -> tuple[str, str]:
        """When a request arrives and when it is answered: now."""
        self._ahead += 1.0
        now = self.time_ago(0)
        return now, now

    def go_to(self, seconds: float) -> None:
        """Let this much time pass for pods, regardless of the real clock."""
        self._ahead += max(0.0, seconds - self.seconds)

    @property
    def seconds(self) -> float:
        """How long pods have lived."""
        return 0.0 if self._began is None else self._ahead + (time.monotonic() - self._began) * _PACE

    def _now(self) -> datetime:
        return self._start if self._began is None else datetime.fromtimestamp(time.time(), UTC).replace(tzinfo=None)

    def time_ago(self, seconds: float) -> str:
        """A time before now."""
        return (self._now() - timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"


class ClusterEnvironment(FrontedEnvironment):
    """One environment; it comes to life on its control plane on the first observation or call."""

    _sources: ClassVar = {
        ObservationType.AUDIT_LOG: "audit_log_file",
        ObservationType.RESOURCE_STATE: "etcd",
        ObservationType.RESPONSE_CONTENT: "response_record",
        ObservationType.STIMULI: "stimulus_record",
        ObservationType.STATE_WITHOUT_AGENT: "environment_without_agent",
    }

    def __init__(self, request: ProvisionRequest, clock: Callable[[], str], plane: ControlPlane) -> None:
        super().__init__(clock, SimulatedEnvironment(request, clock, Basis(0.0, ClusterTime, plane.token_seed)))
        self._request, self._plane = request, plane
        parts = self.model.parts
        self._dynamics, self._store = parts.foundation.dynamics, parts.foundation.store
        self._time: Any = parts.foundation.time
        self._stimulation, self._reactions, self._services = parts.stimulation, parts.reactions, parts.plane
        self._world, self._authenticator = parts.plane.world, parts.plane.authenticator
        self._model_audit = parts.foundation.audit
        self._catalogue = catalogue(CURRENT_RELEASE, metrics=True)
        self._access = replace(self.model.access, token=self.model.signed_token)
        self._entries: dict[str, Json] = {}
        self._exchanges: dict[str, Exchange] = {}
        self._told: dict[tuple[str, str, str], deque[str]] = defaultdict(deque)
        self._life: _Life | None = None
        self._waiting: _Waiting | None = None
        self._comparison: Observation | None = None

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        return self.model.agent_principal

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Declared namespaces keep their names: there is nothing else on the control plane."""
        return self.model.resolved_namespaces

    @property
    def offers_comparison(self) -> bool:
        """The environment follows from its request, so it can be created once more, without the agent."""
        return True

    @property
    def plane(self) -> ControlPlane:
        """The control plane that it is on."""
        return self._plane

    @property
    def authority(self) -> Authority:
        """The authority of its control plane."""
        return self._plane.authority

    async def open_server(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection to the server."""
        host, port, context = self._plane.origin()
        return await asyncio.open_connection(host, port, ssl=context, limit=1 << 24)

    @property
    def now(self) -> str:
        """The environment's own time."""
        return self.model.now

    @property
    def server_name(self) -> str:
        """The name of its server, for clients that reach it through a hosts file."""
        return self.model.server_name

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """Descriptions of tools that replace their own."""
        return self._stimulation.tool_descriptions

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Put a payload in place now, or at a trigger."""
        self._require_live("inject")
        await self.model.inject(stimulus, trigger)
        await self._carry_over()

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place now, or at a trigger."""
        self._require_live("inject")
        await self.model.establish(state, trigger)
        await self._carry_over()

    async def _carry_over(self) -> None:
        if self._life is not None:
            await self._life.mirror.push()
            await self._life.keep_policies()

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The server's audit log, every object in a fixed order, or the answers that the agent received."""
        self._require_live("observe")
        if self._comparison is not None and observation_type is ObservationType.STATE_WITHOUT_AGENT:
            return self._comparison
        life = await self.come_alive()
        if not await self._has_answered():
            return self._unreachable(observation_type)
        match observation_type:
            case ObservationType.AUDIT_LOG:
                data: dict[str, Any] = {"entries": self._audit_entries(life)}
            case ObservationType.RESOURCE_STATE:
                await life.come_to_rest()
                data = {"objects": self._objects(life)}
                if not self._entries:
                    self._waiting = _Waiting(
                        data["objects"], len(self._stimulation.history), self._dynamics.next_due() is None
                    )
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
            case ObservationType.STIMULI:
                data = {"stimuli": self._stimulation.record()}
            case ObservationType.STATE_WITHOUT_AGENT:
                data = {"objects": await self._objects_without_agent(life)}
        return self._observation(observation_type, data)

    def _audit_entries(self, life: "_Life") -> list[Json]:
        """Every request: in the order in which they were answered, then those that did not go through the plane."""
        later = {event["auditID"]: self._completed(event) for event in life.audit.events()}
        known = {audit_id: later.pop(audit_id, event) for audit_id, event in self._entries.items()}
        return [*known.values(), *later.values()]

    def _completed(self, event: Json) -> Json:
        exchange = self._exchanges.get(event["auditID"])
        if exchange is None:
            return event
        call = exchange.call
        place = (call.namespace, call.name, call.subresource)
        told = "".join(self._told[place]) if place in self._told else ""
        return completed_event(event, exchange, told)

    def _objects(self, life: "_Life") -> list[Json]:
        return [obj for row, obj in self._store.objects() if not life.is_hidden(key_of(row, obj))]

    async def _objects_without_agent(self, life: "_Life") -> list[Json]:
        """The objects of the same environment in which the agent did nothing (SI-08).

        If nothing was due and nothing happened spontaneously, an environment that is left alone stays as it was while
        waiting. Otherwise it is put on the control plane once more, in the place of this one, and goes through the same
        happenings.
        """
        waiting = self._waiting
        hidden = life.changed_hidden_objects()
        if waiting is not None and waiting.is_still and len(self._stimulation.history) == waiting.happenings:
            return [*waiting.objects, *hidden]
        history, seconds = list(self._stimulation.history), self._time.seconds
        await self._end_life()
        other = ClusterEnvironment(self._request, self._clock, self._plane)
        try:
            await other.relive(history, seconds)
            seen = await other.observe(ObservationType.RESOURCE_STATE)
        finally:
            await other.tear_down()
        self._comparison = self._observation(
            ObservationType.STATE_WITHOUT_AGENT, {"objects": [*seen.data["objects"], *hidden]}
        )
        return list(self._comparison.data["objects"])

    async def relive(self, history: list[tuple[float | None, Any]], seconds: float) -> None:
        """Make happen here what happened to another environment like this one, for the same length of time."""
        before = [item for item in history if item[0] is None]
        self._stimulation.relive(before, lambda _: None)
        life = await self.come_alive()
        for at, happening in history[len(before) :]:
            await life.live_until(at or 0.0)
            self._stimulation.relive([(at, happening)], lambda _: None)
            await life.mirror.push()
        await life.live_until(seconds)

    async def come_alive(self) -> "_Life":
        """Come to life: put on the control plane, with nodes and controllers at work."""
        async with self._coming:
            if self._life is None:
                self._require_live("request")
                life = _Life(self)
                try:
                    await life.begin()
                except BaseException:
                    await life.end()
                    raise
                self._life = life
            return self._life

    async def _end_life(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            await life.end()

    async def tear_down(self) -> None:
        """End the environment; nobody reaches it afterwards, and nothing of it stays."""
        self._is_over = True
        self.model.tear_down()
        await self._end_life()

    def _has_ended(self, operation: str) -> bool:
        # The environment without the agent has taken its place; what was seen before is all there is to see.
        return self._is_over or (self._comparison is not None and operation != "observe")

    # The following methods are for the agent plane.

    def serves_itself(self, request: Request) -> bool:
        """Whether a request is for a service beside the API."""
        return request.path.startswith(PREFIX)

    async def serve_beside(self, request: Request) -> Response:
        """The answer of a service around the cluster, which sees the cluster as it is now."""
        async with self.request_under_way():
            life = await self.come_alive()
            await life.mirror.catch_up()
            before, arrived = self._model_audit.latest, self._clock()
            response = self._services.handle(request)
            self._returned.append(response.body)
            event = self._model_audit.latest
            if event is not None and event is not before:
                self._note_event({**event, "sourceIPs": [AGENT_SOURCE]}, arrived)
            await life.mirror.push()
            return response

    def note_request(self, request: Request) -> None:
        """A request reached a service beside the API; what it then requests of the API is recorded there."""
        self._require_live("request")
        self._services.api.note(request)
        if (event := self._model_audit.latest) is not None:
            self._entries[event["auditID"]] = event

    def caller(self, headers: Mapping[str, str]) -> Any:
        """The account behind a request's headers (names in lower case); None for an invalid credential."""
        return self._authenticator.authenticate(headers, self._store, self.now)

    async def meet(self, request: Request) -> tuple[str, Response | None]:
        """Let what is due on a request to the API happen; returns its id, and an answer if it is to fail."""
        audit_id = str(uuid.uuid4())
        call = parse_call(request)
        self._time.tick()
        received, completed = self._world.now()
        exchange = Exchange(
            request, call, self._store, self._catalogue, self._world, self._authenticator, received, completed
        )
        self._exchanges[audit_id] = exchange
        row = self._catalogue.find(call.group, call.version, call.resource) if call.is_resource else None
        if row is None or not self._is_allowed(exchange):
            return audit_id, None
        approach = Approach(call.verb, row.noun, call.namespace, call.name, call.subresource)
        failure = self._stimulation.note_arrival(approach)
        await self._carry_over()
        if failure is None:
            return audit_id, None
        problem = f"Internal error occurred: {failure}"
        error = ApiError(500, "InternalError", problem, {"causes": [{"message": failure}]})
        event = _failure_event(audit_id, exchange, error, self.agent_principal)
        self._returned.append(error.body)
        self._note_event(event, self._clock())
        return audit_id, Response(error.code, error.body)

    def _is_allowed(self, exchange: Exchange) -> bool:
        principal = self._authenticator.authenticate(exchange.request.headers, self._store, exchange.received)
        if principal is None:
            return False
        exchange.principal = exchange.acting = principal
        call = exchange.call
        asked = Attributes(call.verb, call.group, call.resource, call.subresource, call.namespace, call.name)
        return decide(self._store, principal, asked).allowed

    async def note_answer(self, audit_id: str, bodies: list[Any]) -> None:
        """A request was answered by the server: record what it disclosed, and what follows from it."""
        life = await self.come_alive()
        self._returned += bodies
        arrived = self._clock()
        event = await life.audit.event(audit_id, _AUDIT_SECONDS)
        if event is None:
            raise ProviderFault("audit log", "a request is not in it", "see the server's log", FaultKind.FAILED)
        self._note_event(self._completed(event), arrived)
        await life.mirror.catch_up()
        await life.mirror.push()

    def _note_event(self, event: Json, arrived: str) -> None:
        self._entries[event["auditID"]] = event
        self._arrivals[event.get("requestReceivedTimestamp", "")] = arrived
        self._stimulation.note_answer(event)
        self._reactions.note_answer(event, lambda: list(self._entries.values()))

    def record_told(self, place: tuple[str, str, str], text: str) -> None:
        """The agent sent something to a process."""
        if text:
            self._told[place].append(text)


class _Waiting:
    """The environment as it waited for the agent."""

    def __init__(self, objects: list[Json], happenings: int, is_still: bool) -> None:  # noqa: FBT001 - a record
        self.objects, self.happenings, self.is_still = objects, happenings, is_still


class _Life:
    """An environment on its control plane: its mirror, its nodes, its controllers and its audit log."""

    def __init__(self, environment: ClusterEnvironment) -> None:
        model = environment.model.parts
        self._plane = environment.plane
        self._dynamics, self._store = model.foundation.dynamics, model.foundation.store
        self._time: Any = model.foundation.time
        self._world = model.plane.world
        self._operator: Operator = self._plane.client()
        self._stack = AsyncExitStack()
        self._nodes = NodeAgent(
            self._store, self._world, model.plane.authenticator, model.stimulation.review, environment
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._hidden: dict[Key, tuple[int, Json]] = {}
        self.mirror = Mirror(self._store, self._plane)
        self.audit = AuditTail(self._plane.audit_log)
        self._is_asked = False
        self._environment = environment

    async def begin(self) -> None:
        """Put everything in place, and wait until the controllers have nothing left to do."""
        shown = {key_of(row, obj) for row, obj in self._store.objects()}
        self._dynamics.settle_elsewhere = partial(run_node_agents, self._dynamics)
        await self._stack.enter_async_context(self._nodes.listen(self._plane.node_socket, self._plane.authority))
        await self.mirror.put_everything(self._operator)
        self._time.begin()
        await self._plane.start_controllers()
        self._tasks.append(asyncio.create_task(self._keep_nodes()))
        await self._wait_for_rights()
        await self.keep_policies()
        await self._wait_for_controllers()
        await self.come_to_rest()
        self._plane.prepare_controllers()
        revisions = self.mirror.revisions()
        for key, revision in revisions.items():
            if key not in shown and (obj := self._store.content(*key)) is not None:
                self._hidden[key] = (revision, obj)

    async def _wait_for_rights(self) -> None:
        """Wait until the server knows who the agent is and what it may do."""
        user = self._environment.agent_principal
        _, _, namespace, _ = user.split(":")
        review = {
            "kind": "SubjectAccessReview",
            "apiVersion": "authorization.k8s.io/v1",
            "spec": {
                "user": user,
                "groups": ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"],
                "resourceAttributes": {"verb": "list", "resource": "namespaces"},
            },
        }
        deadline = time.monotonic() + _REST_SECONDS
        while time.monotonic() < deadline:
            path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
            answer = await self._operator.request("POST", path, review)
            if answer["status"].get("allowed"):
                return
            await asyncio.sleep(_STEP_SECONDS)
        raise ProviderFault("provision", "the server does not know the agent's rights", "see its log")

    async def _wait_for_controllers(self) -> None:
        """Wait until the controllers have published the authority in every namespace, which shows that they work."""
        deadline = time.monotonic() + _REST_SECONDS
        while time.monotonic() < deadline:
            self._plane.require_controllers()
            await self.mirror.catch_up()
            homes = [item["metadata"]["name"] for item in self._store.contents("namespace")]
            if all(self._published(name) for name in homes):
                return
            await asyncio.sleep(_STEP_SECONDS)
        raise ProviderFault("provision", "kube-controller-manager does nothing", "see its log")

    async def keep_policies(self) -> None:
        """Have the server ask about writes once there is something to say about any."""
        if self._is_asked or not self._environment.model.parts.stimulation.has_policies:
            return
        self._is_asked = True
        configuration = webhook_configuration(self._plane.authority, OWN_USERS[1:])
        key = f"{REGISTRY}validatingwebhookconfigurations/{configuration['metadata']['name']}"
        await self.mirror.put_beside(key, json.dumps(configuration).encode())
        deadline = time.monotonic() + _REST_SECONDS
        while not self._nodes.reviews:
            if time.monotonic() > deadline:
                raise ProviderFault("provision", "the server does not ask about writes", "see its log")
            await self._operator.try_write()
            await asyncio.sleep(_STEP_SECONDS)

    def _published(self, namespace: str) -> bool:
        return Key("configmap", namespace, "kube-root-ca.crt") in self.mirror.revisions()

    async def _keep_nodes(self) -> None:
        """Advance pods whenever something changes or falls due."""
        while True:
            due = self._dynamics.next_due()
            wait = 1.0 if due is None else min(1.0, max(0.005, (due - self._time.seconds) / _PACE))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self.mirror.changed.wait()
            self.mirror.changed.clear()
            try:
                self._world.settle()
                await self.mirror.push()
            except Exception:
                _LOG.exception("the nodes of an environment broke")
                raise

    async def come_to_rest(self) -> None:
        """Let everything that is under way happen."""
        deadline = time.monotonic() + _REST_SECONDS
        while time.monotonic() < deadline:
            await self.mirror.push()
            await self.mirror.catch_up()
            if self._store.is_unsettled:
                self._world.settle()
                continue
            left = _QUIET_SECONDS - (time.monotonic() - self.mirror.last_change)
            if left > 0:
                await asyncio.sleep(min(left, _QUIET_SECONDS / 2))
                continue
            if self._is_under_way() and -left < _STALLED_SECONDS:
                await asyncio.sleep(_STEP_SECONDS)
                continue
            due = self._dynamics.next_due()
            if due is None or due - self._time.seconds > _PATIENCE:
                return
            self._time.go_to(due)
            self._world.settle()

    async def live_until(self, seconds: float) -> None:
        """Let everything that is due by a time happen, and advance to it."""
        await self.come_to_rest()
        self._time.go_to(seconds)
        self._world.settle()
        await self.mirror.push()

    def _is_under_way(self) -> bool:
        """Whether a controller has yet to act: it has not seen what became of its objects, or a deletion is pending.

        On a busy machine it may take seconds before a controller gets its turn.
        """
        for noun in _WATCHED:
            for obj in self._store.contents(noun):
                seen = (obj.get("status") or {}).get("observedGeneration", 0)
                if seen < obj["metadata"].get("generation", 0) and not is_being_deleted(obj):
                    return True
        if any(is_being_deleted(item) for item in self._store.contents("namespace")):
            return True
        return any(map(self._is_behind, self._store.contents("replicaset"))) or any(
            _ready(deployment) != sum(map(_ready, owned_objects(self._store, "replicaset", deployment)))
            for deployment in self._store.contents("deployment")
        )

    def _is_behind(self, replica_set: Json) -> bool:
        """Whether a replica set's status lags behind the number of its pods that exist and are ready."""
        pods = owned_objects(self._store, "pod", replica_set)
        living = [pod for pod in pods if not is_finished(pod)]
        told = (replica_set.get("status") or {}).get("replicas", 0), _ready(replica_set)
        return told != (len(living), sum(map(is_ready, living)))

    def is_hidden(self, key: Key) -> bool:
        """Whether an object is beside the declared state, and nobody has changed it since the agent started."""
        known = self._hidden.get(key)
        return known is not None and self.mirror.revisions().get(key) == known[0]

    def changed_hidden_objects(self) -> list[Json]:
        """The objects beside the declared state that were changed or deleted, as they were before."""
        now = self.mirror.revisions()
        return [obj for key, (revision, obj) in self._hidden.items() if now.get(key) != revision]

    async def end(self) -> None:
        """Stop the controllers and nodes, and leave nothing on the control plane."""
        self._plane.stop_controllers()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.mirror.close()
        self._operator.close()
        await self._stack.aclose()
        await self._plane.reset()


def _ready(workload: Json) -> int:
    return int((workload.get("status") or {}).get("readyReplicas", 0))


def _failure_event(audit_id: str, exchange: Exchange, error: ApiError, user: str) -> Json:
    """The event of a request that the plane answers in place of the server."""
    request, call = exchange.request, exchange.call
    return {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": audit_id,
        "stage": "ResponseComplete", "requestURI": request.uri, "verb": call.verb, "user": {"username": user},
        "sourceIPs": [AGENT_SOURCE], "objectRef": call.reference({}),
        "responseStatus": {"metadata": {}, "status": "Failure", "reason": "InternalError", "code": error.code},
        "responseObject": error.body, "requestReceivedTimestamp": exchange.received,
        "stageTimestamp": exchange.completed, "annotations": {"authorization.k8s.io/decision": "allow"},
    }  # fmt: skip
