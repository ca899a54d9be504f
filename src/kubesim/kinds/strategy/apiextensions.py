"""What a write may change in definitions of custom resources and in the objects that they declare."""

from kubesim.discovery.catalogue import CUSTOM_DEFINITIONS, Resource
from kubesim.kinds.defaults.apiextensions import status_with_versions
from kubesim.kinds.strategy.steps import (
    Creation,
    Update,
    generation,
    only_status,
    with_generation,
)
from kubesim.status import Json

_KEPT_BY_STATUS = ("labels", "annotations", "ownerReferences", "generation")


def _created_definition(obj: Json) -> Json:
    return with_generation({**obj, "status": status_with_versions({}, obj.get("spec") or {})}, 1)


def _updated_definition(new: Json, old: Json) -> Json:
    status = old.get("status") or {}
    stored = status.get("storedVersions") or []
    current = next(
        (item.get("name") for item in (new.get("spec") or {}).get("versions") or () if item.get("storage")), None
    )
    if current and current not in stored:
        status = {**status, "storedVersions": [*stored, current]}
    changed = new.get("spec") != old.get("spec")
    return with_generation({**new, "status": status}, generation(old) + changed)


def _definition_status(new: Json, old: Json) -> Json:
    kept = only_status(new, old)
    given = {name: old["metadata"][name] for name in _KEPT_BY_STATUS if name in old["metadata"]}
    rest = {name: value for name, value in kept["metadata"].items() if name not in _KEPT_BY_STATUS}
    return {**kept, "metadata": {**rest, **given}}


def created_custom(resource: Resource, obj: Json) -> Json:
    """A new custom object: its first generation, and no status if that has a path of its own."""
    kept = _without_status(obj) if resource.subresource("status") else obj
    return with_generation(kept, 1)


def updated_custom(resource: Resource, new: Json, old: Json, subresource: str) -> Json:
    """A changed custom object: any change outside its metadata counts, and status changes only through its own path."""
    if subresource == "status":
        rest = {"status": new["status"]} if "status" in new else {}
        metadata = {**old["metadata"], **_status_metadata(new)}
        return {**_without_status(old), **rest, "metadata": metadata}
    if resource.subresource("status"):
        new = {**_without_status(new), **({"status": old["status"]} if "status" in old else {})}
    parts = [{name: value for name, value in obj.items() if name != "metadata"} for obj in (new, old)]
    return with_generation(new, generation(old) + (parts[0] != parts[1]))


def _status_metadata(new: Json) -> Json:
    """Keep the metadata on a write to the status of a custom object, except for what distinguishes versions."""
    return {name: new["metadata"][name] for name in ("resourceVersion", "managedFields") if name in new["metadata"]}


def _without_status(obj: Json) -> Json:
    return {name: value for name, value in obj.items() if name != "status"}


CREATION: dict[str, Creation] = {CUSTOM_DEFINITIONS: _created_definition}
UPDATE: dict[str, Update] = {
    CUSTOM_DEFINITIONS: _updated_definition,
    f"{CUSTOM_DEFINITIONS}/status": _definition_status,
}
