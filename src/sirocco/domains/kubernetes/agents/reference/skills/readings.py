"""What an investigation reads beyond the survey, and what may be repeated of it.

Series over time show which figures left their usual range and when; the history shows what was changed before that.
Nothing is quoted that looks like a credential or reads like an order: it is data for the agent, but somebody else might
take it for advice.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import isfinite
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.agents.reference.journal import because
from sirocco.domains.kubernetes.agents.reference.mentions import Surroundings
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL
from sirocco.domains.kubernetes.agents.reference.skills.situation import Situation
from sirocco.domains.kubernetes.agents.reference.survey import Json, Survey, name_of, namespace_of, pod_spec
from sirocco.domains.kubernetes.agents.reference.targets import Target
from sirocco.domains.kubernetes.agents.reference.understanding import Action, requests

_HOURS = 12
_STEP = 300
_MINUTE, _HOUR = 60.0, 3600.0
_LEAST_POINTS = 3
_LEAST_GROWTH = 0.2
_FACTOR = 2.0
_FULL = 85.0
_DERIVED = "kube_.*|up|ALERTS.*|scrape_.*"
_BASELINE = "normal_"
_SUBJECTS = ("service", "pod", "node", "ingress", "deployment")
_KIB, _MIB, _GIB = 1024.0, 1024.0**2, 1024.0**3
_LONGEST_QUOTE = 220
_ADDRESS = re.compile(r"\b[a-z][a-z.-]*:\d{2,5}\b")
_PATH = re.compile(r"(?<![\w+=-])/?(?:[a-z-]+|v\d+|\d{1,6})(?:/(?:[a-z-]+|v\d+|\d{1,6}))+/?(?![\w+=-])")
_IDENTITY = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bsha256:[0-9a-f]{12,64}\b")
_MARKS = re.compile(r"[\"`\n\r]+")
_A_DAY = 86400.0
_SOON = 3600.0
"""Seconds after a change within which trouble may be due to it."""
_SHORT_REVISION = 12
_SLACK = 300.0
"""Readings are some minutes apart, so trouble can seem to begin a little before its cause."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one thing over time, oldest first; `usual` is its declared ordinary value."""

    name: str
    subject: str
    unit: str
    points: tuple[tuple[float, float], ...]
    usual: float | None = None

    @property
    def now(self) -> float:
        """The last value."""
        return self.points[-1][1]

    @property
    def usual_value(self) -> float:
        """Its ordinary value: as declared, or else at the beginning of the range."""
        return self.usual if self.usual is not None else self.points[0][1]

    @property
    def is_growing(self) -> bool:
        """Whether it rises over the whole range, smoothly or not: each part of the range lies above the one before.

        A series that rose at one moment and stayed there has a step, and does not grow.
        """
        values = [value for value, _ in _distinct(self.points)]
        if len(values) <= _LEAST_POINTS or values[-1] <= values[0] * (1 + _LEAST_GROWTH):
            return False
        parts = [values[number * len(values) // 3 : (number + 1) * len(values) // 3] for number in range(3)]
        return all(max(one) < max(other) and min(one) < min(other) for one, other in pairwise(parts))

    @property
    def has_left_its_range(self) -> bool:
        """Whether it is at twice or half its former value, or close to full."""
        if self.unit == "percent" and self.now >= _FULL:
            return True
        low, high = sorted((abs(self.usual_value), abs(self.now)))
        return high > 0 and high >= _FACTOR * low and self.usual_value != self.now

    @property
    def onset(self) -> float | None:
        """When it left its range, in seconds since 1970: from then on it was nearer to now than to before."""
        if not self.has_left_its_range or self.usual_value == self.now:
            return None
        middle = (self.usual_value + self.now) / 2
        rises = self.now > self.usual_value
        away = [when for when, value in self.points if (value >= middle) == rises]
        return away[0] if away and away[0] > self.points[0][0] else None

    def series_phrase(self) -> str:
        """What it shows, as part of a sentence."""
        before = f", usually {self.amount(self.usual_value)}" if self.usual_value != self.now else ""
        return f"{self.name.replace('_', ' ')} of {self.subject} is {self.amount(self.now)}{before}"

    def amount(self, value: float) -> str:
        """One of its values in human-readable form."""
        return amount(value, self.unit)


def _distinct(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The values with their times, without those that only repeat the one before."""
    kept: list[tuple[float, float]] = []
    for when, value in points:
        if not kept or kept[-1][0] != value:
            kept.append((value, when))
    return kept


async def read_series(situation: Situation) -> tuple[Series, ...]:
    """Everything that is measured in the namespaces over the last hours; empty if there are no metrics."""
    root = situation.services.get("metrics")
    moment = present_moment(situation)
    if root is None or moment is None:
        return ()
    places = json.dumps("|".join(sorted(situation.namespaces)))
    query = {
        "query": f'{{namespace=~{places},__name__!~"{_DERIVED}"}}',
        "start": str(moment - _HOURS * _HOUR),
        "end": str(moment),
        "step": str(_STEP),
    }
    reply = await situation.client.request("GET", f"{root}/api/v1/query_range", query=query)
    body = reply.body if reply.succeeded and isinstance(reply.body, Mapping) else {}
    return series_in((body.get("data") or {}).get("result") or ())


async def series_about(situation: Situation, target: Target) -> tuple[Series, ...]:
    """The series about one thing."""
    with because(f"its figures may show what is wrong with {target.name}"):
        series = await read_series(situation)
    return tuple(one for one in series if one.subject == target.name)


def series_in(result: Iterable[Any]) -> tuple[Series, ...]:
    """The series of a range query's result; each usual value is matched with the series that it belongs to."""
    found: dict[tuple[str, str], Series] = {}
    for one in result:
        labels = dict(one.get("metric") or {})
        read = ((float(when), float(value)) for when, value in one.get("values") or ())
        points = tuple((when, value) for when, value in read if isfinite(value))
        subject = next((labels[label] for label in _SUBJECTS if labels.get(label)), "")
        if points and "value" not in labels:  # a label of that name holds a word, and the number only stands for it
            name = str(labels.get("__name__", ""))
            found[name, subject] = Series(name, subject, str(labels.get("unit", "")), points)
    return tuple(
        Series(
            one.name,
            one.subject,
            one.unit,
            one.points,
            usual.now if (usual := found.get((_BASELINE + name, subject))) else None,
        )
        for (name, subject), one in found.items()
        if not name.startswith(_BASELINE)
    )


def present_moment(situation: Situation) -> float | None:
    """The present time in the environment: that of the latest reading."""
    times = [
        float(value[0])
        for signal in situation.known.signals
        if signal.subject.kind == "metrics" and isinstance(value := signal.content.get("value"), list)
    ]
    return max(times, default=None)


def amount(value: float, unit: str) -> str:
    """A number with its unit; bytes as Kubernetes writes them, the rest with as many digits as matter."""
    if unit == "bytes":
        size, suffix = next(
            ((size, suffix) for size, suffix in ((_GIB, "Gi"), (_MIB, "Mi"), (_KIB, "Ki")) if value >= size), (1.0, "")
        )
        return f"{value / size:.1f}".removesuffix(".0") + suffix
    number = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2g}"
    return number + {"percent": "%", "ms": " ms", "seconds": " s"}.get(unit, "")


def ago_text(seconds: float) -> str:
    """A span of time in human-readable form."""
    minutes = round(seconds / _MINUTE)
    if minutes < 120:
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    hours = round(seconds / _HOUR)
    return f"{hours} hours" if hours < 72 else f"{round(hours / 24)} days"


@dataclass(frozen=True, slots=True)
class Quoting:
    """Decides about texts in one environment, whose names are not secret."""

    names: Surroundings
    spoken: re.Pattern[str]

    def quoted_text(self, text: str) -> str | None:
        """The text in quotation marks, or None if it must not be repeated."""
        plain = _IDENTITY.sub("", text)
        if CONFIDENTIAL.search(_PATH.sub("", _ADDRESS.sub("", self.spoken.sub("", plain)))):
            return None
        if any(each.action is not Action.READ or each.asks_for_values for each in requests(text, self.names)):
            return None
        return f'"{_MARKS.sub("", plain).strip()[:_LONGEST_QUOTE]}"'


def quoting(known: Survey) -> Quoting:
    """The judge of quotations for what was found: names of objects and images may be repeated."""
    objects = [item for items in known.objects.values() for item in items]
    names = {str((item.get("metadata") or {}).get("name", "")) for item in objects}
    images = {
        str(container.get("image", ""))
        for item in known.objects.get("pod", ())
        for container in (item.get("spec") or {}).get("containers") or ()
    }
    longest_first = sorted(names | images | known.namespaces, key=len, reverse=True)
    return Quoting(
        known.surroundings(), re.compile("|".join(re.escape(name) for name in longest_first if name) or "$^")
    )


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything known before the analysis begins."""

    known: Survey
    series: tuple[Series, ...]
    quoting: Quoting
    first_logs: Mapping[str, str]
    """The logs of init containers, by pod."""
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
        """The events about it or its pods, latest last."""
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
        """The messages of warnings about it, without repetitions, latest first; mere restarts are left out."""
        warned = (event for event in reversed(self.events(target)) if event.get("type") == "Warning")
        said = (str(event.get("message", "")) for event in warned)
        return tuple(dict.fromkeys(text for text in said if not text.startswith("Back-off restarting")))

    def series_about(self, target: Target) -> tuple[Series, ...]:
        """The series about it or its pods."""
        names = {target.name, *(name_of(pod) for pod in self.pods(target))}
        return tuple(one for one in self.series if one.subject in names)


def components(known: Survey) -> Iterator[Target]:
    """The components that take part in serving requests: ingresses, services, workloads."""
    for noun in ("ingress", "service"):
        for item in known.objects.get(noun, ()):
            yield Target(noun, namespace_of(item), name_of(item), item)
    for noun, item in known.workloads():
        yield Target(noun, namespace_of(item), name_of(item), item)


async def observe(situation: Situation) -> Observed:
    """Read what the survey has not: series over time, and the logs of containers that did not complete."""
    series = await read_series(situation)
    first: dict[str, str] = {}
    for pod in situation.known.objects.get("pod", ()):
        for status in (pod.get("status") or {}).get("initContainerStatuses") or ():
            if not status.get("ready") and (status.get("state") or {}).get("running") is None:
                first[name_of(pod)] = await _log(situation, pod, str(status.get("name", "")))
    times = [one.points[-1][0] for one in series]
    moment = max(times) if times else _latest(situation.known)
    return Observed(situation.known, series, quoting(situation.known), first, moment)


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


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was changed: as a noun, when, and what would undo it."""

    what: str
    when: float
    before: str
    undo: str

    def change_phrase(self, now: float) -> str:
        """The change as part of a sentence."""
        return f"it went out {ago_text(now - self.when)} ago{self.before}"


def last_change(target: Target, seen: Observed) -> Change | None:
    """The latest recent change of a workload: a new image, or a sync from its repository."""
    found = (*_rollouts(target, seen), *_syncs(target, seen))
    recent = [change for change in found if seen.now is not None and 0 <= seen.now - change.when < _A_DAY]
    return max(recent, key=lambda change: change.when, default=None)


def _rollouts(target: Target, seen: Observed) -> Iterator[Change]:
    history = sorted(_revisions(target, seen), key=lambda one: one[0])
    for (_, former), (when, present) in pairwise(history):
        one, other = _version(former), _version(present)
        if one != other:
            what = f"the rollout of the new version {other} of {target.name}"
            yield Change(what, when, f", in place of {one}", f"roll back to {one} and compare the two versions")


def _syncs(target: Target, seen: Observed) -> Iterator[Change]:
    """Syncs of the application that has the workload's name or contains it."""
    signals = [signal.content for signal in seen.known.signals if signal.subject.kind == "gitops-application"]
    for content in (one for one in signals if isinstance(one, Mapping)):
        status = content.get("status") or {}
        held = {str(one.get("name")) for one in status.get("resources") or ()} | {name_of(content)}
        when = seconds((status.get("operationState") or {}).get("finishedAt"))
        revision = str((status.get("sync") or {}).get("revision", ""))[:_SHORT_REVISION]
        if target.name in held and when is not None:
            what = f"the sync of revision {revision} to {target.name}"
            yield Change(
                what, when, " from its repository", "compare that revision with the one before and revert it there"
            )


def onset(target: Target, seen: Observed) -> float | None:
    """When the first of a component's series left its usual range."""
    return min((moment for one in seen.series_about(target) if (moment := one.onset)), default=None)


def explains(change: Change, began: float | None) -> bool:
    """Whether trouble began so soon after a change that the two are probably connected."""
    return began is not None and -_SLACK <= began - change.when <= _SOON


def _revisions(target: Target, seen: Observed) -> Iterator[tuple[float, str]]:
    """The images of a deployment's replica sets, with their times."""
    for item in seen.known.objects.get("replicaset", ()):
        owners = (item.get("metadata") or {}).get("ownerReferences") or ()
        is_owned = any(owner.get("name") == target.name for owner in owners)
        if namespace_of(item) == target.namespace and is_owned:
            yield _creation_seconds(item), _image_of(item)


def _creation_seconds(item: Json) -> float:
    return seconds((item.get("metadata") or {}).get("creationTimestamp")) or 0.0


def _image_of(item: Json) -> str:
    return next((str(one.get("image", "")) for one in pod_spec(item).get("containers") or ()), name_of(item))


def _version(image: str) -> str:
    last = image.rpartition("/")[2]
    return last.partition(":")[2] or image
