"""What the schema of a custom resource does to an object: drop unknown fields and invalid nulls, add defaults."""

from typing import Any

from kubesim.discovery.catalogue import Resource
from kubesim.status import Json

_OWN = frozenset({"apiVersion", "kind", "metadata"})
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"


def schema_of(resource: Resource) -> Json:
    """The schema of one version of a custom resource; empty, and so pruning nothing, if it has none."""
    declared = ((resource.custom or {}).get("schema") or {}).get("openAPIV3Schema")
    return declared if isinstance(declared, dict) else {_PRESERVE: True}


def defaulted_custom(resource: Resource, obj: Json) -> Json:
    """A custom object as the server keeps it."""
    schema = schema_of(resource)
    filled = _fill_value({**schema, _EMBEDDED: True}, obj)
    return filled if isinstance(filled, dict) else obj


def _fill_value(schema: Json | None, value: Any) -> Any:
    if isinstance(value, dict):
        return _filled_object(schema or {}, value)
    if isinstance(value, list):
        items = (schema or {}).get("items")
        items = items if isinstance(items, dict) else None
        return [_default(items) if _is_wrong_null(items, item) else _fill_value(items, item) for item in value]
    return value


def _filled_object(schema: Json, value: Json) -> Json:
    properties: Json = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    kept: Json = {}
    for name, item in value.items():
        if schema.get(_EMBEDDED) and name in _OWN:
            kept[name] = item
        elif name in properties:
            if not _is_wrong_null(properties[name], item):
                kept[name] = _fill_value(properties[name], item)
        elif isinstance(additional, dict):
            kept[name] = _default(additional) if _is_wrong_null(additional, item) else _fill_value(additional, item)
        elif additional is True or schema.get(_PRESERVE):
            kept[name] = item
    for name, inner in properties.items():
        if name not in kept and isinstance(inner, dict) and "default" in inner:
            kept[name] = _fill_value(inner, inner["default"])
    return kept


def _is_wrong_null(schema: Json | None, value: Any) -> bool:
    return value is None and schema is not None and not schema.get("nullable")


def _default(schema: Json | None) -> Any:
    return (schema or {}).get("default")
