"""CI pipelines: their state, their logs, and restarting one."""

from collections.abc import Callable

from kubesim.handling.exchange import Response
from kubesim.resource import BY_NOUN
from kubesim.services.visit import Product, Route, ServiceError, Visit, records_named
from kubesim.status import Json

_PIPELINE = BY_NOUN["pipeline"]
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
_WORDS = {401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed"}


def refusal(error: ServiceError) -> Response:
    """An error with a message, as CI servers send it."""
    text = error.message or _WORDS.get(error.status, "Error")
    return Response(error.status, {"message": f"{error.status} {text}", "status": error.status})


def _list(visit: Visit) -> Response:
    status, ref = visit.parameter("status"), visit.parameter("ref")
    found = visit.records(
        _PIPELINE,
        lambda item: (
            status in {None, "", (item.get("status") or {}).get("state")}
            and ref in {None, "", (item.get("spec") or {}).get("ref")}
        ),
    )
    return Response(200, {"pipelines": [_shown_pipeline(pipeline) for pipeline in found], "total": len(found)})


def _get(visit: Visit, name: str) -> Response:
    return Response(200, _shown_pipeline(_find_pipeline(visit, name)))


def _logs(visit: Visit, name: str) -> Response:
    pipeline = _find_pipeline(visit, name, "get", "log")
    lines = (pipeline.get("spec") or {}).get("logs") or ()
    return Response(200, "".join(f"{line}\n" for line in lines), _TEXT)


def _start_handler(subresource: str) -> Callable[[Visit, str], Response]:
    """The handler that starts a pipeline again, as a retry or as a new run."""

    def start(visit: Visit, name: str) -> Response:
        visit.document()
        pipeline = _find_pipeline(visit, name, "create", subresource)
        status = pipeline.get("status") or {}
        if subresource == "retry" and status.get("state") in {"running", "pending"}:
            raise ServiceError(409, f"pipeline {name} is {status['state']}")
        kept = {key: value for key, value in status.items() if key != "finishedAt"}
        run = status.get("run")
        changed = {**kept, "state": "running", "startedAt": visit.now, "run": (run if isinstance(run, int) else 1) + 1}
        spec = {**(pipeline.get("spec") or {}), "triggeredBy": visit.principal.username}
        stored = visit.store.update(_PIPELINE, pipeline, {**pipeline, "spec": spec, "status": changed})
        return Response(201, _shown_pipeline(stored))

    return start


def _find_pipeline(visit: Visit, name: str, verb: str = "get", subresource: str = "") -> Json:
    try:
        return visit.record(_PIPELINE, records_named(visit, _PIPELINE, name), name, verb, subresource)
    except ServiceError as error:
        raise ServiceError(error.status, "Pipeline Not Found" if error.status == 404 else error.message) from error


def _shown_pipeline(pipeline: Json) -> Json:
    spec, status, metadata = pipeline.get("spec") or {}, pipeline.get("status") or {}, pipeline["metadata"]
    optional = {"finished_at": status.get("finishedAt"), "commit": spec.get("commit"), "ref": spec.get("ref"),
                "triggered_by": spec.get("triggeredBy")}  # fmt: skip
    return {
        "id": metadata["name"], "project": metadata.get("namespace", ""), "status": status.get("state", "pending"),
        "run": status.get("run", 1), "started_at": status.get("startedAt", metadata.get("creationTimestamp", "")),
        "stages": list(spec.get("stages") or ()), **{key: value for key, value in optional.items() if value},
    }  # fmt: skip


PRODUCT = Product(
    (
        Route("api/v1/pipelines", {"GET": _list}, _PIPELINE),
        Route("api/v1/pipelines/{id}", {"GET": _get}, _PIPELINE),
        Route("api/v1/pipelines/{id}/logs", {"GET": _logs}, _PIPELINE),
        Route("api/v1/pipelines/{id}/retry", {"POST": _start_handler("retry")}, _PIPELINE),
        Route("api/v1/pipelines/{id}/trigger", {"POST": _start_handler("trigger")}, _PIPELINE),
    ),
    refusal,
)
