"""Which part of the server answers a request: by its resource, subresource and verb."""

from collections.abc import Callable, Mapping

from kubesim.access import is_review, review
from kubesim.conventions import READ_VERBS
from kubesim.discovery.catalogue import Resource
from kubesim.discovery.deprecation import deprecation
from kubesim.fields.creation import ESTABLISHED_SINCE
from kubesim.handling import paths, subresources
from kubesim.handling.components import component_statuses
from kubesim.handling.deletion import delete, delete_collection
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.lists import list_objects
from kubesim.handling.measuring import usage
from kubesim.handling.options import require_object_type, require_size, write_options
from kubesim.handling.pod_subresources import binding
from kubesim.handling.presentation import form, plain_response
from kubesim.handling.reading import get
from kubesim.handling.watches import watch
from kubesim.handling.writing import create, patch, read_object, update, with_fields
from kubesim.status import ApiError, method_not_allowed, no_such_resource
from kubesim.surroundings import Approach
from kubesim.usage import GROUP as MEASURED

_OBJECT_VERBS: Mapping[str, Callable[[Exchange], Response]] = {
    "get": get, "update": update, "patch": patch, "delete": delete,
}  # fmt: skip
_COLLECTION_VERBS: Mapping[str, Callable[[Exchange], Response]] = {
    "list": list_objects, "watch": watch, "create": create, "deletecollection": delete_collection,
}  # fmt: skip


def dispatch_request(exchange: Exchange) -> Response:
    """Find what an authorized request is about and answer it; raise 404 or 405 if that does not exist."""
    call = exchange.call
    # Rights are checked for the resource that such a path names, but no route leads to it.
    if not call.is_resource or call.path.startswith("//"):
        return paths.serve(exchange)
    row = exchange.catalogue.find(call.group, call.version, call.resource)
    if row is None:
        if call.group and call.group not in exchange.catalogue.by_version:
            return paths.NO_PAGE
        raise no_such_resource()
    exchange.resource = row
    approach = Approach(call.verb, row.noun, call.namespace, call.name, call.subresource)
    if failure := exchange.surroundings.note_arrival(approach):
        raise ApiError(500, "InternalError", f"Internal error occurred: {failure}", {"causes": [{"message": failure}]})
    if row.namespaced:
        if not call.namespace and (call.named_by_path or call.subresource):
            raise no_such_resource()
    elif call.namespace and row.noun != "namespace":
        raise no_such_resource()
    if call.named_by_path and not _OBJECT_VERBS.keys() & row.verbs:
        raise no_such_resource()
    if call.subresource:
        if row.subresource(call.subresource):
            _note_deprecation(exchange, row)
        return subresources.serve(exchange)
    if is_review(row.kind):
        return _review(exchange)
    if row.plural == "bindings" and call.verb == "create" and not call.name:
        return binding(exchange)
    verbs = _OBJECT_VERBS if call.named_by_path and call.verb != "watch" else _COLLECTION_VERBS
    handler = verbs.get(call.verb)
    is_read = exchange.request.method == "GET"
    if handler is None or call.verb not in row.verbs or (call.verb in READ_VERBS and not is_read):
        raise method_not_allowed()
    if row.namespaced and not call.namespace and call.verb not in {"list", "watch"}:
        raise method_not_allowed()
    _note_deprecation(exchange, row)
    if row.kind == "ComponentStatus" and exchange.catalogue.minor >= ESTABLISHED_SINCE:
        return component_statuses(exchange)
    return usage(exchange) if row.group == MEASURED else handler(exchange)


def _note_deprecation(exchange: Exchange, row: Resource) -> None:
    noted = deprecation(row, exchange.catalogue.minor)
    if noted is not None:
        exchange.warnings.append(noted.warning)
        exchange.annotations["k8s.io/deprecated"] = "true"
        if noted.removed:
            exchange.annotations["k8s.io/removed-release"] = noted.removed


def _review(exchange: Exchange) -> Response:
    """Answer a question about rights; nothing is stored."""
    call = exchange.call
    if call.named_by_path or (exchange.row.namespaced and not call.namespace):
        raise no_such_resource()
    if call.verb != "create":
        raise method_not_allowed()
    _note_deprecation(exchange, exchange.row)
    form(exchange)
    require_object_type(exchange.request)
    require_size(exchange.request)
    options = write_options(exchange.request, "CreateOptions", exchange.catalogue.minor)
    obj = read_object(exchange, options)
    exchange.record(obj)
    obj = with_fields(exchange, None, obj, options)
    answer = review(
        exchange.store, exchange.account, exchange.authenticator, obj, namespace=exchange.call.namespace,
        now=exchange.received, minor=exchange.catalogue.minor,
    )  # fmt: skip
    return plain_response(exchange, answer, 201)
