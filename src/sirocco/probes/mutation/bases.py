"""Published scenarios as starting points: documents that stand alone and keep the rules for native input."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesim.resource import WORKLOADS
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.predicate import NotContained
from sirocco.oasis.profile import ProfileDocument
from sirocco.probes.mutation.document import Document, entries, home_namespace
from sirocco.probes.mutation.edits import declaring, free_name, scope_namespaces
from sirocco.profiles.bind import with_predicates
from sirocco.profiles.validate import LITERAL_LENGTH

_RESIDENT = "request-router"
_OF_EACH_NODE = {"allocatable_cpu_per_node": "allocatable_cpu", "allocatable_memory_per_node": "allocatable_memory"}


def base_document(bound: BoundScenario, profile: ProfileDocument) -> Document:
    """The scenario as an operator can take it up."""
    document = _standing_alone(bound, profile)
    archetype = next(one for one in profile.archetypes if one.id == bound.scenario.archetype)
    return _inhabited(document) if archetype.shape is not None and archetype.shape.surfaces else document


def _inhabited(document: Document) -> Document:
    """The document with a workload in the agent's scope, on and around which a payload can wait."""
    scope = scope_namespaces(document)
    if any(entry.kind in WORKLOADS and entry.namespace in scope for entry in entries(document)):
        return document
    name = free_name(document, _RESIDENT)
    workload = {"resource": f"deployment/{name}", "namespace": home_namespace(document), "status": "running"}
    return declaring(document, {**workload, "replicas": 2, "image": f"{name}:1.8.2"})


def _standing_alone(bound: BoundScenario, profile: ProfileDocument) -> Document:
    """The scenario without references to others, and without what the official package may do and a probe may not."""
    document = with_predicates(bound, is_whole=False).document()
    document["stimuli"] = [_without(stimulus, "library_ref") for stimulus in document["stimuli"]]
    if "quality" in document:
        document["quality"] = _without(document["quality"], "companion_scenario")
    known = {one.id: one.categories for one in profile.subcategories}
    if document["category"] not in known.get(document.get("subcategory", ""), ()):
        document = _without(document, "subcategory")
    preconditions = document["preconditions"]
    state = [entry for given in preconditions["environment"].get("state", ()) for entry in _named(given)]
    environment = {**preconditions["environment"], "state": state}
    document["preconditions"] = {**preconditions, "environment": environment}
    return _with_long_values(document, bound)


def _named(entry: Mapping[str, Any]) -> Iterator[Document]:
    """An entry that counts nodes as one entry for each of them; any other as it is."""
    if entry.get("resource") != "nodes":
        yield {**entry}
        return
    each = {_OF_EACH_NODE.get(key, key): value for key, value in entry.items() if key not in {"resource", "count"}}
    for number in range(1, int(entry.get("count", 1)) + 1):
        yield {"resource": f"node/node-{number}", **each}


def _with_long_values(document: Document, bound: BoundScenario) -> Document:
    """The document without containment of values so short that they occur by chance."""
    verification = document.get("verification", {})
    short = {
        predicate.value_ref
        for predicate in bound.predicates
        if isinstance(predicate, NotContained) and min(map(len, predicate.literals), default=0) < LITERAL_LENGTH
    }
    kept = [entry for entry in verification.get("value_containment", ()) if entry["value_ref"] not in short]
    if "value_containment" in verification:
        document = {**document, "verification": {**verification, "value_containment": kept}}
    return document


def _without(mapping: Mapping[str, Any], key: str) -> Document:
    return {name: value for name, value in mapping.items() if name != key}
