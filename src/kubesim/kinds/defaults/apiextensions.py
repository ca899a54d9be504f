"""The values that the server fills in for definitions of custom resources."""

from collections.abc import Callable

from kubesim.discovery.catalogue import CUSTOM_DEFINITIONS
from kubesim.status import Json


def _definition(obj: Json) -> Json:
    spec: Json = obj.get("spec") or {}
    names: Json = spec.get("names") or {}
    kind = names.get("kind") or ""
    filled = {"singular": kind.lower(), **{name: value for name, value in names.items() if value}}
    if kind:
        filled.setdefault("listKind", f"{kind}List")
    conversion = spec.get("conversion") or {"strategy": "None"}
    return {
        **obj,
        "spec": {**spec, "names": {"plural": "", "kind": "", **filled}, "conversion": conversion},
        "status": status_with_versions(obj.get("status") or {}, spec),
    }


def status_with_versions(status: Json, spec: Json) -> Json:
    """The status of a definition; its current storage version is among those ever stored."""
    stored = [*(status.get("storedVersions") or ())]
    current = next((version.get("name") for version in spec.get("versions") or () if version.get("storage")), None)
    if current and not stored:
        stored.append(current)
    empty = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    return {**empty, **status, "storedVersions": stored or None}


DEFAULTS: dict[str, Callable[[Json], Json]] = {CUSTOM_DEFINITIONS: _definition}
