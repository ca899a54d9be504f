"""Dashboards behind Grafana's HTTP API; a dashboard lies in the folder of its namespace."""

import re
from collections.abc import Mapping
from typing import Any

from kubesim.handling.exchange import Response
from kubesim.resource import BY_NOUN
from kubesim.services.records import record
from kubesim.services.visit import Product, Route, ServiceError, Subject, Visit, subject_of
from kubesim.status import Json

_DASHBOARD = BY_NOUN["dashboard"]
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 2


def refusal(error: ServiceError) -> Response:
    """An error as Grafana words it."""
    match error.status:
        case 401:
            return Response(401, {"message": "Unauthorized", "messageId": "auth.unauthorized", "statusCode": 401})
        case 403:
            text = f"You'll need additional permissions to perform this action. {error.message}"
            return Response(403, {"accessErrorId": "ACE0000000000", "message": text, "title": "Access denied"})
        case 404:
            return Response(404, {"message": error.message or "Not found"})
        case 405:
            return Response(405, {"message": "Method not allowed"})
    return Response(error.status, {"message": error.message})


def _health(_visit: Visit) -> Response:
    return Response(200, {"commit": "", "database": "ok", "version": "11.1.0"})


def _search(visit: Visit) -> Response:
    query, tags = (visit.parameter("query") or "").lower(), set(visit.values("tag"))
    uids = {uid for text in visit.values("dashboardUIDs") for uid in text.split(",")}

    def is_wanted(dashboard: Json) -> bool:
        spec = dashboard.get("spec") or {}
        return (
            query in str(spec.get("title", "")).lower()
            and tags <= set(spec.get("tags") or ())
            and (not uids or uid_of(dashboard) in uids)
            and visit.parameter("type") in {None, "", "dash-db"}
        )

    found = visit.records(_DASHBOARD, is_wanted, aimed=bool(query or tags or uids))
    return Response(200, [_hit(number, dashboard) for number, dashboard in enumerate(found, start=1)])


def _get_dashboard(visit: Visit, uid: str) -> Response:
    dashboard = _find_dashboard(visit, uid, "get")
    return Response(200, {"meta": _meta(dashboard), "dashboard": _shown_dashboard(dashboard)})


def _delete(visit: Visit, uid: str) -> Response:
    dashboard = _find_dashboard(visit, uid, "delete")
    title = (dashboard.get("spec") or {}).get("title", "")
    visit.store.delete(_DASHBOARD, dashboard, visit.now)
    return Response(200, {"title": title, "message": f"Dashboard {title} deleted", "uid": uid})


def _save(visit: Visit) -> Response:
    """Create a dashboard, or replace the content of the one with that uid."""
    document = visit.document()
    given = document.get("dashboard")
    if not isinstance(given, Mapping) or not isinstance(given.get("title"), str) or not given["title"]:
        visit.require_somewhere("create", _DASHBOARD)
        raise ServiceError(400, "Dashboard title cannot be empty")
    uid = given.get("uid") if isinstance(given.get("uid"), str) else ""
    present = _known_dashboards(visit, str(uid)) if uid else []
    spec = {
        "uid": uid,
        "title": given["title"],
        "tags": _texts(given.get("tags")),
        "panels": _panels(given.get("panels")),
    }
    if present:
        dashboard = visit.record(_DASHBOARD, present, str(uid), "update")
        if not document.get("overwrite"):
            text = "A dashboard with the same uid already exists"
            return Response(412, {"message": text, "status": "version-mismatch"})
        version = {"uid": uid_of(dashboard), "version": _version(dashboard) + 1}
        changed = {**dashboard, "spec": {**dashboard["spec"], **spec, **version}}
        stored = visit.store.update(_DASHBOARD, dashboard, changed)
    else:
        stored = _create_dashboard(visit, spec, document.get("folderUid"))
    visit.shown = stored
    return Response(200, {"id": 1, "uid": uid_of(stored), "url": _url(stored), "status": "success",
                          "version": _version(stored), "slug": _slug(stored)})  # fmt: skip


def _create_dashboard(visit: Visit, spec: Json, folder: Any) -> Json:
    home = folder if isinstance(folder, str) and folder else _home(visit)
    name = spec["uid"] or f"d{visit.store.ids.suffix(8)}"
    visit.require("create", _DASHBOARD, Subject(home, name))
    if not _NAME.fullmatch(name):
        raise ServiceError(400, "uid contains illegal characters")
    if visit.store.get(_DASHBOARD.noun, home, name) is not None:
        raise ServiceError(412, "A dashboard with the same name in the folder already exists")
    return visit.store.create(_DASHBOARD, record(_DASHBOARD, name, home, {**spec, "uid": name}), visit.now)


