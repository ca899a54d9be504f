"""The Prometheus HTTP API, and Alertmanager's for silences, over recorded series and those of the cluster."""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesim.handling.exchange import Response
from kubesim.services.prometheus.alerts import (
    active_alert,
    rule_groups,
    silence,
    silences,
    with_receivers,
)
from kubesim.services.prometheus.cluster_series import scrape_labels, scraped_pods
from kubesim.services.prometheus.queries import ALERT, METRICS, all_series, instant, matched_series, range_answer
from kubesim.services.visit import Product, Route, ServiceError, Visit
from kubesim.status import Json

_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
_KINDS = {400: "bad_data", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "bad_data", 422: "execution"}
_VERSION = "2.53.1"


def refusal(error: ServiceError) -> Response:
    """An error in Prometheus' envelope; what its router refuses is plain text."""
    if error.status == 401:
        return Response(401, "Unauthorized\n", {**_TEXT, "WWW-Authenticate": "Bearer"})
    if error.status in {404, 405} and not error.kind:
        text = "404 page not found\n" if error.status == 404 else "Method Not Allowed\n"
        return Response(error.status, text, _TEXT)
    kind = error.kind or _KINDS.get(error.status, "internal")
    return Response(error.status, {"status": "error", "errorType": kind, "error": error.message})


def _query(visit: Visit) -> Response:
    return Response(200, instant(visit))


def _query_range(visit: Visit) -> Response:
    return Response(200, range_answer(visit))


def _series(visit: Visit) -> Response:
    if not visit.values("match[]"):
        raise ServiceError(400, "no match[] parameter provided", "bad_data")
    return _success([dict(one.labels) for one in matched_series(visit, all_series(visit.store))])


def _labels(visit: Visit) -> Response:
    found = matched_series(visit, all_series(visit.store))
    return _success(sorted({label for one in found for label in one.labels}))


def _label_values(visit: Visit, label: str) -> Response:
    found = matched_series(visit, all_series(visit.store))
    return _success(sorted({one.labels[label] for one in found if label in one.labels}))


def _metadata(visit: Visit) -> Response:
    found = matched_series(visit, all_series(visit.store))
    kinds = {one.name: "counter" if one.name.endswith("_total") else "gauge" for one in found}
    wanted = visit.parameter("metric")
    return _success({
        name: [{"type": kinds[name], "help": "", "unit": ""}] for name in sorted(kinds) if wanted in {None, name}
    })  # fmt: skip


def _targets(visit: Visit) -> Response:
    scraped = list(scraped_pods(visit.store))
    visible = visit.see(METRICS, visit.listable_subjects(METRICS, (subject for subject, _, _ in scraped)))
    return _success({
        "activeTargets": [_target(visit, scrape_labels(subject, pod), up=up)
                          for subject, pod, up in scraped if subject in visible],
        "droppedTargets": [],
    })  # fmt: skip


def _target(visit: Visit, labels: Mapping[str, str], *, up: bool) -> Json:
    url = f"http://{labels['instance']}/metrics"
    return {
        "discoveredLabels": {"__address__": labels["instance"], "__meta_kubernetes_namespace": labels["namespace"],
                             "__meta_kubernetes_pod_name": labels["pod"]},
        "labels": dict(labels), "scrapePool": labels["job"], "scrapeUrl": url, "globalUrl": url,
        "lastError": "" if up else f'Get "{url}": context deadline exceeded', "lastScrape": visit.now,
        "lastScrapeDuration": 0.004 if up else 10.0, "health": "up" if up else "down",
        "scrapeInterval": "15s", "scrapeTimeout": "10s",
    }  # fmt: skip


def _alerts(visit: Visit) -> Response:
    return _success({"alerts": [active_alert(alert) for alert in _readable_alerts(visit) if _is_active(alert)]})


def _rules(visit: Visit) -> Response:
    return _success({"groups": rule_groups(_readable_alerts(visit), visit.now)})


def _received_alerts(visit: Visit) -> Response:
    return Response(200, [with_receivers(alert, visit.now) for alert in _readable_alerts(visit) if _is_firing(alert)])


def _silences(visit: Visit) -> Response:
    return Response(200, silences(_readable_alerts(visit), visit.now))


def _silence(visit: Visit) -> Response:
    return Response(200, {"silenceID": silence(visit)})


def _readable_alerts(visit: Visit) -> list[Json]:
    return visit.records(ALERT)


def _is_active(alert: Json) -> bool:
    return (alert.get("status") or {}).get("state") in {"pending", "firing"}


def _is_firing(alert: Json) -> bool:
    return (alert.get("status") or {}).get("state") == "firing"


def _serve_healthy(_visit: Visit) -> Response:
    return Response(200, "Prometheus Server is Healthy.\n", _TEXT)


def _serve_ready(_visit: Visit) -> Response:
    return Response(200, "Prometheus Server is Ready.\n", _TEXT)


def _build(_visit: Visit) -> Response:
    return _success({"version": _VERSION, "revision": "", "branch": "HEAD", "buildUser": "", "buildDate": "",
                     "goVersion": "go1.22.5"})  # fmt: skip


def _success(data: Any) -> Response:
    return Response(200, {"status": "success", "data": data})


def _get_and_post(handler: Any) -> dict[str, Any]:
    return {"GET": handler, "POST": handler}


def _routes() -> Iterable[Route]:
    yield Route("api/v1/query", _get_and_post(_query), METRICS)
    yield Route("api/v1/query_range", _get_and_post(_query_range), METRICS)
    yield Route("api/v1/series", _get_and_post(_series), METRICS)
    yield Route("api/v1/labels", _get_and_post(_labels), METRICS)
    yield Route("api/v1/label/{label}/values", {"GET": _label_values})
    yield Route("api/v1/metadata", {"GET": _metadata}, METRICS)
    yield Route("api/v1/targets", {"GET": _targets}, METRICS)
    yield Route("api/v1/alerts", {"GET": _alerts}, ALERT)
    yield Route("api/v1/rules", {"GET": _rules}, ALERT)
    yield Route("api/v1/status/buildinfo", {"GET": _build})
    yield Route("api/v2/alerts", {"GET": _received_alerts}, ALERT)
    yield Route("api/v2/silences", {"GET": _silences, "POST": _silence}, ALERT)
    yield Route("-/healthy", {"GET": _serve_healthy})
    yield Route("-/ready", {"GET": _serve_ready})


PRODUCT = Product(tuple(_routes()), refusal)
