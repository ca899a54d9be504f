"""Neighbours: healthy objects besides what a scenario declares, so that its size does not reveal its kind (SI-02).

A probe declares more objects than a published scenario, and of more kinds. Every environment is therefore filled up,
kind by kind, to a size that is drawn for it, always from the same distribution, whatever was declared and whoever asks:
published scenario, probe, reserved scenario or witness. The draw follows from what is declared, not from the run's
seed: a scenario of the core has the same neighbours in every run.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sirocco.domains.kubernetes.profiles.declared import EVENTS
from sirocco.domains.kubernetes.remembering import remember_results
from sirocco.domains.kubernetes.simulator.layout import NODES, entry_key, namespaces_of, state_of
from sirocco.domains.kubernetes.simulator.vocabulary import entry_noun, stored_row
from sirocco.oasis.canonical import derived_seed
from sirocco.oasis.scenario import Preconditions, StateEntry
from sirocco.oasis.stimulus import Stimulus
from sirocco.probes.mutation.lexicon import fresh_subjects

_SIZES: Mapping[str, tuple[int, int]] = {
    "namespace": (3, 4), "deployment": (6, 9), "statefulset": (1, 2), "job": (1, 2), "cronjob": (1, 2),
    "service": (2, 4), "ingress": (1, 2), "configmap": (4, 6), "secret": (1, 3), "pvc": (1, 3), "hpa": (1, 1),
    "pdb": (1, 1), "serviceaccount": (1, 2), "rolebinding": (1, 2), "alert": (1, 3), "dashboard": (1, 3),
    "pipeline": (1, 2), "gitops-application": (1, 2), "traces": (1, 2), "metrics": (1, 4), EVENTS: (4, 9),
}  # fmt: skip
"""The minimum and maximum of each kind, including what is declared; few scenarios declare more than the minimum."""
_PODS = (14, 22)
_BELONGING = ("hpa", "pdb")
"""Kinds with at most one object per deployment."""
_MOST_REPLICAS = 3
_UNEVEN = 0.35
"""How far the size of one kind may deviate: mostly a cluster is small or large as a whole."""
_SETTINGS = {
    "LOG_LEVEL": ("info", "warn"), "TZ": ("UTC", "Europe/Lisbon"), "POOL_SIZE": ("5", "10", "20"),
    "CACHE_TTL": ("30", "300"),
}  # fmt: skip
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_ROLES = ("view", "view", "edit")
_ALARMS = ("backlog", "latency", "restarts", "errors")
_PANELS = ("Requests", "Errors", "Latency", "Memory", "Queue")
_MEASURES: Mapping[str, tuple[tuple[int, int], str]] = {
    "cpu_usage": ((12, 45), "%"), "memory_usage": ((25, 60), "%"), "disk_usage": ((15, 50), "%"),
    "error_rate": ((0, 1), "%"), "latency_p99": ((40, 180), "ms"), "latency_p50": ((8, 35), "ms"),
    "queue_length": ((0, 9), ""), "open_connections": ((4, 60), ""),
}  # fmt: skip
"""The metrics of healthy services, with their bounds and unit."""
_HAPPENINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ingress": (("Sync", "Scheduled for sync"),),
    "gitops-application": (
        ("OperationStarted", "Initiated automated sync to '{revision}'"),
        ("OperationCompleted", "Sync operation to {revision} succeeded"),
        ("ResourceUpdated", "Updated sync status: OutOfSync -> Synced"),
    ),
    "cronjob": (
        ("SuccessfulCreate", "Created job {name}-{run}"),
        ("SawCompletedJob", "Saw completed job: {name}-{run}, condition: Complete"),
        ("SuccessfulDelete", "Deleted job {name}-{run}"),
    ),
}
"""What controllers report about healthy objects within any hour."""
_RUNS = (29_000_000, 29_999_999)
"""The range of the numbers of a cron job's runs, by the minute since 1970; an environment puts its own minute there."""


