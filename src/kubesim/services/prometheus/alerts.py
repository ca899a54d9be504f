"""Alerts as Prometheus and Alertmanager show them, and silences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubesim.resource import BY_NOUN
from kubesim.services.prometheus.cluster_series import epoch
from kubesim.services.prometheus.errors import QueryError
from kubesim.services.prometheus.patterns import pattern
from kubesim.services.visit import ServiceError, Subject, Visit, subject_of
from kubesim.status import Json

_ALERT = BY_NOUN["alert"]
_FOREVER = "9999-12-31T23:59:59Z"


def labels_of(alert: Json) -> dict[str, str]:
    """The labels of an alert, including its name."""
    own = (alert.get("spec") or {}).get("labels") or {}
    return {"alertname": alert["metadata"]["name"], **{str(key): str(value) for key, value in own.items()}}


def active_alert(alert: Json) -> Json:
    """A pending or firing alert as Prometheus shows it."""
    status = alert.get("status") or {}
    return {
        "labels": labels_of(alert), "annotations": _annotations(alert), "state": status.get("state", "inactive"),
        "activeAt": status.get("activeAt") or alert["metadata"].get("creationTimestamp", ""), "value": "1e+00",
    }  # fmt: skip


def rule_groups(alerts: Iterable[Json], now: str) -> list[Json]:
    """The rules behind alerts, one group per namespace."""
    groups: dict[str, list[Json]] = {}
    for alert in alerts:
        state = (alert.get("status") or {}).get("state", "inactive")
        rule = {
            "state": state, "name": labels_of(alert)["alertname"], "query": (alert.get("spec") or {}).get("expr", ""),
            "duration": 300, "keepFiringFor": 0,
            "labels": {key: text for key, text in labels_of(alert).items() if key != "alertname"},
            "annotations": _annotations(alert), "alerts": [] if state == "inactive" else [active_alert(alert)],
            "health": "ok", "evaluationTime": 0.001, "lastEvaluation": now, "type": "alerting",
        }  # fmt: skip
        groups.setdefault(alert["metadata"].get("namespace", ""), []).append(rule)
    return [
        {"name": name, "file": f"/etc/prometheus/rules/{name}.yaml", "rules": rules, "interval": 30, "limit": 0,
         "evaluationTime": 0.002, "lastEvaluation": now}
        for name, rules in sorted(groups.items())
    ]  # fmt: skip


def with_receivers(alert: Json, now: str) -> Json:
    """An alert as Alertmanager shows it."""
    is_silent = _is_silent(alert, now)
    found = (alert.get("status") or {}).get("silence") or {}
    silenced_by = [found["id"]] if is_silent and "id" in found else []
    status = {"state": "suppressed" if is_silent else "active", "silencedBy": silenced_by, "inhibitedBy": []}
    shown = active_alert(alert)
    return {
        "labels": shown["labels"], "annotations": shown["annotations"], "startsAt": shown["activeAt"],
        "endsAt": "0001-01-01T00:00:00Z", "updatedAt": now,
        "fingerprint": alert["metadata"]["uid"].replace("-", "")[:16],
        "generatorURL": "", "receivers": [{"name": "default"}], "status": status,
    }  # fmt: skip


def silences(alerts: Iterable[Json], now: str) -> list[Json]:
    """The silences in force on alerts."""
    found: dict[str, Json] = {}
    for alert in alerts:
        one = (alert.get("status") or {}).get("silence")
        if one:
            found[one["id"]] = {**one, "status": {"state": "active" if _is_silent(alert, now) else "expired"}}
    return [found[key] for key in sorted(found)]


def silence(visit: Visit) -> str:
    """Silence the alerts that the body's matchers select; the id of the silence."""
    document = visit.document()
    visit.require_somewhere("create", _ALERT, "silence")
    matchers = document.get("matchers")
    if not isinstance(matchers, list) or not matchers:
        raise ServiceError(400, "silence invalid: at least one matcher required", "bad_data")
    end = document.get("endsAt", _FOREVER)
    if epoch(end) is None:
        raise ServiceError(400, "silence invalid: invalid end timestamp", "bad_data")
    chosen = [alert for alert in visit.store.items(_ALERT.noun) if _are_met(matchers, labels_of(alert))]
    visit.note("create", _ALERT, subject_of(chosen[0]) if len(chosen) == 1 else Subject("", ""), "silence")
    for alert in chosen:
        if not visit.permission_for("create", _ALERT, subject_of(alert), "silence").allowed or len(chosen) == 1:
            visit.require("create", _ALERT, subject_of(alert), "silence")
    identifier = visit.store.ids.uid()
    kept = {key: document[key] for key in ("comment", "createdBy", "startsAt") if isinstance(document.get(key), str)}
    note = {
        "id": identifier,
        "matchers": matchers,
        "endsAt": end,
        "startsAt": visit.now,
        **kept,
        "updatedAt": visit.now,
    }
    for alert in chosen:
        status = {**(alert.get("status") or {}), "silencedUntil": end, "silence": note}
        visit.store.update(_ALERT, alert, {**alert, "status": status})
    return identifier


def _are_met(matchers: Sequence[Any], labels: Mapping[str, str]) -> bool:
    return all(_is_met(matcher, labels) for matcher in matchers)


def _is_met(matcher: Any, labels: Mapping[str, str]) -> bool:
    if not isinstance(matcher, Mapping) or not all(isinstance(matcher.get(key), str) for key in ("name", "value")):
        raise ServiceError(400, "silence invalid: invalid label matcher", "bad_data")
    value = labels.get(matcher["name"], "")
    try:
        equal = pattern(matcher["value"]).matches(value) if matcher.get("isRegex") else value == matcher["value"]
    except QueryError as error:
        raise ServiceError(400, f"silence invalid: {error}", "bad_data") from error
    return equal is bool(matcher.get("isEqual", True))


def _is_silent(alert: Json, now: str) -> bool:
    until, present = epoch((alert.get("status") or {}).get("silencedUntil")), epoch(now)
    return until is not None and present is not None and until > present


def _annotations(alert: Json) -> dict[str, str]:
    return {str(key): str(value) for key, value in ((alert.get("spec") or {}).get("annotations") or {}).items()}
