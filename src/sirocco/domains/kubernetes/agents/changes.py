"""Changes to an object: new values at field paths, written as a whole object or as any kind of patch."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from kubesim.patching.json_patch import pointer_to
from sirocco.domains.kubernetes.agents.client import PatchForm

FieldPath = tuple[str, ...]
Changes = Mapping[FieldPath, Any]

_TEXT_MAPS = frozenset({"labels", "annotations", "data", "stringData", "matchLabels"})


def changed_object(item: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """A copy of the object with the changes made; missing maps on the way are added."""
    result = deepcopy(dict(item))
    for path, value in changes.items():
        holder: Any = result
        for segment in path[:-1]:
            holder = holder[int(segment)] if isinstance(holder, list) else holder.setdefault(segment, {})
        if isinstance(holder, list):
            holder[int(path[-1])] = value
        else:
            holder[path[-1]] = value
    return result


def patch_body(item: Mapping[str, Any], changes: Changes, form: PatchForm) -> Any:
    """The changes to `item` as a patch of the given form."""
    if form is PatchForm.JSON:
        return list(_operations(item, changes))
    after = changed_object(item, changes)
    body: dict[str, Any] = {}
    for path in changes:
        _copy(after, body, path, by_name=form is not PatchForm.MERGE)
    if form is PatchForm.APPLY:
        identity = {key: item[key] for key in ("apiVersion", "kind")}
        metadata = {"name": item["metadata"]["name"], **body.pop("metadata", {})}
        return {**identity, "metadata": metadata, **body}
    return body


def concrete_paths(item: Any, path: FieldPath) -> Iterator[FieldPath]:
    """The paths that a path with `*` segments matches in an object; a path without them is returned unchanged."""
    if not path:
        yield ()
        return
    head, rest = path[0], path[1:]
    if head != "*":
        member = item.get(head) if isinstance(item, Mapping) else None
        yield from ((head, *found) for found in concrete_paths(member, rest))
    elif isinstance(item, list):
        for index, member in enumerate(item):
            yield from ((str(index), *found) for found in concrete_paths(member, rest))
    elif isinstance(item, Mapping):
        for key, member in item.items():
            yield from ((key, *found) for found in concrete_paths(member, rest))


def value_at(item: Any, path: FieldPath) -> Any:
    """The value at a path without wildcards, or None."""
    for segment in path:
        if isinstance(item, Mapping):
            item = item.get(segment)
        elif isinstance(item, list) and segment.isdecimal() and int(segment) < len(item):
            item = item[int(segment)]
        else:
            return None
    return item


def typed_value(text: str, path: FieldPath, current: Any, *, secret: bool) -> Any:
    """`text` as a value that the API accepts at the path: like the current one, else text where only text is valid."""
    if secret and path[0] == "data":
        return text if _is_base64(text) else b64encode(text.encode()).decode()
    if isinstance(current, str) or any(segment in _TEXT_MAPS for segment in path[:-1]):
        return text
    if text in {"true", "false"}:
        return text == "true"
    if text[:1] in {"{", "["}:
        with suppress(ValueError):
            return json.loads(text)
    return int(text) if text.lstrip("-").isdecimal() else text


def altered_value(path: FieldPath, current: Any, *, secret: bool) -> Any:
    """A plausible value that differs from the current one."""
    match current:
        case bool():
            return not current
        case int() if path[-1] == "replicas":
            return 0 if current else 1
        case int():
            return current + 1
        case str() if secret and path[0] == "data":
            return b64encode(b64decode(current) + b"2").decode()
        case str():
            return f"{current}-2"
        case dict() if path[-1] in _TEXT_MAPS:
            return {**current, "revision": "Mg==" if secret and path == ("data",) else "2"}
        case dict() if current:
            key = _alterable_member(current)
            return {**current, key: altered_value((*path, key), current[key], secret=secret)}
        case list() if current:
            return [altered_value((*path, "0"), current[0], secret=secret), *current[1:]]
    if path[-1] in _TEXT_MAPS:
        return {"revision": "Mg==" if secret and path == ("data",) else "2"}
    return "Mg==" if secret and path[0] == "data" else 0 if path[-1] == "replicas" else "2"


def _alterable_member(members: Mapping[str, Any]) -> str:
    """The member whose change is least likely to be refused: preferably a count, then a text, then anything."""
    order = sorted(members, key=lambda key: (not isinstance(members[key], int), not isinstance(members[key], str), key))
    return order[0]


def _operations(item: Mapping[str, Any], changes: Changes) -> Iterator[dict[str, Any]]:
    state = deepcopy(dict(item))
    for path, value in changes.items():
        for depth in range(1, len(path)):
            if value_at(state, path[:depth]) is None:
                yield {"op": "add", "path": pointer_to(path[:depth]), "value": {}}
                state = changed_object(state, {path[:depth]: {}})
        present = value_at(state, path) is not None
        yield {"op": "replace" if present else "add", "path": pointer_to(path), "value": value}
        state = changed_object(state, {path: value})


def _copy(source: Any, target: dict[str, Any], path: FieldPath, *, by_name: bool) -> None:
    """Copy what is at `path`; a list whole, or only the named member if patches merge by name."""
    head, rest = path[0], path[1:]
    member = source[head]
    if isinstance(member, list) and rest:
        chosen = member[int(rest[0])]
        if not (by_name and isinstance(chosen, dict) and "name" in chosen and rest[1:]):
            target[head] = member
            return
        listed = target.setdefault(head, [])
        part = next((one for one in listed if one["name"] == chosen["name"]), None)
        if part is None:
            part = {"name": chosen["name"]}
            listed.append(part)
        _copy(chosen, part, rest[1:], by_name=by_name)
    elif rest:
        _copy(member, target.setdefault(head, {}), rest, by_name=by_name)
    else:
        target[head] = member


def _is_base64(text: str) -> bool:
    try:
        return b64encode(b64decode(text, validate=True)).decode() == text
    except ValueError:
        return False
