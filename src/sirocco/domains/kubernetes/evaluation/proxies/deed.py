"""A deed: one request to the cluster's API that results from a command, whichever program would send it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from kubesim.conventions import METHOD_VERBS, READ_VERBS
from kubesim.resource import BY_KIND, BY_PLURAL, RESOURCE_TYPES, ResourceType, resource_type
from sirocco.domains.kubernetes.evaluation.proxies.shell import UNKNOWN
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, namespace_of
from sirocco.oasis.body_text import held_data

_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_CORE_TYPES = frozenset({row.plural for row in RESOURCE_TYPES if not row.group}) | {
    "bindings", "podtemplates", "replicationcontrollers",
}  # fmt: skip
"""Other servers also answer under `/api/v1`; types that the cluster itself does not serve there are not addressed to
it."""
_MOST_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class Deed:
    """One request to the API; an unknown name or namespace holds `UNKNOWN`."""

    verb: str
    resource: str
    name: str = ""
    namespace: str = ""
    group: str = ""
    subresource: str = ""
    request: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    program: str = "kubectl"
    is_metadata_only: bool = False
    """Whether what is read is shown without the values in it."""
    is_foreign: bool = False
    """Whether it is done under another name or with other credentials."""

    @property
    def row(self) -> ResourceType | None:
        """The row of the noun table that the deed is about."""
        return BY_PLURAL.get((self.group, self.resource))

    @property
    def uri(self) -> str:
        """The address of the request."""
        head = f"/apis/{self.group}/v1" if self.group else "/api/v1"
        place = f"/namespaces/{self.namespace}" if self.namespace and self.resource != "namespaces" else ""
        parts = "/".join(part for part in (self.resource, self.name, self.subresource) if part)
        return f"{head}{place}/{parts}" + (f"?{urlencode(self.query)}" if self.query else "")

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.resource, self.name, self.subresource) if part)
        return f"{self.program}: {self.verb} {place}".replace(UNKNOWN, "?")

    def aims(self, known: Snapshot) -> Iterator["Deed"]:
        """The deed for each object that it can be aimed at, if a name or namespace is only partly known.

        A write with an entirely unknown target can be aimed at any object of its type, as can a write that was refused
        unread; a read of something unknown is not a read of anything in particular.
        """
        if UNKNOWN not in self.name + self.namespace:
            yield self
            return
        pattern, place = self.name.replace(UNKNOWN, "*"), self.namespace.replace(UNKNOWN, "*")
        if not pattern.strip("*") and self.name:
            if self.verb not in READ_VERBS and UNKNOWN not in self.namespace:
                yield replace(self, name="")
            return
        if self.verb == "create" and not self.subresource:
            yield replace(self, name=self.name.replace(UNKNOWN, ""))
            return
        for item in known.of_type(self.row) if self.row is not None else ():
            if fnmatchcase(name_of(item), pattern or "*") and fnmatchcase(namespace_of(item), place or "*"):
                yield replace(self, name=self.name and name_of(item), namespace=namespace_of(item))


def group_and_plural(word: str) -> tuple[str, str]:
    """Group and plural of the type that a word such as `deploy`, `Deployment` or `deployments.apps` names."""
    head, _, tail = word.partition(".")
    row = resource_type(head)
    if row is not None and row in RESOURCE_TYPES:
        return row.group, row.plural
    version, _, group = tail.partition(".")
    return (group if version[:1] == "v" and group else tail), head.lower()


def object_deed(verb: str, item: Mapping[str, Any], namespace: str, program: str) -> Deed | None:
    """The deed on an object that is given as a whole; None if the object is malformed."""
    kind, version, metadata = item.get("kind"), item.get("apiVersion"), item.get("metadata")
    if not isinstance(kind, str) or not isinstance(metadata, Mapping):
        return None
    row = BY_KIND.get(kind)
    group = row.group if row is not None else str(version or "").rpartition("/")[0]
    plural = row.plural if row is not None else f"{kind.lower()}s"
    place = str(metadata.get("namespace") or namespace) if row is None or row.namespaced else ""
    body = None if verb == "delete" else item
    return Deed(verb, plural, str(metadata.get("name") or ""), place, group, request=body, program=program)


def documents(text: str) -> Iterator[Mapping[str, Any]]:
    """The objects in a JSON or YAML text, including the items of lists."""
    parts = f"\n{text}".split("\n---")[:_MOST_DOCUMENTS] if "---" in text else [text]
    for part in parts:
        data = held_data(part) if part.strip() else None
        found = data if isinstance(data, list) else [data]
        for item in found:
            if isinstance(item, Mapping):
                held = item.get("items")
                yield from (one for one in held if isinstance(one, Mapping)) if isinstance(held, list) else (item,)


def request_deed(method: str, url: str, body: Any, program: str) -> Deed | None:
    """The deed that a request to an address is; None when the address is not one of a cluster's API."""
    try:
        split = urlsplit(url if "//" in url else f"//{url}" if not url.startswith("/") else url)
    except ValueError:
        return None
    parts = [unquote(part) for part in split.path.split("/") if part]
    start = next((number for number, part in enumerate(parts) if part in {"api", "apis"}), None)
    if start is None:
        return None
    query = dict(reversed(parse_qsl(split.query, keep_blank_values=True)))
    return _path_deed(method.upper(), parts[start:], query, body, program)


def _path_deed(method: str, parts: list[str], query: Mapping[str, str], body: Any, program: str) -> Deed | None:
    if parts[0] == "api" and len(parts) > 2:
        group, rest = "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return None
    verb = METHOD_VERBS.get(method, "get")
    if rest[0] in {"watch", "proxy"} and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    if verb == "get" and not name:
        verb = "watch" if query.get("watch", "false").lower() not in {"false", "0"} else "list"
    elif verb == "delete" and not name:
        verb = "deletecollection"
    if not group and rest[0] not in _CORE_TYPES:
        return None
    if verb == "create" and not name and isinstance(body, Mapping):
        name = name_of(body) if isinstance(body.get("metadata", {}), Mapping) else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Deed(verb, rest[0], name, "" if rest[0] == "namespaces" else namespace, group, subresource,
                body, query, program)  # fmt: skip
