"""The neighbours of one environment, made when somebody asks for objects of their types.

Controllers bring them to rest once, in a separate cluster; each environment gives them names, times and places of its
own. No observation shows neighbours that nobody changed, and if nobody reads them they cost nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from kubesim.controllers.dynamics import Declaration, Dynamics, Fate, Moment
from kubesim.controllers.events import event_about, reporter
from kubesim.controllers.networking import endpoints_of
from kubesim.controllers.owners import nodes_for
from kubesim.controllers.pod_status import Addresses, completed_status, pod_status
from kubesim.controllers.pods import admitted_pod
from kubesim.controllers.revisions import note_template
from kubesim.controllers.rows import ENDPOINTS, EVENT
from kubesim.controllers.settling import settle
from kubesim.history import History, seconds_of, stamp
from kubesim.kinds.admission.addresses import RANGE
from kubesim.placement import internal_address, pod_address
from kubesim.resource import BY_NOUN, ResourceType
from kubesim.status import Json
from kubesim.store import Ids, Store, controller_of, key_of
from sirocco.domains.kubernetes.profiles.declared import EVENTS
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.amounts import seconds_ago
from sirocco.domains.kubernetes.simulator.injection import establish_object_of
from sirocco.domains.kubernetes.simulator.layout import namespaces_of
from sirocco.domains.kubernetes.simulator.signals import Scene, record_of
from sirocco.domains.kubernetes.simulator.vocabulary import is_record
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.provider import ProvisionRequest
from sirocco.oasis.scenario import Preconditions, StateEntry

_MADE_OF = {
    "deployment": ("deployment", "replicaset", "pod"), "statefulset": ("statefulset", "pod"), "job": ("job", "pod"),
    "pvc": ("pvc", "pv"), EVENTS: ("event",),
}  # fmt: skip
"""The objects that follow from a neighbour of a kind, owners first, if there are more than the object itself."""
_WITH_ENDPOINTS = "service"
_JOB, _NUMBERING = "Job", "StatefulSet"
_MENTIONED = frozenset({"job", "pvc", "pv"})
"""Objects that mention their own uid, or another neighbour's, outside their metadata."""
_LEAN_ON = {"hpa": "deployment", "pdb": "deployment"}
"""Kinds that neighbours of a kind refer to, and with which they have to come to rest."""
_MOMENT = Moment("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", silent=True)
_TIME = re.compile(r"1970-01-01T\d\d:\d\d:\d\dZ")
_RUN = re.compile(r"-\d{8}(?!\d)")
"""The number at the end of a job's name by which a cron job says for which minute it was scheduled."""
_RUNNING = Declaration()


class Neighbourhood:
    """The objects beside the declared ones of one environment."""

    def __init__(self, dynamics: Dynamics, request: ProvisionRequest, past: History) -> None:
        self._dynamics, self._request, self._past = dynamics, request, past
        self._laid: list[tuple[ResourceType, Json]] = []
        self._finish: dict[str, Callable[[], None]] = {}
        self._groups = _groups(request.neighbours)
        for kind, group in self._groups.items():
            self._finish[kind] = dynamics.store.prepare(
                group.nouns, partial(self._lay, kind), group.places, only_adds=True
            )

    def changed_objects(self) -> Iterator[Json]:
        """Those that somebody changed or deleted, as they were before."""
        store = self._dynamics.store
        return (obj for row, obj in self._laid if store.content(*key_of(row, obj)) is not obj)

    def _lay(self, kind: str) -> None:
        """Put the neighbours of a kind in place, unless a place is taken or the namespace is gone."""
        self._finish[kind]()
        store = self._dynamics.store
        for row, obj in self._neighbours_at_rest(kind):
            key = key_of(row, obj)
            is_placed = not key.namespace or store.content("namespace", "", key.namespace) is not None
            if is_placed and store.content(*key) is None:
                store.lay_object(row, obj)
                self._laid.append((row, obj))

    def _neighbours_at_rest(self, kind: str) -> Iterator[tuple[ResourceType, Json]]:
        """The neighbours of a kind, with what controllers know of them."""
        if is_record(kind):
            yield from self._records(kind)
            return
        if kind == EVENTS:
            yield from self._events()
            return
        model = _model(self._groups[kind].at_rest_together, self._request.preconditions)
        own = _Copies(self._dynamics, Ids(derived_seed(self._request.seed, "neighbours", kind)), self._past, model)
        for noun in _nouns(kind):
            for obj in model.objects[noun]:
                copy = own.copy(noun, obj)
                yield BY_NOUN[noun], copy
                if kind == _WITH_ENDPOINTS and (found := own.endpoints(copy)):
                    yield ENDPOINTS, found

    def _records(self, kind: str) -> Iterator[tuple[ResourceType, Json]]:
        """The service records about the neighbours, which no controller looks at."""
        ids = Ids(derived_seed(self._request.seed, "neighbours", kind))
        scene = Scene(self._request.preconditions, self._past.start, str(ids.number()))
        for entry in self._groups[kind].entries:
            made = record_of(entry, scene)
            metadata = {**made["metadata"], "uid": ids.uid()}
            metadata["creationTimestamp"] = stamp(self._past.birth(kind, metadata, None))
            yield BY_NOUN[kind], self._dynamics.store.dated_object({**made, "metadata": metadata})

    def _events(self) -> Iterator[tuple[ResourceType, Json]]:
        """Recent events about the neighbours; servers keep them for an hour."""
        ids, store = Ids(derived_seed(self._request.seed, "neighbours", EVENTS)), self._dynamics.store
        for entry in self._groups[EVENTS].entries:
            for item in entry.fields["recent"]:
                kind, _, name = item["object"].partition("/")
                about = store.get(kind, entry.name, name)
                if about is not None:
                    yield EVENT, self._event(about, item, ids)

    def _event(self, about: Json, item: Mapping[str, Any], ids: Ids) -> Json:
        """One of these events, created when it was first seen."""
        kind, message = item["object"].partition("/")[0], item["message"]
        last = self._past.start - round(seconds_ago(item["age"]) or 0) - ids.number() % 60
        if kind == "cronjob":
            last = _last_run(about["spec"]["schedule"], last)
            message = _RUN.sub(f"-{last // 60}", message)
        first = stamp(last - 60 * (item["count"] - 1))
        made = event_about(
            about, item["reason"], message, ids, first, stamp(last), kind=item["type"],
            component=reporter(kind), count=item["count"],
        )  # fmt: skip
        metadata = {**made["metadata"], "uid": ids.uid(), "creationTimestamp": first}
        return self._dynamics.store.dated_object({**made, "metadata": metadata})


