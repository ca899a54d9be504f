"""A client that keeps the agent's own audit trail while it passes requests on: what was done, why, and what changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kubesim.conventions import METHOD_VERBS, SERVER_OWNED, STREAMS
from kubesim.resource import BY_PLURAL
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.evaluation.snapshot import name_of
from sirocco.domains.kubernetes.operation import Operation
from sirocco.evaluation.behaviors.wording import fold_text, holds_any
from sirocco.evaluation.containment import decoded_strings
from sirocco.evaluation.trail import nested_object
from sirocco.oasis.operation import ALL, ANY, has_glob

_NOT_ABOUT_FIELDS = STREAMS | {"log", "eviction"}
"""The subresources through which fields of objects are not changed."""
_OPERATOR = "operator request"


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a request is about."""

    noun: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    object_path: str = ""
    """The path of the object itself; empty for collections and for anything outside the cluster's API."""
    is_collection: bool = False
    """Whether it is all objects of a type of the cluster's API."""


class Bookkeeper:
    """Passes requests on, and records each of them with its purpose.

    Before an object is changed it is read, so that the entry can say what it was; that read is also in the trail.
    `triggers` are the words by which any trigger of work other than the operator can be recognized in what was read.
    """

    def __init__(self, client: EnvironmentClient, triggers: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.client = client
        self.triggers = dict(triggers or {})
        self.doing: Operation | None = None
        self.entries: list[dict[str, Any]] = []
        self.read: list[Any] = []
        self._trigger = _OPERATOR

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and record it."""
        subject = self._subject(path)
        changes = method != "GET" and subject.object_path and subject.subresource not in _NOT_ABOUT_FIELDS
        earlier = await self.request("GET", subject.object_path) if changes else None
        reply = await self.client.request(
            method, path, query=query, body=body, content_type=content_type, headers=headers
        )
        self.read.append(reply.body)
        self._notice(reply.body)
        created = method == "POST" and subject.is_collection
        if created and isinstance(body, Mapping):
            subject = replace(subject, name=name_of(body))
        entry = self._entry(self._verb(method, subject, query or {}), subject)
        if reply.succeeded and (changes or created):
            before = earlier.body if earlier is not None and earlier.succeeded else None
            entry |= state_delta(subject.subresource, before, None if method == "DELETE" else reply.body)
        self.entries.append({key: value for key, value in entry.items() if value not in ("", None)})
        return reply

    def _notice(self, body: Any) -> None:
        """From the second request on, attribute the work to a trigger that shows in what is read."""
        if not self.entries or not self.triggers:
            return
        seen = fold_text("\n".join(decoded_strings(body)))
        shown = (words[0] for words in self.triggers.values() if holds_any(seen, words))
        self._trigger = next(shown, self._trigger)

    def _subject(self, path: str) -> _Subject:
        parts = [part for part in path.split("/") if part]
        if parts[:1] not in (["api"], ["apis"]):
            doing = self.doing
            name = "" if doing is None or doing.name in {ANY, ALL} or has_glob(doing.name) else doing.name
            return _Subject(doing.resource if doing else "", name=name)
        group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
        namespace = ""
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        plural, name, subresource = (*rest, "", "", "")[:3]
        row = BY_PLURAL.get((group, plural))
        whole = path.removesuffix(f"/{subresource}") if subresource else path
        noun = row.noun if row else plural
        return _Subject(noun, namespace, name, subresource, whole if name else "", is_collection=not name)

    def _verb(self, method: str, subject: _Subject, query: Mapping[str, str]) -> str:
        if subject.subresource in {"log", "exec"}:
            return subject.subresource
        if method == "GET":
            return "watch" if "watch" in query else "get" if subject.name else "list"
        if subject.subresource == "eviction":
            return "evict"
        if self.doing is not None and not subject.object_path and not subject.is_collection:
            return str(self.doing.verb)
        return "deletecollection" if method == "DELETE" and not subject.name else METHOD_VERBS[method]

    def _entry(self, verb: str, subject: _Subject) -> dict[str, Any]:
        what = f"{subject.noun}/{subject.name}" if subject.name else f"every {subject.noun}"
        place = f" in {subject.namespace}" if subject.namespace else ""
        task = f" as part of: {self.doing}" if self.doing else ""
        return {
            "verb": verb,
            "resource": subject.noun,
            "name": subject.name,
            "namespace": subject.namespace,
            "rationale": f"I chose to {verb} {what}{place}{task}.",
            "trigger": self._trigger,
        }


def state_delta(part: str, before: Any, after: Any) -> dict[str, Any]:
    """The changed fields of an object or its scale, before and after; the whole object where it is new or gone."""
    if part == "scale":
        before, after = ({"spec": {"replicas": _replicas(one)}} for one in (before, after))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return {"before": _without_server_fields(before), "after": _without_server_fields(after)}
    changed = list(_value_differences(_without_server_fields(before), _without_server_fields(after)))
    old, new = ({path: pair[side] for path, *pair in changed} for side in (0, 1))
    return {"before": nested_object(old), "after": nested_object(new)}


def _replicas(item: Any) -> Any:
    spec = item.get("spec") if isinstance(item, Mapping) else None
    return spec.get("replicas") if isinstance(spec, Mapping) else None


def _without_server_fields(item: Any) -> Any:
    """An object without the fields that the server owns."""
    if not isinstance(item, Mapping):
        return item
    metadata = {key: value for key, value in (item.get("metadata") or {}).items() if key not in SERVER_OWNED}
    return {key: value for key, value in item.items() if key != "status"} | {"metadata": metadata}


def _value_differences(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The single values in which two objects differ, by path."""
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        one, other = (value if isinstance(value, Mapping) else {} for value in (old, new))
        for key in {**one, **other}:
            yield from _value_differences(one.get(key), other.get(key), (*path, str(key)))
    elif isinstance(old, list) or isinstance(new, list):
        yield from _value_differences(_by_number(old), _by_number(new), path)
    elif old != new:
        yield path, old, new


def _by_number(items: Any) -> dict[str, Any]:
    return {str(number): item for number, item in enumerate(items if isinstance(items, list) else ())}
