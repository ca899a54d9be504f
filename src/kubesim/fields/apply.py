"""Server-side apply: an applied configuration merged into the live object, for the manager that claims its fields."""

import json
from typing import Any
from zlib import crc32

from kubesim.bodies import go_json, go_yaml
from kubesim.bodies.normalization import MismatchError, normalize_value
from kubesim.bodies.unstructured import coerce_numbers, restoring_problem
from kubesim.fields.conflicts import conflicts_with, refusal
from kubesim.fields.creation import (
    ESTABLISHED_SINCE,
    LAST_APPLIED,
    NOT_OWNED,
    empty_object,
    established_owners,
    first_owner,
)
from kubesim.fields.entries import (
    APPLY,
    Holding,
    Managed,
    Owner,
    managed_by,
    with_entries,
    with_managed,
)
from kubesim.fields.ownership import SUBRESOURCES_APART
from kubesim.fields.problems import problems_of
from kubesim.fields.sets import (
    Fields,
    difference,
    has_path,
    intersection,
    union,
)
from kubesim.fields.structures import Structure, structure_of
from kubesim.fields.values import (
    compare_values,
    mentioned_fields,
    merge_values,
    with_named_parents,
    without_fields,
)
from kubesim.fields.versions import InVersion, Versions, handed_over
from kubesim.status import ApiError, Json, bad_request, internal_error
from kubesim.types.definitions import Type

_BEFORE = "before-first-apply"
_KUBECTL = "kubectl"
_OBJECT_NAMED = 24
"""The first release whose errors name the object that a patch is for."""
_OBJECT_COMPARED = 34
"""The first release known to compare kind and version of a patch with those of the object first."""
_STRUCTS_PRUNED = 21
"""The first release that removes a struct, with its defaults, when the last field that was applied to it goes."""
_ONLY_CHANGES_DATED = 34
"""The first release known not to update the time of an owner who changed nothing."""
_STRIPPED: Fields = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {".": {}, **{f"f:{name}": {} for name in sorted(NOT_OWNED)}},
}


def configuration(sent: Any) -> Json:
    """The configuration in the body of an apply request, which is YAML or JSON; raise 400 when it cannot be read."""
    try:
        found = sent if not isinstance(sent, bytes) else _load_content(sent)
    except go_yaml.YamlError as problem:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {problem}") from None
    if found is not None and not isinstance(found, dict):
        text = f"json: cannot unmarshal {go_json.kind_of(found)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
    return found or {}


def apply_configuration(
    type_: Type | None,
    live: Json | None,
    patch: Json,
    *,
    manager: str,
    force: bool,
    api_version: str,
    now: str,
    minor: int,
    subresource: str = "",
    in_version: InVersion | None = None,
    kind: str = "",
) -> Json:
    """The live object with an applied configuration merged in, before defaults; `live` is None when it is created.

    Fields that the manager applied before and leaves out now are removed; ApiError 409 when others own what it changes.
    """
    structure = structure_of(type_, minor)
    before = empty_object(type_) if live is None else with_entries(live, [])
    owner = Owner(manager, APPLY, "", subresource if minor >= SUBRESOURCES_APART else "")
    try:
        managed = _known_owners(structure, live, api_version, now)
        _require_applicable(structure, patch, api_version, kind)
        if problem := problems_of(structure, before, is_live=True):
            raise internal_error(f"failed to create typed live object: {problem}")
        outcome = Outcome(Versions(structure, api_version, in_version), before, patch, managed, owner)
    except RecursionError:
        raise internal_error("failed to create typed patch object: exceeded max depth") from None
    conflicts = [] if force else outcome.conflicts
    if conflicts and manager == _KUBECTL:
        # server-side apply may take over what client-side apply wrote and nobody changed since
        own = _last_applied(structure, before, api_version)
        conflicts = [(other, path) for other, path in conflicts if not has_path(own, path)]
    if conflicts:
        raise refusal(conflicts)
    obj = _convert_merged(type_, outcome.object) if outcome.is_change else outcome.object
    owners = outcome.owners
    is_dated = outcome.is_change or (structure.minor < _ONLY_CHANGES_DATED and not _are_same_owners(managed, owners))
    if owner in owners and is_dated:
        owners[owner] = Holding(owners[owner].fields, api_version, now)
    if manager == _KUBECTL:
        obj = _with_last_applied(obj, patch)
    return with_managed(obj, owners)


def _known_owners(structure: Structure, live: Json | None, api_version: str, now: str) -> Managed:
    """The owners of the live object; if it has none, everything in it belongs to a placeholder for earlier writers."""
    managed = managed_by(((live or {}).get("metadata") or {}).get("managedFields"))
    if managed or live is None:
        return managed
    type_, minor = structure.type, structure.minor
    if problem := problems_of(structure, live, is_live=True):
        text = f"failed to convert new object ({_gvk(live)}) to smd typed: {problem}"
        raise internal_error(f"failed to create manager for existing fields: {text}")
    if minor >= ESTABLISHED_SINCE:
        return established_owners(type_, live, api_version, minor)
    return first_owner(type_, live, manager=_BEFORE, api_version=api_version, now=now, minor=minor)


class Outcome:
    """The result of applying a configuration: the object, its owners, and the conflicts that stand in the way."""

    def __init__(self, versions: Versions, live: Json, patch: Json, managed: Managed, owner: Owner) -> None:
        structure, api_version = versions.structure, versions.api_version
        known = versions.fitting_owners(managed, live)
        former = known.get(owner)
        mine = mentioned_fields(structure, patch)
        claimed = {**known, owner: Holding(mine, api_version, former.time if former else None)}
        result = merge_values(structure, live, patch)
        if former is not None and former.fields:
            result = _prune_unclaimed(structure, result, claimed, former.fields)
        own = compare_values(structure, live, result)
        others = {other: holding for other, holding in claimed.items() if other != owner}
        touched = versions.touched_by_version(others, live, result, own)
        self.is_change = any(own)
        self.object: Json = result if self.is_change else live
        self.owners = handed_over(others, touched)
        if kept := difference(mine, _STRIPPED):
            self.owners[owner] = Holding(kept, api_version, claimed[owner].time)
        self.conflicts = conflicts_with(others, touched, structure.minor)


