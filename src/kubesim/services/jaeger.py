"""Traces behind Jaeger's query API."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubesim.bodies import go_json
from kubesim.handling.exchange import Response
from kubesim.resource import BY_NOUN
from kubesim.services.prometheus.tokens import duration
from kubesim.services.visit import Product, Route, ServiceError, Visit
from kubesim.status import Json

_TRACES = BY_NOUN["traces"]
_LIMIT = 100
_MICROSECONDS = 1_000_000


def refusal(error: ServiceError) -> Response:
    """An error in Jaeger's envelope; what its router refuses is plain text."""
    if error.status in {404, 405} and not error.kind:
        return Response(
            error.status,
            "404 page not found\n" if error.status == 404 else "",
            {"Content-Type": "text/plain; charset=utf-8"},
        )
    message = "unauthorized" if error.status == 401 else error.message
    return Response(error.status, _envelope(None, errors=[{"code": error.status, "msg": message}]))


def _services(visit: Visit) -> Response:
    found = {span["serviceName"] for record in visit.records(_TRACES) for span in _spans(record)}
    return Response(200, _envelope(sorted(found)))


def _operations(visit: Visit, service: str) -> Response:
    return Response(200, _envelope(sorted(_operation_names(visit, service))))


def _all_operations(visit: Visit) -> Response:
    service = _required_service(visit)
    return Response(
        200, _envelope([{"name": name, "spanKind": "server"} for name in sorted(_operation_names(visit, service))])
    )


def _operation_names(visit: Visit, service: str) -> set[str]:
    records = visit.records(_TRACES, lambda record: _serves(record, service), aimed=True)
    return {span["operationName"] for record in records for span in _spans(record) if span["serviceName"] == service}


def _search(visit: Visit) -> Response:
    wanted = visit.values("traceID")
    if wanted:
        return Response(200, _envelope([_shown_trace(_find_trace(visit, identifier)) for identifier in wanted]))
    service = _required_service(visit)
    criteria = _criteria(visit, service)
    found = visit.records(_TRACES, lambda record: any(_meets(span, criteria) for span in _spans(record)), aimed=True)
    found.sort(key=lambda record: -max(int(span["startTime"]) for span in _spans(record)))
    return Response(200, _envelope([_shown_trace(record) for record in found[: criteria["limit"]]]))


def _get_trace(visit: Visit, identifier: str) -> Response:
    return Response(200, _envelope([_shown_trace(_find_trace(visit, identifier))]))


def _find_trace(visit: Visit, identifier: str) -> Json:
    """The trace with that id, or with that name, whole or its last part."""
    records = visit.store.items(_TRACES.noun, visit.place)
    tests = (
        lambda record: _trace_id(record).lstrip("0") == identifier.lower().lstrip("0"),
        lambda record: record["metadata"]["name"] == identifier,
        lambda record: record["metadata"]["name"].rpartition("-")[2] == identifier,
    )
    matches = next((found for test in tests if (found := [record for record in records if test(record)])), [])
    try:
        return visit.record(_TRACES, matches, identifier)
    except ServiceError as error:
        raise ServiceError(
            error.status, "trace not found" if error.status == 404 else error.message, "trace"
        ) from error


def _required_service(visit: Visit) -> str:
    service = visit.parameter("service")
    if not service:
        visit.require_somewhere("list", _TRACES)
        raise ServiceError(400, "parameter 'service' is required", "parameter")
    return service


def _criteria(visit: Visit, service: str) -> Json:
    def number(name: str, default: int) -> int:
        text = visit.parameter(name)
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            problem = f"strconv.ParseInt: parsing {text!r}: invalid syntax"
            raise ServiceError(400, f"unable to parse param '{name}': {problem}", "parameter")
        return int(text)

    def length(name: str) -> float | None:
        text = visit.parameter(name)
        seconds = duration(text) if text else None
        if text and seconds is None:
            raise ServiceError(400, f"unable to parse param '{name}': time: invalid duration {text!r}", "parameter")
        return None if seconds is None else seconds * _MICROSECONDS

    return {
        "service": service, "operation": visit.parameter("operation"), "start": number("start", 0),
        "end": number("end", 2**62), "limit": number("limit", _LIMIT) or _LIMIT, "tags": _wanted_tags(visit),
        "minimum": length("minDuration"), "maximum": length("maxDuration"),
    }  # fmt: skip


def _wanted_tags(visit: Visit) -> dict[str, str]:
    found = dict(text.partition(":")[::2] for text in visit.values("tag"))
    for text in visit.values("tags"):
        try:
            data = go_json.load_json(text.encode(errors="replace"))
        except go_json.JsonError:
            data = None
        if not isinstance(data, Mapping):
            raise ServiceError(400, "malformed 'tags' parameter, cannot unmarshal JSON", "parameter")
        found |= {str(key): str(value) for key, value in data.items()}
    return found


def _meets(span: Mapping[str, Any], criteria: Mapping[str, Any]) -> bool:
    length, tags = int(span["duration"]), {key: _text(value) for key, value in (span.get("tags") or {}).items()}
    return (
        span["serviceName"] == criteria["service"]
        and criteria["operation"] in {None, "", "all", span["operationName"]}
        and criteria["start"] <= int(span["startTime"]) <= criteria["end"]
        and (criteria["minimum"] is None or length >= criteria["minimum"])
        and (criteria["maximum"] is None or length <= criteria["maximum"])
        and all(tags.get(key) == value for key, value in criteria["tags"].items())
    )


def _shown_trace(record: Json) -> Json:
    identifier, spans = _trace_id(record), _spans(record)
    services = list(dict.fromkeys(span["serviceName"] for span in spans))
    processes = {service: f"p{number}" for number, service in enumerate(services, start=1)}
    return {
        "traceID": identifier,
        "spans": [_span(span, identifier, processes[span["serviceName"]]) for span in spans],
        "processes": {place: {"serviceName": service, "tags": []} for service, place in processes.items()},
        "warnings": None,
    }


def _span(span: Mapping[str, Any], trace: str, process: str) -> Json:
    parent = span.get("parentSpanID")
    return {
        "traceID": trace, "spanID": span["spanID"], "operationName": span["operationName"],
        "references": [{"refType": "CHILD_OF", "traceID": trace, "spanID": parent}] if parent else [],
        "startTime": span["startTime"], "duration": span["duration"],
        "tags": [{"key": key, "type": _type(value), "value": value} for key, value in (span.get("tags") or {}).items()],
        "logs": list(span.get("logs") or ()), "processID": process, "warnings": None,
    }  # fmt: skip


def _spans(record: Json) -> Sequence[Mapping[str, Any]]:
    return (record.get("spec") or {}).get("spans") or ()


def _trace_id(record: Json) -> str:
    return str((record.get("spec") or {}).get("traceID", ""))


def _serves(record: Json, service: str) -> bool:
    return any(span["serviceName"] == service for span in _spans(record))


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int64" if isinstance(value, int) else "float64" if isinstance(value, float) else "string"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _envelope(data: Any, errors: Iterable[Json] | None = None) -> Json:
    total = len(data) if isinstance(data, list) else 0
    return {"data": data, "total": total, "limit": 0, "offset": 0, "errors": None if errors is None else list(errors)}


PRODUCT = Product(
    (
        Route("api/services", {"GET": _services}, _TRACES),
        Route("api/services/{service}/operations", {"GET": _operations}),
        Route("api/operations", {"GET": _all_operations}, _TRACES),
        Route("api/traces", {"GET": _search}, _TRACES),
        Route("api/traces/{id}", {"GET": _get_trace}, _TRACES),
    ),
    refusal,
)
