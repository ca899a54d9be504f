"""JSON patches (RFC 6902) as the server applies them, with the quirks of its library.

Because of those quirks no Python library can be used (docs/decisions/0037-json-patches-and-versions.md). JSON pointers
(RFC 6901) are also read and written here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kubesim.bodies import go_json
from kubesim.status import ApiError, bad_request, rejected_patch

_MOST_OPERATIONS = 10000
_MOST_COPIED = 3 * 1024 * 1024

Path = tuple[str, ...]
_OWN_TYPE_SINCE = 34
"""The first release known to read a patch into a type of its own."""


def json_patch(document: Any, patch: Iterable[Mapping[str, Any]]) -> Any:
    """RFC 6902, as the server applies it: a replace of a missing member adds it."""
    copied = 0
    for operation in patch:
        if operation.get("op") == "copy":
            copied += len(go_json.dump_json(_value_at(document, _pointer(operation.get("from")))))
            if copied > _MOST_COPIED:
                raise rejected_patch()
        document = _operation(document, operation)
    return document


def operations(patch: Any, minor: int) -> list[dict[str, Any]]:
    """The operations of a patch; raise 400 or 413 for an invalid one."""
    if not isinstance(patch, list | None):
        prefix, expected = (
            ("error decoding patch: ", "[]handlers.jsonPatchOp")
            if minor >= _OWN_TYPE_SINCE
            else ("", "jsonpatch.Patch")
        )
        kind = go_json.kind_of(patch)
        raise bad_request(f"{prefix}json: cannot unmarshal {kind} into Go value of type {expected}")
    for operation in patch or []:
        if not isinstance(operation, dict | None):
            kind = go_json.kind_of(operation)
            raise bad_request(f"json: cannot unmarshal {kind} into Go value of type jsonpatch.Operation")
    if patch and len(patch) > _MOST_OPERATIONS:
        text = f"The allowed maximum operations in a JSON patch is {_MOST_OPERATIONS}, got {len(patch)}"
        raise ApiError(413, "RequestEntityTooLarge", text)
    return [operation or {} for operation in patch or []]


def pointer_steps(text: str) -> list[str]:
    """The steps of a pointer; as in the server, anything before the first slash is ignored."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def pointer_to(path: Iterable[str]) -> str:
    """The pointer with these steps."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in path)


def touched_places(patch: Iterable[Mapping[str, Any]]) -> set[Path]:
    """The maps and lists that the operations pass through."""
    return {
        tuple(path[:length])
        for operation in patch
        for name in (("path", "from") if _name(operation) in {"copy", "move"} else ("path",))
        if isinstance(operation.get(name), str)
        for path in [_pointer(operation[name])]
        for length in range(len(path))
    }


def _operation(document: Any, operation: Mapping[str, Any]) -> Any:
    name, path = _name(operation), _pointer(operation.get("path"))
    if name == "test":
        if not _are_equal(_value_at(document, path), operation.get("value")):
            raise rejected_patch()
        return document
    if name == "remove":
        return _remove_at(document, path)
    if name in {"add", "replace"}:
        return _add_at(document, path, operation.get("value"), replace=name == "replace")
    if name in {"copy", "move"}:
        source = _pointer(operation.get("from"))
        value = _value_at(document, source)
        return _add_at(_remove_at(document, source) if name == "move" else document, path, value, replace=False)
    raise rejected_patch()


def _name(operation: Mapping[str, Any]) -> str:
    """The name of an operation; empty if it is not a text."""
    name = operation.get("op")
    return name if isinstance(name, str) else ""


def _are_equal(left: Any, right: Any) -> bool:
    """Equal as JSON: true is not 1, and 1.0 is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_are_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_are_equal, left, right))
    return type(left) is type(right) and left == right


def _pointer(text: Any) -> list[str]:
    """The steps of an operation's pointer, which is required."""
    if not isinstance(text, str) or "/" not in text:
        raise rejected_patch()
    return pointer_steps(text)


def _value_at(document: Any, path: list[str]) -> Any:
    """The value at a path; None for a member that its map does not have."""
    for depth, segment in enumerate(path):
        if isinstance(document, Mapping):
            if segment not in document and depth < len(path) - 1:
                raise rejected_patch()
            document = document.get(segment)
        elif isinstance(document, list):
            index = _index(segment)
            if not 0 <= index < len(document):
                raise rejected_patch()
            document = document[index]
        else:
            raise rejected_patch()
    return document


def _remove_at(document: Any, path: list[str]) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(document, list):
        index = _index(head)
        if rest:
            return _with_item(document, index, _remove_at(_value_at(document, [head]), rest))
        index += len(document) if index < 0 else 0
        if not 0 <= index < len(document):
            raise rejected_patch()
        return [*document[:index], *document[index + 1 :]]
    if not isinstance(document, Mapping) or head not in document:
        raise rejected_patch()
    if rest:
        return {**document, head: _remove_at(document[head], rest)}
    return {key: value for key, value in document.items() if key != head}


def _add_at(document: Any, path: list[str], value: Any, *, replace: bool) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(document, list):
        if rest:
            inner = _value_at(document, [head])
            return _with_item(document, _index(head), _add_at(inner, rest, value, replace=replace))
        if replace:
            _value_at(document, [head])
            return _with_item(document, _index(head), value)
        index = len(document) if head == "-" else _index(head)
        index += len(document) + 1 if index < 0 else 0
        if not 0 <= index <= len(document):
            raise rejected_patch()
        return [*document[:index], value, *document[index:]]
    if not isinstance(document, Mapping) or (rest and head not in document):
        raise rejected_patch()
    return {**document, head: _add_at(document[head], rest, value, replace=replace) if rest else value}


def _with_item(items: list[Any], index: int, item: Any) -> list[Any]:
    return [*items[:index], item, *items[index + 1 :]]


def _index(segment: str) -> int:
    digits = segment[1:] if segment[:1] in {"+", "-"} else segment
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
        raise rejected_patch()
    return int(segment)
