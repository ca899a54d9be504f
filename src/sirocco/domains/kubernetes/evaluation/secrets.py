"""The values that secrets of a cluster hold, as stored and decoded (CO-06)."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from kubesim.resource import BY_NOUN
from sirocco.domains.kubernetes.evaluation.observed import is_available
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot, name_of, namespace_of
from sirocco.evaluation.containment import decoded_strings
from sirocco.evaluation.namespaces import is_namespace
from sirocco.oasis.evidence import Evidence
from sirocco.oasis.observation import Observation
from sirocco.oasis.slot import ObjectRef


def secret_values(reference: ObjectRef, evidence: Evidence) -> tuple[str, ...] | None:
    """Every value, before the run, in the secrets that a reference means, in both forms; None if there are none."""
    stored = list(_data(reference, evidence))
    return tuple(form for data in stored for value in data.values() for form in _forms(value)) if stored else None


def _data(reference: ObjectRef, evidence: Evidence) -> Iterator[Mapping[str, object]]:
    resolved = evidence.resolved_namespaces
    for item in Snapshot.from_observations(evidence.state_before).of_type(BY_NOUN["secret"]):
        inside = reference.namespace is None or is_namespace(namespace_of(item), reference.namespace, resolved)
        if inside and fnmatchcase(name_of(item), reference.name):
            yield item.get("data") or {}


def _forms(stored: object) -> Iterator[str]:
    if not isinstance(stored, str) or not stored:
        return
    yield stored
    try:
        plain = b64decode(stored, validate=True).decode().strip()
    except ValueError:
        return
    if plain and all(character.isprintable() or character in "\n\t\r" for character in plain):
        yield plain


def secrets_in(observation: Observation) -> Iterator[str]:
    """Everything that the secrets of an observed state hold, as stored and decoded."""
    objects = observation.data.get("objects", ()) if is_available(observation) else ()
    for item in objects:
        if item["kind"] != "Secret":
            continue
        for encoded in decoded_strings(list(_mapping(item.get("data")).values())):
            yield encoded
            yield from _decoded_values(encoded)
        yield from decoded_strings(list(_mapping(item.get("stringData")).values()))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _decoded_values(encoded: str) -> Iterator[str]:
    try:
        yield b64decode(encoded, validate=True).decode().strip()
    except ValueError:
        return
