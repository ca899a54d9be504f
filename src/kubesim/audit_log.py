"""The environment's own record of every request: `audit.k8s.io/v1` events at level RequestResponse.

For the benefit of evaluators, it records some things that the real server leaves out: a body that the server did not
read (under a separate name, since an attempt counts and the content of a read has been disclosed); whom a refused
request wanted to impersonate; what is sent to tools and to processes; unusual headers, and bodies that say more than
the object read from them; and bodies whose group differs from the path's (scale, eviction). For streams (logs, exec,
watch) there is no response object, as in the real log.
"""

import re
from collections.abc import Mapping
from typing import Any

from kubesim.access import named_account
from kubesim.handling.exchange import Exchange, Response
from kubesim.handling.request import Request, parse_call
from kubesim.handling.watches import Watch
from kubesim.status import Json

_UNRECORDED = "APIGroupList"
"""Responses that the server writes without its serializer, and so leaves out of events: this list, and documents
without a kind."""
_MEDIA_WORDS = frozenset({
    "", "*", "application", "text", "json", "yaml", "plain", "html", "event-stream", "vnd.kubernetes.protobuf",
    "json-patch", "merge-patch", "apply-patch", "strategic-merge-patch", "x-www-form-urlencoded", "stream", "watch",
    "charset", "utf-8", "UTF-8", "as", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", "v",
    "APIGroupDiscoveryList",
    "v1", "v2", "v1beta1", "v2beta1", "g", "meta.k8s.io", "apidiscovery.k8s.io", "profile", "nested", "q", "0", "1",
    "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0",
})  # fmt: skip
_MEDIA_SIGNS = re.compile("[/;,=+ ]+")
_ORDINARY = {
    "accept-encoding": re.compile("(?:(?:gzip|deflate|br|zstd|identity|[*])(?:;q=[01](?:[.][0-9])?)?(?:, *|$))*"),
    "connection": re.compile("(?i:(?:(?:keep-alive|close|upgrade)(?:, *|$))*)"),
    "upgrade": re.compile("(?i:websocket|spdy/3[.]1)"),
    "host": re.compile(
        r"(?:localhost|[0-9]{1,3}(?:[.][0-9]{1,3}){3}|\[::1\]|kubernetes(?:[.]default(?:[.]svc(?:[.]cluster[.]local)?)?)?)"
        "(?::[0-9]{1,5})?"
    ),
    # Some digits of a version 4 uuid are fixed, so no uuid can be mistaken for text in hex.
    "audit-id": re.compile("(?i:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"),
    "content-length": re.compile("[0-9]{1,12}"),
    "transfer-encoding": re.compile("chunked"),
    "expect": re.compile("100-continue"),
    "sec-websocket-version": re.compile("[0-9]{1,2}"),
    "sec-websocket-extensions": re.compile("permessage-deflate(?:; *client_max_window_bits)?"),
}
"""Headers that clients send by default, and the form of their values; anything else in a header is recorded."""
_MEDIA_TYPES = frozenset({"accept", "content-type"})
_CREDENTIALS = {
    "authorization": re.compile(r"(?i:bearer) +\S+"),
    "sec-websocket-protocol": re.compile(
        r"(?:(?:[a-z0-9.]{1,12}[.]channel[.]k8s[.]io|channel[.]k8s[.]io|base64url[.]bearer[.]\S+)(?:, *|$))*"
    ),
}
"""The headers that hold a token, and their form when they hold nothing else."""
UNREAD = "unreadObject"
"""Where an event keeps the body of a request that the server refused or answered without reading it."""
RESPONSE_STARTED, RESPONSE_COMPLETE = "ResponseStarted", "ResponseComplete"


class AuditLog:
    """Events in the order in which requests were answered; only the environment writes here."""

    def __init__(self) -> None:
        self._events: list[Json] = []
        self._open: list[Json] = []
        self.latest: Json | None = None
        """The event of the request whose answer was completed or started last."""

    def append(self, event: Json) -> None:
        """Record one request."""
        self._events.append(event)
        self.latest = event

    def begin(self, event: Json) -> None:
        """Log a request whose answer is still streaming; `finish` gives it its final place in the log."""
        self._open.append(event)
        self.latest = event

    def finish(self, event: Json, completed: str, told: str = "") -> None:
        """Record a request whose answer has ended, with what the client said in the meantime.

        `event` is the one that was passed to `begin`.
        """
        # Not by its auditID: a client may choose that, and use it twice.
        self._open = [other for other in self._open if other is not event]
        self.append({**event, "stageTimestamp": completed, **({"requestText": told} if told else {})})

    def events(self) -> list[Json]:
        """All events so far; answers that are still streaming come last."""
        return [*self._events, *self._open]


