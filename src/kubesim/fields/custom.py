"""The types of custom resources, for the ownership of their fields: made from the schemas of their definitions."""

from functools import lru_cache
from typing import Any

from kubesim.status import Json
from kubesim.types.definitions import Type, definitions

_OBJECT_META = {"$ref": "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_TEXT = {"type": "string"}
_UNKNOWN_FIELDS_OWNED = 22
"""The first release in which content that a schema leaves open has owners below its first level."""


class _Same:
    """A schema, compared by identity; a definition keeps its schema until somebody writes it."""

    __slots__ = ("schema",)

    def __init__(self, schema: Json) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.schema is other.schema


def custom_type(version: Json, minor: int) -> Type | None:
    """The type that a version of a custom resource's definition declares; None when it declares none."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return _type(_Same(schema), minor) if isinstance(schema, dict) else None


@lru_cache(maxsize=256)
def _type(same: _Same, minor: int) -> Type:
    schema = same.schema if minor >= _UNKNOWN_FIELDS_OWNED else _closed(same.schema)
    properties = schema.get("properties") or {}
    own = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _OBJECT_META}
    return Type({**schema, "type": "object", "properties": {**properties, **own}}, definitions(minor))


def _closed(schema: Any) -> Any:
    """A schema in which an object of open content is a map of atoms."""
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    if isinstance(schema.get("properties"), dict):
        closed["properties"] = {name: _closed(inner) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        closed["items"] = _closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        closed["additionalProperties"] = _closed(schema["additionalProperties"])
    elif schema.get("type") == "object" and not schema.get("properties"):
        closed["additionalProperties"] = {}
    return closed
