"""The careful agent's own record: every request that it sends, with reason, occasion and, for changes, both sides.

Entries are sealed one after the other when they are written, and can be neither removed nor overwritten.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from kubesim.resource import BY_PLURAL
from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.agents.bookkeeping import state_delta
from sirocco.domains.kubernetes.agents.reference.reports import CONFIDENTIAL, WITHHELD
from sirocco.evaluation.trail import seal

OPERATOR_REQUEST = "operator request"
_FIRST_LOOK = "I want to know what there is and how it fares before I act on the request"
_SERVICES = {
    "metrics": "metrics",
    "traces": "traces",
    "dashboards": "dashboard",
    "gitops": "gitops-application",
    "ci": "pipeline",
    "databases": "database-migration",
}
"""The services around a cluster, by the word in their address."""
_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NO_OBJECT = frozenset({"log", "exec", "eviction"})

_purpose: ContextVar[str] = ContextVar("purpose", default=_FIRST_LOOK)


@contextmanager
def because(reason: str) -> Iterator[None]:
    """Give the reason for what is done inside the block."""
    purpose = _purpose.set(reason)
    try:
        yield
    finally:
        _purpose.reset(purpose)


@dataclass(frozen=True, slots=True)
class _About:
    """What a request is about; a name only if it is about one object."""

    noun: str
    namespace: str = ""
    name: str = ""
    part: str = ""
    path: str = ""
    """The path for reading the object itself; empty if there is none."""


class Journal:
    """Passes requests on and records each one; an object is read before it is changed, which is an entry too."""

    def __init__(self, client: EnvironmentClient, previous: str = "") -> None:
        self._client = client
        self._previous = previous
        self._entries: list[Mapping[str, Any]] = []

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """What has been recorded so far."""
        return tuple(self._entries)

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
        about = _about(path)
        changes = method != "GET" and bool(about.path) and about.part not in _NO_OBJECT
        earlier = await self._read_first(about) if changes else None
        reply = await self._client.request(
            method, path, query=query, body=body, content_type=content_type, headers=headers
        )
        name = about.name or _created(method, body) or _only_record(about, reply)
        both_sides: Mapping[str, Any] = {}
        if reply.succeeded and (changes or _created(method, body)):
            both_sides = _sides(about.part, earlier, None if method == "DELETE" else reply.body)
        self._write(_verb(method, about, query or {}), about, name, both_sides)
        return reply

    async def _read_first(self, about: _About) -> Any:
        with because("its present state belongs on record before I change it"):
            reply = await self.request("GET", about.path)
        return reply.body if reply.succeeded else None

    def _write(self, verb: str, about: _About, name: str, both_sides: Mapping[str, Any]) -> None:
        what = f"{about.noun} {name}" if name else f"every {about.noun}"
        place = f" in {about.namespace}" if about.namespace else ""
        entry = {
            "verb": verb,
            "resource": about.noun,
            "name": name,
            "namespace": about.namespace,
            "rationale": f"{verb} {what}{place}: {_purpose.get()}.",
            "trigger": OPERATOR_REQUEST,
            "previous": self._previous,
            **both_sides,
        }
        entry = {key: value for key, value in entry.items() if value not in ("", None) or key == "previous"}
        self._previous = seal(entry)
        self._entries.append({**entry, "hash": self._previous})


def _about(path: str) -> _About:
    parts = [part for part in path.split("?", maxsplit=1)[0].split("/") if part]
    if parts[:1] not in (["api"], ["apis"]):
        return _of_service(parts)
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    plural, name, part = (*rest, "", "", "")[:3]
    row = BY_PLURAL.get((group, plural))
    whole = path.removesuffix(f"/{part}") if part else path
    return _About(row.noun if row else plural, namespace, name, part, whole if name else "")


def _of_service(parts: list[str]) -> _About:
    service = next((part for part in parts if part in _SERVICES), "")
    noun = _SERVICES.get(service, service)
    inside = parts[parts.index(service) + 1 :] if service else []
    if noun == "metrics" and inside[-1:] in (["rules"], ["alerts"]):
        return _About("alert")
    named = len(inside) > 3 or (noun == "traces" and len(inside) > 2)
    return _About(noun, name=inside[3] if len(inside) > 3 else inside[-1] if named else "")


def _only_record(about: _About, reply: Reply) -> str:
    """The subject of metrics or alerts when an answer shows only one."""
    data = reply.body.get("data") if isinstance(reply.body, Mapping) else None
    if not isinstance(data, Mapping):
        return ""
    if about.noun == "alert":
        shown = {str(rule.get("name", "")) for group in data.get("groups") or () for rule in group.get("rules") or ()}
    else:
        labels = [series.get("metric") or {} for series in data.get("result") or () if isinstance(series, Mapping)]
        shown = {str(name) for one in labels if (name := one.get("service") or one.get("deployment"))}
    return next(iter(shown)) if len(shown) == 1 else ""


def _sides(part: str, before: Any, after: Any) -> Mapping[str, Any]:
    """Both sides of a change without anything confidential; only the identity of what is new or gone."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return {side: _discreet(content) for side, content in state_delta(part, before, after).items()}
    return {"before": _outline(before), "after": _outline(after)}


def _discreet(content: Any, key: str = "") -> Any:
    """A part of an object with confidential values withheld; values are inspected only where free text is possible."""
    if isinstance(content, Mapping):
        return {name: _discreet(member, f"{key}.{name}") for name, member in content.items()}
    free = key.startswith(".data.") or key.endswith(".value")
    hidden = CONFIDENTIAL.search(key.rpartition(".")[2]) or (free and CONFIDENTIAL.search(str(content)))
    return WITHHELD if hidden and isinstance(content, str) else content


def _outline(item: Any) -> Mapping[str, Any] | None:
    if not isinstance(item, Mapping):
        return None
    spec = item.get("spec") or {}
    inner = spec if "containers" in spec else ((spec.get("template") or {}).get("spec") or {})
    containers = [{key: one[key] for key in ("name", "image") if key in one} for one in inner.get("containers") or ()]
    kept = {key: spec[key] for key in ("replicas", "minAvailable", "maxUnavailable", "selector") if key in spec}
    return {
        "metadata": {"labels": dict((item.get("metadata") or {}).get("labels") or {})},
        "spec": {**kept, **({"containers": containers} if containers else {})},
    }


def _created(method: str, body: Any) -> str:
    """The name of the object that a request is to create."""
    if method != "POST" or not isinstance(body, Mapping):
        return ""
    return str((body.get("metadata") or {}).get("name", ""))


def _verb(method: str, about: _About, query: Mapping[str, str]) -> str:
    if about.part in {"log", "exec"}:
        return about.part
    if method == "GET":
        return "watch" if "watch" in query else "get" if about.name else "list"
    return "evict" if about.part == "eviction" else _VERBS.get(method, method.lower())
