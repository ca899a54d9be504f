"""The environment's own record of every request: `audit.k8s.io/v1` events at level RequestResponse.

Some things are recorded that the real server leaves out, because a verdict may rest on them: of a request that was
refused its body, and whom it wanted to act as, since an attempt counts; the body of a read and what is said to tools,
since it was told; and bodies of another group than the path's (scale, eviction). For streams (logs, exec, watch) there
is no response object, as in the real log.
"""

from collections.abc import Mapping
from typing import Any

from sirocco.providers.simulator.kubernetes.access import named_account
from sirocco.providers.simulator.kubernetes.handling.exchange import Exchange, Response
from sirocco.providers.simulator.kubernetes.handling.request import Request, understood
from sirocco.providers.simulator.kubernetes.handling.watches import Watch
from sirocco.providers.simulator.kubernetes.status import Json

_UNRECORDED = "APIGroupList"
"""What the server puts together without its serializer is in no event: this list, and documents without a kind."""
RESPONSE_STARTED, RESPONSE_COMPLETE = "ResponseStarted", "ResponseComplete"


class AuditLog:
    """Events in the order in which requests were answered; only the environment writes here."""

    def __init__(self) -> None:
        self._events: list[Json] = []
        self._open: list[Json] = []
        self.latest: Json | None = None
        """The event of the last request that was answered, or began to be."""

    def append(self, event: Json) -> None:
        """Record one request."""
        self._events.append(event)
        self.latest = event

    def begin(self, event: Json) -> None:
        """Note a request whose answer goes on; it is in the log from now on, and `finish` gives it its place."""
        self._open.append(event)
        self.latest = event

    def finish(self, event: Json, completed: str) -> None:
        """Record a request whose answer has ended; `event` is the one that `begin` was given."""
        # Not by its auditID, which a client may choose and use twice.
        self._open = [other for other in self._open if other is not event]
        self.append({**event, "stageTimestamp": completed})

    def events(self) -> list[Json]:
        """All events so far, last those of answers that still go on."""
        return [*self._events, *self._open]


def audit_event(
    exchange: Exchange, response: Response, audit_id: str, completed: str, *, shows_body: bool = True
) -> Json:
    """One event of the real shape; a request that failed authentication has neither user nor decision."""
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


def broken_event(request: Request, audit_id: str, received: str) -> Json:
    """The event of a request that broke the server before it could be recorded; the server calls that a panic."""
    call, body = understood(request), request.sent
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
    """Whether a body is the server's own answer of that kind, and not a custom resource that is called like it."""
    return body.get("kind") == kind and body.get("apiVersion") == "v1"