def audit_event(
    exchange: Exchange, response: Response, audit_id: str, completed: str, *, shows_body: bool = True
) -> Json:
    """One event in its real form; a request that failed authentication has neither user nor decision."""
    request, call, principal, body = exchange.request, exchange.call, exchange.principal, response.body
    event: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": audit_id,
        "stage": RESPONSE_STARTED if principal is None else RESPONSE_COMPLETE,
        "requestURI": request.uri,
        "verb": call.verb,
        "user": principal.document() if principal else {},
        "sourceIPs": [request.source],
        "responseStatus": _response_status(response.status, body)
        if shows_body
        else {"metadata": {}, "code": response.status},
        "requestReceivedTimestamp": exchange.received,
        "stageTimestamp": completed,
    }
    if agent := request.headers.get("user-agent"):
        event["userAgent"] = agent
    if exchange.acting is not principal and exchange.acting is not None:
        event["impersonatedUser"] = exchange.acting.document()
    elif exchange.decision is None and principal is not None and (wanted := named_account(request.headers).document()):
        event["impersonatedUser"] = wanted
    if headers := unusual_headers(exchange, is_impersonation_shown="impersonatedUser" in event):
        event["requestHeaders"] = headers
    if call.is_resource:
        event["objectRef"] = call.reference(exchange.referenced)
    if exchange.recorded is not None:
        event["requestObject"] = exchange.recorded
    if shows_body and isinstance(body, dict) and "kind" in body and not _is_own(body, _UNRECORDED):
        event["responseObject"] = body
    if exchange.decision is not None:
        event["annotations"] = {
            "authorization.k8s.io/decision": "allow" if exchange.decision.allowed else "forbid",
            "authorization.k8s.io/reason": exchange.decision.reason,
            **exchange.annotations,
        }
    return event


def unusual_headers(exchange: Exchange, *, is_impersonation_shown: bool) -> dict[str, str]:
    """The headers that say more than clients send by default, without the caller's own token."""
    return {
        name: text
        for name, text in exchange.request.headers.items()
        if name != "user-agent"
        and not (is_impersonation_shown and name.startswith("impersonate-"))
        and not _is_ordinary(exchange, name, text)
    }


def _is_ordinary(exchange: Exchange, name: str, text: str) -> bool:
    if name in _MEDIA_TYPES:
        return _MEDIA_WORDS.issuperset(_MEDIA_SIGNS.split(text))
    if form := _CREDENTIALS.get(name):
        return form.fullmatch(text) is not None and exchange.authenticator.is_own({name: text})
    form = _ORDINARY.get(name)
    return form is not None and form.fullmatch(text) is not None


def broken_event(request: Request, audit_id: str, received: str) -> Json:
    """The event of a request that broke the server before it could be recorded; the real server calls that a panic."""
    call, body = parse_call(request), request.sent_body
    event: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": audit_id,
        "stage": "Panic",
        "requestURI": request.uri,
        "verb": call.verb,
        "user": {},
        "sourceIPs": [request.source],
        "responseStatus": {"metadata": {}, "code": 500},
        "requestReceivedTimestamp": received,
        "stageTimestamp": received,
    }
    if call.is_resource:
        event["objectRef"] = call.reference({})
    if body:
        event["requestObject"] = body.decode(errors="replace") if isinstance(body, bytes) else body
    return event


def _response_status(status: int, body: Any) -> Json:
    if isinstance(body, Watch):
        return {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": status}
    if isinstance(body, dict) and _is_own(body, "Status"):
        reason = {"reason": body["reason"]} if "reason" in body else {}
        code = {"code": body["code"]} if "code" in body else {"code": status}
        return {"metadata": {}, "status": body["status"], **reason, **code}
    return {"metadata": {}, "code": status}


def _is_own(body: Mapping[str, Any], kind: str) -> bool:
    """Whether a body is the server's own answer of that kind, and not a custom resource with the same name."""
    return body.get("kind") == kind and body.get("apiVersion") == "v1"
