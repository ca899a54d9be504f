"""A request to the Kubernetes API taken apart: which resource, object and subresource its path and method mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from sirocco.oasis.resource import BY_PLURAL, ResourceType
from sirocco.providers.simulator.kubernetes.authorization import Attributes
from sirocco.providers.simulator.kubernetes.selectors import requested_name

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrives; `body` is JSON data."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = "127.0.0.1"
    uri: str = ""

    @classmethod
    def of(
        cls, method: str, path: str, query: Mapping[str, str] | None, body: Any, content_type: str,
        headers: Mapping[str, str], source: str,
    ) -> "Request":  # fmt: skip
        """A request from its parts; a query may also stand in the path."""
        bare, _, inline = path.partition("?")
        asked = urlencode(dict(query or {}))
        text = "&".join(part for part in (inline, asked) if part)
        return cls(
            method.upper(),
            bare,
            tuple(parse_qsl(text, keep_blank_values=True)),
            body,
            content_type.partition(";")[0].strip().lower(),
            {key.lower(): value for key, value in headers.items()},
            source,
            uri=f"{bare}?{text}" if text else bare,
        )

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter."""
        return next((value for key, value in self.query if key == name), None)

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a query parameter."""
        return tuple(value for key, value in self.query if key == name)

    def asks(self, name: str) -> bool:
        """Whether a boolean query parameter is set."""
        return (self.parameter(name) or "").lower() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class Call:
    """What a request means: a verb on a resource, or on a path that is no resource."""

    verb: str
    path: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def row(self) -> ResourceType | None:
        """The stored type that the call is about."""
        row = BY_PLURAL.get((self.group, self.resource))
        return row if row and row.version == self.version else None

    @property
    def attributes(self) -> Attributes:
        """What rights the call needs."""
        if not self.is_resource:
            return Attributes(self.verb, path=self.path)
        return Attributes(self.verb, self.group, self.resource, self.subresource, self.namespace, self.name)

    def reference(self, body: Any) -> dict[str, str] | None:
        """The audit event's objectRef; a created object's name is known from its body."""
        if not self.is_resource:
            return None
        metadata = body.get("metadata") if isinstance(body, Mapping) and self.verb in {"create", "update"} else None
        given = metadata if isinstance(metadata, Mapping) else {}
        parts = {
            "resource": self.resource,
            "namespace": self.namespace,
            "name": self.name or str(given.get("name") or ""),
            "uid": str(given.get("uid") or ""),
            "apiGroup": self.group,
            "apiVersion": self.version,
            "resourceVersion": str(given.get("resourceVersion") or ""),
            "subresource": self.subresource,
        }
        return {key: value for key, value in parts.items() if value}


def understood(request: Request) -> Call:
    """The call that a request means, by the rules of the Kubernetes API."""
    verb = _VERBS.get(request.method, request.method.lower())
    parts = [unquote(part) for part in request.path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return Call(verb, request.path)
    watched = rest[0] == "watch" and len(rest) > 1
    if watched:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "", "")[:3]
    if verb == "get" and (watched or (not name and request.asks("watch"))):
        verb = "watch"
    elif not name:
        verb = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
    if not name and verb in {"list", "watch"}:
        name = requested_name(request.parameter("fieldSelector") or "")
    return Call(
        verb, request.path, is_resource=True, group=group, version=version, resource=resource, namespace=namespace,
        name=name, subresource=subresource,
    )  # fmt: skip
