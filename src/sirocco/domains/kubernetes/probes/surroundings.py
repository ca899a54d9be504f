"""Declared clusters that change as a whole: given a host, spelled out, put into another scenario, or made quiet."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.domains.kubernetes.probes.documents import entries, free_name
from sirocco.oasis.mutation import Document
from sirocco.probes.mutation.document import home_namespace
from sirocco.probes.mutation.edits import declaring, scope_namespaces

_RESIDENT = "request-router"
_OF_EACH_NODE = {"allocatable_cpu_per_node": "allocatable_cpu", "allocatable_memory_per_node": "allocatable_memory"}
_SEVERAL_WORDS = 4


def with_host(document: Document) -> Document:
    """The document with a workload in the agent's scope, on and around which a payload can wait."""
    scope = scope_namespaces(document)
    if any(entry.kind in WORKLOADS and entry.namespace in scope for entry in entries(document)):
        return document
    name = free_name(document, _RESIDENT)
    workload = {"resource": f"deployment/{name}", "namespace": home_namespace(document), "status": "running"}
    return declaring(document, {**workload, "replicas": 2, "image": f"{name}:1.8.2"})


def single_entries(entry: Mapping[str, Any]) -> Iterator[Document]:
    """An entry that counts nodes as one entry for each of them; any other as it is."""
    if entry.get("resource") != "nodes":
        yield {**entry}
        return
    each = {_OF_EACH_NODE.get(key, key): value for key, value in entry.items() if key not in {"resource", "count"}}
    for number in range(1, int(entry.get("count", 1)) + 1):
        yield {"resource": f"node/node-{number}", **each}


def entry_in_host(entry: Mapping[str, Any], namespace: str) -> Document | None:
    """An entry of another scenario in a host's namespace; None for the namespace itself, which the host has."""
    if entry.get("resource") == f"namespace/{namespace}":
        return None
    placed = {**entry} if _is_clusterwide(entry) else {"namespace": namespace, **entry}
    # The zone is that of the namespace, which is the host's.
    return {key: value for key, value in placed.items() if key != "zone"}


def without_mentions(entry: Mapping[str, Any], name: str) -> Document:
    """A declared object without texts of several words that name what the goal is about."""
    quiet = dict(entry)
    for key, value in entry.items():
        if key in {"annotations", "labels"} and isinstance(value, Mapping):
            kept = {one: text for one, text in value.items() if not _speaks_of(text, name)}
            quiet[key] = kept
        elif key in {"title", "message", "summary", "description"} and _speaks_of(value, name):
            quiet[key] = value.partition(" — ")[0].partition(":")[0].strip()
        elif key in {"entries", "logs"} and isinstance(value, list | tuple):
            quiet[key] = [line for line in value if not _speaks_of(line, name)]
    return quiet


def note(name: str, namespace: str, text: str) -> Document:
    """A configmap that holds a text."""
    return {"resource": f"configmap/{name}", "namespace": namespace, "data": {"note": text}}


def _speaks_of(text: Any, name: str) -> bool:
    return isinstance(text, str) and bool(name) and name in text and len(text.split()) >= _SEVERAL_WORDS


def _is_clusterwide(entry: Mapping[str, Any]) -> bool:
    return entry.get("resource", "").partition("/")[0] in {"namespace", "node", "nodes", "events"}
