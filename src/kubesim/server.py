"""The Kubernetes API of one environment: authentication, authorization, the store and the audit log of a request."""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial

from kubesim.access import (
    Attributes,
    Authenticator,
    ImpersonationError,
    decide,
    forbidden,
    impersonation,
    require_impersonation,
)
from kubesim.audit_log import UNREAD, AuditLog, audit_event
from kubesim.conventions import READ_VERBS
from kubesim.custom_definitions import settle_definitions
from kubesim.discovery.catalogue import (
    CUSTOM_DEFINITIONS,
    RECORDED_RELEASE,
    Catalogue,
    ServedCatalogue,
    catalogue,
)
from kubesim.founding import FLOW_SCHEMAS, PRIORITY_LEVELS
from kubesim.handling.dispatch import dispatch_request
from kubesim.handling.exchange import TEXT, Exchange, Response, refusal
from kubesim.handling.negotiation import JSON, YAML, for_errors
from kubesim.handling.request import Request, parse_call
from kubesim.handling.watches import Watch
from kubesim.handling.writing import recorded_patch, text_beyond
from kubesim.handling.yaml_text import yaml_text
from kubesim.status import ApiError, Json, unauthorized
from kubesim.store import Store
from kubesim.surroundings import Session, Surroundings

__all__ = ["KubernetesApi", "Response"]

_REFUSED, _TOO_LARGE = 400, 413
_FLOWS = {
    "exempt": "exempt", "probes": "exempt", "service-accounts": "workload-low", "global-default": "global-default",
}  # fmt: skip
"""The flow schemas that match clients' requests, with their priority levels."""
_HEALTH_PATHS = frozenset({"/healthz", "/livez", "/readyz"})


