"""What controllers know besides the objects: the declared health of workloads, the state of pods, and what is due."""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import is_
from typing import Any

from kubesim.history import later_time
from kubesim.resource import BY_KIND
from kubesim.status import Json
from kubesim.store import Key, Store, controller_of, key_of, template_hash


class Health(StrEnum):
    """The health of a workload's pods, as declared when the cluster was set up."""

    RUNNING = "running"
    DEGRADED = "degraded"
    ELEVATED_ERROR_RATE = "elevated_error_rate"
    CRASHLOOPBACKOFF = "crashloopbackoff"
    OOMKILLED = "oomkilled"
    ERROR = "error"
    IMAGEPULLBACKOFF = "imagepullbackoff"
    INIT_FAILING = "init_failing"
    PENDING = "pending"
    STARTING = "starting"
    """Running but not ready yet, as long as nothing changes."""

    @property
    def serves(self) -> bool:
        """Whether pods of this health become ready."""
        return self in {Health.RUNNING, Health.ELEVATED_ERROR_RATE}

    @property
    def befalls_new_pods_only(self) -> bool:
        """Whether running pods are safe from it: it only keeps pods from starting."""
        return self in {Health.IMAGEPULLBACKOFF, Health.INIT_FAILING, Health.PENDING, Health.STARTING}


class Stage(StrEnum):
    """How far a pod has come since it was made."""

    CREATING = "creating"
    STARTING = "starting"
    SETTLED = "settled"


TEMPLATE_HASH = "pod-template-hash"
START_SECONDS, READY_SECONDS = 2.0, 5.0
"""Seconds after which a new pod's containers run, and after which they answer."""
LONG_AGO = 1e9
"""The age of a state that nobody saw begin."""
RESTARTS_AFTER = (START_SECONDS, 12.0, 32.0, 72.0, 152.0, 312.0)
"""When a container that fails at once is restarted: immediately, and then by the kubelet's back-off."""


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A missing key of a secret or config map that containers need."""

    place: Key
    key: str
    is_there: bool

    @property
    def message(self) -> str:
        """The kubelet's message about it."""
        kind = "Secret" if self.place.noun == "secret" else "ConfigMap"
        if self.is_there:
            return f"couldn't find key {self.key} in {kind} {self.place.namespace}/{self.place.name}"
        return f'{kind.lower()} "{self.place.name}" not found'


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is true of a workload regardless of its controller."""

    health: Health = Health.RUNNING
    conditions: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    """Why its pods fail, in the words of the declaration."""
    restarts: int | None = None
    """How often their containers were restarted before the first client came."""
    containers: Mapping[str, Health] = field(default_factory=dict)
    """The health of single containers, where declared; the others run."""
    missing: tuple[MissingKey, ...] = ()
    """The keys for lack of which its pods fail; the pods recover when all of them exist."""
    scaling_to: int | None = None
    """The size that an autoscaler is always about to give its target, and never does."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step happens, and when recurring trouble was last seen.

    A step into the past emits no events: what it makes has long settled, and its events have expired.
    """

    now: str
    last_seen: str
    seconds: float = 0.0
    """The environment's time as a number, for arithmetic."""
    silent: bool = False
    start: float = 0.0
    """When the environment began, in seconds since 1970."""

    def moment_of(self, obj: Mapping[str, Any]) -> "Moment":
        """The step for one object: nothing about the object can be older than the object itself."""
        made = obj["metadata"]["creationTimestamp"]
        if not self.silent or made <= self.now:
            return self
        return Moment(made, self.last_seen, self.seconds, silent=True, start=self.start)

    def start_of(self, obj: Mapping[str, Any]) -> str:
        """When an object's containers were running: now, or some seconds after a step into the past made it (SI-02)."""
        return later_time(self.now, 2 + int(obj["metadata"]["uid"][:2], 16) % 7) if self.silent else self.now

    @property
    def epoch(self) -> float:
        """Now, in seconds since 1970."""
        return self.start + self.seconds


