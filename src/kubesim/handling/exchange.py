"""A request on its way through the server, and the answer to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kubesim.access import Authenticator, Decision, Principal
from kubesim.bodies.go_text import go_quote
from kubesim.conventions import with_times_of
from kubesim.discovery.catalogue import Catalogue, Resource
from kubesim.handling.negotiation import JSON
from kubesim.handling.request import Call, Request
from kubesim.names import path_segment_problems
from kubesim.status import ApiError, Json, bad_request, no_such_resource, not_found
from kubesim.store import Store
from kubesim.surroundings import Surroundings
from kubesim.types.definitions import Definitions, Type, definitions

TEXT = "text/plain; charset=utf-8"
_JSON_HEADERS: Mapping[str, str] = {"Content-Type": JSON}


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: JSON data, text, an open `Watch`, or the result of a stream to a container."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON_HEADERS)
    warnings: tuple[str, ...] = ()
    """The contents of the Warning headers, in plain text."""

    def with_headers(self, **added: str) -> "Response":
        """The same answer with further headers."""
        named = {key.replace("_", "-"): value for key, value in added.items()}
        return replace(self, headers={**self.headers, **named})


@dataclass(slots=True)
class Exchange:
    """What is known about a request so far; its final state goes into the audit event."""

    request: Request
    call: Call
    store: Store
    catalogue: Catalogue
    surroundings: Surroundings
    authenticator: Authenticator
    received: str
    completed: str
    principal: Principal | None = None
    """The account whose credential the request carries."""
    acting: Principal | None = None
    """The account on whose behalf it is served: another one when the caller impersonates it."""
    decision: Decision | None = None
    resource: Resource | None = None
    recorded: Any = None
    """The body as the audit log shows it."""
    referenced: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of the object in the body, which completes the audit event's reference."""
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    """What the audit event notes besides the decision."""

    @property
    def row(self) -> Resource:
        """The resource that the call is about; raise 404 when the API serves no such resource."""
        if self.resource is None:
            raise no_such_resource()
        return self.resource

    @property
    def now(self) -> str:
        """The time of the request as objects carry it."""
        return f"{self.received[:19]}Z"

    @property
    def types(self) -> Definitions:
        """The types of the served release."""
        return definitions(self.catalogue.minor)

    @property
    def type(self) -> Type | None:
        """The type of the resource's objects; None if it has no definition."""
        row = self.row
        return self.types.of_kind(row.group, row.version, row.kind)

    @property
    def account(self) -> Principal:
        """The account on whose behalf the request is served, once it passed authentication."""
        if self.acting is None:
            raise RuntimeError("served before authentication")
        return self.acting

    @property
    def place(self) -> str:
        """The namespace under which the store keeps the object."""
        return self.call.namespace if self.row.namespaced else ""

    def stored_object(self) -> Json | None:
        """The object that the path names, as the store holds it; raise 400 for an invalid name."""
        name = self.call.name
        obj = self.store.get(self.row.noun, self.place, name)
        if obj is None and (problems := path_segment_problems(name)):
            raise bad_request(f"Name parameter invalid: {go_quote(name)}: {';'.join(problems)}")
        return obj

    def require_object(self, subresource: str = "") -> Json:
        """The object that the path names; raise 404 when there is none."""
        obj = self.stored_object()
        if obj is None:
            raise not_found(self.row, self.call.name, subresource)
        return obj

    def record(self, obj: Json) -> None:
        """Note an object from the body for the audit log."""
        metadata = obj.get("metadata") or {}
        if "managedFields" in metadata and not metadata["managedFields"]:
            # the store keeps an empty list only as a request to forget the owners
            metadata = {key: value for key, value in metadata.items() if key != "managedFields"}
        self.recorded = with_times_of(
            self.catalogue.minor, {**obj, "metadata": {"creationTimestamp": None, **metadata}}
        )
        self.referenced = metadata


def refusal(error: ApiError) -> Response:
    """An error as an answer."""
    seconds = (error.body.get("details") or {}).get("retryAfterSeconds")
    response = Response(error.code, error.body)
    return response.with_headers(Retry_After=str(seconds)) if seconds else response
