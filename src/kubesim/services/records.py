"""Service records: what metrics, alerts, traces, dashboards, GitOps, CI and migrations are made of.

A record is a JSON object like any other of the environment (apiVersion, kind, metadata, spec, status) in the same
store. State entries and reactions write records, the services read them, and what clients may change they change here.
Times are RFC 3339 texts to the second, except samples and spans, which count seconds and microseconds since 1970.
`subject` is `{kind, namespace, name}` of the object that a record is about; where there is none, only a namespace.

| noun (kind) | spec | status |
| --- | --- | --- |
| metrics (MetricSeries) | subject; series: [{name, labels: {text: text}, unit, samples: [[epoch seconds, number], ...]}] | — |
| alert (Alert) | subject; expr; labels {alertname, severity, ...}; annotations {summary, description} | state: inactive, pending or firing; activeAt; silencedUntil? |
| traces (Trace) | subject; traceID (32 hex digits); spans: [{spanID, parentSpanID?, serviceName, operationName, startTime (µs), duration (µs), tags: {text: any}}] | — |
| dashboard (Dashboard) | uid; title; tags; panels: [{id, title, type, currentValue?, status?, ... as declared}] | — |
| gitops-application (Application) | source {repoURL, path, targetRevision}; destination {namespace, server}; syncPolicy {automated? {selfHeal}}; desired: [{kind, namespace, name, spec}] | sync {status: Synced, OutOfSync or Unknown, revision}; health {status}; resources: [{kind, namespace, name, status}]; operationState? {phase, message, startedAt, finishedAt} |
| pipeline (Pipeline) | subject; ref; commit; stages: [{name, status}]; logs: [line, ...]; triggeredBy | state: success, failed, running or pending; startedAt; finishedAt?; run: number |
| database-migration (Migration) | subject; migration (its name) | state: applied, pending, failed or rolled_back; appliedAt; recordsCreatedSince |

A series holds its last sample for ever: its value at a time is that of the last sample at or before it. `unit` is a word
(seconds, bytes, cores, percent, timestamp, or one as it was declared; or "") and also the label `unit` of the series when it
is not empty. A series whose declared value is a word has the value 1 and the label `value` with the word.
A trace is found by its traceID, by its record's name, or by the last part of that name.
To ask for a sync, write `operation: {sync: {revision}}` beside spec into an application: the GitOps controller carries
it out, takes `operation` away and writes status.operationState.
"""  # noqa: E501

from collections.abc import Mapping
from typing import Any

from kubesim.resource import ResourceType
from kubesim.status import Json


def record(
    row: ResourceType, name: str, namespace: str, spec: Mapping[str, Any], status: Mapping[str, Any] | None = None
) -> Json:
    """A record that is not stored yet."""
    return {
        "apiVersion": row.api_version,
        "kind": row.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
        **({"status": dict(status)} if status is not None else {}),
    }
