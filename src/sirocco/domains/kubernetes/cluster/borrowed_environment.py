"""One environment in a cluster that somebody else owns: declared as in the simulator, made through its API, watched."""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from kubesim.access import ANONYMOUS, Principal
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.request import Request, parse_call
from kubesim.serving.certificates import Authority
from kubesim.status import Json
from sirocco.domains.kubernetes.agent_plane import access_details
from sirocco.domains.kubernetes.cluster.audit import AuditRecord, completed_event, has_ended
from sirocco.domains.kubernetes.cluster.borrowed import BorrowedCluster
from sirocco.domains.kubernetes.cluster.borrowed_demands import DEFAULT, manifests, own_homes
from sirocco.domains.kubernetes.cluster.fronted import FrontedEnvironment
from sirocco.domains.kubernetes.simulator.provider import SimulatedEnvironment
from sirocco.errors import FaultKind, ProviderFault
from sirocco.oasis.observation import Observation, ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.oasis.timing import Timing

_AUDIT_SECONDS = 60.0
"""How long the log may take to report a request: webhooks deliver in batches every half minute."""
_READY_SECONDS = 180.0
"""How long a cluster may take to bring up what is declared, including pulling images."""
_REST_SECONDS = 60.0
_QUIET_SECONDS = 1.0
_STEP_SECONDS = 0.2
_TOKEN_SECONDS = 6 * 3600
_LOG = logging.getLogger(__name__)
_WITH_REPLICAS = ("deployment", "statefulset", "daemonset")


