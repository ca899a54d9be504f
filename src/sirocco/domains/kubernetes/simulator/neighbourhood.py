"""The neighbours of one environment: brought to rest apart from it, when somebody asks for objects of their types.

Most environments end before that, and no observation shows neighbours that nobody changed: they cost next to nothing.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from kubesim.controllers.dynamics import Dynamics, Moment
from kubesim.controllers.settling import settle
from kubesim.history import History, seconds_of
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Ids, Store, key_of
from sirocco.domains.kubernetes.simulator.injection import establish_object_of
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.provider import ProvisionRequest

_MADE_OF = {"deployment": ("deployment", "replicaset", "pod"), "configmap": ("configmap",)}
_GROUND = ("node", "namespace")


class Neighbourhood:
    """What stands beside the declared objects of one environment."""

    def __init__(self, dynamics: Dynamics, request: ProvisionRequest, past: History, moment: Moment) -> None:
        self._dynamics, self._request, self._past, self._moment = dynamics, request, past, moment
        self._laid: list[tuple[ResourceType, Json]] = []
        for kind in {entry.kind for entry in request.neighbours}:
            dynamics.store.lay_when_read(_MADE_OF[kind], partial(self._bring, kind))

    def changed_objects(self) -> Iterator[Json]:
        """Those that somebody changed or deleted, as they were before."""
        store = self._dynamics.store
        return (obj for row, obj in self._laid if store.content(*key_of(row, obj)) is not obj)

    def _bring(self, kind: str) -> Iterable[tuple[ResourceType, Json]]:
        """The neighbours of a kind at rest, with what controllers know of them."""
        own = self._dynamics
        apart = Dynamics(Store(Ids(derived_seed(self._request.seed, "neighbours", kind)), past=self._past))
        if kind != "configmap":
            ground = [(BY_NOUN[noun], obj) for noun in _GROUND for obj in own.store.contents(noun)]
            apart.store.store_initial(ground, self._moment.now)
        for entry in self._request.neighbours:
            if entry.kind == kind:
                establish_object_of(apart, entry, self._request.preconditions, self._moment)
        settle(apart, self._moment)
        own.fates |= apart.fates
        found = [(row, self._with_version(obj)) for row, obj in apart.store.objects() if row.noun in _MADE_OF[kind]]
        self._laid += found
        return found

    def _with_version(self, obj: Json) -> Json:
        """An object under the version that the cluster had come to when it was made."""
        made = seconds_of(obj["metadata"]["creationTimestamp"])
        version = self._past.version_at(made, self._dynamics.store.version)
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(version)}}
