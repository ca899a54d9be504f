"""What the server refuses in events; the newer of the two APIs that serve them refuses more."""

from kubesim.discovery.catalogue import Resource
from kubesim.kinds.validation.fields import all_invalid, invalid, required
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.names import dns_subdomain_problems, qualified_name_problems
from kubesim.status import Cause, Json

_MOST = 128
_NOTE_MOST = 1024


def _is_strict(row: Resource) -> bool:
    return (row.group, row.version) == ("events.k8s.io", "v1")


def event_causes(row: Resource, event: Json) -> list[Cause]:
    """A new event, in the form of either API."""
    event = _core_form(event)
    causes = _lenient_causes(event)
    if not _is_strict(row):
        return causes
    causes += [*metadata_causes(row, event["metadata"]), *_series_causes(event)]
    if not event.get("eventTime"):
        causes.append(required("eventTime"))
    if event.get("type") not in {"Normal", "Warning"}:
        causes.append(invalid("type", "", f"has invalid value: {event.get('type', '')}"))
    unset = {**event, "source": {key: value for key, value in (event.get("source") or {}).items() if value}}
    causes += [
        invalid(field, "", "needs to be unset")
        for field in ("firstTimestamp", "lastTimestamp", "count", "source")
        if unset.get(field)
    ]
    return causes


def event_update_causes(row: Resource, new: Json, _: Json) -> list[Cause]:
    """A change of an event."""
    causes = _lenient_causes(_core_form(new))
    if not _is_strict(row):
        return causes
    # The server then compares the new event with itself, so its rules on immutable fields never find a change.
    return [*causes, *metadata_update_causes(new["metadata"], new["metadata"])]


def _core_form(event: Json) -> Json:
    """An event under the names that the core API uses."""
    renamed = {
        "regarding": "involvedObject", "note": "message", "deprecatedSource": "source",
        "deprecatedFirstTimestamp": "firstTimestamp", "deprecatedLastTimestamp": "lastTimestamp",
        "deprecatedCount": "count", "reportingController": "reportingController",
        "reportingComponent": "reportingController",
    }  # fmt: skip
    return {renamed.get(key, key): value for key, value in event.items()}


def _lenient_causes(event: Json) -> list[Cause]:
    namespace = event["metadata"].get("namespace", "")
    involved = (event.get("involvedObject") or {}).get("namespace", "")
    path, words = "involvedObject.namespace", "does not match event.namespace"
    causes: list[Cause] = []
    if not event.get("eventTime"):
        agrees = namespace in {"", "default"} if not involved else namespace == involved
        if not agrees:
            causes.append(invalid(path, involved, words))
    else:
        if not involved and namespace != "kube-system":
            causes.append(invalid(path, involved, words))
        causes += _detail_causes(event)
    return [*causes, *all_invalid("namespace", namespace, dns_subdomain_problems(namespace))]


def _detail_causes(event: Json) -> list[Cause]:
    controller = event.get("reportingController", "")
    causes = [] if controller else [required("reportingController")]
    causes += all_invalid("reportingController", controller, qualified_name_problems(controller))
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field, "")
        if not text:
            causes.append(required(field))
        if len(text.encode()) > _MOST:
            causes.append(invalid(field, "", f"can have at most {_MOST} characters"))
    if len(event.get("message", "").encode()) > _NOTE_MOST:
        causes.append(invalid("message", "", f"can have at most {_NOTE_MOST} characters"))
    return causes


def _series_causes(event: Json) -> list[Cause]:
    series = event.get("series")
    if series is None:
        return []
    causes = []
    if series.get("count", 0) < 2:
        causes.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        causes.append(required("series.lastObservedTime"))
    return causes
