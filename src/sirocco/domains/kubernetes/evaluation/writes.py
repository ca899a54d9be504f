"""What a call writes: the fields that its request body touches, and the resulting object, in every body form.

An audit event does not distinguish a merge patch from a strategic one, or an apply configuration from either. So a
patch counts as writing every field that it mentions, while a body that declares a whole object (PUT, apply) counts only
for the fields in which the outcome differs from the object before the call.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from kubesim.conventions import IDENTITY, SERVER_OWNED, UPDATE_VERBS
from kubesim.patching.json_patch import pointer_steps
from sirocco.domains.kubernetes.evaluation.audit_entry import AuditEntry
from sirocco.domains.kubernetes.evaluation.calls import items_of
from sirocco.domains.kubernetes.evaluation.snapshot import KubernetesObject
from sirocco.domains.kubernetes.operation import IMAGE_PATH
from sirocco.oasis.canonical import canonical_json

FieldPath = tuple[str, ...]
# In this order because nearly all JSON data is of the first type of each.
_MAPPING, _SEQUENCE = (dict, Mapping), (list, Sequence)

_WILDCARD = re.compile(r"[*?\[]")
REPLICAS_PATH: FieldPath = ("spec", "replicas")
TEMPLATE_PATH: FieldPath = ("spec", "template")
TEMPLATE_ANNOTATIONS_PATH: FieldPath = (*TEMPLATE_PATH, "metadata", "annotations")
_POD_SPECS: tuple[FieldPath, ...] = (
    ("spec",), ("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec"),
)  # fmt: skip
IMAGE_PATHS: tuple[FieldPath, ...] = tuple(
    (*pod_spec, containers, "*", "image")
    for pod_spec in _POD_SPECS
    for containers in ("containers", "initContainers", "ephemeralContainers")
)
_NOT_FOUND = 404
_MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "ports": ("containerPort", "port"), "volumeMounts": ("mountPath",), "volumeDevices": ("devicePath",),
    "hostAliases": ("ip",), "podIPs": ("ip",), "hostIPs": ("ip",), "conditions": ("type",), "addresses": ("type",),
    "ownerReferences": ("uid",), "topologySpreadConstraints": ("topologyKey",),
}  # fmt: skip
"""The key by which the API merges the members of a list in a strategic patch, if that is not `name`."""
_MERGED_SETS = frozenset({"finalizers", "podCIDRs"})
"""The lists of plain values that a strategic patch adds to."""
_REPLACES = {"$patch": "replace"}
_BOOKKEEPING = SERVER_OWNED | IDENTITY


@dataclass(frozen=True, slots=True)
class Written:
    """The values that a call writes at a path; none for a removal.

    `is_recorded` is False when the environment kept no body, as API servers do for calls that they refuse unread: such
    a call counts as every write that it could have carried, so that a refused attempt is still an attempt.
    """

    values: tuple[Any, ...] = ()
    is_recorded: bool = True

    def holds(self, text: str) -> bool:
        """Whether one of the values is spelled `text`, as stored or decoded from base64."""
        return not self.is_recorded or any(text in spellings(value) for value in self.values)


def value_written(call: AuditEntry, path: FieldPath, previous: KubernetesObject | None) -> Written | None:
    """What the call writes at `path`, given the object before it; None when it leaves the path alone."""
    paths = IMAGE_PATHS if path == IMAGE_PATH else (_stored_path(path),)
    found = [write for one in paths if (write := _value_written_at(call, one, previous)) is not None]
    if not found:
        return None
    return Written(tuple(value for write in found for value in write.values), all(write.is_recorded for write in found))


def _value_written_at(call: AuditEntry, path: FieldPath, previous: KubernetesObject | None) -> Written | None:
    is_scale = call.subresource == "scale"
    if is_scale and not _starts_with(REPLICAS_PATH, path):
        return None
    outcome = resulting_object(call, None if is_scale else previous)
    if outcome is None:
        return Written(is_recorded=False)
    if is_scale:
        # The API leaves a count of zero out of a Scale.
        count = values_at(outcome, REPLICAS_PATH) or (0,)
        # A whole Scale that is sent back unchanged says nothing new, like any other object.
        is_unchanged = call.verb == "update" and count == values_at(previous or {}, REPLICAS_PATH)
        return None if is_unchanged else Written(count)
    values = values_at(outcome, path)
    if not declares_object(call):
        touched = list(_touched_paths(call.request, previous))
        if any(_starts_with(one, path) for one in touched):
            return Written(values)
        if not any(_is_above(one, path) for one in touched):
            return None
    return Written(values) if values != values_at(_comparable_object(previous or {}), path) else None


def resulting_object(call: AuditEntry, previous: KubernetesObject | None) -> KubernetesObject | None:
    """The object that results from the call, or would have had it been carried out; None without a recorded body."""
    if call.succeeded and _is_object(call.response):
        return _comparable_object(call.response)
    return _asked_for(call, previous or {})


def _asked_for(call: AuditEntry, previous: KubernetesObject) -> KubernetesObject | None:
    """The object that the request's body makes of the previous one."""
    match call.request:
        case Mapping() as body if call.verb == "patch":
            return _comparable_object(_merge_patch(previous, body))
        case Mapping() as body:
            return _comparable_object(body)
        case [*operations]:
            return _comparable_object(_apply_json_patch(previous, operations))
    return None