@dataclass(frozen=True, slots=True)
class Fate:
    """The state of one pod."""

    health: Health
    since: float
    stage: Stage
    restarts: int = 0

    def at_time(self, seconds: float) -> "Fate":
        """The state at a later time."""
        age = seconds - self.since
        if self.stage is Stage.SETTLED:
            stage = Stage.SETTLED
        elif age < START_SECONDS:
            stage = Stage.CREATING
        else:
            stage = Stage.SETTLED if age >= READY_SECONDS or not self.health.serves else Stage.STARTING
        # A pod that has been failing for long is restarted too rarely to be seen restarting.
        seen = sum(age >= after for after in RESTARTS_AFTER) if self._restarts and age < LONG_AGO else 0
        restarts = max(self.restarts, seen)
        if stage is self.stage and restarts == self.restarts:
            return self
        return replace(self, stage=stage, restarts=restarts)

    @property
    def is_final(self) -> bool:
        """Whether the passage of time can no longer change it."""
        return self.stage is Stage.SETTLED and not self._restarts

    @property
    def _restarts(self) -> bool:
        return self.health in {Health.CRASHLOOPBACKOFF, Health.OOMKILLED, Health.ERROR, Health.INIT_FAILING}


@dataclass(frozen=True, slots=True)
class Run:
    """One container of a pod that runs to completion: when its process began and ends, and what it writes when."""

    began: float
    ended: float
    exit_code: int = 0
    lines: tuple[tuple[float, str], ...] | None = ()
    """None if its output is unknown."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A template that a set has had, since when, and the number of its revision."""

    template: Json
    since: str
    number: int


_NOTHING = Declaration()


def _publish_nothing(namespace: str, now: str) -> None:
    del namespace, now


def _do_nothing() -> None:
    pass


class Dynamics:
    """One cluster with what its controllers know about it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._declarations: dict[Key, Declaration] = {}
        self._declared = 0
        self._rests: dict[tuple[object, str], tuple[object, ...]] = {}
        self.logs: dict[Key, tuple[str, ...]] = {}
        self.container_logs: dict[tuple[Key, str], tuple[str, ...]] = {}
        """The declared logs of single containers of a workload or pod."""
        self.fates: dict[str, Fate] = {}
        self.runs: dict[str, dict[str, Run]] = {}
        """The runs of containers in pods that run to completion, by the pod's uid and the containers' names."""
        self.guest_runs: dict[str, dict[str, Run | None]] = {}
        """The same for ephemeral containers; None for those that keep running."""
        self.templates: dict[str, dict[str, Noted]] = {}
        """The templates that stateful and daemon sets have had, by uid and hash, latest last."""
        self.progress: dict[str, tuple[object, float]] = {}
        """What rollouts under way last looked like, and since when."""
        self.publish: Callable[[str, str], None] = _publish_nothing
        """Restores the system's own objects in a namespace, at a given time."""
        self.follow_endpoints: Callable[[], None] = _do_nothing
        """Updates what other objects say about endpoints, once somebody has read those objects."""
        self.settle_elsewhere: Callable[[Moment], None] | None = None
        """Brings the cluster to rest where its controllers run elsewhere; None where they run here."""
        self._due: list[tuple[float, str]] = []
        self._stamps: dict[str, tuple[Json, str]] = {}

    def copy(self, store: Store) -> "Dynamics":
        """The same knowledge about a copy of the store, as long as nobody follows what happens in this one."""
        other = copy(self)
        other.store = store
        other._declarations, other._rests = dict(self._declarations), dict(self._rests)
        other.logs, other.container_logs = dict(self.logs), dict(self.container_logs)
        other.fates, other.progress = dict(self.fates), dict(self.progress)
        other.runs = {uid: dict(runs) for uid, runs in self.runs.items()}
        other.guest_runs = {uid: dict(runs) for uid, runs in self.guest_runs.items()}
        other.templates = {uid: dict(noted) for uid, noted in self.templates.items()}
        other._due, other._stamps = list(self._due), dict(self._stamps)
        return other

    def run_of(self, uid: str, container: str) -> Run | None:
        """The run of a container in a pod that runs to completion."""
        return self.runs.get(uid, {}).get(container) or self.guest_runs.get(uid, {}).get(container)

    @property
    def declarations(self) -> Mapping[Key, Declaration]:
        """The declarations, by the objects that they are about."""
        return self._declarations

    def declare(self, key: Key, declaration: Declaration) -> None:
        """Make a declaration true of an object from now on."""
        self._declarations[key] = declaration
        self._declared += 1

    def is_at_rest_with(self, controller: object, uid: str, seen: Sequence[object], moment: Moment) -> bool:
        """Whether a controller has already found nothing to do when it saw exactly the same for one of its objects."""
        known = self._rests.get((controller, uid))
        return (
            known is not None
            and len(known) == len(seen) + 2
            and known[0] == self._declared
            and known[1] is moment.silent
            and all(map(is_, known[2:], seen))
        )

    def note_rest(self, controller: object, uid: str, seen: Sequence[object], moment: Moment) -> None:
        """Remember that a controller found nothing to do, and never will as long as it sees the same."""
        self._rests[controller, uid] = (self._declared, moment.silent, *seen)

    def stamp(self, owner: Json, template: Json) -> str:
        """The hash of an owner's pod template, computed once for each template."""
        known = self._stamps.get(owner["metadata"]["uid"])
        if known is None or known[0] is not template:
            known = self._stamps[owner["metadata"]["uid"]] = (template, _known_hash(template))
        return known[1]

    def declaration(self, obj: Mapping[str, Any]) -> Declaration:
        """The declaration about an object, or else about the closest of its controllers that has one."""
        if not self._declarations:
            return _NOTHING
        for key in controllers_of(self.store, obj):
            if (known := self._declarations.get(key)) is not None:
                return known
        return _NOTHING

    def wake_at(self, seconds: float, namespace: str) -> None:
        """Have the controllers look at a namespace at that time."""
        heapq.heappush(self._due, (seconds, namespace))

    def next_due(self) -> float | None:
        """When something is due next; None when nothing is."""
        return self._due[0][0] if self._due else None

    def is_at_rest(self, seconds: float) -> bool:
        """Whether nothing changed and nothing falls due by that time."""
        return not self.store.is_unsettled and not (self._due and self._due[0][0] <= seconds)

    def wake(self, seconds: float) -> None:
        """Have the controllers look at every namespace where something has become due."""
        while self._due and self._due[0][0] <= seconds:
            self.store.touch(heapq.heappop(self._due)[1])