def _home(visit: Visit) -> str:
    """The first namespace in which the account may save dashboards."""
    places = (str(item["metadata"]["name"]) for item in visit.store.items("namespace"))
    mine = (place for place in places if visit.permission_for("create", _DASHBOARD, Subject(place, "")).allowed)
    return next(mine, "default")


def _folders(visit: Visit) -> Response:
    found = sorted({subject_of(dashboard).namespace for dashboard in visit.records(_DASHBOARD)})
    return Response(200, [{"id": number, "uid": name, "title": name} for number, name in enumerate(found, start=1)])


def _find_dashboard(visit: Visit, uid: str, verb: str) -> Json:
    try:
        return visit.record(_DASHBOARD, _known_dashboards(visit, uid), uid, verb)
    except ServiceError as error:
        text = "Dashboard not found" if error.status == 404 else error.message
        raise ServiceError(error.status, text) from error


def _known_dashboards(visit: Visit, uid: str) -> list[Json]:
    """The dashboards with that uid, or else with that name."""
    dashboards = visit.store.items(_DASHBOARD.noun, visit.place)
    return [item for item in dashboards if uid_of(item) == uid] or [
        item for item in dashboards if item["metadata"]["name"] == uid
    ]


def uid_of(dashboard: Json) -> str:
    """The uid under which Grafana knows a dashboard."""
    return str((dashboard.get("spec") or {}).get("uid") or dashboard["metadata"]["name"])


def _shown_dashboard(dashboard: Json) -> Json:
    spec = dashboard.get("spec") or {}
    return {
        "id": 1, "uid": uid_of(dashboard), "title": spec.get("title", ""), "tags": list(spec.get("tags") or ()),
        "timezone": "browser", "schemaVersion": 39, "version": _version(dashboard), "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"}, "templating": {"list": []}, "annotations": {"list": []},
        "panels": [_panel(place, panel) for place, panel in enumerate(spec.get("panels") or ())],
    }  # fmt: skip


def _panel(place: int, panel: Mapping[str, Any]) -> Json:
    grid = {"h": _HEIGHT, "w": _WIDTH, "x": place % _COLUMNS * _WIDTH, "y": place // _COLUMNS * _HEIGHT}
    return {"id": place + 1, "type": "timeseries", "gridPos": grid, **panel}


def _hit(number: int, dashboard: Json) -> Json:
    folder, spec = subject_of(dashboard).namespace, dashboard.get("spec") or {}
    return {
        "id": number, "uid": uid_of(dashboard), "title": spec.get("title", ""), "uri": f"db/{_slug(dashboard)}",
        "url": _url(dashboard), "slug": "", "type": "dash-db", "tags": list(spec.get("tags") or ()), "isStarred": False,
        "folderUid": folder, "folderTitle": folder, "sortMeta": 0,
    }  # fmt: skip


def _meta(dashboard: Json) -> Json:
    folder, created = subject_of(dashboard).namespace, dashboard["metadata"].get("creationTimestamp", "")
    return {
        "type": "db", "canSave": False, "canEdit": False, "canAdmin": False, "canStar": False, "canDelete": False,
        "slug": _slug(dashboard), "url": _url(dashboard), "created": created, "updated": created, "updatedBy": "admin",
        "createdBy": "admin", "version": _version(dashboard), "folderUid": folder, "folderTitle": folder,
        "provisioned": True,
    }  # fmt: skip


def _slug(dashboard: Json) -> str:
    title = str((dashboard.get("spec") or {}).get("title", "")).lower()
    return re.sub(r"[^a-z0-9]+", "-", title).strip("-")[:60] or "dashboard"


def _url(dashboard: Json) -> str:
    return f"/d/{uid_of(dashboard)}/{_slug(dashboard)}"


def _version(dashboard: Json) -> int:
    return int((dashboard.get("spec") or {}).get("version") or 1)


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _panels(value: Any) -> list[Json]:
    return [dict(item) for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


PRODUCT = Product(
    (
        Route("api/health", {"GET": _health}),
        Route("api/search", {"GET": _search}, _DASHBOARD),
        Route("api/folders", {"GET": _folders}, _DASHBOARD),
        Route("api/dashboards/uid/{uid}", {"GET": _get_dashboard, "DELETE": _delete}, _DASHBOARD),
        Route("api/dashboards/db", {"POST": _save}, _DASHBOARD),
    ),
    refusal,
)
