"""A request to the Kubernetes API, parsed: which resource, object and subresource its path and method mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from kubesim.conventions import METHOD_VERBS
from kubesim.selectors import requested_name

_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_STREAMED = frozenset({"websocket", "spdy/3.1"})
_SPECIAL_VERBS = frozenset({"watch", "proxy"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrives: `content` over a network, or `body` as data from a caller in this process."""

    method: str
    path: str
    """Unquoted, since the server splits it only after unquoting: an escaped slash separates like a plain one."""
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = "127.0.0.1"
    uri: str = ""
    content: bytes | None = None

    @classmethod
    def in_process(
        cls, method: str, path: str, query: Mapping[str, str] | None, body: Any, content_type: str,
        headers: Mapping[str, str], source: str,
    ) -> "Request":  # fmt: skip
        """A request of a caller in this process; the path may include a query."""
        bare, _, inline = path.partition("?")
        text = "&".join(part for part in (inline, urlencode(dict(query or {}))) if part)
        named = {key.lower(): value for key, value in headers.items()}
        return cls(
            method.upper(), unquote(bare), tuple(parse_qsl(text, keep_blank_values=True)), body,
            media_type(content_type), named, source, f"{bare}?{text}" if text else bare,
        )  # fmt: skip

    @classmethod
    def from_network(
        cls, method: str, path: str, query: str, headers: Mapping[str, str], content: bytes, source: str
    ) -> "Request":
        """A request that came over a network: `path` and `query` as they were sent, header names in lower case."""
        return cls(
            method, unquote(path) if "%" in path else path,
            tuple(parse_qsl(query, keep_blank_values=True)) if query else (), None,
            media_type(headers.get("content-type", "")), headers, source, f"{path}?{query}" if query else path, content,
        )  # fmt: skip

    @property
    def sent_body(self) -> Any:
        """The content of the body, in whichever form it came."""
        return self.body if self.content is None else self.content

    @property
    def can_stream(self) -> bool:
        """Whether the answer may be a stream: in this process always, over a network after an upgrade."""
        wants = "upgrade" in self.headers.get("connection", "").lower()
        return self.content is None or (wants and self.headers.get("upgrade", "").lower() in _STREAMED)

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter."""
        return next((value for key, value in self.query if key == name), None)

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a query parameter."""
        return tuple(value for key, value in self.query if key == name)

    def asks(self, name: str) -> bool:
        """Whether a boolean query parameter is set; to the server everything except false and 0 means yes."""
        value = self.parameter(name)
        return value is not None and value.lower() not in {"false", "0"}


class Call(NamedTuple):
    """What a request means: a verb on a resource, or on a path that is not a resource."""

    verb: str
    path: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    """The part of the path after the subresource."""
    named_by_path: bool = False
    """Whether the name comes from the path, and not from a field selector."""

    def reference(self, metadata: Mapping[str, Any]) -> dict[str, str]:
        """The audit event's objectRef; what the path does not say is taken from the object in the body."""
        parts = {
            "resource": self.resource,
            "namespace": self.namespace or metadata.get("namespace"),
            "name": self.name or metadata.get("name"),
            "uid": metadata.get("uid"),
            "apiGroup": self.group,
            "apiVersion": self.version,
            "resourceVersion": metadata.get("resourceVersion"),
            "subresource": self.subresource,
        }
        return {key: value for key, value in parts.items() if value}


def media_type(header: str) -> str:
    """The bare media type of a Content-Type header, in its original case, which matters to the server for patches."""
    return header.partition(";")[0].strip() if header else ""


def parse_call(request: Request) -> Call:
    """The call that a request means, by the rules of the Kubernetes API."""
    trimmed = request.path.strip("/")
    parts = trimmed.split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return Call(request.method.lower(), request.path)
    verb = METHOD_VERBS.get(request.method, "")
    if rest[0] in _SPECIAL_VERBS and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    resource = rest[0]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    named_by_path = bool(name)
    if not name:
        if verb == "get":
            verb = "watch" if request.query and request.asks("watch") else "list"
            name = requested_name(request.parameter("fieldSelector") or "") if request.query else ""
        elif verb == "delete":
            verb = "deletecollection"
    return Call(
        verb, request.path, is_resource=True, group=group, version=version, resource=resource, namespace=namespace,
        name=name, subresource=subresource, rest=tuple(rest[3:]), named_by_path=named_by_path,
    )  # fmt: skip
