"""The API's description in OpenAPI, versions 2 and 3, as far as clients read it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha512
from typing import Any

from kubesim.conventions import STORE_VERBS
from kubesim.discovery.catalogue import Catalogue, Resource, Subresource, git_version
from kubesim.status import Json
from kubesim.types.definitions import Definitions

JSON = "application/json"
_UNTYPED = "text/plain; charset=utf-8"
_V3_SINCE = 24
_FIELD_VALIDATION_SINCE = 25
_PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2"
# The real server's type ends in "@v1.0+protobuf", which Go clients cannot parse since "@" is not a token character.
_PROTOBUF_V2_ANSWER = f"{_PROTOBUF_V2}.v1.0+protobuf"
_REFERENCE = "#/$defs/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_COMMON = tuple(f"{_META}{name}" for name in ("APIResourceList", "DeleteOptions", "Status", "WatchEvent", "Patch"))
_TYPICAL = "io.k8s.api.core.v1.ConfigMap"
"""A type whose kind, version and metadata are described as in all types."""
_SECURITY = {"BearerToken": {"description": "Bearer Token authentication", "type": "apiKey", "name": "authorization",
                             "in": "header"}}  # fmt: skip
_METHODS = {"get": "get", "list": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete",
            "deletecollection": "delete"}  # fmt: skip
_ACTIONS = {"create": "post", "update": "put"}
_PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
            "application/apply-patch+yaml")  # fmt: skip
_WRITE_PARAMETERS = {
    "dryRun": "When present, indicates that modifications should not be persisted.",
    "fieldManager": "The name of the actor or entity that is making these changes.",
    "fieldValidation": "How the server treats unknown or duplicate fields: Ignore, Warn or Strict.",
}


def answer(catalogue: Catalogue, types: Definitions, path: str, accept: str) -> tuple[str, str] | None:
    """The text of the document of a path, and its content type; None for paths outside OpenAPI."""
    parts = path.partition("?")[0].strip("/").split("/")
    if parts == ["openapi", "v2"]:
        # An empty document has no types: old clients then leave validation to the server.
        asks_protobuf = accept.strip().startswith(_PROTOBUF_V2)
        media_type = JSON if catalogue.minor >= _V3_SINCE else _UNTYPED
        return ("", _PROTOBUF_V2_ANSWER) if asks_protobuf else (_swagger(catalogue, types), media_type)
    if parts[:2] != ["openapi", "v3"] or catalogue.minor < _V3_SINCE:
        return None
    if len(parts) == 2:
        return _index(catalogue), JSON
    if parts[2:] == ["version"]:
        return _version_document(catalogue.minor), JSON
    group_version = parts[3:] if parts[2] in {"api", "apis"} else []
    group, version = ("", *group_version) if len(group_version) == 1 else (*group_version, "", "")[:2]
    rows = catalogue.by_version.get(group, {}).get(version)
    if not rows or (parts[2] == "api") is bool(group):
        return None
    return _document(catalogue.minor, rows, types), JSON


@lru_cache(maxsize=8)
def _index(catalogue: Catalogue) -> str:
    places = {}
    for group, versions in catalogue.by_version.items():
        for version, rows in versions.items():
            place = f"apis/{group}/{version}" if group else f"api/{version}"
            schemas = json.dumps([row.custom for row in rows if row.custom], sort_keys=True)
            digest = sha512(f"{catalogue.minor} {place} {schemas}".encode()).hexdigest().upper()
            places[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={digest}"}
    return _text({"paths": places})


def _version_document(minor: int) -> str:
    """The version document of the one path that belongs to no group."""
    content = {"application/json": {"schema": {"type": "object"}}}
    responses = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    told = "get the version information for this server"
    operation = {"tags": ["version"], "description": told, "operationId": "getCodeVersion", "responses": responses}
    return _text({"openapi": "3.0.0", "info": _info(minor), "paths": {"/version/": {"get": operation}},
                  "components": {"securitySchemes": _SECURITY}})  # fmt: skip


def _document(minor: int, rows: tuple[Resource, ...], types: Definitions) -> str:
    build = _built_document if any(row.custom for row in rows) else _cached_document
    return build(minor, rows, types)


def _built_document(minor: int, rows: tuple[Resource, ...], types: Definitions) -> str:
    return _text({
        "openapi": "3.0.0",
        "info": _info(minor),
        "paths": _paths(rows, types, minor, _V3),
        "components": {"schemas": _schemas(rows, types, _V3), "securitySchemes": _SECURITY},
    })  # fmt: skip


@lru_cache(maxsize=128)
def _cached_document(minor: int, rows: tuple[Resource, ...], types: Definitions) -> str:
    return _built_document(minor, rows, types)


@lru_cache(maxsize=4)
def _swagger(catalogue: Catalogue, types: Definitions) -> str:
    rows = catalogue.resources
    return _text({
        "swagger": "2.0",
        "info": _info(catalogue.minor),
        "paths": _paths(rows, types, catalogue.minor, _V2),
        "definitions": _schemas(rows, types, _V2),
        "securityDefinitions": _SECURITY,
        "security": [{"BearerToken": []}],
    })  # fmt: skip


_SHORT_SINCE = 34
"""The first release known to state its version there as two numbers."""


def _info(minor: int) -> Json:
    version = f"1.{minor}" if minor >= _SHORT_SINCE else git_version(minor)
    return {"title": "Kubernetes", "version": version}


def _text(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


class _Dialect:
    """How one version of OpenAPI writes references, parameters and bodies."""

    def __init__(self, version: int) -> None:
        self.is_v3 = version == 3
        self.place = "#/components/schemas/" if self.is_v3 else "#/definitions/"

    def reference(self, name: str) -> Json:
        """A reference to a schema."""
        return {"$ref": f"{self.place}{name}"}

    def parameter(self, name: str, where: str, text: str) -> Json:
        """A parameter of an operation."""
        common = {"name": name, "in": where, "description": text, **({"required": True} if where == "path" else {})}
        typed: Json = {"schema": {"type": "string", "uniqueItems": True}} if self.is_v3 else {"type": "string"}
        return {**common, **({} if self.is_v3 else {"uniqueItems": True}), **typed}

    def response(self, name: str) -> Json:
        """The response to a successful operation."""
        schema = {"schema": self.reference(name)} if name else {}
        content = {"content": {JSON: schema}} if self.is_v3 else schema
        return {"200": {"description": "OK", **content}, "401": {"description": "Unauthorized"}}

    def body(self, name: str, media_types: Iterable[str]) -> Json:
        """The request body of an operation."""
        schema = {"schema": self.reference(name)}
        if self.is_v3:
            return {"requestBody": {"content": dict.fromkeys(media_types, schema), "required": True}}
        return {
            "consumes": list(media_types),
            "parameters": [{"name": "body", "in": "body", "required": True, **schema}],
        }

    def schema(self, given: Any) -> Any:
        """A schema of the definitions in this dialect: no null types, and references in place of them."""
        if not isinstance(given, Mapping):
            return given
        if reference := given.get("$ref"):
            target = self.reference(str(reference).removeprefix(_REFERENCE))
            beside = {key: value for key, value in given.items() if key != "$ref"}
            return {"allOf": [target], **beside} if self.is_v3 and beside else {**target, **beside}
        if "oneOf" in given and all("type" in option for option in given["oneOf"]):
            return self._either_type(given)
        return {key: self._part(key, value) for key, value in given.items()}

    def _part(self, key: str, value: Any) -> Any:
        if key == "type" and isinstance(value, list):
            return next((name for name in value if name != "null"), "object")
        if key == "properties":
            return {name: self.schema(_without_constants(name, schema)) for name, schema in value.items()}
        return self.schema(value) if key in {"items", "additionalProperties"} else value

    def _either_type(self, given: Mapping[str, Any]) -> Json:
        """Strings that may also be numbers: quantities, and integers or strings."""
        types = {self._part("type", option["type"]) for option in given["oneOf"]}
        rest = {key: value for key, value in given.items() if key != "oneOf"}
        if not self.is_v3:
            return {**rest, "type": "string", **({"format": "int-or-string"} if "integer" in types else {})}
        return {**rest, "oneOf": [{"type": name} for name in sorted(types, reverse=True)]}


def _without_constants(name: str, schema: Json) -> Json:
    """The schema without the single value that the definitions allow for an object's kind and version."""
    if name not in {"apiVersion", "kind"}:
        return schema
    return {key: value for key, value in schema.items() if key != "enum"}


