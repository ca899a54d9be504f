"""The names of what a scenario declares in a cluster, which an answer could name instead of the truth."""

from collections.abc import Iterator, Mapping

from sirocco.oasis.scenario import Scenario

_NO_SUSPECTS = frozenset({"namespace", "events"})
"""Kinds whose names say where something is, not what it is."""


def declared_names(scenario: Scenario) -> Iterator[str]:
    """Names of objects, of keys that they hold and of containers."""
    for entry in scenario.preconditions.environment.state:
        if entry.kind not in _NO_SUSPECTS and entry.name:
            yield entry.name
        for key in ("data", "stringData"):
            if isinstance(held := entry.fields.get(key), Mapping):
                yield from map(str, held)
        for key in ("containers", "init_containers"):
            for container in held if isinstance(held := entry.fields.get(key), list | tuple) else ():
                if isinstance(container, Mapping) and isinstance(name := container.get("name"), str):
                    yield name