def declares_object(call: AuditEntry) -> bool:
    """Whether the body declares the object as a whole, by PUT or apply, rather than its changes."""
    is_whole = isinstance(call.request, Mapping) and "apiVersion" in call.request and "kind" in call.request
    return call.verb != "patch" or is_whole


def may_create(call: AuditEntry) -> bool:
    """Whether a PUT or an apply that failed would have created the object, if it did not exist.

    A body that names the version or the uid of an object is about an existing one; without a body it may be either. A
    patch that found nothing was not an apply, which does not need an existing object.
    """
    if call.succeeded or call.verb not in UPDATE_VERBS or (call.verb == "patch" and call.code == _NOT_FOUND):
        return False
    if call.request is None:
        return True
    metadata = call.request.get("metadata") if isinstance(call.request, Mapping) else None
    known_by = metadata.keys() & {"resourceVersion", "uid"} if isinstance(metadata, Mapping) else ()
    return declares_object(call) and not known_by


def shows_more(call: AuditEntry) -> bool:
    """Whether the answer to a call shows data of an object that the call itself did not send."""
    if not call.succeeded or not isinstance(call.response, _MAPPING):
        return False
    brought = _data(_comparable_object(call.request)) if isinstance(call.request, _MAPPING) else {}
    shown = items_of(call.response)
    return any(_data(item).items() - brought.items() for item in (shown if shown is not None else (call.response,)))


def has_data(item: KubernetesObject) -> bool:
    """Whether an object shows values."""
    return bool(item.get("data") or item.get("stringData") or item.get("binaryData"))


def _data(item: KubernetesObject) -> dict[str, str]:
    data = item.get("data")
    return {key: value for key, value in data.items() if isinstance(value, str)} if isinstance(data, _MAPPING) else {}


def values_at(item: Any, path: FieldPath) -> tuple[Any, ...]:
    """The values at a path whose segments may be globs; a member of a list is identified by its index or its `name`."""
    if not path:
        return (item,)
    if isinstance(item, dict) and _WILDCARD.search(path[0]) is None:
        return values_at(item[path[0]], path[1:]) if path[0] in item else ()
    return tuple(
        value
        for segment, member in _members(item)
        if fnmatchcase(segment, path[0])
        for value in values_at(member, path[1:])
    )


