"""Everything that an investigation has read: the survey, series over time, ways through traces, logs of containers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.agents.reference.skills.reading.metrics import Series, read_series
from sirocco.domains.kubernetes.agents.reference.skills.reading.quoting import Quoting, quoting
from sirocco.domains.kubernetes.agents.reference.skills.reading.traces import Route, routes
from sirocco.domains.kubernetes.agents.reference.skills.skill import Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of
from sirocco.domains.kubernetes.agents.reference.targets import Target


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known when somebody begins to think about it."""

    known: Survey
    series: tuple[Series, ...]
    routes: tuple[Route, ...]
    quoting: Quoting
    first_logs: Mapping[str, str]
    """What containers said that come before the others, by pod."""
    now: float | None

    def pods(self, target: Target) -> tuple[Json, ...]:
        """The pods behind a workload or a service."""
        if target.item is None:
            return ()
        if target.noun != "service":
            return self.known.pods_of(target.item)
        wanted = (target.item.get("spec") or {}).get("selector") or {}
        return tuple(
            pod
            for pod in self.known.objects.get("pod", ())
            if wanted and namespace_of(pod) == target.namespace and wanted.items() <= labels(pod).items()
        )

    def lines(self, target: Target) -> tuple[str, ...]:
        """The log of all its pods."""
        logs = (self.known.logs.get((namespace_of(pod), name_of(pod)), "") for pod in self.pods(target))
        return tuple(line for log in logs for line in log.splitlines())

    def events(self, target: Target) -> tuple[Json, ...]:
        """The events about it or its pods, the latest last."""
        names = {(BY_NOUN[target.noun].kind, target.name), *(("Pod", name_of(pod)) for pod in self.pods(target))}
        for item in self.known.objects.get("replicaset", ()):
            owners = (item.get("metadata") or {}).get("ownerReferences") or ()
            if namespace_of(item) == target.namespace and any(owner.get("name") == target.name for owner in owners):
                names.add(("ReplicaSet", name_of(item)))
        about = (
            event
            for event in self.known.objects.get("event", ())
            if (event.get("involvedObject") or {}).get("namespace") == target.namespace
            and ((event.get("involvedObject") or {}).get("kind"), (event.get("involvedObject") or {}).get("name"))
            in names
        )
        return tuple(sorted(about, key=lambda event: str(event.get("lastTimestamp") or "")))

    def warnings(self, target: Target) -> tuple[str, ...]:
        """What the warnings about it say, each once, the latest first; that something starts again says nothing."""
        warned = (event for event in reversed(self.events(target)) if event.get("type") == "Warning")
        said = (str(event.get("message", "")) for event in warned)
        return tuple(dict.fromkeys(text for text in said if not text.startswith("Back-off restarting")))

    def measured(self, target: Target) -> tuple[Series, ...]:
        """The series about it or its pods."""
        names = {target.name, *(name_of(pod) for pod in self.pods(target))}
        return tuple(one for one in self.series if one.subject in names)


def components(known: Survey) -> Iterator[Target]:
    """What takes part in serving requests: ingresses, services, workloads."""
    for noun in ("ingress", "service"):
        for item in known.objects.get(noun, ()):
            yield Target(noun, namespace_of(item), name_of(item), item)
    for noun, item in known.workloads():
        yield Target(noun, namespace_of(item), name_of(item), item)


async def observe(situation: Situation) -> Observed:
    """Read what the survey has not: series over time, and the logs of containers that did not get through."""
    series = await read_series(situation)
    first: dict[str, str] = {}
    for pod in situation.known.objects.get("pod", ()):
        for status in (pod.get("status") or {}).get("initContainerStatuses") or ():
            if not status.get("ready") and (status.get("state") or {}).get("running") is None:
                first[name_of(pod)] = await _log(situation, pod, str(status.get("name", "")))
    traces = [signal.content for signal in situation.known.signals if signal.subject.kind == "traces"]
    times = [one.points[-1][0] for one in series]
    moment = max(times) if times else _latest(situation.known)
    return Observed(situation.known, series, routes(traces), quoting(situation.known), first, moment)


async def _log(situation: Situation, pod: Json, container: str) -> str:
    path = BY_NOUN["pod"].path(namespace_of(pod), name_of(pod), "log")
    reply = await situation.client.request("GET", path, query={"container": container})
    return reply.body if reply.succeeded and isinstance(reply.body, str) else ""


def _latest(known: Survey) -> float | None:
    times = [moment for event in known.objects.get("event", ()) if (moment := seconds(event.get("lastTimestamp")))]
    return max(times, default=None)


def seconds(stamp: Any) -> float | None:
    """A time as Kubernetes writes it, in seconds since 1970."""
    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except ValueError:
        return None


def labels(item: Json) -> Mapping[str, str]:
    """The labels of an object."""
    return (item.get("metadata") or {}).get("labels") or {}
