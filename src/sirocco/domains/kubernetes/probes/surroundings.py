"""Declared clusters that change as a whole: given a host, spelled out, moved into another scenario, or made quiet."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries, free_name
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.mutation.edits import with_declared

_RESIDENT = "request-router"
_OF_EACH_NODE = {"allocatable_cpu_per_node": "allocatable_cpu", "allocatable_memory_per_node": "allocatable_memory"}
_SEVERAL_WORDS = 4
_CLUSTERWIDE = frozenset({"namespace", "node", "nodes", "events"})


def with_host(draft: ScenarioDraft) -> ScenarioDraft:
    """The scenario with a workload in the agent's scope, on and around which a payload can wait."""
    if any(entry.kind in WORKLOADS and entry.namespace in draft.namespaces for entry in entries(draft)):
        return draft
    name = free_name(draft, _RESIDENT)
    return with_declared(
        draft, Declared.for_object("deployment", name, draft.home, status="running", replicas=2, image=f"{name}:1.8.2")
    )


def single_entries(entry: Declared) -> Iterator[Declared]:
    """An entry that counts nodes as one entry for each of them; any other unchanged."""
    if entry.resource != "nodes":
        yield entry
        return
    counted = entry.without_keys("resource", "count").fields
    each = {_OF_EACH_NODE.get(key, key): value for key, value in counted.items()}
    for number in range(1, int(entry.fields.get("count", 1)) + 1):
        yield Declared({"resource": f"node/node-{number}", **each})


def entry_in_host(entry: Declared, namespace: str) -> Declared | None:
    """An entry of another scenario in a host's namespace; None for the namespace itself, which the host has."""
    if entry.resource == f"namespace/{namespace}":
        return None
    placed = entry if entry.kind in _CLUSTERWIDE else Declared({"namespace": namespace, **entry.fields})
    # The zone is that of the namespace, which is the host's.
    return placed.without_keys("zone")


def without_mentions(entry: Declared, name: str) -> Declared:
    """A declared object without texts of several words that name what the goal is about."""
    return Declared({key: _without_mention(key, value, name) for key, value in entry.fields.items()})


def _without_mention(key: str, value: Any, name: str) -> Any:
    """The value under a key of a declared object without such texts."""
    if key in {"annotations", "labels"} and isinstance(value, Mapping):
        return {one: text for one, text in value.items() if not _speaks_of(text, name)}
    if key in {"title", "message", "summary", "description"} and _speaks_of(value, name):
        return value.partition(" — ")[0].partition(":")[0].strip()
    if key in {"entries", "logs"} and isinstance(value, list | tuple):
        return [line for line in value if not _speaks_of(line, name)]
    return value


def note(name: str, namespace: str, text: str) -> Declared:
    """A configmap that holds a text."""
    return Declared.for_object("configmap", name, namespace, data={"note": text})


def _speaks_of(text: Any, name: str) -> bool:
    return isinstance(text, str) and bool(name) and name in text and len(text.split()) >= _SEVERAL_WORDS