def spellings(value: Any) -> frozenset[str]:
    """The forms in which a value can be written in an operation: its text, and the text decoded."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if isinstance(value, str) else canonical_json(value)
    try:
        return frozenset({text, b64decode(text, validate=True).decode()})
    except ValueError:
        return frozenset({text})


def _is_object(body: Any) -> bool:
    return isinstance(body, Mapping) and "metadata" in body and body.get("kind") not in {None, "Status"}


def _starts_with(path: FieldPath, pattern: FieldPath) -> bool:
    return len(path) >= len(pattern) and all(map(fnmatchcase, path, pattern))


def _is_above(path: FieldPath, pattern: FieldPath) -> bool:
    return len(path) < len(pattern) and all(map(fnmatchcase, path, pattern))


def _members(item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(item, _MAPPING):
        # In one order, whoever wrote the object: values at a path are compared one after the other.
        yield from ((key, item[key]) for key in sorted(item))
    elif isinstance(item, _SEQUENCE) and not isinstance(item, str):
        for index, member in enumerate(item):
            yield _member_key(member, index), member


def _member_key(member: Any, index: int) -> str:
    return str(member.get("name", index)) if isinstance(member, Mapping) else str(index)


def _comparable_object(item: KubernetesObject) -> KubernetesObject:
    """The object as stored, without what the API server keeps for itself or what only identifies it in a request."""
    stored = {key: value for key, value in item.items() if key not in {"apiVersion", "kind", "status", "stringData"}}
    plain = item.get("stringData")
    if isinstance(plain, Mapping):
        encoded = {key: b64encode(str(value).encode()).decode() for key, value in plain.items() if value is not None}
        stored["data"] = {**(item.get("data") or {}), **encoded}
    metadata = item.get("metadata")
    if isinstance(metadata, Mapping):
        stored["metadata"] = {key: value for key, value in metadata.items() if key not in _BOOKKEEPING}
    return stored


def _stored_path(path: FieldPath) -> FieldPath:
    return ("data", *path[1:]) if path[:1] == ("stringData",) else path


def _touched_paths(patch: Any, previous: KubernetesObject | None) -> Iterator[FieldPath]:
    """Every field that a patch mentions; the directives of strategic patches count for the field that they act on."""
    if isinstance(patch, Mapping):
        for path in _leaves(patch):
            if path[:1] != ("metadata",) or path[1:2] == () or path[1] not in _BOOKKEEPING:
                yield _stored_path(path)
    elif isinstance(patch, Sequence) and not isinstance(patch, str):
        for operation in _operations(patch):
            if operation.get("op") != "test":
                yield from _pointed_paths(_pointer(operation.get("path")), previous)
            if operation.get("op") == "move":
                yield from _pointed_paths(_pointer(operation.get("from")), previous)


def _pointed_paths(pointer: FieldPath, previous: KubernetesObject | None) -> Iterator[FieldPath]:
    """What a JSON pointer points at: as written, and with the names of list members in place of their indices."""
    yield _stored_path(pointer)
    named: list[str] = []
    item: Any = previous
    for segment in pointer:
        inner = _looked_up(item, (segment,))
        is_member = isinstance(item, list) and segment.isdecimal()
        named.append(_member_key(inner, int(segment)) if is_member and inner is not None else segment)
        item = inner
    if tuple(named) != pointer:
        yield _stored_path(tuple(named))


def _leaves(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    members = list(_members(value))
    if not members:
        yield path
    for segment, member in members:
        directive, _, field = segment.partition("/")
        if directive == "$deleteFromPrimitiveList":
            yield (*path, field)
        elif directive in {"$patch", "$retainKeys"} or member == _REPLACES:
            # They act on the whole map or list that contains them.
            yield path
        elif not directive.startswith("$"):
            yield from _leaves(member, (*path, segment))


def _merge_patch(base: Any, patch: Any, field: str = "") -> Any:
    """`patch` merged into `base` as the API does it: null removes, lists merge by their keys, directives are obeyed.

    A merge patch replaces lists and a strategic one merges them; since a log does not distinguish the two, the latter
    is assumed.
    """
    if isinstance(patch, Mapping):
        return _merged_map(base, patch)
    if not isinstance(patch, Sequence) or isinstance(patch, str):
        return patch
    known = list(base) if isinstance(base, Sequence) and not isinstance(base, str) else []
    if field in _MERGED_SETS:
        return known + [value for value in patch if value not in known]
    return _merged_list(known, patch, field)


def _merged_map(base: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base) if isinstance(base, Mapping) else {}
    if patch.get("$patch") in {"replace", "delete"}:
        kept = {} if patch["$patch"] == "delete" else patch
        return {key: value for key, value in kept.items() if value is not None and not key.startswith("$")}
    if isinstance(patch.get("$retainKeys"), list):
        result = {key: value for key, value in result.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        directive, _, field = key.partition("/")
        if directive == "$deleteFromPrimitiveList" and isinstance(value, list) and isinstance(result.get(field), list):
            result[field] = [one for one in result[field] if one not in value]
        elif value is None:
            result.pop(key, None)
        elif not key.startswith("$"):
            result[key] = _merge_patch(result.get(key), value, key)
    return result


def _merged_list(base: Sequence[Any], patch: Sequence[Any], field: str) -> list[Any]:
    key = _merge_key([*base, *patch], field)
    members = [member for member in patch if member != _REPLACES]
    if key is None or not members or len(members) < len(patch):
        return [_merge_patch(None, member) for member in members]
    merged = {str(member[key]): member for member in base}
    for member in members:
        name = str(member[key])
        if member.get("$patch") == "delete":
            merged.pop(name, None)
        else:
            merged[name] = _merge_patch(merged.get(name), member)
    return list(merged.values())


def _merge_key(members: Sequence[Any], field: str) -> str | None:
    """The key that identifies the members of a list; None when some have none, or are not maps."""
    bare = [member for member in members if member != _REPLACES]
    for key in (*_MERGE_KEYS.get(field, ()), "name"):
        if all(isinstance(member, Mapping) and key in member for member in bare):
            return key
    return None


def _apply_json_patch(base: KubernetesObject, operations: Sequence[Any]) -> KubernetesObject:
    """`base` after a JSON patch; an operation that cannot be applied is skipped, since the call then fails anyway.

    The server's own patching cannot be used: for an object that no snapshot shows, `base` has only what is known.
    """
    result: Any = deepcopy(dict(base))
    for operation in _operations(operations):
        path = _pointer(operation.get("path"))
        if operation.get("path") == "" and isinstance(operation.get("value"), Mapping):
            result = deepcopy(dict(operation["value"]))
            continue
        source = _pointer(operation.get("from"))
        match operation.get("op"):
            case "add":
                _put(result, path, operation.get("value"))
            case "replace":
                _take(result, path)
                _put(result, path, operation.get("value"))
            case "remove":
                _take(result, path)
            case "move":
                _put(result, path, _take(result, source))
            case "copy":
                _put(result, path, deepcopy(_looked_up(result, source)))
    return dict(result)


def _operations(patch: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    return (operation for operation in patch if isinstance(operation, Mapping))


def _pointer(text: Any) -> FieldPath:
    return tuple(pointer_steps(text)) if isinstance(text, str) else ()


def _looked_up(item: Any, path: FieldPath) -> Any:
    for segment in path:
        if isinstance(item, Mapping):
            item = item.get(segment)
        elif isinstance(item, list) and segment.isdecimal() and int(segment) < len(item):
            item = item[int(segment)]
        else:
            return None
    return item


def _put(item: Any, path: FieldPath, value: Any) -> None:
    if not path:
        return
    for position, segment in enumerate(path[:-1]):
        if isinstance(item, dict) and item.get(segment) is None:
            item[segment] = {}
        item = _looked_up(item, path[position : position + 1])
    if isinstance(item, dict):
        item[path[-1]] = value
    elif isinstance(item, list) and path[-1] == "-":
        item.append(value)
    elif isinstance(item, list) and path[-1].isdecimal():
        item.insert(int(path[-1]), value)


def _take(item: Any, path: FieldPath) -> Any:
    holder = _looked_up(item, path[:-1])
    taken = _looked_up(item, path)
    if path and isinstance(holder, dict):
        holder.pop(path[-1], None)
    elif path and isinstance(holder, list) and taken is not None:
        del holder[int(path[-1])]
    return taken
