"""Assembles a cluster: first its foundation, then the API server and the services that clients reach.

A cluster of your own (`kubesim.Cluster`) and one that a provider sets up are assembled in the same way.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property, partial
from itertools import takewhile

from kubesim.access import Authenticator, Principal, bootstrap_objects
from kubesim.audit_log import AuditLog, broken_event
from kubesim.canonical import derived_seed
from kubesim.controllers.dynamics import Dynamics
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.founding import founding_objects
from kubesim.furnishing import Furnishing
from kubesim.handling.exchange import TEXT
from kubesim.handling.request import Request
from kubesim.history import History
from kubesim.resource import ResourceType
from kubesim.server import KubernetesApi, Response
from kubesim.services.router import PREFIX, Services
from kubesim.serving.certificates import Authority
from kubesim.status import Json
from kubesim.store import Ids, Layer, Places, Store
from kubesim.world import EnvironmentTime, Interventions, World

_UNDATED = "1970-01-01T00:00:00Z"
"""A placeholder: objects that all clusters share get their creation time when a cluster first reads them."""
_PANIC = "This request caused apiserver to panic. Look in the logs for details.\n"
_LOG = logging.getLogger(__name__)


class Foundation:
    """What a cluster needs before anyone can reach it: its clock, its store with the controllers, its audit log.

    The same seed and start give the same cluster, down to its uids.
    """

    def __init__(
        self, seed: int, start: str, *, release: int = CURRENT_RELEASE, lag: float = 0.0,
        clock: type[EnvironmentTime] = EnvironmentTime,
    ) -> None:  # fmt: skip
        """`lag` is the number of seconds by which the clock starts, and stays, behind `start`; `clock` is its class."""
        self.seed = seed
        self.release = release
        ids = Ids(derived_seed(seed, "cluster"))
        self.time = clock(start, ids.number(), lag=lag)
        past = self.time.history
        base = {**bootstrap_objects(release, _UNDATED, aggregated=True), **founding_objects(release, _UNDATED)}
        owned = partial(_as_made, base, seed, past)
        self.store = Store(ids, base, owned, past)
        self.dynamics = Dynamics(self.store)
        self.audit = AuditLog()
        self._trusted = ""

    def furnish(self, namespaces: Iterable[str]) -> None:
        """Put the system's own objects in place in these namespaces, and keep them there."""
        furnishing = Furnishing(self.dynamics, self.seed, self.time, self.release, lambda: self._published_authority)
        furnishing.lay(namespaces)
        self.dynamics.publish = furnishing.keep

    def trust(self, authority: str) -> None:
        """Publish this certificate as the authority's, where another authority signs for the server's address."""
        self._trusted = authority

    def copy(self) -> "Foundation":
        """A separate cluster in the same state; only before it is furnished and before its clock moves."""
        other = copy(self)
        other.time = copy(self.time)
        other.store = self.store.copy()
        other.dynamics = self.dynamics.copy(other.store)
        other.audit = AuditLog()
        return other

    @property
    def _published_authority(self) -> str:
        return self._trusted or self.authority.certificate

    @cached_property
    def authority(self) -> Authority:
        """The cluster's certificate authority, made on first use: that takes a while, and most clusters need none."""
        return Authority.from_seed(derived_seed(self.seed, "authority"), self.time.history.founding)


class ControlPlane:
    """The API server, the services beside it and the controllers behind them, on a finished foundation."""

    def __init__(
        self,
        foundation: Foundation,
        interventions: Interventions,
        users: Mapping[str, Principal] | None = None,
        *,
        token_seed: int | None = None,
    ) -> None:
        """`token_seed` derives the key that signs tokens, if it differs from the foundation's seed."""
        self._store, self._audit, self._time = foundation.store, foundation.audit, foundation.time
        self.world = World(foundation.dynamics, self._time, interventions)
        own_seed = derived_seed(foundation.seed, "token")
        self.authenticator = Authenticator(users, seed=own_seed if token_seed is None else token_seed)
        self.authenticator.plant(self._store)
        served = catalogue(foundation.release, metrics=True)
        self.api = KubernetesApi(self._store, self.authenticator, self._audit, self.world, catalogue=served)
        self._services = Services(self._store, self.authenticator, self._audit, self.world)

    def handle(self, request: Request) -> Response:
        """Answer a request and record it; a fault of ours is also an answer, as in a real server that panics."""
        before = self._audit.latest
        serves = self._services if request.path.startswith(PREFIX) else self.api
        try:
            return serves.handle(request)
        except Exception:  # noqa: BLE001 - whoever finds a fault of ours must not end its own work with it
            _LOG.exception("a request broke the environment")
            if self._audit.latest is before:
                self._audit.append(broken_event(request, self._store.ids.uid(), self._time.tick()[0]))
            return Response(500, _PANIC, {"Content-Type": TEXT})


def _as_made(layer: Layer, seed: int, past: History, wanted: ResourceType) -> Places:
    """The objects of a type that all clusters start with, dated to this one's founding, with its own uids (SI-02)."""
    earlier = takewhile(lambda row: row != wanted, layer)
    first, number = sum(_number(layer[row]) for row in earlier), _number(layer[wanted])
    # One hash for all of them costs less than one hash for each.
    digits = hashlib.shake_256(b"%d" % derived_seed(seed, "bootstrap")).hexdigest(16 * (first + number))
    uids = iter([f"{digits[n:n+8]}-{digits[n+8:n+12]}-4{digits[n+13:n+16]}-a{digits[n+17:n+20]}-{digits[n+20:n+32]}"
                 for n in range(32 * first, 32 * (first + number), 32)])  # fmt: skip
    return {
        place: {name: _with_own_identity(obj, next(uids), past.founding) for name, obj in objects.items()}
        for place, objects in layer[wanted].items()
    }


def _with_own_identity(obj: Json, uid: str, made: str) -> Json:
    metadata = {**obj["metadata"], "uid": uid, "creationTimestamp": made}
    metadata["managedFields"] = [{**entry, "time": made} for entry in metadata["managedFields"]]
    if conditions := (obj.get("status") or {}).get("conditions"):
        dated = [{**condition, "lastTransitionTime": made} for condition in conditions]
        obj = {**obj, "status": {**obj["status"], "conditions": dated}}
    return {**obj, "metadata": metadata}


def _number(places: Places) -> int:
    return sum(map(len, places.values()))
