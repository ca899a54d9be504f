"""The types of the Kubernetes API, as the definitions that `kubernetes-validate` carries describe them."""

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from sirocco.providers.simulator.kubernetes.status import Json

_OLDEST = 25  # the package goes back no further; the API's older types did not change in between
_REFERENCE = "#/$defs/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."


class Shape(StrEnum):
    """How a value of a type is decoded."""

    STRUCT = "struct"
    MAP = "map"
    LIST = "list"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    QUANTITY = "quantity"
    INT_OR_STRING = "int_or_string"
    TIME = "time"
    MICRO_TIME = "micro_time"
    RAW = "raw"
    """Anything: an embedded object, or the free content of a custom resource."""


_NAMED_SHAPES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Shape.QUANTITY,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": Shape.INT_OR_STRING,
    f"{_META}Time": Shape.TIME,
    f"{_META}MicroTime": Shape.MICRO_TIME,
    f"{_META}FieldsV1": Shape.RAW,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": Shape.RAW,
}
_SCALARS = {"string": Shape.STRING, "integer": Shape.INTEGER, "number": Shape.NUMBER, "boolean": Shape.BOOLEAN}


class Type:
    """One type; the types of its fields are resolved when first asked for, since definitions may be recursive."""

    def __init__(self, schema: Json, definitions: "Definitions", name: str = "") -> None:
        self._schema = schema
        self._definitions = definitions
        self.name = name
        """The definition's full name, such as `io.k8s.api.core.v1.PodSpec`; empty for what has none."""

    @cached_property
    def shape(self) -> Shape:
        """How its values are decoded."""
        if self.name in _NAMED_SHAPES:
            return _NAMED_SHAPES[self.name]
        if self._schema.get("properties"):
            return Shape.STRUCT
        kind = self._kind
        if kind == "array":
            return Shape.LIST
        if self._schema.get("format") == "byte":
            return Shape.BYTES
        if kind in _SCALARS:
            return _SCALARS[kind]
        if isinstance(self._schema.get("additionalProperties"), dict):
            return Shape.MAP
        return Shape.STRUCT if self.name and not self._schema.get("x-kubernetes-preserve-unknown-fields") else Shape.RAW

    @cached_property
    def fields(self) -> Mapping[str, "Type"]:
        """The fields of a struct."""
        properties = self._schema.get("properties") or {}
        return {name: self._definitions.resolved(schema) for name, schema in properties.items()}

    @cached_property
    def element(self) -> "Type":
        """What a list or map holds."""
        return self._definitions.resolved(self._schema["items" if self.shape is Shape.LIST else "additionalProperties"])

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that must be given, and that Go writes even when they are empty."""
        return tuple(self._schema.get("required") or ())

    @property
    def is_atomic(self) -> bool:
        """Whether it is owned and replaced as a whole by server-side apply."""
        if self.shape is Shape.LIST:
            return self.list_type == "atomic"
        return bool(self._schema.get("x-kubernetes-map-type") == "atomic")

    @property
    def list_type(self) -> str:
        """Of a list: `atomic`, `set` or `map`, for server-side apply; a list that patches merge is no atom either."""
        declared = self._schema.get("x-kubernetes-list-type")
        if declared or "merge" not in self.patch_strategies:
            return str(declared or "atomic")
        return "map" if self.merge_key else "set"

    @property
    def list_keys(self) -> tuple[str, ...]:
        """Of a list of type `map`: the fields that tell its items apart."""
        return tuple(self._schema.get("x-kubernetes-list-map-keys") or (self.merge_key,))

    @property
    def merge_key(self) -> str:
        """Of a list: the field by which a strategic merge patch finds items; empty when it has none."""
        return str(self._schema.get("x-kubernetes-patch-merge-key") or "")

    @property
    def patch_strategies(self) -> frozenset[str]:
        """Of a field: `merge`, `retainKeys`, `replace` for a strategic merge patch."""
        return frozenset(filter(None, str(self._schema.get("x-kubernetes-patch-strategy") or "").split(",")))

    @property
    def description(self) -> str:
        """What the definition says about it."""
        return str(self._schema.get("description") or "")

    @property
    def _kind(self) -> str:
        kind = self._schema.get("type")
        return str(next((name for name in kind if name != "null"), "") if isinstance(kind, list) else kind or "")


class Definitions:
    """The types of one release of Kubernetes."""

    def __init__(self, raw: Mapping[str, Json]) -> None:
        self.raw = raw
        self._types: dict[str, Type] = {}

    def named(self, name: str) -> Type:
        """The type of a definition's full name."""
        if name not in self._types:
            self._types[name] = Type(self.raw[name], self, name)
        return self._types[name]

    def of_kind(self, group: str, version: str, kind: str) -> Type | None:
        """The type of a kind; None when this release has no such kind."""
        name = self._kinds.get((group, version, kind))
        return self.named(name) if name else None

    def resolved(self, schema: Json) -> Type:
        """The type of a field or element, with what its own place says about lists and patches."""
        reference = schema.get("$ref")
        if not reference:
            return Type(schema, self)
        name = reference.removeprefix(_REFERENCE)
        extra = {key: value for key, value in schema.items() if key.startswith("x-")}
        return Type({**self.raw[name], **extra}, self, name) if extra else self.named(name)

    @cached_property
    def _kinds(self) -> dict[tuple[str, str, str], str]:
        return {
            (row["group"], row["version"], row["kind"]): name
            for name, schema in self.raw.items()
            for row in schema.get("x-kubernetes-group-version-kind") or ()
        }


@lru_cache
def definitions(minor: int) -> Definitions:
    """The types of Kubernetes 1.`minor`."""
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / f"v1.{max(minor, _OLDEST)}.0-local"
    raw: dict[str, Any] = json.loads((folder / "_definitions.json").read_bytes())
    return Definitions(raw["$defs"])
