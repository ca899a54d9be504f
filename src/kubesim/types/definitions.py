"""The types of the Kubernetes API, as `kubernetes-validate` describes them and as Go declares them."""

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property, lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from typing import NamedTuple

from kubesim.status import Json
from kubesim.types.golang import (
    CURRENT,
    RECORDED,
    GoField,
    GoTypes,
    go_type_text,
    go_types,
    internal_name,
    published_name,
)

_OLDEST = 25  # the package goes back no further; an older release is described by its Go types alone
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
# Types that Go decodes with a function of their own although their schemas look like structs.
_FREE_FORM = frozenset({"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"})
_SCALARS = {"string": Shape.STRING, "integer": Shape.INTEGER, "number": Shape.NUMBER, "boolean": Shape.BOOLEAN}


class Member(NamedTuple):
    """One field of a struct, with what its Go declaration adds."""

    name: str
    go: str
    """Its name in Go; for a field of an inlined struct the path to it, as decoding errors print it."""
    number: tuple[int, ...]
    """Its number in the protobuf encoding; for a field of an inlined struct the path to it."""
    type: "Type"
    is_pointer: bool
    omitempty: bool


class Type:
    """One type; the types of its fields are resolved on first use, since definitions may be recursive."""

    def __init__(self, schema: Json, definitions: "Definitions", name: str = "", expression: str = "") -> None:
        self._schema = schema
        self.definitions = definitions
        self.name = name
        """The definition's full name, such as `io.k8s.api.core.v1.PodSpec`; empty if it has none."""
        self.expression = expression or (internal_name(name) if name else "")
        """Its Go type in the notation of `golang`, as far as known."""

    @cached_property
    def shape(self) -> Shape:
        """How its values are decoded."""
        if self.name in _NAMED_SHAPES:
            return _NAMED_SHAPES[self.name]
        if self.name.rpartition(".")[2] in _FREE_FORM:
            return Shape.RAW
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
    def members(self) -> tuple[Member, ...]:
        """The fields of a struct in Go's order."""
        known = {field.json: field for field in self.definitions.go_fields(self.name)}
        order = [name for name in known if name in self.fields]
        return tuple(
            _member(name, self.fields[name], known.get(name))
            for name in [*order, *(name for name in self.fields if name not in known)]
        )

    @property
    def go_name(self) -> str:
        """The type as Go prints it, such as `v1.PodSpec`."""
        return go_type_text(self.expression)

    @property
    def bits(self) -> int:
        """The width of an integer."""
        return 32 if (self.expression or self._schema.get("format")) == "int32" else 64

    @cached_property
    def fields(self) -> Mapping[str, "Type"]:
        """The fields of a struct."""
        properties = self._schema.get("properties") or {}
        known = {field.json: field.expression.removeprefix("*") for field in self.definitions.go_fields(self.name)}
        return {name: self.definitions.resolve_type(schema, known.get(name, "")) for name, schema in properties.items()}

    @cached_property
    def element(self) -> "Type":
        """The type of the elements of a list or map."""
        schema = self._schema["items" if self.shape is Shape.LIST else "additionalProperties"]
        inner = self.definitions.go.resolve_expression(self.expression)
        return self.definitions.resolve_type(schema, inner[2:] if inner[:2] in {"[]", "{}"} else "")

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The fields that must be given, and that Go writes even when they are empty."""
        return tuple(self._schema.get("required") or ())

    @cached_property
    def is_atomic(self) -> bool:
        """Whether server-side apply owns and replaces it as a whole."""
        if self.shape is Shape.LIST:
            return self.list_type == "atomic"
        return bool(self._schema.get("x-kubernetes-map-type") == "atomic")

    @property
    def preserves_unknown_fields(self) -> bool:
        """For a custom resource's type: whether undeclared fields are kept."""
        return bool(self._schema.get("x-kubernetes-preserve-unknown-fields"))

    @cached_property
    def list_type(self) -> str:
        """For a list: `atomic`, `set` or `map`, for server-side apply; a list that patches merge is never atomic."""
        declared = self._schema.get("x-kubernetes-list-type")
        if declared or "merge" not in self.patch_strategies:
            return str(declared or "atomic")
        return "map" if self.merge_key else "set"

    @cached_property
    def list_keys(self) -> tuple[str, ...]:
        """For a list of type `map`: the fields that identify its items."""
        return tuple(self._schema.get("x-kubernetes-list-map-keys") or (self.merge_key,))

    @cached_property
    def merge_key(self) -> str:
        """For a list: the field by which a strategic merge patch finds items; empty when it has none."""
        return str(self._schema.get("x-kubernetes-patch-merge-key") or "")

    @cached_property
    def patch_strategies(self) -> frozenset[str]:
        """For a field: `merge`, `retainKeys`, `replace` for a strategic merge patch."""
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

    def __init__(self, raw: Mapping[str, Json], go: GoTypes | None = None, minor: int = 0) -> None:
        self.raw = raw
        self.go = go or GoTypes("")
        self.minor = minor
        self._types: dict[str, Type] = {}

    def type_named(self, name: str) -> Type:
        """The type with a definition's full name."""
        if name not in self._types:
            self._types[name] = Type(self.raw[name], self, name)
        return self._types[name]

    def of_kind(self, group: str, version: str, kind: str) -> Type | None:
        """The type of a kind; None when this release has no such kind."""
        name = self._kinds.get((group, version, kind))
        return self.type_named(name) if name else None

    def resolve_type(self, schema: Json, expression: str = "") -> Type:
        """The type of a field or element, with what its own declaration says about lists and patches."""
        reference = schema.get("$ref")
        if not reference:
            return Type(schema, self, "", expression)
        name = reference.removeprefix(_REFERENCE)
        extra = {key: value for key, value in schema.items() if key.startswith("x-")}
        return Type({**self.raw[name], **extra}, self, name) if extra else self.type_named(name)

    def go_fields(self, name: str) -> tuple[GoField, ...]:
        """The Go declaration of a struct; empty if it has none."""
        if not name:
            return ()
        # The sources of the current types leave out the API of custom resource definitions.
        return self.go.fields(internal_name(name)) or go_types(RECORDED).fields(internal_name(name)) or ()

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
    raw: dict[str, Json] = json.loads(_published_definitions(f"v1.{max(minor, _OLDEST)}.0-local"))["$defs"]
    if minor >= _OLDEST:
        return Definitions(raw, go_types(CURRENT), minor)
    go = go_types(RECORDED)
    return Definitions(_describe_types(go, raw), go, minor)


