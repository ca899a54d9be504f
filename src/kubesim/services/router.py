"""The services of one environment: authentication, a product's routes, rights and the audit log of each request.

They use the tokens of the cluster's API, and its roles and bindings: a record is a resource of its product's group.
"""

from collections.abc import Mapping
from datetime import datetime

from kubesim.access import (
    ANONYMOUS,
    Authenticator,
    Decision,
    ImpersonationError,
    impersonation,
    require_impersonation,
)
from kubesim.audit_log import AuditLog, audit_event
from kubesim.conventions import METHOD_VERBS
from kubesim.discovery.catalogue import CURRENT_RELEASE, catalogue
from kubesim.handling.exchange import TEXT, Exchange, Response
from kubesim.handling.request import Call, Request
from kubesim.services import argocd, grafana, jaeger, migrations, pipelines
from kubesim.services.prometheus import api as prometheus
from kubesim.services.visit import Product, ServiceError, Subject, Visit, form_parameters
from kubesim.status import ApiError, Json
from kubesim.store import Store
from kubesim.surroundings import Surroundings

PREFIX = "/services/"
PRODUCTS: Mapping[str, Product] = {
    "metrics": prometheus.PRODUCT,
    "traces": jaeger.PRODUCT,
    "dashboards": grafana.PRODUCT,
    "gitops": argocd.PRODUCT,
    "ci": pipelines.PRODUCT,
    "databases": migrations.PRODUCT,
}
"""The product behind each name in a service's address."""
_BODY_LIMIT = 3 * 1024 * 1024
_NO_PAGE = Response(404, "404 page not found\n", {"Content-Type": TEXT})


class Services:
    """Serves one environment's services; its surroundings give the time and act on what changed."""

    def __init__(self, store: Store, authenticator: Authenticator, audit: AuditLog, surroundings: Surroundings) -> None:
        self._store = store
        self._authenticator = authenticator
        self._audit = audit
        self._surroundings = surroundings

    def handle(self, request: Request) -> Response:
        """Answer one request and record it; a refusal is also an answer."""
        received, completed = self._surroundings.tick()
        exchange = Exchange(
            request, Call(METHOD_VERBS.get(request.method, request.method.lower()), request.path), self._store,
            catalogue(CURRENT_RELEASE), self._surroundings, self._authenticator, received, completed,
        )  # fmt: skip
        shown = None
        name, _, rest = request.path.removeprefix(PREFIX).partition("/")
        product = PRODUCTS.get(name)
        try:
            self._admit(exchange)
            if product is None:
                response = _NO_PAGE
            else:
                response, shown = self._serve_product(product, tuple(rest.split("/")), exchange)
        except ServiceError as error:
            response = product.refusal(error) if product else _NO_PAGE
        self._record(exchange, response, completed, shown)
        self._surroundings.settle()
        return Response(response.status, None, response.headers) if request.method == "HEAD" else response

    def _serve_product(
        self, product: Product, path: tuple[str, ...], exchange: Exchange
    ) -> tuple[Response, Json | None]:
        """A product's answer, and what the audit log shows of it.

        What a request reads is known only once it has been answered. If that triggers something in the environment, the
        request is answered again, so that the answer shows it.
        """
        visit = self._visit(exchange)
        try:
            response = _answer(product, visit, path)
            version = self._store.version
            for approach in visit.approaches:
                if failure := self._surroundings.note_arrival(approach):
                    raise ServiceError(500, failure)
            if visit.approaches and self._store.version != version:
                visit = self._visit(exchange)
                response = _answer(product, visit, path)
        finally:
            exchange.call, exchange.recorded = visit.call, visit.recorded
            exchange.decision = visit.decision or Decision(allowed=True)
        return response, visit.shown

    def _admit(self, exchange: Exchange) -> None:
        """Authenticate and resolve impersonation; raise 401 or 403."""
        headers = exchange.request.headers
        principal = self._authenticator.authenticate(headers, self._store, exchange.received)
        if principal is None:
            raise ServiceError(401, "")
        exchange.principal = exchange.acting = principal
        if principal == ANONYMOUS:
            raise ServiceError(401, "")
        try:
            wanted = impersonation(headers, CURRENT_RELEASE)
            if wanted is not None:
                exchange.acting = wanted.principal
                require_impersonation(self._store, principal, wanted)
        except (ImpersonationError, ApiError) as error:
            exchange.decision = Decision(allowed=False)
            raise ServiceError(403, str(error)) from error

    def _visit(self, exchange: Exchange) -> Visit:
        request, received = exchange.request, exchange.received
        return Visit(
            request, self._store, exchange.account, exchange.now, datetime.fromisoformat(received).timestamp(),
            exchange.call, parameters=form_parameters(request), arriving=self._surroundings.note_arrival,
        )  # fmt: skip

    def _record(self, exchange: Exchange, response: Response, completed: str, shown: Json | None) -> None:
        event = audit_event(exchange, response, self._store.ids.uid(), completed)
        if shown is not None and response.status < 300:
            event["responseObject"] = shown
        self._audit.append(event)


def _answer(product: Product, visit: Visit, path: tuple[str, ...]) -> Response:
    """The product's answer; raise 404, 405 or 413 for what it does not accept."""
    method = "GET" if visit.request.method == "HEAD" else visit.request.method
    if isinstance(visit.request.content, bytes) and len(visit.request.content) > _BODY_LIMIT:
        raise ServiceError(413, "request body too large", "bad_data")
    if method == "POST" and visit.parameters != visit.request.query:
        visit.recorded = dict(visit.parameters)
    for route in product.routes:
        arguments = route.arguments(path)
        if arguments is None:
            continue
        handler = route.handlers.get(method)
        if handler is not None:
            return handler(visit, *arguments)
        if route.row is not None:
            # The attempt is recorded even if no product would accept it.
            visit.recorded = visit.request.sent_body if not isinstance(visit.request.sent_body, bytes) else None
            visit.note(METHOD_VERBS.get(method, "update"), route.row, Subject("", arguments[0] if arguments else ""))
        raise ServiceError(405, "")
    raise ServiceError(404, "")
