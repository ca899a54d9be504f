"""GitOps applications behind Argo CD's API."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.canonical import canonical_json
from kubesim.handling.exchange import Response
from kubesim.resource import BY_KIND, BY_NOUN, ResourceType
from kubesim.selectors import Predicate, label_selector
from kubesim.services.reconciliation import desired_objects, health, live_object
from kubesim.services.visit import Product, Route, ServiceError, Visit, records_named, subject_of
from kubesim.status import ApiError, Json
from kubesim.store import Store

_APPLICATION = BY_NOUN["gitops-application"]
_OWNED = ("replicaset", "pod", "job")
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 409: 6}
_INTERNAL = frozenset({"desired", "subject"})
_EDITABLE = ("source", "destination", "syncPolicy", "project")


def refusal(error: ServiceError) -> Response:
    """An error as Argo CD's gateway words it."""
    text = {401: "no session information", 405: "Method Not Allowed"}.get(error.status, error.message or "Not Found")
    if error.status == 403:
        text = f"permission denied: {error.message}"
    return Response(error.status, {"error": text, "code": _CODES.get(error.status, 2), "message": text})


def _list(visit: Visit) -> Response:
    wanted, place = visit.parameter("name"), visit.place
    repository, labelled = visit.parameter("repo"), _selector(visit.parameter("selector") or "")
    found = visit.records(
        _APPLICATION,
        lambda item: (
            wanted in {None, "", item["metadata"]["name"]}
            and place in {None, item["metadata"].get("namespace")}
            and repository in {None, "", (item["spec"].get("source") or {}).get("repoURL")}
            and labelled(item)
        ),
        aimed=bool(wanted or place or repository or visit.parameter("selector")),
    )
    metadata = {"resourceVersion": str(visit.store.version)}
    return Response(200, {"metadata": metadata, "items": [_shown_application(application) for application in found]})


def _selector(text: str) -> Predicate:
    try:
        return label_selector(text)
    except ApiError as error:
        raise ServiceError(400, f"error parsing the selector: {error}") from error


def _get(visit: Visit, name: str) -> Response:
    return Response(200, _shown_application(_find_application(visit, name)))


def _sync(visit: Visit, name: str) -> Response:
    """Request a sync, which the controller carries out; refused while another sync is under way."""
    document = visit.document()
    application = _find_application(visit, name, "create", "sync")
    if application.get("operation"):
        raise ServiceError(400, "another operation is already in progress")
    revision = document.get("revision")
    status = (application.get("status") or {}).get("sync") or {}
    asked = {
        "revision": revision if isinstance(revision, str) and revision else status.get("revision", "HEAD"),
        **({"dryRun": True} if document.get("dryRun") is True else {}),
    }
    operation = {"initiatedBy": {"username": visit.principal.username}, "sync": asked}
    stored = visit.store.update(_APPLICATION, application, {**application, "operation": operation})
    return Response(200, _shown_application(stored))


def _update(visit: Visit, name: str) -> Response:
    """Change where an application comes from, where it goes, or how it is kept in sync."""
    spec = visit.document().get("spec")
    application = _find_application(visit, name, "update")
    if not isinstance(spec, Mapping):
        raise ServiceError(400, "error unmarshalling application: spec is required")
    edits = {key: spec[key] for key in _EDITABLE if isinstance(spec.get(key), Mapping | str)}
    kept = {key: value for key, value in application["spec"].items() if key != "syncPolicy"}
    stored = visit.store.update(_APPLICATION, application, {**application, "spec": {**kept, **edits}})
    visit.shown = stored
    return Response(200, _shown_application(stored))


def _delete(visit: Visit, name: str) -> Response:
    """Delete an application and, unless the request says otherwise, all that it manages."""
    application = _find_application(visit, name, "delete")
    if visit.parameter("cascade") != "false":
        for wanted in desired_objects(application):
            row, found = BY_KIND.get(str(wanted.get("kind"))), live_object(visit.store, wanted)
            if row is not None and found is not None:
                visit.store.delete(row, found, visit.now)
    visit.store.delete(_APPLICATION, application, visit.now)
    return Response(200, {})


def _tree(visit: Visit, name: str) -> Response:
    application = _find_application(visit, name)
    nodes: list[Json] = []
    for wanted in desired_objects(application):
        row, found = BY_KIND.get(str(wanted.get("kind"))), live_object(visit.store, wanted)
        if row is not None and found is not None:
            nodes.append({**_node(row, found), "health": {"status": health(wanted, found)}})
            nodes += _owned_nodes(visit.store, row, found)
    return Response(200, {"nodes": nodes, "orphanedNodes": [], "hosts": []})