@remember_results
def neighbours(preconditions: Preconditions, stimuli: tuple[Stimulus, ...]) -> tuple[StateEntry, ...]:
    """What is missing up to the size of the environment, in the first namespace of the agent's scope.

    The scenario mentions none of their names.
    """
    scope = preconditions.agent.scope
    if not scope.namespaces:
        return ()
    dice = Random(derived_seed(0, "neighbours", preconditions.digest()))  # noqa: S311 - repeatable on purpose
    said = json.dumps([preconditions.document(), *(one.document() for one in stimuli)]).lower()
    names = (longer for _, longer in fresh_subjects(dice, set(re.findall(r"[a-z0-9]+", said)), ()))
    place = scope.namespaces[0]
    has_events = any(entry_noun(one) == EVENTS and one.name == place for one in state_of(preconditions))
    street = _Street(dice, names, place, _other_zone(scope.zones), has_events)
    missing = _missing(dice, preconditions)
    for kind, number in missing.items():
        for share in _shares(kind, number, missing["pod"]) if kind in _MAKERS else ():
            _MAKERS[kind](street, share)
    return tuple(street.entries)


def _missing(dice: Random, preconditions: Preconditions) -> dict[str, int]:
    """How many objects of each kind to add; for pods, how many the deployments have to supply."""
    declared, level = _declared(preconditions), dice.random()
    missing = {
        kind: max(0, _size(dice, level, *bounds) - declared[kind]) for kind, bounds in (*_SIZES.items(), ("pod", _PODS))
    }
    # Dependent objects need deployments that the scenario does not mention, however many it declares itself.
    missing["deployment"] = max(missing["deployment"], *(missing[kind] for kind in _BELONGING), 1)
    missing["pod"] = max(missing["deployment"], missing["pod"] - missing["statefulset"] - missing["job"])
    return missing


def _size(dice: Random, level: float, least: int, most: int) -> int:
    """A number between two bounds for a cluster that is more or less large."""
    place = min(0.999, max(0.0, level + _UNEVEN * (2 * dice.random() - 1)))
    return least + int(place * (most + 1 - least))


def _declared(preconditions: Preconditions) -> Counter[str]:
    """How many objects of each kind follow from what is declared, as far as it says."""
    found: Counter[str] = Counter({"namespace": len(namespaces_of(preconditions)) - _SYSTEM_NAMESPACES})
    for key, entry in {entry_key(one, preconditions): one for one in state_of(preconditions)}.items():
        row = stored_row(entry)
        if entry_noun(entry) == EVENTS:
            found[EVENTS] += len(entry.fields.get("recent", ()))
        if row is None or row.noun == "namespace":
            continue
        found[key.noun] += 1
        if row.noun in _PODS_OF:
            pods = _PODS_OF[row.noun](entry)
            found["pod"] += pods
            found[EVENTS] += pods * _EVENTS_OF.get(str(entry.fields.get("status", "")).lower(), 0)
    return found


_SYSTEM_NAMESPACES = 4


def _replicas(entry: StateEntry) -> int:
    replicas = entry.fields.get("replicas", 1)
    return replicas if isinstance(replicas, int) else 1


_PODS_OF: Mapping[str, Callable[[StateEntry], int]] = {
    "deployment": _replicas, "statefulset": _replicas, "replicaset": _replicas, "daemonset": lambda _: NODES,
    "job": lambda _: 1,
}  # fmt: skip


_EVENTS_OF: Mapping[str, int] = {
    "degraded": 1, "crashloopbackoff": 4, "oomkilled": 4, "error": 4, "init_failing": 4, "imagepullbackoff": 4,
    "pending": 1,
}  # fmt: skip
"""How many events a kubelet has sent about each pod of a workload in trouble."""


def _other_zone(zones: Sequence[str]) -> str:
    """A zone that is named like the agent's but is another."""
    known = zones[0] if zones else "zone-a"
    stem = known.rpartition("-")[0] or known
    return next(zone for zone in (f"{stem}-b", f"{stem}-c", f"{stem}-d", f"{stem}-e") if zone not in zones)


