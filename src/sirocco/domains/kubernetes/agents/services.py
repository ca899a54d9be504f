"""The services around a cluster as an operator uses them: the requests that their own clients would send."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from sirocco.domains.kubernetes.agent_plane import EnvironmentClient, Reply
from sirocco.domains.kubernetes.operation import Operation, Verb
from sirocco.errors import AgentFault
from sirocco.oasis.operation import ALL, ANY, has_glob

_PROMETHEUS = "/services/metrics/api/v1"
_SILENCES = "/services/metrics/api/v2/silences"
_JAEGER = "/services/traces/api"
_GRAFANA = "/services/dashboards/api"
_ARGO = "/services/gitops/api/v1/applications"
_PIPELINES = "/services/ci/api/v1/pipelines"
_MIGRATIONS = "/services/databases/api/v1/migrations"
_SEGMENT = re.compile(r"[A-Za-z0-9._:-]+")
_HOUR = 3600
_DAY = 24 * _HOUR
_READS = frozenset({Verb.GET, Verb.LIST, Verb.QUERY})
_SUBJECTS = ("service", "pod", "node", "ingress")
"""Labels one of which names what a series is about."""
_LISTS: Mapping[str, tuple[str, str, str]] = {
    "dashboard": (f"{_GRAFANA}/search", "", "uid"),
    "gitops-application": (_ARGO, "items", "metadata.name"),
    "pipeline": (_PIPELINES, "pipelines", "id"),
    "database-migration": (_MIGRATIONS, "migrations", "database"),
}
"""Where the records of a type are listed, under which key, and which field names them."""
_ITEMS = {
    "traces": f"{_JAEGER}/traces",
    "dashboard": f"{_GRAFANA}/dashboards/uid",
    "gitops-application": _ARGO,
    "pipeline": _PIPELINES,
    "database-migration": _MIGRATIONS,
}


async def perform_on_service(operation: Operation, client: EnvironmentClient, namespace: str) -> tuple[Reply, ...]:
    """Carry an operation on a service's records out; returns the replies to the requests that carry it."""
    return await _Service(client, replace(operation, namespace=None), namespace).replies()


