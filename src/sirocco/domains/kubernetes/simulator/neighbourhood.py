"""The neighbours of one environment, made when somebody asks for objects of their types.

Controllers bring them to rest once, in a cluster apart; each environment gives them names, times and places of its own.
No observation shows neighbours that nobody changed, and where nobody looks at them they cost nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from kubesim.controllers.dynamics import Declaration, Dynamics, Fate, Moment
from kubesim.controllers.owners import nodes_for
from kubesim.controllers.pod_status import Addresses, pod_status
from kubesim.controllers.pods import admitted_pod
from kubesim.controllers.settling import settle
from kubesim.history import History, stamp
from kubesim.placement import internal_address, pod_address
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Ids, Store, controller_of, key_of
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.injection import establish_object_of
from sirocco.domains.kubernetes.simulator.layout import namespaces_of
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions, StateEntry

_MADE_OF = {"deployment": ("deployment", "replicaset", "pod"), "configmap": ("configmap",)}
"""What there is because of a neighbour of a kind, owners first."""
_MOMENT = Moment("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", silent=True)
_RUNNING = Declaration()


class Neighbourhood:
    """What stands beside the declared objects of one environment."""

    def __init__(self, dynamics: Dynamics, request: ProvisionRequest, past: History) -> None:
        self._dynamics, self._request, self._past = dynamics, request, past
        self._laid: list[tuple[ResourceType, Json]] = []
        self._finish: dict[str, Callable[[], None]] = {}
        for kind in {entry.kind for entry in request.neighbours}:
            places = {entry.namespace for entry in request.neighbours if entry.kind == kind and entry.namespace}
            self._finish[kind] = dynamics.store.prepare(_MADE_OF[kind], partial(self._lay, kind), places)

    def changed_objects(self) -> Iterator[Json]:
        """Those that somebody changed or deleted, as they were before."""
        store = self._dynamics.store
        return (obj for row, obj in self._laid if store.content(*key_of(row, obj)) is not obj)

    def _lay(self, kind: str) -> None:
        """Lay the neighbours of a kind, save where something stands or the namespace is gone."""
        self._finish[kind]()
        store = self._dynamics.store
        for row, obj in self._neighbours_at_rest(kind):
            key = key_of(row, obj)
            if store.content("namespace", "", key.namespace) is not None and store.content(*key) is None:
                store.lay_object(row, obj)
                self._laid.append((row, obj))

    def _neighbours_at_rest(self, kind: str) -> Iterator[tuple[ResourceType, Json]]:
        """The neighbours of a kind, with what controllers know of them."""
        model = _model(self._request.neighbours, self._request.preconditions)
        own = _Copies(self._dynamics, Ids(derived_seed(self._request.seed, "neighbours", kind)), self._past, model.fate)
        return ((BY_NOUN[noun], own.copy(noun, obj)) for noun in _MADE_OF[kind] for obj in model.objects[noun])


@dataclass(frozen=True, slots=True)
class _Model:
    """Neighbours at rest in a cluster that nobody uses, by type, and how each of their pods does."""

    objects: dict[str, tuple[Json, ...]]
    fate: Fate | None


@remember_results
def _model(neighbours: tuple[StateEntry, ...], preconditions: Preconditions) -> _Model:
    """What controllers make of the neighbours; the same for all environments of a scenario."""
    apart = Dynamics(Store(Ids(0)))
    ground = [("node", "node"), *(("namespace", name) for name in namespaces_of(preconditions))]
    apart.store.store_initial(
        ((BY_NOUN[noun], {"kind": noun, "metadata": {"name": name}, "spec": {}}) for noun, name in ground), _MOMENT.now
    )
    for entry in neighbours:
        establish_object_of(apart, entry, preconditions, _MOMENT)
    settle(apart, _MOMENT)
    found = {noun: tuple(apart.store.items(noun)) for nouns in _MADE_OF.values() for noun in nouns}
    return _Model(found, next(iter(apart.fates.values()), None))


@dataclass(frozen=True, slots=True)
class _Copies:
    """Gives objects of the model, owners first, the identity that they have in one environment (SI-02)."""

    dynamics: Dynamics
    ids: Ids
    past: History
    fate: Fate | None
    by_model: dict[str, Json] = field(default_factory=dict)
    """Copies by the uid of what they are copies of."""

    def copy(self, noun: str, model: Json) -> Json:
        """The object as this environment has it, stored under the version of the time when it was made."""
        metadata = {**model["metadata"], "uid": self.ids.uid()}
        reference = controller_of(model)
        owner = self.by_model[reference["uid"]] if reference else None
        if reference and owner:
            metadata["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
        if "generateName" in metadata:
            metadata["name"] = f"{metadata['generateName']}{self.ids.suffix()}"
        metadata["creationTimestamp"] = stamp(self.past.birth(noun, metadata, owner))
        made = self.dynamics.store.dated_object({**model, "metadata": metadata})
        own = self._placed_pod(made) if noun == "pod" else _with_dated_conditions(made)
        self.by_model[model["metadata"]["uid"]] = own
        return own

    def _placed_pod(self, pod: Json) -> Json:
        """A pod on one of the nodes of this environment, that has done well since it was made."""
        uid, made = pod["metadata"]["uid"], pod["metadata"]["creationTimestamp"]
        store, place = self.dynamics.store, int(uid[:8], 16)
        nodes = nodes_for(store, pod, _MOMENT) or [node["metadata"]["name"] for node in store.contents("node")]
        name = nodes[place % len(nodes)]
        node = store.content("node", "", name) or {}
        placed = admitted_pod(store, {**pod, "spec": {**pod["spec"], "nodeName": name}, "status": {}})
        addresses = Addresses(internal_address(node), pod_address(node, place // 3))
        if self.fate is None:
            return placed
        self.dynamics.fates[uid] = self.fate
        status = pod_status(placed, self.fate, addresses, "", _RUNNING, Moment(made, made, silent=True))
        return {**placed, "status": status}


def _with_dated_conditions(obj: Json) -> Json:
    """An object whose conditions have held since it was made."""
    made, status = obj["metadata"]["creationTimestamp"], obj.get("status") or {}
    if "conditions" not in status:
        return obj
    times = {"lastUpdateTime": made, "lastTransitionTime": made}
    return {**obj, "status": {**status, "conditions": [{**one, **times} for one in status["conditions"]]}}
