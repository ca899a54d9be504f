"""What the controllers know beside the objects: how workloads were declared to fare, how pods do, and what is due."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sirocco.oasis.resource import BY_KIND
from sirocco.providers.simulator.kubernetes.cluster import Cluster, Key, controller_of, key_of, template_hash
from sirocco.providers.simulator.kubernetes.status import Json


class Health(StrEnum):
    """How a workload's pods fare, as a scenario declares it."""

    RUNNING = "running"
    DEGRADED = "degraded"
    ELEVATED_ERROR_RATE = "elevated_error_rate"
    CRASHLOOPBACKOFF = "crashloopbackoff"
    OOMKILLED = "oomkilled"
    ERROR = "error"
    IMAGEPULLBACKOFF = "imagepullbackoff"
    INIT_FAILING = "init_failing"
    PENDING = "pending"

    @property
    def serves(self) -> bool:
        """Whether pods of this health become ready."""
        return self in {Health.RUNNING, Health.ELEVATED_ERROR_RATE}


class Stage(StrEnum):
    """How far a pod has come since it was made."""

    CREATING = "creating"
    STARTING = "starting"
    SETTLED = "settled"


TEMPLATE_HASH = "pod-template-hash"
START_SECONDS, READY_SECONDS = 2.0, 5.0
"""A new pod's containers run after the first, and answer after the second."""
RESTARTS_AFTER = (10.0, 30.0, 70.0, 150.0, 310.0)
"""When a container that fails at once is started again: the kubelet's back-off."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is true of a workload whatever its controller does."""

    health: Health = Health.RUNNING
    conditions: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step happens, and when trouble that comes back again and again was last seen.

    A step into the past is silent: what it makes has long settled, and the events of it have expired.
    """

    now: str
    last_seen: str
    seconds: float = 0.0
    """The environment's time as a number, to reckon with."""
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Fate:
    """How one pod does."""

    health: Health
    since: float
    stage: Stage
    restarts: int = 0

    def at(self, seconds: float) -> "Fate":
        """The fate at a later time."""
        age = seconds - self.since
        if self.stage is Stage.SETTLED:
            stage = Stage.SETTLED
        elif age < START_SECONDS:
            stage = Stage.CREATING
        else:
            stage = Stage.SETTLED if age >= READY_SECONDS or not self.health.serves else Stage.STARTING
        restarts = max(self.restarts, sum(age >= after for after in RESTARTS_AFTER)) if self._restarts else 0
        if stage is self.stage and restarts == self.restarts:
            return self
        return replace(self, stage=stage, restarts=restarts)

    @property
    def _restarts(self) -> bool:
        return self.health in {Health.CRASHLOOPBACKOFF, Health.OOMKILLED, Health.ERROR, Health.INIT_FAILING}


class Dynamics:
    """One cluster with what its controllers know about it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.declarations: dict[Key, Declaration] = {}
        self.logs: dict[Key, tuple[str, ...]] = {}
        self.fates: dict[str, Fate] = {}
        self.progress: dict[str, tuple[object, float]] = {}
        """What rollouts under way last looked like, and since when."""
        self._due: list[tuple[float, str]] = []
        self._stamps: dict[str, tuple[Json, str]] = {}

    def stamp(self, owner: Json, template: Json) -> str:
        """The hash of an owner's pod template, reckoned once for each template."""
        known = self._stamps.get(owner["metadata"]["uid"])
        if known is None or known[0] is not template:
            known = self._stamps[owner["metadata"]["uid"]] = (template, template_hash(_bare(template)))
        return known[1]

    def declaration(self, obj: Mapping[str, Any]) -> Declaration:
        """What was declared about the workload that an object belongs to."""
        return self.declarations.get(workload_of(self.cluster, obj), Declaration())

    def wake_at(self, seconds: float, namespace: str) -> None:
        """Have the controllers look at a namespace at that time."""
        heapq.heappush(self._due, (seconds, namespace))

    def next_due(self) -> float | None:
        """When something is due next; None when nothing is."""
        return self._due[0][0] if self._due else None

    def is_at_rest(self, seconds: float) -> bool:
        """Whether nothing changed and nothing is due by that time."""
        return not self.cluster.is_unsettled and not (self._due and self._due[0][0] <= seconds)

    def wake(self, seconds: float) -> None:
        """Have the controllers look at every namespace where something has become due."""
        while self._due and self._due[0][0] <= seconds:
            self.cluster.touch(heapq.heappop(self._due)[1])


def _bare(template: Json) -> Json:
    """A template without what `rollout undo` leaves in it."""
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != TEMPLATE_HASH}
    kept = {key: value for key, value in metadata.items() if key not in {"labels", "creationTimestamp"}}
    return {**template, "metadata": {**kept, "labels": labels}}


def workload_of(cluster: Cluster, obj: Mapping[str, Any]) -> Key:
    """The topmost controller of an object, by name; the object itself when nothing controls it."""
    current: Mapping[str, Any] = obj
    seen: set[str] = set()  # a client may write owner references that go round in a circle
    while True:
        seen.add(current["metadata"]["uid"])
        owner = controller_of(current)
        found = cluster.by_uid(owner.get("uid", "")) if owner else None
        if found is None or found["metadata"]["uid"] in seen:
            row = BY_KIND.get(current["kind"])
            metadata = current["metadata"]
            return (
                key_of(row, current) if row else Key(current["kind"], metadata.get("namespace", ""), metadata["name"])
            )
        current = found


def pods_of(cluster: Cluster, namespace: str, name: str) -> list[Json]:
    """The pod of that name, or the pods of the workload of that name."""
    pod = cluster.get("pod", namespace, name)
    if pod is not None:
        return [pod]
    return [pod for pod in cluster.items("pod", namespace) if workload_of(cluster, pod).name == name]
