"""The parts of objects that have paths of their own: status, scale, and those of pods and service accounts."""

from kubesim.access import defaulted_request, issue_token
from kubesim.bodies.decoding import decode_body
from kubesim.discovery.catalogue import Resource
from kubesim.fields import update_owners
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.options import require_object_type, require_size, write_options
from kubesim.handling.pod_subresources import binding, eviction, log, proxy, stream
from kubesim.handling.presentation import form, object_response, plain_response
from kubesim.handling.scaling import scale
from kubesim.handling.writing import patch, require_place, update
from kubesim.status import method_not_allowed, no_such_resource

_TOKEN = Resource("tokenrequests", "tokenrequests", "TokenRequest", "authentication.k8s.io")
_POD = {"log": log, "exec": stream, "attach": stream, "portforward": stream, "eviction": eviction, "binding": binding}


def serve(exchange: Exchange) -> Response:
    """Answer a request for a subresource."""
    row, call = exchange.row, exchange.call
    part = row.subresource(call.subresource)
    if part is None:
        raise no_such_resource()
    if call.subresource == "proxy":
        return proxy(exchange)
    if call.rest:
        raise no_such_resource()
    if call.verb not in part.verbs:
        raise method_not_allowed()
    if call.subresource == "scale":
        return scale(exchange)
    if row.noun == "pod" and call.subresource in _POD:
        return _POD[call.subresource](exchange)
    if row.noun == "serviceaccount" and call.subresource == "token":
        return _token(exchange)
    match call.verb:
        case "get":
            form(exchange)
            return object_response(exchange, exchange.require_object())
        case "update":
            return update(exchange, call.subresource)
        case "patch":
            return patch(exchange, call.subresource)
    raise method_not_allowed()


def _token(exchange: Exchange) -> Response:
    form(exchange)
    require_object_type(exchange.request)
    require_size(exchange.request)
    options = write_options(exchange.request, "CreateOptions", exchange.catalogue.minor)
    request = defaulted_request(
        decode_body(_TOKEN, exchange.request.sent_body, exchange.request.content_type, exchange.types)
    )
    exchange.record(request)
    require_place(exchange, exchange.row, exchange.call.namespace, exchange.call.name)
    request = update_owners(
        exchange.types.of_kind(_TOKEN.group, _TOKEN.version, _TOKEN.kind), None, request, manager=options.manager,
        api_version=_TOKEN.api_version, now=exchange.now, minor=exchange.catalogue.minor,
    )  # fmt: skip
    issued = issue_token(
        exchange.authenticator.signer, exchange.store, exchange.call.namespace, exchange.call.name, request,
        now=exchange.received, minor=exchange.catalogue.minor,
    )  # fmt: skip
    return plain_response(exchange, issued, 201)