def _last_run(schedule: str, before: int) -> int:
    """When an hourly cron job last ran before a time; for any other, the time itself."""
    minute = schedule.partition(" ")[0]
    if not minute.isdecimal():
        return before
    return before - (before - 60 * int(minute)) % 3600


def _nouns(kind: str) -> tuple[str, ...]:
    """The types of the objects that follow from a neighbour of a kind."""
    return _MADE_OF.get(kind, (kind,))


@dataclass(frozen=True, slots=True)
class _Group:
    """The neighbours of one kind, and where readers find them."""

    entries: tuple[StateEntry, ...]
    at_rest_together: tuple[StateEntry, ...]
    """The same together with what they come to rest with."""
    nouns: tuple[str, ...]
    places: frozenset[str]


@remember_results
def _groups(neighbours: tuple[StateEntry, ...]) -> dict[str, _Group]:
    """The neighbours by kind; the same values for all environments of a scenario, because caches use their identity."""
    by_kind: dict[str, list[StateEntry]] = {}
    for entry in neighbours:
        by_kind.setdefault(entry.kind, []).append(entry)
    found: dict[str, _Group] = {}
    for kind, own in by_kind.items():
        near = {kind, _LEAN_ON.get(kind)}
        nouns = (*_nouns(kind), *([ENDPOINTS.noun] if kind == _WITH_ENDPOINTS else ()))
        is_wide = not all(BY_NOUN[noun].namespaced for noun in nouns)
        homes = (entry.name if kind == EVENTS else entry.namespace or "" for entry in own)
        places = frozenset(homes) | ({""} if is_wide else set())
        together = tuple(entry for entry in neighbours if entry.kind in near) if kind in _LEAN_ON else tuple(own)
        found[kind] = _Group(tuple(own), together, nouns, places)
    return found


@dataclass(frozen=True, slots=True)
class _Model:
    """Neighbours at rest in a cluster that nobody uses, by type, and the state of each of their pods."""

    objects: dict[str, tuple[Json, ...]]
    fate: Fate | None
    dated: dict[str, "_Dated"]
    """Where the objects other than pods carry times, by uid; the model began in 1970."""


_Dated = dict[str | int, "_Dated"] | None
"""The keys under which a value contains times; None if the value is a text with times itself."""


@remember_results
def _model(neighbours: tuple[StateEntry, ...], preconditions: Preconditions) -> _Model:
    """The result of the controllers for the neighbours; the same for all environments of a scenario."""
    apart = Dynamics(Store(Ids(0)))
    ground = [("node", "node"), *(("namespace", name) for name in namespaces_of(preconditions))]
    apart.store.store_initial(
        ((BY_NOUN[noun], {"kind": noun, "metadata": {"name": name}, "spec": {}}) for noun, name in ground), _MOMENT.now
    )
    for entry in neighbours:
        establish_object_of(apart, entry, preconditions, _MOMENT)
    settle(apart, _MOMENT)
    roots: dict[str, set[str]] = {}
    for entry in neighbours:
        roots.setdefault(entry.kind, set()).add(entry.name)
    found = {
        noun: tuple(
            obj for obj in apart.store.items(noun) if noun not in roots or obj["metadata"]["name"] in roots[noun]
        )
        for kind in roots
        for noun in _nouns(kind)
    }
    dated = {obj["metadata"]["uid"]: _dated(obj) for noun, objects in found.items() if noun != "pod" for obj in objects}
    return _Model(found, next(iter(apart.fates.values()), None), dated)


