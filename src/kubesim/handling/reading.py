"""Reading: one object, in the form the client wants."""

from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.options import version_number
from kubesim.handling.presentation import form, object_response
from kubesim.status import too_large_version


def get(exchange: Exchange) -> Response:
    """Answer with the current object; a version in the query is the oldest that the answer may reflect."""
    form(exchange)
    if exchange.request.query:
        asked = version_number(exchange.request.parameter("resourceVersion") or "0")
        if asked > exchange.store.version:
            raise too_large_version(asked, exchange.store.version)
    return object_response(exchange, exchange.require_object())