def _published_definitions(version: str) -> bytes:
    """A data file of a package that is not imported: importing it would load a JSON Schema validator."""
    package = find_spec("kubernetes_validate")
    if package is None or not isinstance(package.loader, SourceFileLoader):
        raise ModuleNotFoundError("kubernetes_validate is not installed as files")
    folder = (package.submodule_search_locations or [""])[0]
    return package.loader.get_data(f"{folder}/kubernetes-json-schema/{version}/_definitions.json")


def _member(name: str, type_: Type, field: GoField | None) -> Member:
    if field is None:
        return Member(name, name, (), type_, is_pointer=True, omitempty=True)
    return Member(name, field.go, field.number, type_, field.is_pointer, field.omitempty)


def _describe_types(go: GoTypes, newer: Mapping[str, Json]) -> dict[str, Json]:
    """Definitions made from Go types; a newer release's descriptions of the same types are kept."""
    groups = {
        name.split(".v")[0].rpartition(".")[2]: str(row["group"])
        for name, schema in newer.items()
        for row in (schema.get("x-kubernetes-group-version-kind") or ())[:1]
    }
    special = {name: newer[name] for name in _NAMED_SHAPES}
    return special | {
        published_name(name): _definition(go, name, newer.get(published_name(name)) or {}, groups) for name in go
    }


def _definition(go: GoTypes, name: str, newer: Json, groups: Mapping[str, str]) -> Json:
    fields = go.fields(name) or ()
    prose = newer.get("properties") or {}
    properties = {
        field.json: {
            **({"description": text} if (text := (prose.get(field.json) or {}).get("description")) else {}),
            **_schema(go, field.expression),
            **_extensions(field.marks),
        }
        for field in fields
    }
    definition: Json = {
        **({"description": newer["description"]} if "description" in newer else {}),
        "type": "object",
        **({"properties": properties} if properties else {}),
        **_extensions(go.marks(name)),
    }
    if required := [field.json for field in fields if not field.omitempty]:
        definition["required"] = required
    package, _, kind = name.rpartition(".")
    folder, _, version = package.partition("/")
    if any(field.go == "TypeMeta: Kind" for field in fields):
        served = newer.get("x-kubernetes-group-version-kind") if folder == "meta" else None
        group = "" if folder in {"core", "meta"} else groups.get(folder, folder)
        definition["x-kubernetes-group-version-kind"] = served or [{"group": group, "version": version, "kind": kind}]
    return definition


_SPECIAL_EXPRESSIONS = {
    "quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "intstr": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "raw": "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "time": f"{_META}Time",
    "microtime": f"{_META}MicroTime",
}
_SCALAR_SCHEMAS: dict[str, Json] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "format": "int32"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
}


def _schema(go: GoTypes, expression: str) -> Json:
    """The schema of a Go type expression."""
    expression = go.resolve_expression(expression.removeprefix("*"))
    if expression.startswith("[]"):
        return {"type": "array", "items": _schema(go, expression[2:])}
    if expression.startswith("{}"):
        return {"type": "object", "additionalProperties": _schema(go, expression[2:])}
    if expression in _SCALAR_SCHEMAS:
        return _SCALAR_SCHEMAS[expression]
    if expression in _SPECIAL_EXPRESSIONS:
        return {"$ref": _REFERENCE + _SPECIAL_EXPRESSIONS[expression]}
    return {"$ref": _REFERENCE + published_name(expression)} if expression in go else {"type": "object"}


def _extensions(marks: Mapping[str, str]) -> Json:
    """The schema extensions that Go's markers and tags stand for."""
    found: Json = {}
    if "lt" in marks:
        found["x-kubernetes-list-type"] = marks["lt"]
    if "lk" in marks:
        found["x-kubernetes-list-map-keys"] = marks["lk"].split(",")
    if atomic := marks.get("mt") or marks.get("st"):
        found["x-kubernetes-map-type"] = atomic
    if "ps" in marks:
        found["x-kubernetes-patch-strategy"] = marks["ps"]
    if "mk" in marks:
        found["x-kubernetes-patch-merge-key"] = marks["mk"]
    return found