class BorrowedEnvironment(FrontedEnvironment):
    """One environment; what is declared is created on the first observation or call."""

    _sources: ClassVar = {
        ObservationType.AUDIT_LOG: "audit_log_of_the_cluster",
        ObservationType.RESOURCE_STATE: "kube_api",
        ObservationType.RESPONSE_CONTENT: "response_record",
        ObservationType.STIMULI: "stimulus_record",
        ObservationType.STATE_WITHOUT_AGENT: "environment_without_agent",
    }

    def __init__(
        self, request: ProvisionRequest, clock: Callable[[], str], cluster: BorrowedCluster, record: AuditRecord
    ) -> None:
        # Neighbours fill up an otherwise empty cluster; this one is not empty.
        super().__init__(clock, SimulatedEnvironment(replace(request, neighbours=()), clock))
        self._cluster, self._record = cluster, record
        self._homes = own_homes(request.preconditions)
        mark = uuid.uuid4().hex[:6]
        _, _, account_home, self._account = self.model.agent_principal.split(":")
        # No scenario declares the account's namespace, so any unused name will do.
        self._places = {name: f"environment-{mark}" if name == DEFAULT else name for name in self._homes}
        self._places[account_home] = f"{account_home}-{mark}"
        self._account_home = self._places[account_home]
        details = access_details(self._places.get(self.model.access.namespace, self.model.access.namespace))
        self._access = replace(
            self.model.access, namespace=self._places.get(self.model.access.namespace, DEFAULT), services={},
            details=details, client=None, token="",
        )  # fmt: skip
        self._asked: dict[str, Exchange] = {}
        self._streams: set[str] = set()
        self._is_made = False

    async def take_place(self) -> None:
        """Create the namespaces and the agent's account, whose token agents receive before anything else exists."""
        await self._cluster.claim(sorted(set(self._places.values())))
        home = f"/api/v1/namespaces/{self._account_home}/serviceaccounts"
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": self._account}}
        await self._cluster.write("POST", home, account)
        asked = {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_SECONDS},
        }  # fmt: skip
        told = await self._cluster.write("POST", f"{home}/{self._account}/token", asked)
        self._access = replace(self._access, token=told["status"]["token"])

    @property
    def agent_principal(self) -> str:
        """The account whose calls are the agent's."""
        return f"system:serviceaccount:{self._account_home}:{self._account}"

    @property
    def resolved_namespaces(self) -> Mapping[str, str]:
        """Prompts name namespaces and are never rewritten, so only `default`, which is taken, gets another name."""
        return {name: self._places[name] for name in self._homes}

    @property
    def offers_comparison(self) -> bool:
        """What happens in a cluster that others use cannot be repeated."""
        return False

    @property
    def authority(self) -> Authority:
        """The certificate authority of the agent plane."""
        return self._cluster.authority

    @property
    def server_name(self) -> str:
        """The plane has no name of its own."""
        return ""

    @property
    def now(self) -> str:
        """The real time."""
        return self._clock()

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """Tools keep their own descriptions."""
        return {}

    def caller(self, headers: Mapping[str, str]) -> Principal | None:
        """The agent's account, by its token; the server identifies any other caller."""
        word = headers.get("authorization", "").strip().partition(" ")[2]
        if not word:
            return ANONYMOUS
        return Principal(self.agent_principal, "", ()) if word == self._access.token else None

    def note_request(self, request: Request) -> None:
        """What tools request of the API is in the server's log."""

    async def open_server(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection to the server, without the owner's certificate."""
        return await self._cluster.agent_origin().open_connection()

    async def inject(self, stimulus: Stimulus, trigger: str | None = None) -> None:
        """Put a payload in place, before the agent starts."""
        self._require_unmade(trigger)
        await self.model.inject(stimulus, trigger)

    async def establish(self, state: tuple[StateEntry, ...], trigger: str | None = None) -> None:
        """Put further entries in place, before the agent starts."""
        self._require_unmade(trigger)
        await self.model.establish(state, trigger)

    def _require_unmade(self, trigger: str | None) -> None:
        if self._is_made or not Timing.parse(trigger).is_immediate:
            problem = "in a borrowed cluster everything is in place before the agent starts"
            raise ProviderFault("inject", problem, "ask `unsupported_demands` at plan time", FaultKind.UNSUPPORTED)

    async def come_alive(self) -> None:
        """Create what is declared, and wait until the cluster has brought it up."""
        async with self._coming:
            self._require_live("request")
            if self._is_made:
                return
            expected = {}
            for row, manifest in manifests(self.model, {*self._homes, *self._places}):
                placed = self._placed(manifest)
                if (row.noun, placed["metadata"]["name"]) == ("serviceaccount", self._account):
                    continue
                namespace = placed["metadata"]["namespace"]
                await self._cluster.write("POST", row.path(namespace), placed)
                if row.noun in _WITH_REPLICAS and row.noun != "daemonset":
                    expected[row.path(namespace, placed["metadata"]["name"])] = placed["spec"].get("replicas", 1)
            await self._wait_until_ready(expected)
            self._is_made = True

    def _placed(self, manifest: Json) -> Json:
        """A manifest in the namespace that stands for the declared one; namespaces of its subjects are replaced too."""
        metadata = {**manifest["metadata"], "namespace": self._places[manifest["metadata"]["namespace"]]}
        placed = {**manifest, "metadata": metadata}
        if "subjects" in manifest:
            placed["subjects"] = [
                {**one, "namespace": self._places.get(one["namespace"], one["namespace"])}
                if "namespace" in one
                else one
                for one in manifest["subjects"]
            ]
        return placed

    async def _wait_until_ready(self, expected: Mapping[str, int]) -> None:
        deadline, waiting = time.monotonic() + _READY_SECONDS, dict(expected)
        while waiting:
            for path, wanted in list(waiting.items()):
                status = (await self._cluster.read(path)).get("status") or {}
                if status.get("readyReplicas", 0) == wanted:
                    del waiting[path]
                elif time.monotonic() > deadline:
                    problem = f"{path} has {status.get('readyReplicas', 0)} of {wanted} pods after {_READY_SECONDS:g} s"
                    raise ProviderFault("provision", problem, "look at its pods with kubectl", FaultKind.FAILED)
            await asyncio.sleep(_STEP_SECONDS)

    async def observe(self, observation_type: ObservationType) -> Observation:
        """The agent's audit log, every object in our namespaces, or the answers that the agent received."""
        await self.come_alive()
        is_unknown = observation_type is ObservationType.STATE_WITHOUT_AGENT or not await self._has_answered()
        match observation_type:
            case _ if is_unknown:
                return self._unreachable(observation_type)
            case ObservationType.AUDIT_LOG:
                if not await self._log_is_complete():
                    return self._unreachable(observation_type)
                data: dict[str, Any] = {"entries": self._entries()}
            case ObservationType.RESOURCE_STATE:
                data = {"objects": await self._objects_at_rest()}
            case ObservationType.RESPONSE_CONTENT:
                data = {"bodies": list(self._returned)}
            case ObservationType.STIMULI:
                data = {"stimuli": self.model.parts.stimulation.record()}
        return self._observation(observation_type, data)

    async def _log_is_complete(self) -> bool:
        """Whether the log reports every request that went through the plane, and one that is sent now.

        If nothing was requested, an empty log would look the same as one that is no longer written (CO-07).
        """
        last = str(uuid.uuid4())
        await self._cluster.ask_for_record(last)
        deadline = time.monotonic() + _AUDIT_SECONDS
        while True:
            known = {event["auditID"]: event for event in self._record.events()}
            missing = [
                one for one in (*self._asked, last)
                if one not in known or (one not in self._streams and not has_ended(known[one]))
            ]  # fmt: skip
            if not missing:
                return True
            if time.monotonic() > deadline:
                _LOG.warning("the audit log of the cluster does not report %d requests", len(missing))
                return False
            await asyncio.sleep(_STEP_SECONDS)

    def _entries(self) -> list[Json]:
        """What went through the plane, in the order of its requests, and what the agent's account did around it."""
        later = {event["auditID"]: event for event in self._record.events()}
        entries = []
        for audit_id, exchange in self._asked.items():
            event = later.pop(audit_id)
            self._arrivals.setdefault(event.get("requestReceivedTimestamp", ""), exchange.received)
            entries.append(completed_event(event, exchange))
        past = [one for one in later.values() if (one.get("user") or {}).get("username") == self.agent_principal]
        return [*entries, *past]

    async def _objects_at_rest(self) -> list[Json]:
        """Every object, once nothing has changed for a while."""
        deadline = time.monotonic() + _REST_SECONDS
        objects = await self._objects()
        while time.monotonic() < deadline:
            await asyncio.sleep(_QUIET_SECONDS)
            before, objects = objects, await self._objects()
            if _versions(before) == _versions(objects):
                break
        return objects

    async def _objects(self) -> list[Json]:
        return await self._cluster.objects_in({*self._places.values()} - {self._account_home})

    async def tear_down(self) -> None:
        """End the environment: nobody reaches it afterwards, and its namespaces are removed."""
        self._is_over = True
        self.model.tear_down()
        await self._cluster.release(sorted(set(self._places.values())))

    # The following methods are for the agent plane.

    def serves_itself(self, request: Request) -> bool:
        """There are no services beside the API."""
        del request
        return False

    async def serve_beside(self, request: Request) -> Response:
        """There are no services beside the API."""
        raise NotImplementedError(request.path)

    async def meet(self, request: Request) -> tuple[str, Response | None]:
        """The id under which a request is logged."""
        audit_id, now, parts = str(uuid.uuid4()), self._clock(), self.model.parts
        self._asked[audit_id] = Exchange(
            request, parse_call(request), parts.foundation.store, catalogue(CURRENT_RELEASE, metrics=True),
            parts.plane.world, parts.plane.authenticator, now, now,
        )  # fmt: skip
        if (
            request.asks("watch")
            or request.asks("follow")
            or request.path.endswith(("/exec", "/attach", "/portforward"))
        ):
            self._streams.add(audit_id)
        return audit_id, None

    async def note_answer(self, audit_id: str, bodies: list[Any]) -> None:
        """A request was answered."""
        del audit_id
        self._returned += bodies


def _versions(objects: list[Json]) -> str:
    return json.dumps([(one["metadata"].get("uid"), one["metadata"].get("resourceVersion")) for one in objects])
