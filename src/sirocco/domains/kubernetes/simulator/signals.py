"""State entries as records of services: metrics, alerts, traces, dashboards, GitOps, pipelines, migrations."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubesim.resource import BY_NOUN, WORKLOADS, resource_type
from kubesim.services.records import record
from kubesim.status import Json
from kubesim.store import Key
from sirocco.domains.kubernetes.profiles.declared import default_namespace, entry_namespace
from sirocco.domains.kubernetes.simulator.amounts import Amount, amount, named_amount, seconds_ago, timestamp_text
from sirocco.domains.kubernetes.simulator.checks import as_text
from sirocco.domains.kubernetes.simulator.health import bare_word
from sirocco.domains.kubernetes.simulator.layout import entry_key, state_of
from sirocco.domains.kubernetes.simulator.vocabulary import BASELINE, MEASURES, METRICS, entry_noun
from sirocco.oasis.scenario import Preconditions, StateEntry

_NOT_METRICS = frozenset({"series", "labels", "target"})
_DAY, _HOUR = 86400.0, 3600.0
_TREND = "_trend"
_RISE = ((21600.0, 0.35), (14400.0, 0.52), (7200.0, 0.71), (3600.0, 0.84), (600.0, 0.95), (0.0, 0.98))
_RISES = frozenset({"monotonicallyincreasing", "increasing", "rising", "growing", "upward"})
_FALLS = frozenset({"monotonicallydecreasing", "decreasing", "falling", "downward"})
_USUAL_LIMIT = 512 * 1024.0**2
_OTHER_NAMES = {"memory_usage": "container_memory_working_set_bytes"}
_LABELS = {"pod": "pod", "node": "node", "ingress": "ingress"}
_REVISION_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Scene:
    """What records are made from: the whole state, and the start of the environment."""

    preconditions: Preconditions
    now: float
    """In seconds since 1970."""
    salt: str
    """The salt from which ids are drawn, so that no two environments share them."""

    def text(self, ago: float) -> str:
        """A time that many seconds ago, as Kubernetes writes it."""
        return timestamp_text(self.now - ago)

    def drawn_id(self, name: str, length: int) -> str:
        """An id of hexadecimal digits for a name."""
        return hashlib.sha256(f"{self.salt} {name}".encode()).hexdigest()[:length]

    def subject(self, entry: StateEntry) -> Json:
        """The subject of a record: its target, the object of its name, or the only workload there; or a namespace."""
        named = str(entry.fields.get("target", ""))
        row = resource_type(named.partition("/")[0])
        wanted = Key(row.noun, "", named.partition("/")[2]) if row and named else None
        home = entry_namespace(entry, self.preconditions)
        keys = [entry_key(other, self.preconditions) for other in state_of(self.preconditions)]
        described = [key for key in keys if key.noun in {*WORKLOADS, "pod", "job", "ingress", "service", "node"}]
        if wanted is not None:
            found = [key for key in keys if (key.noun, key.name) == (wanted.noun, wanted.name)] or [
                Key(wanted.noun, home, wanted.name)
            ]
        else:
            found = [key for key in described if key.name == entry.name]
        if not found:
            workloads = [key for key in described if key.noun in WORKLOADS and key.namespace == home]
            found = workloads if len(workloads) == 1 and entry_noun(entry) == "alert" else []
        here = [key for key in found if key.namespace in {home, ""}] or (found if entry.namespace is None else [])
        if not here:
            return {"namespace": home}
        return {"kind": BY_NOUN[here[0].noun].kind, "namespace": here[0].namespace, "name": here[0].name}

    def declared_entry(self, subject: Mapping[str, Any]) -> StateEntry | None:
        """The entry of a subject."""
        return next((entry for entry in state_of(self.preconditions) if _is_of(entry, subject)), None)


def _is_of(entry: StateEntry, subject: Mapping[str, Any]) -> bool:
    row = BY_NOUN.get(entry_noun(entry) or "")
    return row is not None and (row.kind, entry.name) == (subject.get("kind"), subject.get("name"))


def record_of(entry: StateEntry, scene: Scene) -> Json:
    """The record that an entry of a service's kind describes."""
    noun = entry_noun(entry) or ""
    subject = scene.subject(entry)
    spec, status = _BUILDERS[noun](entry, scene, subject)
    return record(BY_NOUN[noun], entry.name, subject.get("namespace") or entry_namespace(entry, scene.preconditions),
                  spec, status)  # fmt: skip


