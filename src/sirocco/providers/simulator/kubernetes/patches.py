"""The patch kinds of the Kubernetes API as pure functions: a document and a patch give a new document."""

from collections.abc import Mapping
from typing import Any

from sirocco.providers.simulator.kubernetes.status import ApiError, bad_request, internal_error, rejected_patch

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCH_TYPES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH})

# Lists of objects that the API merges by a key; every other list is replaced as a whole.
_MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "imagePullSecrets": "name",
    "secrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "conditions": "type",
    "addresses": "type",
    "ownerReferences": "uid",
}
_MERGED_SETS = frozenset({"finalizers"})
_DIRECTIVE, _ORDER, _DELETE_VALUES, _RETAIN = (
    "$patch",
    "$setElementOrder/",
    "$deleteFromPrimitiveList/",
    "$retainKeys",
)


def patched(content_type: str, document: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """`document` after a patch of one of the four kinds; raise the server's refusal when it cannot be applied."""
    if content_type == JSON_PATCH:
        if not isinstance(patch, list):
            raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
        result = json_patch(document, patch)
    elif not isinstance(patch, Mapping):
        raise bad_request("json: cannot unmarshal array into Go value of type map[string]interface {}")
    elif content_type == MERGE_PATCH:
        result = merge_patch(document, patch)
    else:
        result = strategic_merge(document, patch)
    if not isinstance(result, dict):
        raise rejected_patch()
    return result


def merge_patch(document: Any, patch: Any) -> Any:
    """RFC 7386: maps merge, null removes, everything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(document) if isinstance(document, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def json_patch(document: Any, operations: list[Any]) -> Any:
    """RFC 6902, as the server applies it: a replace of a missing member adds it."""
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise rejected_patch()
        document = _operation(document, operation)
    return document


def strategic_merge(document: Any, patch: Any) -> Any:
    """Like a merge patch, but lists of named things merge by their key, and `$patch` directives are obeyed."""
    if not isinstance(patch, Mapping):
        return patch
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    result = dict(document) if isinstance(document, Mapping) else {}
    retained = patch.get(_RETAIN)
    if isinstance(retained, list):
        result = {key: value for key, value in result.items() if key in retained}
    for key, value in patch.items():
        if key.startswith(_DELETE_VALUES):
            field = key.removeprefix(_DELETE_VALUES)
            doomed = value if isinstance(value, list) else []
            result[field] = [item for item in _list(result.get(field)) if item not in doomed]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        elif isinstance(value, list):
            result[key] = _merged_list(key, result.get(key), value, patch.get(_ORDER + key))
        else:
            result[key] = strategic_merge(result.get(key), value)
    return result


def _merged_list(field: str, old: Any, new: list[Any], order: Any) -> list[Any]:
    if field in _MERGED_SETS:
        return [*_list(old), *(item for item in new if item not in _list(old))]
    key = _merge_key(field, new)
    if key is None:
        return new
    if any(isinstance(item, Mapping) and item.get(_DIRECTIVE) == "replace" for item in new):
        return [item for item in new if _DIRECTIVE not in item]
    result = [item for item in _list(old) if isinstance(item, Mapping)]
    for item in new:
        if not isinstance(item, Mapping):
            raise bad_request(f"unable to find api field in struct for the json field {field!r}")
        if key not in item:
            raise internal_error(f"map: {_go_map(item)} does not contain declared merge key: {key}")
        place = next((index for index, known in enumerate(result) if known.get(key) == item[key]), None)
        if item.get(_DIRECTIVE) == "delete":
            if place is not None:
                del result[place]
        elif place is None:
            result.append({name: value for name, value in item.items() if not name.startswith("$")})
        else:
            result[place] = strategic_merge(result[place], item)
    return _ordered(result, key, order)


def _merge_key(field: str, items: list[Any]) -> str | None:
    if field == "ports":
        return (
            "containerPort" if any(isinstance(item, Mapping) and "containerPort" in item for item in items) else "port"
        )
    return _MERGE_KEYS.get(field)


def _ordered(items: list[Any], key: str, order: Any) -> list[Any]:
    """The items in the order that the patch asks for; those it does not mention keep their place at the end."""
    if not isinstance(order, list):
        return items
    wanted = [item.get(key) for item in order if isinstance(item, Mapping)]
    return sorted(items, key=lambda item: wanted.index(item.get(key)) if item.get(key) in wanted else len(wanted))


def _go_map(item: Mapping[str, Any]) -> str:
    return "map[" + " ".join(f"{key}:{item[key]}" for key in sorted(item)) + "]"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _operation(document: Any, operation: Mapping[str, Any]) -> Any:
    name, path = operation.get("op"), _pointer(operation.get("path"))
    if name == "test":
        if _look(document, path) != operation.get("value"):
            raise rejected_patch()
        return document
    if name == "remove":
        _look(document, path)
        return _removed(document, path)
    if name in {"add", "replace"} and "value" in operation:
        return _added(document, path, operation["value"], replace=name == "replace")
    if name in {"copy", "move"}:
        source = _pointer(operation.get("from"))
        value = _look(document, source)
        return _added(_removed(document, source) if name == "move" else document, path, value, replace=False)
    raise rejected_patch()


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise rejected_patch()
    return [segment.replace("~1", "/").replace("~0", "~") for segment in text.split("/")[1:]]


def _look(document: Any, path: list[str]) -> Any:
    for segment in path:
        if isinstance(document, Mapping) and segment in document:
            document = document[segment]
        elif isinstance(document, list):
            document = document[_index(segment, len(document) - 1)]
        else:
            raise rejected_patch()
    return document


def _removed(document: Any, path: list[str]) -> Any:
    if not path:
        raise rejected_patch()
    head, rest = path[0], path[1:]
    if isinstance(document, list):
        index = _index(head, len(document) - 1)
        middle = [_removed(document[index], rest)] if rest else []
        return [*document[:index], *middle, *document[index + 1 :]]
    if not isinstance(document, Mapping) or head not in document:
        raise rejected_patch()
    if rest:
        return {**document, head: _removed(document[head], rest)}
    return {key: value for key, value in document.items() if key != head}


def _added(document: Any, path: list[str], value: Any, *, replace: bool) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(document, list):
        if rest:
            index = _index(head, len(document) - 1)
            return [*document[:index], _added(document[index], rest, value, replace=replace), *document[index + 1 :]]
        index = len(document) if head == "-" else _index(head, len(document) - 1 if replace else len(document))
        return [*document[:index], value, *document[index + (1 if replace else 0) :]]
    if not isinstance(document, Mapping) or (rest and head not in document):
        raise rejected_patch()
    return {**document, head: _added(document[head], rest, value, replace=replace) if rest else value}


def _index(segment: str, last: int) -> int:
    if not segment.isdecimal() or int(segment) > last:
        raise rejected_patch()
    return int(segment)


def refused_apply(api_version: str, patch: Any) -> ApiError | None:
    """Why an apply patch cannot be taken, or None."""
    if not isinstance(patch, Mapping):
        return bad_request(
            "error decoding YAML: json: cannot unmarshal array into Go value of type map[string]interface {}"
        )
    given = patch.get("apiVersion", "")
    if given != api_version:
        return bad_request(
            f"Incorrect version specified in apply patch. Specified patch version: {given}, expected: {api_version}"
        )
    return None
