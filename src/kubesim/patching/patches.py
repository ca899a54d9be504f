"""The patch kinds of the Kubernetes API as pure functions: a document and a patch give a new document."""

from collections.abc import Callable, Mapping
from typing import Any

from kubesim.bodies import go_json
from kubesim.bodies.decoding import (
    BodyError,
    claimed_kind,
    foreign_kind_problem,
    problem_in,
    unregistered_words,
)
from kubesim.bodies.go_text import go_print, go_quote
from kubesim.bodies.normalization import MismatchError, normalize_value, normalized_change
from kubesim.bodies.unstructured import coerce_numbers, restoring_problem
from kubesim.patching.json_patch import Path, json_patch, operations, touched_places
from kubesim.patching.strategic import strategic_merge
from kubesim.status import (
    ApiError,
    Cause,
    Json,
    bad_request,
    internal_error,
    rejected_patch,
)
from kubesim.types.definitions import Definitions, Shape, Type

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCH_TYPES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH})


def apply_patch(media_type: str, document: Mapping[str, Any], patch: Any, type_: Type | None = None) -> Json:
    """`document` after a JSON, merge or strategic merge patch, as an object of its type; raise the server's refusal.

    `patch` is the body's bytes or, from a caller in the same process, JSON data. A document without a type, such as a
    custom resource, is only merged.
    """
    patch = _parse_patch(media_type, patch) if isinstance(patch, bytes) else _copy_value(patch)
    if media_type == JSON_PATCH:
        steps = operations(patch, type_.definitions.minor if type_ else 0)
        result = _decode_patched(type_, document, lambda old: json_patch(old, steps), lambda: touched_places(steps))
        # Its steps can put one deep value into another.
        if go_json.is_too_deep(result):
            raise rejected_patch()
        return result
    if media_type == MERGE_PATCH:
        if not isinstance(patch, dict | list):
            raise internal_error("Invalid JSON Patch")
        change = _prune_nulls(patch) if isinstance(patch, list) else patch
        return _decode_patched(type_, document, lambda old: merge_patch(old, change), lambda: _maps(patch, ()))
    return _strategically_patched(dict(document), patch, type_)