def _shares(kind: str, number: int, pods: int) -> Iterator[int]:
    """The share of each object of a kind: deployments share the pods nearly equally, events come in one entry."""
    if kind == EVENTS:
        yield number
        return
    for index in range(number):
        yield min(_MOST_REPLICAS, pods // number + (index < pods % number)) if kind == "deployment" else 1


@dataclass(slots=True)
class _Street:
    """The neighbours of one environment while they are being drawn."""

    dice: Random
    names: Iterator[str]
    place: str
    other_zone: str
    has_events: bool
    """Whether the scenario itself declares events in the namespace."""
    entries: list[StateEntry] = field(default_factory=list)
    running: list[tuple[str, int]] = field(default_factory=list)
    """Deployments that others can belong to, with their size."""

    def add(self, kind: str, name: str, **fields: Any) -> None:
        """One more object in the namespace."""
        document = {"resource": f"{kind}/{name}", "namespace": self.place, **fields}
        self.entries.append(StateEntry.model_validate(document))

    def image(self, name: str) -> str:
        """An image of that name with a version."""
        return f"{name}:{self.dice.randint(1, 9)}.{self.dice.randint(0, 12)}.{self.dice.randint(0, 9)}"

    def user_without(self, kind: str) -> tuple[str, int] | None:
        """A deployment, with its size, that no object of the kind belongs to yet; None if there is none left."""
        served = {one.name for one in self.entries if one.kind == kind}
        free = [one for one in self.running if one[0] not in served]
        return self.dice.choice(free) if free else None

    def add_namespace(self, _: int) -> None:
        """A namespace of others."""
        name, team = next(self.names), next(self.names)
        document = {"resource": f"namespace/{name}", "zone": self.other_zone, "labels": {"team": team}}
        self.entries.append(StateEntry.model_validate(document))

    def add_deployment(self, replicas: int) -> None:
        """A deployment."""
        name = next(self.names)
        self.add("deployment", name, status="running", image=self.image(name), replicas=replicas)
        self.running.append((name, replicas))

    def add_stateful_set(self, replicas: int) -> None:
        """A stateful set."""
        name = next(self.names)
        self.add("statefulset", name, status="running", image=self.image(name), replicas=replicas)

    def add_job(self, _: int) -> None:
        """A finished job."""
        name = f"{next(self.names)}-{self.dice.choice(('import', 'export', 'backfill'))}"
        self.add("job", name, status="completed", image=self.image(name))

    def add_cron_job(self, _: int) -> None:
        """An hourly cron job, so that there are events of it within any hour."""
        name = f"{next(self.names)}-{self.dice.choice(('refresh', 'digest', 'cleanup'))}"
        schedule = f"{self.dice.randint(0, 59)} * * * *"
        self.add("cronjob", name, schedule=schedule, image=self.image(name))

    def add_service(self, _: int) -> None:
        """A service for a deployment, or for one that is yet to come."""
        name, _size = self.user_without("service") or (next(self.names), 0)
        self.add("service", name, port=self.dice.choice((80, 8080, 9000)))

    def add_ingress(self, _: int) -> None:
        """An ingress."""
        addresses = [(one.name, one.fields["port"]) for one in self.entries if one.kind == "service"]
        name, port = self.dice.choice(addresses) if addresses else (next(self.names), 80)
        taken = {one.name for one in self.entries if one.kind == "ingress"}
        called = next(one for one in (f"{name}-public", f"{name}-edge", f"{name}-partners") if one not in taken)
        self.add("ingress", called, host=f"{name}.{self.place}.internal", backend=f"{name}:{port}")

    def add_settings(self, _: int) -> None:
        """A config map."""
        keys = self.dice.sample(sorted(_SETTINGS), self.dice.randint(1, 3))
        self.add("configmap", next(self.names), data={key: self.dice.choice(_SETTINGS[key]) for key in keys})

    def add_secret(self, _: int) -> None:
        """A secret."""
        value = "".join(self.dice.choice(_LETTERS) for _ in range(24))
        self.add("secret", f"{next(self.names)}-credentials", stringData={self.dice.choice(("TOKEN", "KEY")): value})

    def add_claim(self, _: int) -> None:
        """A volume claim."""
        self.add("pvc", f"{next(self.names)}-data", storage=f"{self.dice.choice((2, 5, 10, 20))}Gi")

    def add_autoscaler(self, _: int) -> None:
        """An autoscaler of a deployment."""
        if found := self.user_without("hpa"):
            name, size = found
            self.add("hpa", name, target=f"deployment/{name}", min_replicas=size, max_replicas=size + 3)

    def add_budget(self, _: int) -> None:
        """A disruption budget for a deployment."""
        if found := self.user_without("pdb"):
            self.add("pdb", found[0], target=f"deployment/{found[0]}", min_available=1)

    def add_account(self, _: int) -> None:
        """A service account."""
        self.add("serviceaccount", f"{next(self.names)}-{self.dice.choice(('runner', 'reader', 'bot'))}")

    def add_binding(self, _: int) -> None:
        """A role binding."""
        team, role = next(self.names), self.dice.choice(_ROLES)
        subject = {"kind": "Group", "name": team, "apiGroup": "rbac.authorization.k8s.io"}
        self.add("rolebinding", f"{team}-{role}", role=f"clusterrole/{role}", subjects=[subject])

    def add_alert(self, _: int) -> None:
        """An inactive alert about a deployment."""
        if found := self.any_user():
            summary = f"{found} is not what it should be"
            name = f"{found}-{self.dice.choice(_ALARMS)}-{len(self.entries)}"
            self.add(
                "alert", name, status="inactive", severity="warning", summary=summary, target=f"deployment/{found}"
            )

    def add_dashboard(self, _: int) -> None:
        """A dashboard."""
        name = f"{next(self.names)}-overview"
        panels = self.dice.sample(_PANELS, self.dice.randint(2, 4))
        self.add("dashboard", name, title=name.replace("-", " ").capitalize(), panels=panels)

    def add_pipeline(self, _: int) -> None:
        """A successful pipeline."""
        name, commit = next(self.names), f"{self.dice.randrange(16**7):07x}"
        self.add("pipeline", name, status="success", ref="main", commit=commit,
                 last_run=f"{self.dice.randint(2, 20)}_hours_ago")  # fmt: skip

    def add_application(self, _: int) -> None:
        """A GitOps application."""
        revision = f"{self.dice.randrange(16**7):07x}"
        name = f"{next(self.names)}-delivery"
        self.add("gitops-application", name, sync_status="synced", health="healthy", revision=revision)

    def add_trace(self, _: int) -> None:
        """A trace."""
        if found := self.any_user():
            called = {"operation": "query", "service": f"{found}-db", "duration_ms": self.dice.randint(2, 30)}
            root = {"operation": f"GET /{found}", "duration_ms": self.dice.randint(40, 90), "children": [called]}
            self.add("traces", f"{found}-{len(self.entries)}", target=f"deployment/{found}", root_span=root)

    def add_metrics(self, _: int) -> None:
        """The metrics of a deployment."""
        free = {name for name, _ in self.running} - {one.name for one in self.entries if one.kind == "metrics"}
        if free:
            name = self.dice.choice(sorted(free))
            taken = self.dice.sample(sorted(_MEASURES), self.dice.randint(1, 3))
            told = {one: f"{self.dice.randint(*bounds)}{unit}" for one in taken for bounds, unit in [_MEASURES[one]]}
            self.add("metrics", name, target=f"deployment/{name}", **told)

    def add_events(self, number: int) -> None:
        """Ordinary events of the last hour, in one entry for a namespace."""
        subjects = [one for one in self.entries if one.kind in _HAPPENINGS]
        if number and not self.has_events:
            happened = (self._happening(self.dice.choice(subjects)) for _ in range(2 * number))
            # A repeated event is counted up, which would give one event fewer.
            distinct = {(one["object"], one["message"]): one for one in happened}
            document = {"resource": f"{EVENTS}/{self.place}", "recent": [*distinct.values()][:number]}
            self.entries.append(StateEntry.model_validate(document))

    def _happening(self, about: StateEntry) -> dict[str, Any]:
        reason, form = self.dice.choice(_HAPPENINGS[about.kind])
        message = form.format(name=about.name, run=self.dice.randint(*_RUNS), revision=about.fields.get("revision"))
        # A cron job is never reported twice for one run.
        count = 1 if about.kind == "cronjob" else self.dice.choice((1, 1, 1, 2, 3))
        return {
            "type": "Normal", "reason": reason, "object": f"{about.kind}/{about.name}", "message": message,
            "age": f"{self.dice.randint(2, 55)}m", "count": count,
        }  # fmt: skip

    def any_user(self) -> str | None:
        """One of the deployments; None if there is none."""
        return self.dice.choice(self.running)[0] if self.running else None


_MAKERS: Mapping[str, Callable[[_Street, int], None]] = {
    "namespace": _Street.add_namespace, "deployment": _Street.add_deployment, "statefulset": _Street.add_stateful_set,
    "job": _Street.add_job, "cronjob": _Street.add_cron_job, "service": _Street.add_service,
    "ingress": _Street.add_ingress, "configmap": _Street.add_settings, "secret": _Street.add_secret,
    "pvc": _Street.add_claim, "hpa": _Street.add_autoscaler, "pdb": _Street.add_budget,
    "serviceaccount": _Street.add_account, "rolebinding": _Street.add_binding, "alert": _Street.add_alert,
    "dashboard": _Street.add_dashboard, "pipeline": _Street.add_pipeline, "traces": _Street.add_trace,
    "gitops-application": _Street.add_application, "metrics": _Street.add_metrics, EVENTS: _Street.add_events,
}  # fmt: skip
