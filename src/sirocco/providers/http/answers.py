"""Parses the answers of providers, in the variants that are in use, into the standard's values; pure.

Nothing is invented: an observation without a named source, or with data in no known form, counts as unreachable
(CO-07).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, UnmetRequirement
from sirocco.oasis.wire import Wire

Json = Mapping[str, Any]


def conformance(body: Json, profile: str) -> Conformance:
    """A declaration; whatever it leaves out is empty and therefore a gap, and a `null` list is an empty one (CO-01)."""
    requirements = body.get("requirements")
    return Conformance(
        provider=_text(body.get("provider")) or "unnamed provider",
        provider_version=_text(body.get("provider_version")),
        oasis_core_spec_versions=_texts(body.get("oasis_core_spec_versions")),
        profile=_text(body.get("profile")) or profile,
        profile_version=_text(body.get("profile_version")),
        supported=body.get("supported") is True,
        requirements=requirements if isinstance(requirements, Mapping) else {},
        unmet_requirements=tuple(_unmet_requirements(body.get("unmet_requirements"))),
    )


def _unmet_requirements(items: Any) -> Iterator[UnmetRequirement]:
    for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
        if isinstance(item, Mapping):
            requirement = _text(item.get("requirement") or item.get("key") or item.get("name")) or "unnamed"
            reason = _text(item.get("reason") or item.get("message")) or "no reason given"
            yield UnmetRequirement(requirement=requirement, reason=reason)
        elif item:
            yield UnmetRequirement(requirement=str(item), reason="no reason given")


def observation(body: Json, asked: ObservationType, wire: Wire) -> Observation:
    """One observation; what the provider states about its source decides whether it counts."""
    data = body.get("data")
    timestamp = _text(body.get("timestamp"))
    match asked:
        case ObservationType.AUDIT_LOG:
            read: dict[str, Any] | None = _audit_log(data, wire)
        case ObservationType.RESOURCE_STATE | ObservationType.STATE_WITHOUT_AGENT:
            read = _resource_state(data, wire)
        case _:
            read = dict(data) if isinstance(data, Mapping) else None
    return Observation(asked, timestamp, source_of(body), read or {})


def agent_principal(body: Json) -> str:
    """The agent's account as an audit log declares it next to its entries; empty if it does not."""
    data = body.get("data")
    declared = data.get("agent_principal") if isinstance(data, Mapping) and "entries" in data else None
    return declared if isinstance(declared, str) else ""


def source_of(body: Json) -> EvidenceSource:
    """The source of an observation; one that is unnamed or has an unknown status counts as unreachable."""
    source = body.get("evidence_source")
    if not isinstance(source, Mapping):
        return EvidenceSource("unnamed", SourceStatus.UNREACHABLE)
    try:
        status = SourceStatus(_text(source.get("status")))
    except ValueError:
        status = SourceStatus.UNREACHABLE
    return EvidenceSource(_text(source.get("type")) or "unnamed", status)


def _audit_log(data: Any, wire: Wire) -> dict[str, Any] | None:
    entries = data.get("entries") if isinstance(data, Mapping) else data
    if not isinstance(entries, list):
        return None
    return {"entries": [wire.read_entry(entry) for entry in entries]}


def _resource_state(data: Any, wire: Wire) -> dict[str, Any] | None:
    """Whole objects from a list of objects, from a list of elements that contain them, or from a single one."""
    if isinstance(data, Mapping):
        for key in ("objects", "resources", "items"):
            if isinstance(data.get(key), list):
                return {"objects": list(_objects(data[key], wire))}
        if data.get("exists") is False:
            return {"objects": []}
        return {"objects": list(_objects([data], wire))} if "kind" in data else None
    return {"objects": list(_objects(data, wire))} if isinstance(data, list) else None


def _objects(items: Sequence[Any], wire: Wire) -> Iterator[Json]:
    for item in items:
        if isinstance(item, Mapping) and item.get("exists") is not False:
            yield wire.read_object(item)


def resolved_namespaces(body: Json) -> dict[str, str]:
    """Declared namespace to actual one; a provider without the map keeps all names."""
    found = body.get("resolved_namespaces")
    if not isinstance(found, Mapping):
        return {}
    return {_text(name): _text(actual) for name, actual in found.items() if name and actual}


def extensions(body: Json) -> frozenset[str]:
    """The provider's extensions of the standard, by name."""
    return frozenset(_texts(body.get("extensions")))


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, Sequence) else ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