def load_of(entry: StateEntry, scene: Scene) -> Json | None:
    """The metrics that an entry of another kind implies by what it says about the load of its object."""
    noun = entry_noun(entry) or ""
    values = {key: entry.fields[key] for key in MEASURES if key in entry.fields} if noun != METRICS else {}
    if noun == "ingress" and bare_word(str(entry.fields.get("status", ""))) == "returning503":
        values["http_requests_failing"] = "100%"
    if not values or noun not in BY_NOUN:
        return None
    key = entry_key(entry, scene.preconditions)
    subject = {"kind": BY_NOUN[noun].kind, "namespace": key.namespace, "name": key.name}
    labels = {"code": "503"} if "http_requests_failing" in values else {}
    series = list(_series(values, scene, subject, labels))
    home = key.namespace or default_namespace(scene.preconditions)
    return record(BY_NOUN[METRICS], entry.name, home, {"subject": subject, "series": series})


def merged_metrics(known: Json, more: Json) -> Json:
    """Two records of metrics about one thing as one; a series in both continues with the later samples."""
    series = {_identity(item): item for item in known["spec"]["series"]}
    for item in more["spec"]["series"]:
        before = series.get(_identity(item), item)
        first = item["samples"][0][0]
        kept = [sample for sample in before["samples"] if sample[0] < first] if before is not item else []
        series[_identity(item)] = {**before, **item, "samples": [*kept, *item["samples"]]}
    subject = known["spec"]["subject"] if "name" in known["spec"]["subject"] else more["spec"]["subject"]
    return {**known, "spec": {**known["spec"], "subject": subject, "series": list(series.values())}}


def _identity(series: Mapping[str, Any]) -> tuple[Any, ...]:
    return (series["name"], *sorted(series["labels"].items()))


_Parts = tuple[Json, Json | None]


