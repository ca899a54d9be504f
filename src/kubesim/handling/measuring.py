"""Answers about what pods and nodes use; none of it is stored."""

from dataclasses import replace

from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.lists import list_options
from kubesim.handling.presentation import form, list_response, object_response
from kubesim.status import Json, not_found
from kubesim.usage import node_usage, pod_usage


def usage(exchange: Exchange) -> Response:
    """The usage of one pod or node, or of all that the options select."""
    call, row = exchange.call, exchange.row
    form(exchange)
    if not call.named_by_path:
        predicate = list_options(exchange).predicate(row, call.name)
        found = [item for item in _usage_items(exchange) if predicate is None or predicate(item)]
        return list_response(exchange, found, {})
    one = next((item for item in _usage_items(exchange) if item["metadata"]["name"] == call.name), None)
    if one is None:
        pods = exchange.catalogue.find("", "v1", row.plural)
        if pods is not None and exchange.store.get(pods.noun, call.namespace, call.name) is None:
            raise not_found(pods, call.name)
        # The metrics server names the kind, and an object by its full name.
        name = f"{call.namespace}/{call.name}" if row.namespaced else call.name
        raise not_found(replace(row, plural=row.kind.lower()), name)
    return object_response(exchange, one)


def _usage_items(exchange: Exchange) -> list[Json]:
    if exchange.row.namespaced:
        return list(pod_usage(exchange.store, exchange.call.namespace or None, exchange.now))
    return list(node_usage(exchange.store, exchange.now))