def _owned_nodes(store: Store, row: ResourceType, owner: Json) -> Iterator[Json]:
    for noun in _OWNED:
        child_row = BY_NOUN[noun]
        for child in store.items(noun, owner["metadata"].get("namespace")):
            references = child["metadata"].get("ownerReferences") or ()
            if any(reference.get("uid") == owner["metadata"]["uid"] for reference in references):
                yield {**_node(child_row, child), "parentRefs": [_reference(row, owner)]}
                if noun != "pod":
                    yield from _owned_nodes(store, child_row, child)


def _list_managed(visit: Visit, name: str) -> Response:
    """The desired state in the repository beside the actual state in the cluster."""
    application = _find_application(visit, name)
    items = []
    for wanted in desired_objects(application):
        row, found = BY_KIND.get(str(wanted.get("kind"))), live_object(visit.store, wanted)
        if row is None:
            continue
        shown = {"spec": (found or {}).get("spec")} if found else None
        items.append({
            "group": row.group, "kind": row.kind, "namespace": wanted.get("namespace"), "name": wanted.get("name"),
            "targetState": canonical_json(_manifest(row, wanted)),
            "liveState": canonical_json({**_manifest(row, wanted), **shown}) if shown else "null",
        })  # fmt: skip
    return Response(200, {"items": items})


def _manifests(visit: Visit, name: str) -> Response:
    application = _find_application(visit, name)
    rows = ((BY_KIND.get(str(wanted.get("kind"))), wanted) for wanted in desired_objects(application))
    texts = [canonical_json(_manifest(row, wanted)) for row, wanted in rows if row is not None]
    revision = ((application.get("status") or {}).get("sync") or {}).get("revision", "")
    return Response(200, {"manifests": texts, "revision": revision, "namespace": subject_of(application).namespace})


def _find_application(visit: Visit, name: str, verb: str = "get", subresource: str = "") -> Json:
    try:
        return visit.record(_APPLICATION, records_named(visit, _APPLICATION, name), name, verb, subresource)
    except ServiceError as error:
        text = f'applications.argoproj.io "{name}" not found' if error.status == 404 else error.message
        raise ServiceError(error.status, text) from error


def _shown_application(application: Json) -> Json:
    """An application as the API shows it; the content of its repository is a separate request."""
    spec = {key: value for key, value in (application.get("spec") or {}).items() if key not in _INTERNAL}
    return {**application, "spec": {"project": "default", **spec}}


def _manifest(row: ResourceType, wanted: Mapping[str, Any]) -> Json:
    metadata = {"name": wanted.get("name"), "namespace": wanted.get("namespace")}
    return {"apiVersion": row.api_version, "kind": row.kind, "metadata": metadata, "spec": wanted.get("spec")}


def _reference(row: ResourceType, found: Json) -> Json:
    metadata = found["metadata"]
    return {
        **({"group": row.group} if row.group else {}), "version": row.version, "kind": row.kind,
        "namespace": metadata.get("namespace", ""), "name": metadata["name"], "uid": metadata["uid"],
    }  # fmt: skip


def _node(row: ResourceType, found: Json) -> Json:
    return {
        **_reference(row, found), "resourceVersion": found["metadata"].get("resourceVersion", ""),
        "createdAt": found["metadata"].get("creationTimestamp", ""),
    }  # fmt: skip


def _version(_visit: Visit) -> Response:
    return Response(200, {"Version": "v2.11.3"})


PRODUCT = Product(
    (
        Route("api/v1/applications", {"GET": _list}, _APPLICATION),
        Route("api/v1/applications/{name}", {"GET": _get, "PUT": _update, "DELETE": _delete}, _APPLICATION),
        Route("api/v1/applications/{name}/sync", {"POST": _sync}, _APPLICATION),
        Route("api/v1/applications/{name}/resource-tree", {"GET": _tree}, _APPLICATION),
        Route("api/v1/applications/{name}/managed-resources", {"GET": _list_managed}, _APPLICATION),
        Route("api/v1/applications/{name}/manifests", {"GET": _manifests}, _APPLICATION),
        Route("api/version", {"GET": _version}),
    ),
    refusal,
)