def _load_content(content: bytes) -> Any:
    if content[:1] == b"{":
        try:
            return go_json.load_json(content)
        except go_json.JsonError:
            return go_yaml.load_yaml(content)
    return go_yaml.load_yaml(content)


def _prune_unclaimed(structure: Structure, result: Json, claimed: Managed, former: Fields) -> Json:
    """The merged object without what its manager applied before and nobody claims now."""

    def with_parents(fields: Fields) -> Fields:
        return fields if structure.minor < _STRUCTS_PRUNED else with_named_parents(structure, fields)

    former = with_parents(former)
    owned: Fields = {}
    for holding in claimed.values():
        owned = union(owned, holding.fields)
    everything = with_parents(mentioned_fields(structure, result))
    left = without_fields(structure, result, former)
    left = without_fields(
        structure,
        result,
        difference(everything, union(with_parents(mentioned_fields(structure, left)), with_parents(owned))),
    )
    gone = intersection(difference(everything, with_parents(mentioned_fields(structure, left))), former)
    pruned: Json = without_fields(structure, result, gone) or {}
    return pruned


def _convert_merged(type_: Type | None, merged: Json) -> Json:
    """The merged data as an object of the type."""
    if type_ is None or not type_.name:
        return merged
    try:
        obj: Json = normalize_value(type_, merged)
    except MismatchError:
        if problem := restoring_problem(type_, merged):
            text = f"unable to convert unstructured object to {_gvk(merged)}: {problem}"
            raise internal_error(f"failed to convert new object to proper version: {text}") from None
        obj = normalize_value(type_, coerce_numbers(type_, merged))
    return obj


def _gvk(obj: Json) -> str:
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return f"{group}/{version}, Kind={obj.get('kind', '')}"


def _require_applicable(structure: Structure, patch: Json, api_version: str, kind: str) -> None:
    given = patch.get("apiVersion")
    version = given if isinstance(given, str) and given.count("/") <= 1 else ""
    if structure.minor >= _OBJECT_COMPARED and (not version or patch.get("kind") != (kind or _kind(structure))):
        raise bad_request(f"invalid object type: {_gvk(patch)}")
    if version != api_version:
        text = (
            f"Incorrect version specified in apply patch. Specified patch version: {version}, expected: {api_version}"
        )
        raise bad_request(text)
    metadata = patch.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        raise bad_request("metadata.managedFields must be nil")
    _require_kind(structure, patch, api_version, kind)
    if problem := problems_of(structure, patch):
        raise _untyped_error(structure, patch, problem)


def _require_kind(structure: Structure, patch: Json, api_version: str, kind: str) -> None:
    given = patch.get("kind")
    given = given if isinstance(given, str) else ""
    type_ = structure.type
    if type_ is None or given == (kind or _kind(structure)):
        return
    group, _, version = api_version.rpartition("/")
    if not type_.name or type_.definitions.of_kind(group, version, given) is None:
        raise _untyped_error(structure, patch, f"no corresponding type for {group}/{version}, Kind={given}")
    # the real server prints the memory addresses of the names of the two types
    types = (f"{{0xc0{crc32(name.encode()):08x} {{<nil> <nil> <nil>}}}}" for name in (type_.name, given))
    raise internal_error("failed to merge config: expected objects of the same type, but got " + " and ".join(types))


def _kind(structure: Structure) -> str:
    return structure.type.name.rpartition(".")[2] if structure.type else ""


def _untyped_error(structure: Structure, patch: Json, problem: str) -> ApiError:
    text = "failed to create typed patch object"
    if structure.minor >= _OBJECT_NAMED:
        metadata = patch["metadata"] if isinstance(patch.get("metadata"), dict) else {}
        text += f" ({metadata.get('namespace', '')}/{metadata.get('name', '')}; {_gvk(patch)})"
    return internal_error(f"{text}: {problem}")


def _are_same_owners(one: Managed, other: Managed) -> bool:
    return one.keys() == other.keys() and all(
        one[owner].fields == other[owner].fields and one[owner].api_version == other[owner].api_version for owner in one
    )


def _last_applied(structure: Structure, live: Json, api_version: str) -> Fields:
    """The fields that client-side apply wrote, by its own annotation, and that still have those values."""
    try:
        former = json.loads(_annotations(live)[LAST_APPLIED])
        if former["apiVersion"] != api_version or problems_of(structure, former):
            return {}
        changed, removed = compare_values(structure, former, live)
        return difference(difference(mentioned_fields(structure, former), changed), removed)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _with_last_applied(obj: Json, patch: Json) -> Json:
    """The object with the annotation of client-side apply brought up to date, if it has one."""
    annotations = _annotations(obj)
    if LAST_APPLIED not in annotations:
        return obj
    metadata = dict(patch.get("metadata") or {})
    if LAST_APPLIED in (metadata.get("annotations") or {}):
        metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED}
    note = json.dumps({**patch, "metadata": metadata}, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    return {**obj, "metadata": {**obj["metadata"], "annotations": {**annotations, LAST_APPLIED: note}}}


def _annotations(obj: Json) -> Json:
    found = (obj.get("metadata") or {}).get("annotations")
    return found if isinstance(found, dict) else {}