@dataclass(frozen=True, slots=True)
class _Service:
    client: EnvironmentClient
    operation: Operation
    namespace: str

    async def replies(self) -> tuple[Reply, ...]:
        noun, verb = self.operation.resource, self.operation.verb
        is_whole = self.operation.name in {ANY, ALL} or verb is Verb.LIST
        if noun == "metrics":
            return await self._metrics()
        if noun == "alert":
            return (await self._alerts(),)
        if verb in _READS and is_whole:
            return await self._traces() if noun == "traces" else (await self._list(),)
        return tuple([await self._perform_on(name) for name in await self._names()])

    async def _metrics(self) -> tuple[Reply, ...]:
        """All series about the services that the name means: their present values and those of a whole day."""
        name, place = self.operation.name, f'namespace="{self.namespace}"'
        selector = f'=~"{_regex(name)}"'.replace("\\", "\\\\") if has_glob(name) else f'="{name}"'
        about = [f"{{{place},{label}{selector}}}" for label in _SUBJECTS]
        is_whole = name in {ANY, ALL} or self.operation.verb is Verb.LIST
        query = {"query": f"{{{place}}}" if is_whole else " or ".join(about)}
        present = await self.client.request("GET", f"{_PROMETHEUS}/query", query=query)
        now = _moment(present.body)
        if self.operation.verb is not Verb.QUERY or now is None:
            return (present,)
        span = {"start": f"{now - _DAY:.0f}", "end": f"{now:.0f}", "step": f"{_HOUR}"}
        return present, await self.client.request("GET", f"{_PROMETHEUS}/query_range", query=query | span)

    async def _alerts(self) -> Reply:
        name = self.operation.name
        if self.operation.verb is not Verb.SILENCE:
            return await self.client.request("GET", f"{_PROMETHEUS}/rules")
        matchers = [
            {"name": "alertname", "value": _regex(name), "isRegex": True, "isEqual": True},
            {"name": "namespace", "value": self.namespace, "isRegex": False, "isEqual": True},
        ]
        body = {"matchers": matchers, "endsAt": "2999-01-01T00:00:00Z", "createdBy": "operator", "comment": "silenced"}
        return await self.client.request("POST", _SILENCES, body=body)

    async def _list(self) -> Reply:
        return await self.client.request("GET", _LISTS[self.operation.resource][0])

    async def _traces(self) -> tuple[Reply, ...]:
        """Which services exist, and the traces of each."""
        services = await self.client.request("GET", f"{_JAEGER}/services")
        found = services.body.get("data") if services.succeeded and isinstance(services.body, Mapping) else None
        searches = [
            await self.client.request("GET", f"{_JAEGER}/traces", query={"service": service}) for service in found or ()
        ]
        return (services, *searches)

    async def _names(self) -> tuple[str, ...]:
        """The name itself, or the names visible to the account that match the pattern."""
        name, noun = self.operation.name, self.operation.resource
        if name not in {ANY, ALL} and not has_glob(name):
            return (name,)
        if noun not in _LISTS:
            raise AgentFault(self.operation, "a trace is found by its whole name", "name one trace")
        _, key, path = _LISTS[noun]
        reply = await self._list()
        body = reply.body.get(key) if key and isinstance(reply.body, Mapping) else reply.body
        items = body if reply.succeeded and isinstance(body, list) else []
        names = (_text_at(item, path) for item in items)
        pattern = ANY if name == ALL else name
        return tuple(found for found in names if fnmatchcase(found, pattern))

    async def _perform_on(self, name: str) -> Reply:
        """Carry the operation out on one record."""
        noun, verb = self.operation.resource, self.operation.verb
        if not _SEGMENT.fullmatch(name):
            raise AgentFault(self.operation, f"{name!r} cannot be part of a path", "use letters, digits, '-' and '.'")
        path = f"{_ITEMS[noun]}/{name}"
        place = {"appNamespace" if noun == "gitops-application" else "namespace": self.namespace}
        match verb:
            case Verb.DELETE:
                return await self.client.request("DELETE", path, query=place)
            case Verb.LOG:
                return await self.client.request("GET", f"{path}/logs", query=place)
            case Verb.SYNC | Verb.RETRY | Verb.TRIGGER | Verb.ROLLBACK:
                return await self.client.request("POST", f"{path}/{verb}", query=place, body={})
            case Verb.CREATE | Verb.UPDATE if noun == "dashboard":
                return await self._save_dashboard(name, place)
            case Verb.UPDATE:
                return await self._change_policy(path, place)
        return await self.client.request("GET", path, query=place)

    async def _save_dashboard(self, name: str, place: Mapping[str, str]) -> Reply:
        present = await self.client.request("GET", f"{_ITEMS['dashboard']}/{name}", query=place)
        known = present.body["dashboard"] if present.succeeded else {"title": name, "panels": []}
        dashboard = {**known, "uid": known.get("uid", name), "title": f"{known['title']} (edited)"}
        body = {"dashboard": dashboard, "folderUid": self.namespace, "overwrite": True}
        if self.operation.verb is Verb.CREATE:
            body = {"dashboard": {"uid": name, "title": name, "panels": []}, "folderUid": self.namespace}
        return await self.client.request("POST", f"{_GRAFANA}/dashboards/db", query=place, body=body)

    async def _change_policy(self, path: str, place: Mapping[str, str]) -> Reply:
        """Switch the automatic sync of an application on or off."""
        present = await self.client.request("GET", path, query=place)
        spec = dict(present.body.get("spec") or {}) if present.succeeded and isinstance(present.body, Mapping) else {}
        is_automated = bool((spec.get("syncPolicy") or {}).get("automated"))
        policy = {} if is_automated else {"automated": {"selfHeal": False}}
        body = {"spec": {**spec, "syncPolicy": policy}}
        return await self.client.request("PUT", path, query=place, body=body)


def _moment(body: Any) -> float | None:
    """The environment's time, from the first value of an answer; None if it has none."""
    match body:
        case {"data": {"result": [{"value": [int() | float() as moment, *_]}, *_]}}:
            return float(moment)
    return None


def _regex(name: str) -> str:
    """A name with wildcards as a regular expression."""
    pattern = ANY if name == ALL else name
    return "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in pattern)


def _text_at(item: Any, path: str) -> str:
    for key in path.split("."):
        item = item.get(key) if isinstance(item, Mapping) else None
    return str(item or "")
