"""The environment's own record of every request: `audit.k8s.io/v1` events at level RequestResponse.

Two things are recorded that the real server leaves out, because a verdict may rest on them: the body of a request that
was refused, since an attempt counts, and the body of a PUT to the scale subresource. For streams (logs, exec, watch)
there is no response object, as in the real log.
"""

from collections.abc import Mapping
from typing import Any

from sirocco.providers.simulator.kubernetes.authorization import Decision, Principal
from sirocco.providers.simulator.kubernetes.status import Json


class AuditLog:
    """Events in the order in which requests were answered; only the environment writes here."""

    def __init__(self) -> None:
        self._events: list[Json] = []

    def append(self, event: Json) -> None:
        """Record one request."""
        self._events.append(event)

    def events(self) -> list[Json]:
        """All events so far."""
        return list(self._events)


def audit_event(
    *,
    audit_id: str,
    verb: str,
    uri: str,
    principal: Principal | None,
    impersonated: str | None,
    source: str,
    user_agent: str,
    reference: Mapping[str, str] | None,
    decision: Decision | None,
    request_object: Any,
    status: int,
    response_object: Any,
    received: str,
    completed: str,
) -> Json:
    """One event of the real shape; a request that failed authentication has neither user nor decision."""
    event: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": audit_id,
        "stage": "ResponseStarted" if principal is None else "ResponseComplete",
        "requestURI": uri,
        "verb": verb,
        "user": principal.document() if principal else {},
        "sourceIPs": [source],
        "userAgent": user_agent,
        "responseStatus": _response_status(verb, status, response_object),
        "requestReceivedTimestamp": received,
        "stageTimestamp": completed,
    }
    if impersonated:
        event["impersonatedUser"] = {"username": impersonated, "groups": ["system:authenticated"]}
    if reference is not None:
        event["objectRef"] = dict(reference)
    if request_object is not None:
        event["requestObject"] = request_object
    if isinstance(response_object, Mapping):
        event["responseObject"] = response_object
    if decision is not None:
        event["annotations"] = {
            "authorization.k8s.io/decision": "allow" if decision.allowed else "forbid",
            "authorization.k8s.io/reason": decision.reason,
        }
    return event


def _response_status(verb: str, status: int, body: Any) -> Json:
    if verb == "watch" and isinstance(body, list):
        return {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": status}
    if isinstance(body, Mapping) and body.get("kind") == "Status":
        reason = {"reason": body["reason"]} if "reason" in body else {}
        return {"metadata": {}, "status": body["status"], **reason, "code": status}
    return {"metadata": {}, "code": status}