class KubernetesApi:
    """Serves one cluster; its surroundings give the time, act on what changed, and run the containers."""

    def __init__(
        self,
        store: Store,
        authenticator: Authenticator,
        audit: AuditLog,
        surroundings: Surroundings,
        *,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._store = store
        self._authenticator = authenticator
        self._audit = audit
        self._surroundings = surroundings
        self._catalogue = ServedCatalogue(catalogue or _current())
        self._flows: dict[str, Mapping[str, str]] = {}

    def _flow(self, schema: str) -> Mapping[str, str]:
        """The headers that name flow schema and priority level of a request."""
        if schema not in self._flows:
            self._flows[schema] = {
                "X-Kubernetes-Pf-Flowschema-Uid": self._flow_uid(FLOW_SCHEMAS, schema),
                "X-Kubernetes-Pf-Prioritylevel-Uid": self._flow_uid(PRIORITY_LEVELS, _FLOWS[schema]),
            }
        return self._flows[schema]

    def _flow_uid(self, noun: str, name: str) -> str:
        """The uid of a flow schema or priority level; a generated one if the server does not show them as objects."""
        if (found := self._store.get(noun, "", name)) is not None:
            return str(found["metadata"]["uid"])
        h = hashlib.sha256(f"flow {self._store.oldest} {noun} {name}".encode()).hexdigest()
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"

    def handle(self, request: Request) -> Response:
        """Answer one request and record it; a refusal is also an answer."""
        received, completed = self._surroundings.tick()
        store = self._store
        served = self._catalogue.current(store.items(CUSTOM_DEFINITIONS))
        exchange = Exchange(
            request, parse_call(request), store, served, self._surroundings, self._authenticator, received, completed
        )
        audit_id = request.headers.get("audit-id") or store.ids.uid()
        shows_body = True
        try:
            self._admit(exchange)
            response = dispatch_request(exchange)
        except ApiError as error:
            response = refusal(error)
            shows_body = for_errors(request.headers.get("accept", "")) is not None
        except ImpersonationError as error:
            response = _broken_response(request.path, str(error))
        except Exception:
            # A fault of ours must not keep an attempt, or what it was to change, out of the log.
            if exchange.recorded is None:
                exchange.recorded = recorded_patch(request.sent_body)
            self._audit.append(audit_event(exchange, Response(500, None), audit_id, completed))
            raise
        is_unread = response.status >= _REFUSED or exchange.call.verb in READ_VERBS
        event = audit_event(exchange, response, audit_id, completed, shows_body=shows_body)
        if response.status != _TOO_LARGE:
            read = exchange.recorded
            if read is None and is_unread and (read := recorded_patch(request.sent_body)) is not None:
                event[UNREAD] = read
            if beyond := text_beyond(request.sent_body, read):
                event["requestText"] = beyond
        response = _with_headers(exchange, response, audit_id, self._flow)
        if isinstance(response.body, Watch):
            self._audit.begin(event)
            response.body.on_close = lambda: self._audit.finish(event, self._surroundings.tick()[1])
        elif isinstance(response.body, Session):
            self._audit.begin(event)
            response.body.on_end = partial(self._finish, event)
        else:
            self._audit.append(event)
        if exchange.resource is not None and exchange.resource.noun == CUSTOM_DEFINITIONS:
            settle_definitions(store, served, exchange.now)
        self._surroundings.settle()
        return response

    def _finish(self, event: Json, told: str) -> None:
        """Record a session with what the client said in it; a real server leaves that out, but it was disclosed."""
        self._audit.finish(event, self._surroundings.tick()[1], told)

    def note(self, request: Request) -> None:
        """Record a request that is answered beside the API: its content was disclosed to the environment."""
        received, completed = self._surroundings.tick()
        served = self._catalogue.current(self._store.items(CUSTOM_DEFINITIONS))
        exchange = Exchange(
            request, parse_call(request), self._store, served, self._surroundings, self._authenticator, received,
            completed,
        )  # fmt: skip
        exchange.principal = self._authenticator.authenticate(request.headers, self._store, received)
        exchange.acting, exchange.recorded = exchange.principal, recorded_patch(request.sent_body)
        self._audit.append(audit_event(exchange, Response(200, None), self._store.ids.uid(), completed))

    def _admit(self, exchange: Exchange) -> None:
        """Authenticate, resolve impersonation and check rights; raise 401 or 403."""
        headers, call = exchange.request.headers, exchange.call
        principal = self._authenticator.authenticate(headers, self._store, exchange.received)
        if principal is None:
            raise unauthorized()
        exchange.principal = exchange.acting = principal
        wanted = impersonation(headers, exchange.catalogue.minor)
        if wanted is not None:
            # Set before the check, because the audit log also shows the attempt.
            exchange.acting = wanted.principal
            require_impersonation(self._store, principal, wanted)
            principal = wanted.principal
        if call.is_resource:
            asked = Attributes(call.verb, call.group, call.resource, call.subresource, call.namespace, call.name)
        else:
            asked = Attributes(call.verb, path=call.path)
        exchange.decision = decide(self._store, principal, asked)
        if not exchange.decision.allowed:
            raise forbidden(principal, asked, exchange.decision.reason)


def _flow_schema(exchange: Exchange) -> str:
    """The name of the flow schema that a request falls under, among those that every server has."""
    groups = exchange.acting.groups if exchange.acting is not None else ()
    if "system:masters" in groups:
        return "exempt"
    if exchange.call.path in _HEALTH_PATHS:
        return "probes"
    return "service-accounts" if "system:serviceaccounts" in groups else "global-default"


def _with_headers(
    exchange: Exchange, response: Response, audit_id: str, flow: Callable[[str], Mapping[str, str]]
) -> Response:
    headers = {**response.headers, "Audit-Id": audit_id, "Cache-Control": "no-cache, private"}
    if exchange.principal is not None and exchange.catalogue.minor > RECORDED_RELEASE:
        headers |= flow(_flow_schema(exchange))
    if "yaml" in exchange.request.headers.get("accept", "") and isinstance(response.body, dict):
        response = _as_yaml(exchange, response, headers)
    if exchange.warnings:
        headers["Warning"] = ", ".join(_warning(text) for text in exchange.warnings)
    body = None if exchange.request.method == "HEAD" else response.body
    return Response(response.status, body, headers, tuple(exchange.warnings))


def _as_yaml(exchange: Exchange, response: Response, headers: dict[str, str]) -> Response:
    asked = for_errors(exchange.request.headers["accept"])
    if asked and asked.media_type == YAML and response.headers.get("Content-Type") == JSON:
        headers["Content-Type"] = YAML
        return Response(response.status, yaml_text(response.body))
    return response


def _broken_response(path: str, why: str) -> Response:
    """The server's answer when a request fails before it reaches its serializers."""
    return Response(500, f'Internal Server Error: "{path}": {why}\n', {"Content-Type": TEXT})


def _warning(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'


def _current() -> Catalogue:
    return catalogue()
