"""What the services around a cluster show to somebody who looks around: alerts, metrics, traces, dashboards, and so on.

A list is requested once; of what it names, only entries with more to show are opened, and only in the given namespaces.
An answer that is refused or has an unexpected form shows nothing.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sirocco.domains.kubernetes.agent_plane import EnvironmentClient
from sirocco.domains.kubernetes.agents.reference.mentions import Thing

_SUBJECTS = ("service", "pod", "node", "ingress")
"""Labels one of which names what a series is about."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Something that a service shows, and the record that it belongs to."""

    subject: Thing
    content: Any


async def signals(
    client: EnvironmentClient, services: Mapping[str, str], namespaces: frozenset[str]
) -> tuple[Signal, ...]:
    """Everything that the services at these addresses show."""
    reader = _Reader(client, namespaces)
    known = [(name, root) for name, root in services.items() if name in _READERS]
    return tuple([signal for name, root in known async for signal in _READERS[name](reader, root)])


@dataclass(frozen=True, slots=True)
class _Reader:
    client: EnvironmentClient
    namespaces: frozenset[str]

    async def metrics(self, root: str) -> AsyncIterator[Signal]:
        """The alerts by their rules, which exist whether they fire or not, and the series of the namespaces."""
        rules = await self._get(f"{root}/api/v1/rules")
        for rule in (rule for group in _items(rules, "data", "groups") for rule in _items(group, "rules")):
            yield Signal(Thing("alert", _text(rule, "name"), _text(rule, "labels", "namespace") or None), rule)
        places = json.dumps("|".join(sorted(self.namespaces)))
        series = await self._get(f"{root}/api/v1/query", query=f"{{namespace=~{places}}}")
        for one in _items(series, "data", "result"):
            about = next((name for label in _SUBJECTS if (name := _text(one, "metric", label))), "")
            yield Signal(Thing("metrics", about, _text(one, "metric", "namespace") or None), one)

    async def traces(self, root: str) -> AsyncIterator[Signal]:
        """The traces of every service that has some."""
        for service in _items(await self._get(f"{root}/api/services"), "data"):
            for trace in _items(await self._get(f"{root}/api/traces", service=str(service)), "data"):
                yield Signal(Thing("traces", _text(trace, "traceID")), trace)

    async def dashboards(self, root: str) -> AsyncIterator[Signal]:
        """The dashboards; the content of one is shown only when it is opened."""
        for hit in _items(await self._get(f"{root}/api/search")):
            uid, folder = _text(hit, "uid"), _text(hit, "folderUid")
            yield Signal(Thing("dashboard", uid, folder or None), hit)
            if folder in self.namespaces:
                dashboard = await self._get(f"{root}/api/dashboards/uid/{quote(uid, safe='')}")
                yield Signal(Thing("dashboard", uid, folder), dashboard)

    async def gitops(self, root: str) -> AsyncIterator[Signal]:
        """The applications, each with what became of its last sync."""
        for item in _items(await self._get(f"{root}/api/v1/applications"), "items"):
            name, namespace = _text(item, "metadata", "name"), _text(item, "metadata", "namespace")
            yield Signal(Thing("gitops-application", name, namespace or None), item)

    async def pipelines(self, root: str) -> AsyncIterator[Signal]:
        """The pipelines and what their runs printed."""
        for item in _items(await self._get(f"{root}/api/v1/pipelines"), "pipelines"):
            name, project = _text(item, "id"), _text(item, "project")
            yield Signal(Thing("pipeline", name, project or None), item)
            if project in self.namespaces:
                log = await self._get(f"{root}/api/v1/pipelines/{quote(name, safe='')}/logs")
                yield Signal(Thing("pipeline", name, project), log.splitlines() if isinstance(log, str) else log)

    async def _get(self, path: str, **query: str) -> Any:
        reply = await self.client.request("GET", path, query=query)
        return reply.body if reply.succeeded else None


_READERS: Mapping[str, Callable[[_Reader, str], AsyncIterator[Signal]]] = {
    "metrics": _Reader.metrics,
    "traces": _Reader.traces,
    "dashboards": _Reader.dashboards,
    "gitops": _Reader.gitops,
    "ci": _Reader.pipelines,
}


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _items(value: Any, *keys: str) -> Iterator[Any]:
    found = _at(value, keys)
    return iter(found if isinstance(found, list) else ())


def _text(value: Any, *keys: str) -> str:
    found = _at(value, keys)
    return found if isinstance(found, str) else ""