_HASHES: dict[int, tuple[Json, str]] = {}
_MOST_HASHES = 1024


def _known_hash(template: Json) -> str:
    """The hash of a template, cached by identity: clusters that are set up alike share their templates."""
    known = _HASHES.get(id(template))
    if known is None or known[0] is not template:
        if len(_HASHES) >= _MOST_HASHES:
            _HASHES.clear()
        known = _HASHES[id(template)] = (template, template_hash(_bare_template(template)))
    return known[1]


def _bare_template(template: Json) -> Json:
    """A template without what `rollout undo` leaves in it."""
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != TEMPLATE_HASH}
    kept = {key: value for key, value in metadata.items() if key not in {"labels", "creationTimestamp"}}
    return {**template, "metadata": {**kept, "labels": labels}}


def controllers_of(store: Store, obj: Mapping[str, Any]) -> Iterator[Key]:
    """The object, its controller, the controller of that, and so on to the topmost."""
    current: Mapping[str, Any] | None = obj
    seen: set[str] = set()  # a client may write owner references that form a cycle
    while current is not None and current["metadata"]["uid"] not in seen:
        metadata = current["metadata"]
        seen.add(metadata["uid"])
        row = BY_KIND.get(current["kind"])
        yield key_of(row, current) if row else Key(current["kind"], metadata.get("namespace", ""), metadata["name"])
        owner = controller_of(current)
        current = store.by_uid(owner.get("uid", "")) if owner else None


def workload_of(store: Store, obj: Mapping[str, Any]) -> Key:
    """The topmost controller of an object, by name; the object itself when nothing controls it."""
    return list(controllers_of(store, obj))[-1]


def pods_of(store: Store, namespace: str, name: str) -> list[Json]:
    """The pod of that name, or the pods of the workload of that name."""
    pod = store.get("pod", namespace, name)
    if pod is not None:
        return [pod]
    return [pod for pod in store.items("pod", namespace) if workload_of(store, pod).name == name]
