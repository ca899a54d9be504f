"""Objects in the form that the client asked for: in full, as a table, or as their metadata alone."""

from collections.abc import Iterable

from kubesim.conventions import with_times_of
from kubesim.fields.creation import ESTABLISHED_SINCE, established_owners
from kubesim.fields.entries import entries_of, unmanaged
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.negotiation import Wanted, negotiate_form, not_acceptable
from kubesim.images import images_by_node, with_images
from kubesim.kinds.conversion import convert_object, inner_metadata
from kubesim.nodes import with_heartbeat
from kubesim.status import Json, bad_request
from kubesim.tables import table

_COUNTED_SINCE = 22
_INCLUDED = ("None", "Metadata", "Object")


def form(exchange: Exchange) -> Wanted:
    """The form of the answer; raise 406 when the client accepts none that exists."""
    return negotiate_form(
        exchange.request.headers.get("accept", ""),
        as_table=not exchange.call.subresource,
        minor=exchange.catalogue.minor,
    )


def object_response(exchange: Exchange, obj: Json, status: int = 200) -> Response:
    """One stored object as the answer."""
    asked = form(exchange)
    body = with_managers(exchange, convert_object(obj, exchange.row))
    if asked.kind and body.get("kind") != "Status":
        body = present_object(exchange, asked, body)
    return Response(status, body)


def list_response(exchange: Exchange, objects: Iterable[Json], metadata: Json) -> Response:
    """A collection as the answer; its items carry no kind of their own, as in the real API."""
    row, asked = exchange.row, form(exchange)
    items = [with_managers(exchange, convert_object(obj, row)) for obj in objects]
    match asked.kind:
        case "Table":
            body = _table(exchange, asked, items, metadata)
        case "PartialObjectMetadataList":
            partial = [_partial_metadata(exchange, obj, asked.version) for obj in items]
            if exchange.catalogue.minor < _COUNTED_SINCE:
                metadata = {key: value for key, value in metadata.items() if key != "remainingItemCount"}
            body = {"kind": asked.kind, "apiVersion": _meta(asked.version), "metadata": metadata,
                    "items": partial or None}  # fmt: skip
        case "PartialObjectMetadata":
            name = f"*{_package(row.group)}.{row.kind}List"
            raise not_acceptable(f"you requested PartialObjectMetadata, but the requested object is a list ({name})")
        case _:
            outside = {"kind", "apiVersion"} if row.custom is None else ()
            metadata = metadata if row.custom is None else {"continue": "", **metadata}
            bare = [{key: value for key, value in item.items() if key not in outside} for item in items]
            body = {"kind": f"{row.kind}List", "apiVersion": row.api_version, "metadata": metadata, "items": bare}
    return Response(200, body)


def with_managers(exchange: Exchange, obj: Json) -> Json:
    """The object with the managers that it would have if its maker had sent requests (SI-02).

    They are computed once for each version of the object, on first read. A node is shown with its kubelet's latest
    report.
    """
    metadata = obj.get("metadata") or {}
    if obj.get("kind") == "Node" and exchange.catalogue.minor >= ESTABLISHED_SINCE:
        obj = with_heartbeat(with_images(obj, exchange.store.derive_cached(images_by_node, "pod")), exchange.now)
    if exchange.catalogue.minor < ESTABLISHED_SINCE or "managedFields" in metadata or "uid" not in metadata:
        return obj if metadata.get("managedFields", [1]) else unmanaged(obj)
    known = exchange.store.known_results(with_managers)
    key = (metadata["uid"], metadata.get("resourceVersion"), exchange.row.api_version)
    if key not in known:
        known[key] = entries_of(
            established_owners(exchange.type, obj, exchange.row.api_version, exchange.catalogue.minor)
        )
    return {**obj, "metadata": {**metadata, "managedFields": known[key]}} if known[key] else obj


def plain_response(exchange: Exchange, body: Json, status: int = 200) -> Response:
    """A Status, or an object that is not stored, as the answer."""
    form(exchange)
    return Response(status, with_times_of(exchange.catalogue.minor, body))


def present_object(exchange: Exchange, asked: Wanted, obj: Json, *, with_columns: bool = True) -> Json:
    """One object in the requested form."""
    match asked.kind:
        case "Table":
            version = obj["metadata"].get("resourceVersion")
            body = _table(exchange, asked, [obj], {"resourceVersion": version} if version else {})
            return body if with_columns else {**body, "columnDefinitions": None}
        case "PartialObjectMetadata":
            return _partial_metadata(exchange, obj, asked.version)
        case "PartialObjectMetadataList":
            name = f"*{_package(exchange.row.group)}.{exchange.row.kind}"
            raise not_acceptable(f"you requested {asked.kind}, but the requested object is not a list ({name})")
    return obj


def _table(exchange: Exchange, asked: Wanted, objects: list[Json], metadata: Json) -> Json:
    included = exchange.request.parameter("includeObject") or "Metadata"
    if included not in _INCLUDED:
        text = f"Invalid value: \"{included}\": must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: includeObject: {text}")
    return table(
        exchange.row, objects, include_object=included, now=exchange.received, list_metadata=metadata,
        api_version=_meta(asked.version),
    )  # fmt: skip


def _partial_metadata(exchange: Exchange, obj: Json, version: str) -> Json:
    metadata = inner_metadata(exchange.row, obj)
    return {"kind": "PartialObjectMetadata", "apiVersion": _meta(version), "metadata": metadata}


def _package(group: str) -> str:
    """The package in which the server keeps the types of a group."""
    return group.partition(".")[0] or "core"


def _meta(version: str) -> str:
    return f"meta.k8s.io/{version}"
