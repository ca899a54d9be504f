"""What the server refuses in definitions of custom resources and in the objects that they declare."""

from collections.abc import Iterator
from typing import Any

from kubesim.discovery.catalogue import CUSTOM_DEFINITIONS, Resource, is_established
from kubesim.kinds.defaults.custom import schema_of
from kubesim.kinds.validation.fields import (
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from kubesim.kinds.validation.go_values import GoValue
from kubesim.kinds.validation.metadata import metadata_causes, metadata_update_causes
from kubesim.kinds.validation.rules import CreationRule, UpdateRule
from kubesim.kinds.validation.schemas import schema_causes
from kubesim.names import dns_1035_label_problems, dns_subdomain_problems
from kubesim.status import Cause, Json

_SHARED = {"schema": "validation", "subresources": "subresources",
           "additionalPrinterColumns": "additionalPrinterColumns"}  # fmt: skip
_TYPES = ["array", "boolean", "integer", "number", "object", "string"]
_COLUMN_TYPES = "boolean,date,integer,number,string"
_MOST_REPLICAS = 2**31 - 1
_STRUCTURE_FIRST_SINCE = 34
"""The first release known to check the structure of a schema before its values."""
_NAME_WORDS = 'must be spec.names.plural+"."+spec.group'


def _definition(row: Resource, obj: Json) -> list[Cause]:
    spec: Json = obj.get("spec") or {}
    names: Json = spec.get("names") or {}
    causes = metadata_causes(row, obj["metadata"], namespaced=False)
    name = obj["metadata"].get("name", "")
    if name and name != f"{names.get('plural', '')}.{spec.get('group', '')}":
        causes.append(invalid("metadata.name", name, _NAME_WORDS))
    return [*causes, *_spec_causes(spec, row.minor), *_status_causes(obj)]


def _definition_update(row: Resource, new: Json, old: Json) -> list[Cause]:
    spec, given = new.get("spec") or {}, old.get("spec") or {}
    names, before = spec.get("names") or {}, given.get("names") or {}
    causes = [*metadata_update_causes(new["metadata"], old["metadata"]), *_spec_causes(spec, row.minor)]
    if is_established(old):
        causes += immutable("spec.scope", spec.get("scope", ""), given.get("scope", ""))
        causes += immutable("spec.names.kind", names.get("kind", ""), before.get("kind", ""))
    causes += immutable("spec.group", spec.get("group", ""), given.get("group", ""))
    causes += immutable("spec.names.plural", names.get("plural", ""), before.get("plural", ""))
    return [*causes, *_status_causes(new)]


def _definition_status(_row: Resource, new: Json, old: Json) -> list[Cause]:
    accepted = (new.get("status") or {}).get("acceptedNames") or {}
    return [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_names_causes(accepted, "status.acceptedNames"),
    ]


def _internal_spec(spec: Json) -> Json:
    """The server's internal form: what all versions share is stated once, beside them."""
    versions: list[Json] = [*(spec.get("versions") or ())]
    changed = dict(spec)
    for name, place in _SHARED.items():
        first = versions[0].get(name) if versions else None
        if versions and all(version.get(name) == first for version in versions):
            changed[place] = first
            versions = [{key: value for key, value in version.items() if key != name} for version in versions]
    return {**changed, "versions": versions}


def _spec_causes(declared: Json, minor: int) -> list[Cause]:
    spec = _internal_spec(declared)
    group, scope, names, versions = (spec.get(name) for name in ("group", "scope", "names", "versions"))
    names, versions = names or {}, versions or []
    causes: list[Cause] = []
    if not group:
        causes.append(required("spec.group"))
    elif problems := dns_subdomain_problems(group):
        causes.append(invalid("spec.group", group, ",".join(problems)))
    elif "." not in group:
        causes.append(invalid("spec.group", group, "should be a domain with at least one dot"))
    if not scope:
        causes.append(required("spec.scope"))
    elif scope not in {"Cluster", "Namespaced"}:
        causes.append(not_supported("spec.scope", scope, ["Cluster", "Namespaced"]))
    causes += _missing_schema_causes(spec, versions)
    for index, version in enumerate(versions):
        causes += _version_causes(version, f"spec.versions[{index}]", minor)
    shown = GoValue("[]apiextensions.CustomResourceDefinitionVersion", versions or None)
    if len({version.get("name", "") for version in versions}) < len(versions):
        causes.append(invalid("spec.versions", shown, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        causes.append(invalid("spec.versions", shown, "must have exactly one version marked as storage version"))
    first = versions[0].get("name", "") if versions else ""
    if first and (problems := dns_1035_label_problems(first)):
        causes.append(invalid("spec.version", first, ",".join(problems)))
    causes += [
        required(f"spec.names.{name}") for name in ("plural", "singular", "kind", "listKind") if not names.get(name)
    ]
    causes += _names_causes(names, "spec.names")
    has_status = _has_status(spec) or any(_has_status(version) for version in versions)
    causes += _schema_root_causes(spec.get("validation"), "spec.validation", with_status=has_status, minor=minor)
    for index, column in enumerate(spec.get("additionalPrinterColumns") or ()):
        causes += _column_causes(column, f"spec.additionalPrinterColumns[{index}]")
    return [*causes, *_conversion_causes(spec.get("conversion"))]


def _missing_schema_causes(spec: Json, versions: list[Json]) -> list[Cause]:
    if (spec.get("validation") or {}).get("openAPIV3Schema") is not None:
        return []
    return [
        required(f"spec.versions[{index}].schema.openAPIV3Schema", "schemas are required")
        for index, version in enumerate(versions)
        if (version.get("schema") or {}).get("openAPIV3Schema") is None
    ]


def _version_causes(version: Json, path: str, minor: int) -> list[Cause]:
    name = version.get("name", "")
    problems = dns_1035_label_problems(name)
    causes = [invalid(f"{path}.name", name, ",".join(problems))] if problems else []
    if version.get("deprecationWarning") is not None and not version.get("deprecated"):
        words = "can only be set for deprecated versions"
        causes.append(invalid(f"{path}.deprecationWarning", version["deprecationWarning"], words))
    causes += _schema_root_causes(
        version.get("schema"), f"{path}.schema", with_status=_has_status(version), minor=minor
    )
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        causes += _column_causes(column, f"{path}.additionalPrinterColumns[{index}]")
    return causes


def _names_causes(names: Json, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field) or ""
        mixed = field in {"kind", "listKind"}
        problems = dns_1035_label_problems(value.lower() if mixed else value) if value else []
        if problems:
            words = "may have mixed case, but should otherwise match: " if mixed else ""
            causes.append(invalid(f"{path}.{field}", value, words + ",".join(problems)))
    causes += _label_list_causes(names.get("shortNames"), f"{path}.shortNames")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        causes.append(invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same"))
    return [*causes, *_label_list_causes(names.get("categories"), f"{path}.categories")]


def _label_list_causes(values: list[str] | None, path: str) -> list[Cause]:
    return [
        invalid(f"{path}[{index}]", value, ",".join(problems))
        for index, value in enumerate(values or ())
        if (problems := dns_1035_label_problems(value))
    ]


def _column_causes(column: Json, path: str) -> list[Cause]:
    causes = [] if column.get("name") else [required(f"{path}.name")]
    kind = column.get("type", "")
    if not kind:
        causes.append(required(f"{path}.type", f"must be one of {_COLUMN_TYPES}"))
    elif kind not in _COLUMN_TYPES.split(","):
        causes.append(invalid(f"{path}.type", kind, f"must be one of {_COLUMN_TYPES}"))
    return causes if column.get("jsonPath") else [*causes, required(f"{path}.JSONPath")]


def _conversion_causes(conversion: Json | None) -> list[Cause]:
    if conversion is None:
        return []
    strategy, path = conversion.get("strategy", ""), "spec.conversion"
    if not strategy:
        return [required(f"{path}.strategy")]
    if strategy not in {"None", "Webhook"}:
        return [not_supported(f"{path}.strategy", strategy, ["None", "Webhook"])]
    if strategy == "None":
        words = "should not be set when strategy is not set to Webhook"
        return [forbidden(f"{path}.webhookClientConfig", words)] if conversion.get("webhook") else []
    return [] if conversion.get("webhook") else [
        required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
    ]  # fmt: skip


def _status_causes(obj: Json) -> list[Cause]:
    status, versions = obj.get("status") or {}, (obj.get("spec") or {}).get("versions") or ()
    stored, path = status.get("storedVersions"), "status.storedVersions"
    causes = _names_causes(status.get("acceptedNames") or {}, "status.acceptedNames")
    if not stored:
        return [*causes, invalid(path, GoValue("[]string", stored), "must have at least one stored version")]
    known = {version.get("name", "") for version in versions}
    return causes + [
        invalid(f"{path}[{index}]", name, "must appear in spec.versions")
        for index, name in enumerate(stored)
        if name not in known
    ]


def _has_status(part: Json) -> bool:
    return (part.get("subresources") or {}).get("status") is not None


def _schema_root_causes(validation: Json | None, path: str, *, with_status: bool, minor: int) -> list[Cause]:
    schema = (validation or {}).get("openAPIV3Schema")
    if not isinstance(schema, dict):
        return []
    place = f"{path}.openAPIV3Schema"
    causes = []
    if with_status and schema.get("type", "object") != "object":
        words = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        causes.append(invalid(f"{place}.type", schema["type"], words))
    if schema.get("nullable"):
        causes.append(forbidden(f"{place}.nullable", "nullable cannot be true at the root"))
    structural = [*_structural_causes(schema, place, "root")]
    ordered = sorted(structural, key=lambda cause: f"{cause.field}: {cause.message}")
    general = _general_schema_causes(schema, place)
    return [*causes, *ordered, *general] if minor >= _STRUCTURE_FIRST_SINCE else [*causes, *general, *ordered]


def _inner_schemas(schema: Json, path: str) -> Iterator[tuple[Json, str, str]]:
    """The schemas of fields and items, with their paths and what they belong to."""
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"], f"{path}.additionalProperties", "field"
    for name, inner in _mapping(schema.get("properties")).items():
        if isinstance(inner, dict):
            yield inner, f"{path}.properties[{name}]", "field"
    if isinstance(schema.get("items"), dict):
        yield schema["items"], f"{path}.items", "item"


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _general_schema_causes(schema: Json, path: str) -> Iterator[Cause]:
    kind = schema.get("type", "")
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("uniqueItems"):
        words = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", words)
    if schema.get("properties") and schema.get("additionalProperties") not in (None, True):
        words = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", words)
    for inner, place, _ in _inner_schemas(schema, path):
        yield from _general_schema_causes(inner, place)


_UNTYPED_WORDS = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def _structural_causes(schema: Json, path: str, level: str) -> Iterator[Cause]:
    kind = schema.get("type", "")
    if kind == "array" and schema.get("items") is None:
        yield required(f"{path}.items", "must be specified")
    free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not kind and not free:
        yield required(f"{path}.type", _UNTYPED_WORDS[level])
    if level == "root":
        if kind and kind != "object":
            yield invalid(f"{path}.type", kind, "must be object at the root")
        if schema.get("additionalProperties") is not None:
            yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    for inner, place, of in _inner_schemas(schema, path):
        yield from _structural_causes(inner, place, of)


def custom_creation_causes(resource: Resource, obj: Json) -> list[Cause]:
    """What a custom resource's definition refuses in a new object."""
    return _kind_causes(resource, obj) or [
        *metadata_causes(resource, obj["metadata"], namespaced=resource.namespaced),
        *_content_causes(resource, obj),
    ]


def custom_update_causes(resource: Resource, new: Json, old: Json) -> list[Cause]:
    """What a custom resource's definition refuses in a changed object."""
    return _kind_causes(resource, new) or [
        *metadata_update_causes(new["metadata"], old["metadata"]),
        *_content_causes(resource, new),
    ]


def _kind_causes(resource: Resource, obj: Json) -> list[Cause]:
    kind = obj.get("kind", "")
    return [] if kind == resource.kind else [invalid("kind", kind, f"must be {resource.kind}")]


def _content_causes(resource: Resource, obj: Json) -> list[Cause]:
    scale = ((resource.custom or {}).get("subresources") or {}).get("scale")
    causes = schema_causes(schema_of(resource), obj)
    if not scale:
        return causes
    paths = (scale.get("specReplicasPath", ""), scale.get("statusReplicasPath", ""))
    return [*causes, *(cause for path in paths for cause in _replicas_causes(obj, path))]


def _replicas_causes(obj: Json, path: str) -> list[Cause]:
    found: Any = obj
    for name in path.removeprefix(".").split("."):
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, int):
        return []
    if found < 0:
        return [invalid(path, found, "should be a non-negative integer")]
    most = f"should be less than or equal to {_MOST_REPLICAS}"
    return [invalid(path, found, most)] if found > _MOST_REPLICAS else []


CREATION: dict[str, CreationRule] = {CUSTOM_DEFINITIONS: _definition}
UPDATE: dict[str, UpdateRule] = {
    CUSTOM_DEFINITIONS: _definition_update,
    f"{CUSTOM_DEFINITIONS}/status": _definition_status,
}
