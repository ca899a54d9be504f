"""The scale of a workload: desired and actual replicas, in one form for every type that has replicas."""

from typing import Any

from kubesim.bodies.decoding import decode_body
from kubesim.discovery.catalogue import Resource
from kubesim.fields import apply_configuration, configuration
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.options import (
    WriteOptions,
    mapping,
    require_object_type,
    require_patch_type,
    require_size,
    require_uid,
    write_options,
)
from kubesim.handling.presentation import form, plain_response, with_managers
from kubesim.handling.writing import (
    recorded_patch,
    require_name,
    update_object,
    with_fields,
)
from kubesim.kinds.conversion import convert_object
from kubesim.patching.patches import APPLY_PATCH, apply_patch
from kubesim.resource import noun_of
from kubesim.selectors import selector_text
from kubesim.status import (
    ApiError,
    Cause,
    Json,
    conflict,
    invalid,
    not_found,
)

_ROW = Resource("scale", "scales", "Scale", "autoscaling")
_CONTROLLERS = noun_of("replicationcontrollers")
_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_PLAIN_NAMES_SINCE = 34
"""The first release known to name the missing workload by its plain name."""
_OWNED_SINCE = 22
"""The first release that records a change through the scale as its manager's."""


def scale(exchange: Exchange) -> Response:
    """Answer a request for the scale of a workload."""
    if exchange.call.verb == "get":
        form(exchange)
        found = exchange.stored_object()
        if found is None:
            raise _missing_error(exchange.row, exchange.call.name, exchange.catalogue.minor)
        return plain_response(exchange, scale_of(exchange.row, convert_object(found, exchange.row)))
    if exchange.call.verb == "update":
        return _update(exchange)
    return _patch(exchange)


def _missing_error(row: Resource, name: str, minor: int) -> ApiError:
    """There is no such workload; which of its names the answer uses depends on the type."""
    if row.noun == _CONTROLLERS:
        return not_found(Resource("", row.plural, "", "autoscaling"), name, "scale")
    names_scale = row.noun in {"deployment", "replicaset"} and minor < _PLAIN_NAMES_SINCE
    return not_found(row, name, "scale" if names_scale else "")


def scale_of(row: Resource, workload: Json) -> Json:
    """The Scale of a workload."""
    metadata = workload["metadata"]
    wanted, there, selector = _numbers(row, workload)
    status = {"replicas": there, **({"selector": selector} if selector else {})}
    return {
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
        "spec": {"replicas": wanted} if wanted else {}, "status": status,
    }  # fmt: skip


def _numbers(row: Resource, workload: Json) -> tuple[Any, Any, str]:
    spec, status = mapping(workload.get("spec")), mapping(workload.get("status"))
    if row.custom is None:
        selector = spec.get("selector") or {}
        text = selector_text(selector if row.noun != _CONTROLLERS else {"matchLabels": selector})
        return spec.get("replicas", 0), status.get("replicas", 0), text
    paths = mapping(mapping(row.custom.get("subresources")).get("scale"))
    wanted = _value_at(workload, paths.get("specReplicasPath", ""))
    there = _value_at(workload, paths.get("statusReplicasPath", ""))
    return wanted or 0, there or 0, str(_value_at(workload, paths.get("labelSelectorPath", "")) or "")


def _with_replicas(row: Resource, workload: Json, replicas: int) -> Json:
    path = ".spec.replicas"
    if row.custom is not None:
        path = str(mapping(mapping(row.custom.get("subresources")).get("scale")).get("specReplicasPath") or path)
    return _with_value_at(workload, path.removeprefix(".").split("."), replicas)


def _without_replicas(workload: Json) -> Json:
    return {**workload, "spec": {key: value for key, value in workload["spec"].items() if key != "replicas"}}


def _with_value_at(obj: Json, path: list[str], value: Any) -> Json:
    name, *rest = path
    return {**obj, name: _with_value_at(dict(mapping(obj.get(name))), rest, value) if rest else value}


def _value_at(obj: Json, path: str) -> Any:
    value: Any = obj
    for name in path.removeprefix(".").split("."):
        value = mapping(value).get(name)
    return value


def _update(exchange: Exchange) -> Response:
    request = exchange.request
    form(exchange)
    require_size(request)
    options = write_options(request, "UpdateOptions", exchange.catalogue.minor)
    require_object_type(request)
    wanted = decode_body(_ROW, request.sent_body, request.content_type, exchange.types)
    exchange.record(wanted)
    require_name(exchange, wanted)
    old = convert_object(exchange.require_object(), exchange.row)
    require_uid(
        exchange.row, exchange.place, exchange.call.name, wanted["metadata"].get("uid", ""), old["metadata"]["uid"]
    )
    return _write_scale(exchange, old, wanted, options)


def _patch(exchange: Exchange) -> Response:
    request = exchange.request
    require_patch_type(request)
    form(exchange)
    require_size(request)
    options = write_options(request, "PatchOptions", exchange.catalogue.minor)
    exchange.recorded = recorded_patch(request.sent_body)
    old = convert_object(exchange.require_object(), exchange.row)
    kind = exchange.types.of_kind("autoscaling", "v1", "Scale")
    present = scale_of(exchange.row, old)
    if request.content_type == APPLY_PATCH:
        present = {**present, "metadata": {**present["metadata"], "managedFields": _owners_of_replicas(exchange, old)}}
        wanted = apply_configuration(
            kind, present, configuration(request.sent_body), manager=options.manager, force=options.force,
            api_version=_ROW.api_version, now=exchange.now, minor=exchange.catalogue.minor, subresource="scale",
        )  # fmt: skip
    else:
        wanted = apply_patch(request.content_type, present, request.sent_body, kind)
    require_name(exchange, wanted)
    return _write_scale(exchange, old, wanted, options)


def _owners_of_replicas(exchange: Exchange, workload: Json) -> list[Json]:
    """Who owns the number of replicas, from the point of view of an apply to the scale."""
    shown = with_managers(exchange, workload)
    return [
        {**entry, "apiVersion": _ROW.api_version, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
        for entry in shown["metadata"].get("managedFields") or ()
        if "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
    ]


def _write_scale(exchange: Exchange, old: Json, wanted: Json, options: WriteOptions) -> Response:
    row, name = exchange.row, exchange.call.name
    replicas = mapping(wanted.get("spec")).get("replicas", 0)
    metadata = wanted["metadata"]
    causes = []
    if not metadata.get("namespace"):
        causes.append(Cause("FieldValueRequired", "Required value", "metadata.namespace"))
    if replicas < 0:
        text = f"Invalid value: {replicas}: must be greater than or equal to 0"
        causes.append(Cause("FieldValueInvalid", text, "spec.replicas"))
    if causes:
        raise invalid("Scale", "autoscaling", name, causes)
    known = old["metadata"]["uid"]
    if metadata.get("uid", known) != known:
        why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {known}"
        raise conflict(row, name, why, kind=f"{row.plural}/scale")
    version = metadata.get("resourceVersion", "")
    new = {**_with_replicas(row, old, replicas), "metadata": {**old["metadata"], "resourceVersion": version}}
    if exchange.catalogue.minor >= _OWNED_SINCE:
        # A scale of zero replicas has no field that anybody could own.
        shown = new if replicas or row.custom is not None else _without_replicas(new)
        new = {**new, "metadata": with_fields(exchange, old, shown, options, "scale")["metadata"]}
    return plain_response(exchange, scale_of(row, convert_object(update_object(exchange, old, new, options), row)))
