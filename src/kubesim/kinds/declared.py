"""Objects that an environment puts into the store itself, by the same rules as those that a client sends."""

from kubesim.bodies.decoding import JSON, decode_body
from kubesim.discovery.catalogue import CURRENT_RELEASE, Resource, catalogue
from kubesim.kinds.admission import admit_object, allocate_addresses
from kubesim.kinds.defaults import fill_defaults
from kubesim.kinds.strategy import prepared_for_create
from kubesim.kinds.validation import creation_causes
from kubesim.resource import ResourceType
from kubesim.status import Json, invalid
from kubesim.store import Store
from kubesim.types.definitions import definitions

_SOME_UID = "00000000-0000-4000-8000-000000000000"


def declare_object(row: ResourceType, body: Json) -> Json:
    """An object as the server reads it: typed, and with its defaults; raise 400 when it does not fit the type."""
    resource = _served_resource(row)
    return fill_defaults(resource, decode_body(resource, body, JSON, definitions(CURRENT_RELEASE)))


def require_valid(row: ResourceType, obj: Json) -> None:
    """Raise 422 naming every field of a declared object that the server would refuse."""
    resource = _served_resource(row)
    new = prepared_for_create(resource, {**obj, "metadata": {"uid": _SOME_UID, **obj["metadata"]}})
    if causes := creation_causes(resource, new):
        raise invalid(resource.kind, resource.group, str(obj["metadata"].get("name", "")), causes)


def establish_object(store: Store, row: ResourceType, obj: Json) -> Json:
    """A declared object with what the server adds to a new one; a node has long been ready and is left unchanged."""
    resource = _served_resource(row)
    if resource.noun == "node":
        return obj
    new = prepared_for_create(resource, admit_object(store, resource, obj, None))
    return allocate_addresses(store, resource, new, None)


def _served_resource(row: ResourceType) -> Resource:
    found = catalogue().find(row.group, row.version, row.plural)
    if found is None:
        raise LookupError(f"{row.api_version} {row.plural}")
    return found