def merge_patch(document: Any, patch: Any) -> Any:
    """RFC 7386: maps merge, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch if isinstance(document, dict) else _prune_nulls(patch)
    if not isinstance(document, dict):
        return _prune_nulls(patch)
    result = dict(document)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif result.get(key) is None:
            result[key] = _prune_nulls(value)
        else:
            result[key] = merge_patch(result[key], value)
    return result


def _parse_patch(media_type: str, content: bytes) -> Any:
    try:
        return go_json.load_json(content)
    except go_json.JsonError as problem:
        if media_type == MERGE_PATCH:
            raise internal_error("Invalid JSON Patch") from None
        text = str(problem)
        if media_type == STRATEGIC_MERGE_PATCH and text == go_json.END:
            text = "unexpected EOF" if content.strip() else "EOF"
        raise bad_request(text) from None


def _copy_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_value(item) for key, item in value.items()}
    return [_copy_value(item) for item in value] if isinstance(value, list) else value


def _prune_nulls(value: Any) -> Any:
    """What a merge patch adds: without nulls, even in lists."""
    if isinstance(value, dict):
        return {key: _prune_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_prune_nulls(item) for item in value if item is not None]
    return value


def _strategically_patched(document: Json, patch: Any, type_: Type | None) -> Json:
    if not isinstance(patch, dict | None):
        kind = go_json.kind_of(patch)
        raise bad_request(f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
    if type_ is None:
        raise bad_request("strategic merge patch format is not supported")
    patch = patch or {}
    merged = strategic_merge(document, patch, type_)
    try:
        result = normalized_change(type_, merged, document)
    except MismatchError:
        if problem := restoring_problem(type_, merged):
            raise _undecodable(go_print(patch), problem) from None
        result = normalize_value(type_, coerce_numbers(type_, merged))
    return {**result, **_kind_of(document)}


def _decode_patched(
    type_: Type | None, document: Mapping[str, Any], change: Callable[[Any], Any], touched: Callable[[], set[Path]]
) -> Json:
    """The patched document as an object of its type."""
    result = change(document)
    if not isinstance(result, dict):
        raise _undecodable(go_json.dump_json(result).decode(), go_json.no_object_problem(result))
    if type_ is None:
        return result
    given, problem = _given_type(type_, document, result)
    if not problem:
        try:
            decoded = normalized_change(given, result, document if given is type_ else {})
        except MismatchError:
            pass
        else:
            problem = "" if given is type_ else _other_kind(given, document, result)
            if not problem:
                return {**decoded, **_kind_of(document)}
    # The document is serialized to bytes, which the refusal shows: what a patch touches is sorted by key.
    text = _encode_sorted(change(_in_go_order(type_, document)), (), touched() | {()})
    raise _undecodable(text, problem or problem_in(given, result, text.encode()))


def _given_type(type_: Type, document: Mapping[str, Any], result: Json) -> tuple[Type, str]:
    """The type that the patched document claims, with what is wrong with the claim."""
    types: Definitions = type_.definitions
    try:
        group, version, kind = claimed_kind(result)
    except BodyError as problem:
        return type_, str(problem)
    if not version:
        name = (document.get("metadata") or {}).get("name", "")
        raise bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    api_version, kind = f"{group}/{version}" if group else version, kind or document.get("kind", "")
    if (api_version, kind) == (document.get("apiVersion"), document.get("kind")):
        return type_, ""
    found = types.of_kind(group, version, kind)
    return (found, "") if found else (type_, unregistered_words(api_version, kind, types))


def _other_kind(given: Type, document: Mapping[str, Any], result: Json) -> str:
    (from_group, _, from_kind), (to_group, _, to_kind) = claimed_kind(result), claimed_kind(dict(document))
    return foreign_kind_problem(given, (from_group, from_kind or to_kind), (to_group, to_kind))


def _kind_of(document: Mapping[str, Any]) -> Json:
    return {key: document[key] for key in ("kind", "apiVersion") if key in document}


def _undecodable(shown: str, problem: str) -> ApiError:
    """The refusal of a patch whose result does not fit its type; it names neither kind nor object."""
    text = f"Invalid value: {go_quote(shown)}: {problem}"
    details = {"causes": [Cause("FieldValueInvalid", text, "patch").document()]}
    return ApiError(422, "Invalid", f' "" is invalid: patch: {text}', details)


def _maps(patch: Any, path: Path) -> set[Path]:
    """The paths of a merge patch's maps."""
    if isinstance(patch, Mapping):
        return {path}.union(*(_maps(value, (*path, key)) for key, value in patch.items()))
    if isinstance(patch, list):
        return set[Path]().union(*(_maps(item, (*path, str(index))) for index, item in enumerate(patch)))
    return set()


def _in_go_order(type_: Type | None, value: Any) -> Any:
    """The fields of structs in the order in which Go writes them, the keys of maps sorted."""
    if isinstance(value, list):
        element = type_.element if type_ is not None and type_.shape is Shape.LIST else None
        return [_in_go_order(element, item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if type_ is None or type_.shape is not Shape.STRUCT:
        element = type_.element if type_ is not None and type_.shape is Shape.MAP else None
        return {key: _in_go_order(element, value[key]) for key in sorted(value)}
    return {
        member.name: _in_go_order(member.type, value[member.name]) for member in type_.members if member.name in value
    }


def _encode_sorted(value: Any, path: Path, sorted_places: set[Path]) -> str:
    if isinstance(value, Mapping):
        keys = sorted(value) if path in sorted_places else list(value)
        parts = (f"{_text(key)}:{_encode_sorted(value[key], (*path, key), sorted_places)}" for key in keys)
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        items = (_encode_sorted(item, (*path, str(index)), sorted_places) for index, item in enumerate(value))
        return "[" + ",".join(items) + "]"
    return _text(value)


def _text(value: Any) -> str:
    return go_json.dump_json(value).decode()