_V2, _V3 = _Dialect(2), _Dialect(3)


def _schemas(rows: Iterable[Resource], types: Definitions, dialect: _Dialect) -> Json:
    """The schemas of the rows' kinds, and all schemas that those refer to."""
    found: Json = {}
    waiting = [*_COMMON]
    for row in rows:
        if row.custom is not None:
            found |= _custom_schemas(row, types, dialect)
            waiting += (f"{_META}ObjectMeta", f"{_META}ListMeta")
        waiting += [name for group, version, kind in _kinds(row) if (name := _name(types, group, version, kind))]
    while waiting:
        name = waiting.pop()
        if name in found or name not in types.raw:
            continue
        found[name] = dialect.schema(types.raw[name])
        waiting += _referenced_names(types.raw[name])
    return dict(sorted(found.items()))


def _kinds(row: Resource) -> Iterator[tuple[str, str, str]]:
    yield row.group, row.version, row.kind
    yield row.group, row.version, f"{row.kind}List"
    for part in row.subresources:
        yield part.group or row.group, part.version or row.version, part.kind


def _name(types: Definitions, group: str, version: str, kind: str) -> str:
    found = types.of_kind(group, version, kind)
    return found.name if found else ""


def _referenced_names(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if isinstance(reference := schema.get("$ref"), str):
        yield reference.removeprefix(_REFERENCE)
    for part in (*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")):
        yield from _referenced_names(part)


def _custom_name(row: Resource) -> str:
    return ".".join([*reversed(row.group.split(".")), row.version, row.kind])


def _custom_schemas(row: Resource, types: Definitions, dialect: _Dialect) -> Json:
    declared = ((row.custom or {}).get("schema") or {}).get("openAPIV3Schema") or {}
    common = types.raw[_TYPICAL]["properties"]
    typed = {name: common[name] for name in ("apiVersion", "kind", "metadata")}
    obj = {**declared, "type": "object", "properties": {**(declared.get("properties") or {}), **typed}}
    name = _custom_name(row)
    listed = {"apiVersion": common["apiVersion"], "kind": common["kind"],
              "metadata": {"$ref": f"{_REFERENCE}{_META}ListMeta"}}  # fmt: skip
    list_schema = dialect.schema({"type": "object", "required": ["items"], "properties": listed})
    list_schema["properties"]["items"] = {"type": "array", "items": dialect.reference(name)}
    return {
        name: {**dialect.schema(obj), **_kind_marker(row, row.kind)},
        f"{name}List": {**list_schema, **_kind_marker(row, f"{row.kind}List")},
    }


def _kind_marker(row: Resource, kind: str) -> Json:
    return {"x-kubernetes-group-version-kind": [{"group": row.group, "version": row.version, "kind": kind}]}


def _paths(rows: Iterable[Resource], types: Definitions, minor: int, dialect: _Dialect) -> Json:
    paths: Json = {}
    for row in rows:
        scopes = ("{namespace}",) if row.namespaced else (None,)
        for scope in scopes:
            collection = row.path(scope)
            name = _custom_name(row) if row.custom is not None else _name(types, row.group, row.version, row.kind)
            verbs = {verb for verb in row.verbs if verb in {"list", "create", "deletecollection"}}
            paths[collection] = _item(row, row.kind, name, verbs, minor, dialect)
            verbs = {verb for verb in row.verbs if verb in {"get", "update", "patch", "delete"}}
            if verbs:
                paths[f"{collection}/{{name}}"] = _item(row, row.kind, name, verbs, minor, dialect)
            for part in row.subresources:
                paths[f"{collection}/{{name}}/{part.name}"] = _part_item(row, part, types, minor, dialect)
        if row.namespaced and "list" in row.verbs:
            paths[row.path()] = _item(row, row.kind, name, {"list"}, minor, dialect)
    return paths


def _part_item(row: Resource, part: Subresource, types: Definitions, minor: int, dialect: _Dialect) -> Json:
    group, version = part.group or row.group, part.version or row.version
    name = _name(types, group, version, part.kind)
    return _item(row, part.kind, name, set(part.verbs), minor, dialect, (group, version))


def _item(
    row: Resource, kind: str, name: str, verbs: Iterable[str], minor: int, dialect: _Dialect,
    group_version: tuple[str, str] | None = None,
) -> Json:  # fmt: skip
    group, version = group_version or (row.group, row.version)
    marked = {"group": group, "version": version, "kind": kind}
    item: Json = {}
    for verb in sorted(verbs):
        parameters = [
            dialect.parameter(parameter, "query", text)
            for parameter, text in _WRITE_PARAMETERS.items()
            if verb in STORE_VERBS and (parameter != "fieldValidation" or minor >= _FIELD_VALIDATION_SINCE)
        ]
        media_types = _PATCHES if verb == "patch" else (JSON,)
        body = f"{_META}Patch" if verb == "patch" else name
        given = dialect.body(body, media_types) if verb in STORE_VERBS and body else {}
        item[_METHODS[verb]] = {
            **given,
            "parameters": [*given.get("parameters", ()), *parameters],
            "responses": dialect.response(f"{name}List" if verb == "list" and name else name),
            "x-kubernetes-action": _ACTIONS.get(verb, verb),
            "x-kubernetes-group-version-kind": marked,
        }
    places = ["namespace"] if row.namespaced else []
    item["parameters"] = [dialect.parameter(place, "path", f"the {place} of the object") for place in places]
    return item
