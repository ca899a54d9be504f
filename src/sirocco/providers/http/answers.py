"""What providers answer, in the variants that are about, read into the standard's values; pure.

Nothing is made up: an observation whose source is not named, or whose data has none of the known shapes, reads as
unreachable (CO-07).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubesim.resource import BY_KIND, BY_PLURAL, resource_type
from sirocco.oasis.observation import EvidenceSource, Observation, ObservationType, SourceStatus
from sirocco.oasis.provider import Conformance, UnmetRequirement

Json = Mapping[str, Any]


def conformance(body: Json, profile: str) -> Conformance:
    """A declaration; what it leaves out is empty and therefore a gap, and `null` lists are empty ones (CO-01)."""
    requirements = body.get("requirements")
    return Conformance(
        provider=_text(body.get("provider")) or "unnamed provider",
        provider_version=_text(body.get("provider_version")),
        oasis_core_spec_versions=_texts(body.get("oasis_core_spec_versions")),
        profile=_text(body.get("profile")) or profile,
        profile_version=_text(body.get("profile_version")),
        supported=body.get("supported") is True,
        requirements=requirements if isinstance(requirements, Mapping) else {},
        unmet_requirements=tuple(_unmet(body.get("unmet_requirements"))),
    )


def _unmet(items: Any) -> Iterator[UnmetRequirement]:
    for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
        if isinstance(item, Mapping):
            requirement = _text(item.get("requirement") or item.get("key") or item.get("name")) or "unnamed"
            reason = _text(item.get("reason") or item.get("message")) or "no reason given"
            yield UnmetRequirement(requirement=requirement, reason=reason)
        elif item:
            yield UnmetRequirement(requirement=str(item), reason="no reason given")


def observation(body: Json, asked: ObservationType) -> Observation:
    """One observation; the provider's own word about its source decides whether it counts."""
    data = body.get("data")
    timestamp = _text(body.get("timestamp"))
    match asked:
        case ObservationType.AUDIT_LOG:
            read: dict[str, Any] | None = _audit_log(data)
        case ObservationType.RESOURCE_STATE | ObservationType.STATE_WITHOUT_AGENT:
            read = _resource_state(data)
        case _:
            read = dict(data) if isinstance(data, Mapping) else None
    return Observation(asked, timestamp, source_of(body), read or {})


def source_of(body: Json) -> EvidenceSource:
    """Where an observation comes from; a source that is not named, or of an unknown status, is unreachable."""
    source = body.get("evidence_source")
    if not isinstance(source, Mapping):
        return EvidenceSource("unnamed", SourceStatus.UNREACHABLE)
    try:
        status = SourceStatus(_text(source.get("status")))
    except ValueError:
        status = SourceStatus.UNREACHABLE
    return EvidenceSource(_text(source.get("type")) or "unnamed", status)


def _audit_log(data: Any) -> dict[str, Any] | None:
    entries = data.get("entries") if isinstance(data, Mapping) else data
    if not isinstance(entries, list):
        return None
    return {"entries": [audit_event(entry) for entry in entries]}


def audit_event(entry: Any) -> Any:
    """The `audit.k8s.io/v1` event of an entry: the raw one when it is there, or one made of the flat keys.

    An entry that is neither stays as it is, and makes the whole log unreliable.
    """
    if not isinstance(entry, Mapping):
        return entry
    raw = entry.get("raw")
    if isinstance(raw, str):
        raw = _parsed(raw)
    if isinstance(raw, Mapping) and raw.keys() >= {"verb", "user"}:
        return raw
    if isinstance(entry.get("user"), Mapping) and ("objectRef" in entry or "requestURI" in entry):
        return entry
    return _event_of_flat_keys(entry)


def _event_of_flat_keys(entry: Json) -> Json:
    if "verb" not in entry or "user" not in entry:
        return entry
    user = entry["user"]
    plural = _text(entry.get("resource"))
    row = resource_type(plural)
    reference = {
        "resource": row.plural if row else plural,
        "subresource": _text(entry.get("subresource")),
        "name": _text(entry.get("name")),
        "namespace": _text(entry.get("namespace")),
        "apiGroup": _text(entry.get("api_group")) or _group(plural),
    }
    event: dict[str, Any] = {
        "verb": _text(entry.get("verb")).lower(),
        "user": user if isinstance(user, Mapping) else {"username": _text(user)},
        "objectRef": {key: value for key, value in reference.items() if value},
        "requestReceivedTimestamp": _text(entry.get("timestamp")),
    }
    code = entry.get("response_code", entry.get("code"))
    if isinstance(code, int) and not isinstance(code, bool):
        event["responseStatus"] = {"code": code}
    body = entry.get("request_object")
    if body is None:
        text = entry.get("request_body")
        body = _parsed(text) if isinstance(text, str) else text
    if body is not None:
        event["requestObject"] = body
    for key, name in (("auditID", "auditID"), ("stage", "stage"), ("request_uri", "requestURI")):
        if entry.get(key):
            event[name] = _text(entry[key])
    if impersonated := entry.get("impersonated_user"):
        event["impersonatedUser"] = {"username": _text(impersonated)}
    return event


def _group(plural: str) -> str:
    """The API group of a plural that only one group has; a flat entry does not say it."""
    groups = [group for group, name in BY_PLURAL if name == plural.lower()]
    return groups[0] if len(groups) == 1 else ""


def _resource_state(data: Any) -> dict[str, Any] | None:
    """Whole objects from a list of them, of elements around them, or from one."""
    if isinstance(data, Mapping):
        for key in ("objects", "resources", "items"):
            if isinstance(data.get(key), list):
                return {"objects": list(_objects(data[key]))}
        if data.get("exists") is False:
            return {"objects": []}
        return {"objects": list(_objects([data]))} if "kind" in data else None
    return {"objects": list(_objects(data))} if isinstance(data, list) else None


def _objects(items: Sequence[Any]) -> Iterator[Json]:
    for item in items:
        if isinstance(item, Mapping) and item.get("exists") is not False:
            yield whole_object(item)


def whole_object(item: Json) -> Json:
    """The object of an element: the one under `object` or `state`, or the element itself; with kind and API version.

    Lists of a Kubernetes API leave out both in their items, and some providers hand on such items.
    """
    inner = next((item[key] for key in ("object", "state") if isinstance(item.get(key), Mapping)), item)
    kind = _text(inner.get("kind") or item.get("kind"))
    row = BY_KIND.get(kind) or resource_type(kind)
    metadata = inner.get("metadata")
    if not isinstance(metadata, Mapping):
        places = {"name": _text(item.get("name")), "namespace": _text(item.get("namespace"))}
        metadata = {key: value for key, value in places.items() if value}
    version = inner.get("apiVersion") or (row.api_version if row else "v1")
    return {**inner, "apiVersion": version, "kind": row.kind if row else kind, "metadata": metadata}


def resolved_namespaces(body: Json) -> dict[str, str]:
    """Declared namespace to actual one; a provider without the map keeps all names."""
    found = body.get("resolved_namespaces")
    if not isinstance(found, Mapping):
        return {}
    return {_text(name): _text(actual) for name, actual in found.items() if name and actual}


def extensions(body: Json) -> frozenset[str]:
    """What a provider offers beyond the standard, by name."""
    return frozenset(_texts(body.get("extensions")))


def _parsed(text: str) -> Any:
    """JSON in a text, or the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or None


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, Sequence) else ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
