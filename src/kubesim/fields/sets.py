"""Sets of fields in the form that managed fields use (`FieldsV1`), and operations on them.

A set is a nested dict. Its keys are path elements: `f:` a field, `k:` a list item by its key fields, `v:` a list item
by its value, `i:` by its index. Below the top, `{}` is a member without members of its own, and `"."` says that a
parent is a member too.
"""

import json
from functools import lru_cache
from typing import Any

Fields = dict[str, Any]
Path = tuple[str, ...]

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"},
)


def union(one: Fields, other: Fields) -> Fields:
    """What is in either set."""
    if not one or not other:
        return one or other
    merged = dict(one)
    for key, node in other.items():
        merged[key] = _unite_nodes(merged[key], node) if key in merged else node
    return merged


def difference(one: Fields, other: Fields) -> Fields:
    """What is in the first set and not in the second; a parent and its children are separate members."""
    left: Fields = {}
    for key, node in one.items():
        rest = _reduce_node(node, other[key]) if key in other else node
        if rest is not None:
            left[key] = rest
    return left


def intersection(one: Fields, other: Fields) -> Fields:
    """What is in both sets."""
    shared: Fields = {}
    for key, node in one.items():
        both = _shared_node(node, other[key]) if key in other else None
        if both is not None:
            shared[key] = both
    return shared


def elements(fields: Fields) -> list[str]:
    """The path elements of a level, in the server's order."""
    return sorted((key for key in fields if key != "."), key=_order)


def is_member(node: Fields) -> bool:
    """Whether what a path element leads to is itself a member, whatever is below it."""
    return not node or "." in node


def has_path(fields: Fields, path: Path) -> bool:
    """Whether a path is a member."""
    node = fields
    for key in path:
        if key not in node:
            return False
        node = node[key]
    return is_member(node)


def text_of(path: Path) -> str:
    """A path as conflicts show it, such as `.spec.containers[name="app"].image`."""
    return "".join(element_text(key) for key in path)


def element_text(key: str) -> str:
    """One path element as messages show it."""
    kind, content = key[0], key[2:]
    if kind == "f":
        return f".{content}"
    if kind == "i":
        return f"[{content}]"
    value = json.loads(content)
    if kind == "v":
        return f"[={_json_scalar(value)}]"
    return "[" + ",".join(f"{name}={_json_scalar(item)}" for name, item in value.items()) + "]"


def key_element(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """The path element of a list item identified by key fields; the names are sorted."""
    try:
        return _key_element(names, *values)
    except TypeError:
        return _key_element.__wrapped__(names, *values)


def value_element(value: Any) -> str:
    """The path element of a list item that is its own key."""
    return "v:" + _json(value)


def decode_fields(raw: Any) -> Fields:
    """A set that a client wrote, in the server's form; ValueError if it is invalid."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise ValueError("not a set of fields")  # noqa: TRY004 - callers react to one kind of failure
    fields: Fields = {}
    for key, value in raw.items():
        if key == ".":
            continue
        element = _element(key)
        if not element:
            continue
        node = decode_fields(value)
        if node and isinstance(value, dict) and "." in value:
            node = {".": {}, **node}
        fields[element] = node
    return fields


def _element(key: str) -> str:
    if len(key) < 2 or key[1] != ":":
        raise ValueError(f"missing colon: {key}")
    kind, content = key[0], key[2:]
    if kind == "f":
        return key
    if kind == "i":
        return f"i:{int(content)}"
    if kind == "v":
        return value_element(json.loads(content))
    if kind == "k":
        value = json.loads(content)
        if not isinstance(value, dict):
            raise ValueError(f"not a key: {content}")
        return "k:" + _json(dict(sorted(value.items())))
    return ""  # what a later release may add is dropped


def _unite_nodes(one: Fields, other: Fields) -> Fields:
    if one is other:
        return one
    if not one:
        return other if not other or "." in other else {".": {}, **other}
    if not other:
        return one if "." in one else {".": {}, **one}
    return union(one, other)


def _reduce_node(one: Fields, other: Fields) -> Fields | None:
    if not one:
        return None if not other or "." in other else one
    if not other:
        return {key: node for key, node in one.items() if key != "."} if "." in one else one
    return _canonical_node(difference(one, other))


def _shared_node(one: Fields, other: Fields) -> Fields | None:
    if not one:
        return one if not other or "." in other else None
    if not other:
        return other if "." in one else None
    return _canonical_node(intersection(one, other))


def _canonical_node(node: Fields) -> Fields | None:
    if not node:
        return None
    return {} if len(node) == 1 and "." in node else node


@lru_cache(maxsize=4096, typed=True)
def _key_element(names: tuple[str, ...], *values: Any) -> str:
    return "k:" + _json(dict(zip(names, values, strict=True)))


def _json(value: Any) -> str:
    # Go escapes characters that are special in HTML
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _json_scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return json.dumps(value, ensure_ascii=False)


def _order(key: str) -> tuple[int, Any]:
    kind, content = key[0], key[2:]
    if kind == "f":
        return 0, content
    if kind == "i":
        return 3, int(content)
    value = json.loads(content)
    if kind == "k":
        return 1, [(name, _rank(item)) for name, item in value.items()]
    return 2, _rank(value)


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, json.dumps(value, sort_keys=True)