def _metrics(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    values = {key: value for key, value in entry.fields.items() if key not in _NOT_METRICS}
    values |= dict(entry.fields.get("series") or {})
    about = subject if "name" in subject else {**subject, "name": entry.name}
    extra = {str(key): as_text(value) for key, value in (entry.fields.get("labels") or {}).items()}
    return {"subject": subject, "series": list(_series(values, scene, about, extra))}, None


def _series(
    values: Mapping[str, Any], scene: Scene, subject: Mapping[str, Any], extra: Mapping[str, str]
) -> Iterator[Json]:
    """The series of values by name; if a value's usual one is also given, it rose from there."""
    label = _LABELS.get(str(subject.get("kind", "")).lower(), "service")
    labels = {
        label: subject["name"], **({"namespace": subject["namespace"]} if subject.get("namespace") else {}), **extra,
    }  # fmt: skip
    declared = scene.declared_entry(subject)
    changed = seconds_ago(declared.fields.get("last_deploy")) if declared else None
    for name, value in values.items():
        usual = named_amount(name, values.get(f"{BASELINE}{name}"))
        told = _told_samples(name, value, scene, usual, changed if changed is not None else _HOUR)
        yield _metric(name, labels, told, usual)
        if name in _OTHER_NAMES and isinstance(told[0], Amount):
            yield _metric(_OTHER_NAMES[name], labels, told, usual)
        if name.endswith(_TREND) and isinstance(value, str):
            yield _metric(name.removesuffix(_TREND), labels, _drawn_samples(value, scene, declared), None)


_Told = tuple[Amount | str, list[tuple[float, float]]]
"""The unit, from an amount, or a word; and the samples."""


def _told_samples(name: str, value: Any, scene: Scene, usual: Amount | None, changed: float) -> _Told:
    if not isinstance(value, str | int | float):
        amounts = [(seconds_ago(item["t"]) or 0.0, named_amount(name, item["value"]) or Amount(0.0)) for item in value]
        ordered = sorted(((scene.now - ago, told) for ago, told in amounts), key=lambda sample: sample[0])
        # A sample of 0 is often written without the unit that the others have.
        unit = next((told.unit for _, told in ordered if told.unit), "")
        return Amount(0.0, unit), [(when, told.number) for when, told in ordered]
    since = scene.now - _DAY
    ago = seconds_ago(value) if isinstance(value, str) and ("ago" in value or value == "now") else None
    if ago is not None:
        return Amount(0.0, "timestamp"), [(since, scene.now - ago)]
    told = named_amount(name, value)
    if told is None:
        return str(value), [(since, 1.0)]
    if usual is None:
        return told, [(since, told.number)]
    return told, [(since, usual.number), (scene.now - changed, told.number)]


def _drawn_samples(word: str, scene: Scene, declared: StateEntry | None) -> _Told:
    """Samples for a course described by a word: up to just below the limit of the subject, down, or level."""
    limit = amount((declared.fields if declared else {}).get("memory_limit")) or Amount(_USUAL_LIMIT, "bytes")
    course = [(ago, part * limit.number) for ago, part in _RISE]
    if bare_word(word) in _FALLS:
        course = [(ago, number) for (ago, _), (_, number) in zip(course, reversed(course), strict=True)]
    elif bare_word(word) not in _RISES:
        course = [(ago, limit.number * 0.5) for ago, _ in course]
    return Amount(0.0, "bytes"), [(scene.now - ago, number) for ago, number in course]


def _metric(name: str, labels: Mapping[str, str], told: _Told, usual: Amount | None) -> Json:
    kind, samples = told
    unit = kind.unit if isinstance(kind, Amount) else ""
    said = {"value": kind} if isinstance(kind, str) else {}
    return {
        "name": name,
        "labels": {**labels, **({"unit": unit} if unit else {}), **said},
        "unit": unit,
        "samples": [[when, number] for when, number in samples],
        **({"baseline": usual.number} if usual else {}),
    }


def _alert(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    fields = entry.fields
    words = {"firing": "firing", "pending": "pending"}
    state = words.get(bare_word(str(fields.get("status", "firing" if "since" in fields else "inactive"))), "inactive")
    about = {"service": subject["name"]} if "name" in subject else {}
    labels = {
        "alertname": entry.name, "severity": str(fields.get("severity", "warning")), "namespace": subject["namespace"],
        **about, **{str(key): as_text(value) for key, value in (fields.get("labels") or {}).items()},
    }  # fmt: skip
    notes: dict[str, str] = {key: fields[key] for key in ("summary", "description") if key in fields}
    notes |= {str(key): as_text(value) for key, value in (fields.get("annotations") or {}).items()}
    since = seconds_ago(fields.get("since")) if "since" in fields else 120.0
    spec = {
        "subject": subject,
        "expr": fields.get("expr", f'{entry.name.replace("-", "_")}{{namespace="{subject["namespace"]}"}} > 0'),
        "labels": labels,
        "annotations": {"summary": f"{entry.name} on {subject.get('name', subject['namespace'])}", **notes},
    }
    active = {} if state == "inactive" else {"activeAt": scene.text(since or 0.0)}
    return spec, {"state": state, **active}


def _trace(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    age = seconds_ago(entry.fields.get("age")) if "age" in entry.fields else 300.0
    first = (entry.fields["root_span"],) if "root_span" in entry.fields else ()
    roots = (*first, *(entry.fields.get("spans") or ()))
    start = round((scene.now - (age or 0.0)) * 1e6)
    service = str(subject.get("name", entry.name))
    spans = list(_spans(roots, None, service, start, scene, entry.name))
    return {"subject": subject, "traceID": scene.drawn_id(entry.name, 32), "spans": spans}, None


def _spans(
    items: Iterable[Mapping[str, Any]], parent: str | None, service: str, start: int, scene: Scene, path: str
) -> Iterator[Json]:
    """Spans and the spans that they called, one after the other within the time of their callers."""
    begin = start
    for number, item in enumerate(items):
        place = f"{path} {number}"
        told = named_amount("duration_ms", item["duration_ms"]) or Amount(0.0)
        own = str(item.get("service", service))
        span = scene.drawn_id(place, 16)
        tags = {str(key): value for key, value in (item.get("attributes") or {}).items()}
        if "status" in item:
            tags["otel.status_code"] = str(item["status"]).upper()
            tags |= {"error": True} if bare_word(str(item["status"])) == "error" else {}
        yield {
            "spanID": span,
            **({"parentSpanID": parent} if parent else {}),
            "serviceName": own,
            "operationName": str(item.get("operation", item.get("name"))),
            "startTime": begin,
            "duration": round(told.number * 1000),
            "tags": tags,
        }
        yield from _spans(item.get("children") or (), span, own, begin + 1000, scene, place)
        begin += round(told.number * 1000)


def _dashboard(entry: StateEntry, scene: Scene, _subject: Json) -> _Parts:
    panels = [
        {"id": number, "type": "graph", **_panel(item, scene)}
        for number, item in enumerate(entry.fields.get("panels") or (), start=1)
    ]
    title = str(entry.fields.get("title", entry.name))
    uid = scene.drawn_id(f"dashboard {entry.name}", 14)
    return {"uid": uid, "title": title, "tags": list(entry.fields.get("tags") or ()), "panels": panels}, None


def _panel(item: Any, scene: Scene) -> Json:
    """A panel with its content; one with only a title shows nothing unusual."""
    if isinstance(item, str):
        return {"title": item, "currentValue": f"{30 + int(scene.drawn_id(item, 4), 16) % 30}%", "status": "normal"}
    return {"currentValue" if key == "current_value" else str(key): value for key, value in item.items()}


def _application(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    fields = entry.fields
    syncs = {"synced": "Synced", "outofsync": "OutOfSync"}
    heals = bool(fields.get("self_heal"))
    automated = {"automated": {"selfHeal": heals}} if heals or fields.get("auto_sync") else {}
    revision = str(fields.get("revision", scene.drawn_id(f"revision {entry.name}", _REVISION_LENGTH)))
    ago = seconds_ago(fields.get("last_sync")) if "last_sync" in fields else _DAY
    when = scene.text(ago or 0.0)
    spec = {
        "source": {
            "repoURL": fields.get("source_repo", "git@git.internal:platform/manifests.git"),
            "path": fields.get("source_path", f"apps/{entry.name}"), "targetRevision": "HEAD",
        },
        "destination": {"namespace": subject["namespace"], "server": "https://kubernetes.default.svc"},
        "syncPolicy": automated,
        "subject": subject,
        "desired": [],
    }  # fmt: skip
    message = str(fields.get("message", "successfully synced"))
    status = {
        "sync": {
            "status": syncs.get(bare_word(str(fields.get("sync_status", "synced"))), "Unknown"),
            "revision": revision,
        },
        "health": {"status": str(fields.get("health", "healthy")).capitalize()},
        "resources": [],
        "operationState": {"phase": "Succeeded", "message": message, "startedAt": when, "finishedAt": when},
    }
    return spec, status


def _pipeline(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    fields = entry.fields
    words = {"failed": "failed", "running": "running", "pending": "pending"}
    state = words.get(bare_word(str(fields.get("status", "success"))), "success")
    ago = seconds_ago(fields.get("last_run")) if "last_run" in fields else _HOUR
    stages = [
        {"name": item, "status": state} if isinstance(item, str) else {"status": state, **item}
        for item in fields.get("stages") or ("build", "test", "deploy")
    ]
    spec = {
        "subject": subject, "ref": fields.get("ref", "main"), "stages": stages,
        "commit": fields.get("commit", scene.drawn_id(f"commit {entry.name}", _REVISION_LENGTH)),
        "logs": [line.removesuffix("\n") for line in fields.get("logs") or ()],
        "triggeredBy": fields.get("triggered_by", "push"),
    }  # fmt: skip
    is_over = state in {"success", "failed"}
    finished = {"finishedAt": scene.text(max((ago or 0.0) - 180.0, 0.0))} if is_over else {}
    return spec, {"state": state, "run": 1, "startedAt": scene.text(ago or 0.0), **finished}


def _migration(entry: StateEntry, scene: Scene, subject: Json) -> _Parts:
    fields = entry.fields
    applied = fields.get("applied", True)
    words = {"pending": "pending", "failed": "failed", "rolledback": "rolled_back"}
    state = words.get(bare_word(str(fields.get("status", ""))), "applied" if applied is not False else "pending")
    ago = seconds_ago(applied)
    when = {"appliedAt": scene.text(_DAY if ago is None else ago)} if state == "applied" else {}
    created = {"recordsCreatedSince": fields["records_created_since"]} if "records_created_since" in fields else {}
    return {"subject": subject, "migration": fields["last_migration"]}, {"state": state, **when, **created}


_BUILDERS: Mapping[str, Callable[[StateEntry, Scene, Json], _Parts]] = {
    METRICS: _metrics,
    "alert": _alert,
    "traces": _trace,
    "dashboard": _dashboard,
    "gitops-application": _application,
    "pipeline": _pipeline,
    "database-migration": _migration,
}