def _dated(value: Any) -> _Dated:
    """Where a value contains times; empty if it contains none."""
    if isinstance(value, str):
        return None if _TIME.search(value) else {}
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        found = {key: _dated(part) for key, part in parts}
        return {key: within for key, within in found.items() if within != {}}
    return {}


@dataclass(frozen=True, slots=True)
class _Copies:
    """Gives objects of the model, owners first, their identity in one environment (SI-02)."""

    dynamics: Dynamics
    ids: Ids
    past: History
    model: _Model
    by_model: dict[str, Json] = field(default_factory=dict)
    """Copies by the uid of their originals."""

    def copy(self, noun: str, model: Json) -> Json:
        """The object as this environment has it, with the resource version of its creation time."""
        uid, reference = self.ids.uid(), controller_of(model)
        owner = self.by_model[reference["uid"]] if reference else None
        known = {old: new["metadata"]["uid"] for old, new in self.by_model.items()}
        maker = reference["kind"] if reference else ""
        is_mentioned = noun in _MENTIONED or maker == _JOB
        copy = _replaced(model, {**known, model["metadata"]["uid"]: uid}) if is_mentioned else model
        metadata = {**copy["metadata"], "uid": uid}
        if reference and owner:
            metadata["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
        if "generateName" in metadata and maker != _NUMBERING:
            metadata["name"] = f"{metadata['generateName']}{self.ids.suffix()}"
        metadata["creationTimestamp"] = stamp(self.past.birth(noun, metadata, owner))
        made = self.dynamics.store.dated_object({**copy, "metadata": metadata})
        if noun == "pod":
            own = self._placed_pod(made, is_over=maker == _JOB)
        else:
            born = seconds_of(metadata["creationTimestamp"])
            own = _redated(made, self.model.dated[model["metadata"]["uid"]], born)
        if noun == _WITH_ENDPOINTS:
            own = self._with_address(own)
        self.by_model[model["metadata"]["uid"]] = own
        if noun == "statefulset":
            note_template(self.dynamics, own, metadata["creationTimestamp"])
        return own

    def endpoints(self, service: Json) -> Json:
        """The addresses of the pods that a service selects; the pods come before it."""
        self.dynamics.store.items("pod", service["metadata"]["namespace"])
        made = service["metadata"]["creationTimestamp"]
        found = endpoints_of(self.dynamics.store, service, Moment(made, made, silent=True))
        metadata = {**found["metadata"], "uid": self.ids.uid(), "creationTimestamp": made}
        return self.dynamics.store.dated_object({**found, "metadata": metadata})

    def _with_address(self, service: Json) -> Json:
        """A service with an address in this environment that no other one has."""
        taken = {address for one in self.dynamics.store.contents("service") for address in one["spec"]["clusterIPs"]}
        taken |= {address for one in self.by_model.values() for address in one["spec"]["clusterIPs"]}
        drawn = (str(RANGE[2 + self.ids.number() % (RANGE.num_addresses - 3)]) for _ in count())
        address = next(one for one in drawn if one not in taken)
        return {**service, "spec": {**service["spec"], "clusterIP": address, "clusterIPs": [address]}}

    def _placed_pod(self, pod: Json, *, is_over: bool) -> Json:
        """A pod on one of this environment's nodes, healthy since it was made, or until it was finished."""
        uid, made = pod["metadata"]["uid"], pod["metadata"]["creationTimestamp"]
        store, place = self.dynamics.store, int(uid[:8], 16)
        nodes = nodes_for(store, pod, _MOMENT) or [node["metadata"]["name"] for node in store.contents("node")]
        name = nodes[place % len(nodes)]
        node = store.content("node", "", name) or {}
        placed = admitted_pod(store, {**pod, "spec": {**pod["spec"], "nodeName": name}, "status": {}})
        addresses = Addresses(internal_address(node), pod_address(node, place // 3))
        fate = self.model.fate
        if fate is None:
            return placed
        self.dynamics.fates[uid] = fate
        moment = Moment(made, made, silent=True)
        running = {**placed, "status": pod_status(placed, fate, addresses, "", _RUNNING, moment)}
        if not is_over:
            return running
        codes = {item["name"]: 0 for item in pod["spec"]["containers"]}
        return {**running, "status": completed_status(running, codes, moment)}


def _redated(value: Any, dated: _Dated, born: int) -> Any:
    """A value of the model with its times shifted for what was made at another time; other parts are shared."""
    if dated is None:
        return _TIME.sub(lambda time: stamp(born + seconds_of(time[0])), value)
    if not dated:
        return value
    copy = value.copy()
    for key, within in dated.items():
        copy[key] = _redated(value[key], within, born)
    return copy


def _replaced(value: Any, words: Mapping[str, str]) -> Any:
    """A value with some words replaced; the identical value if none of them occurs."""
    if isinstance(value, str):
        for old, new in words.items():
            value = value.replace(old, new) if old in value else value
        return value
    if isinstance(value, dict):
        parts = {key: _replaced(part, words) for key, part in value.items()}
        return parts if any(parts[key] is not part for key, part in value.items()) else value
    if isinstance(value, list):
        items = [_replaced(part, words) for part in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value
