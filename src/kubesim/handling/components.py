"""The health of the control plane's parts, as reported by a server that asks each of them; nothing of it is stored."""

from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.lists import list_options
from kubesim.handling.presentation import form, list_response, object_response
from kubesim.status import Json, internal_error

_PARTS = ("controller-manager", "scheduler", "etcd-0")


def component_statuses(exchange: Exchange) -> Response:
    """One of the parts, or all that the options select; a missing part is not a 404, as in the real server."""
    call = exchange.call
    form(exchange)
    if not call.named_by_path:
        predicate = list_options(exchange).predicate(exchange.row, call.name)
        return list_response(exchange, [one for one in map(_status, _PARTS) if predicate is None or predicate(one)], {})
    if call.name not in _PARTS:
        raise internal_error(f"Component not found: {call.name}")
    return object_response(exchange, _status(call.name))


def _status(name: str) -> Json:
    return {
        "kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": name, "creationTimestamp": None},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }  # fmt: skip
