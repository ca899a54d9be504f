"""Parses the recorded text of a request body: JSON, or the YAML in which apply configurations are written.

An agent chooses the text, so it must not be able to cause an exception, endless recursion or unbounded growth. A text
that nests too deep, or is too large with every alias expanded, is treated as holding no data. Only JSON types are
produced; a date stays a text.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, DocumentEndEvent
from yaml.nodes import CollectionNode, MappingNode, Node, SequenceNode

_DEEPEST = 200
_MOST_VALUES = 100_000
_LONGEST = 2_000_000
_MOST_DIGITS = 100
_MERGE = "tag:yaml.org,2002:merge"
_TRUE = frozenset({"yes", "true", "on"})


class _UnreadableError(ValueError):
    """The text exceeds a limit."""


@lru_cache(maxsize=256)
def held_data(text: str) -> Any:
    """The mapping or list that a text represents; the text itself if there is none."""
    if len(text) > _LONGEST:
        return text
    try:
        data = _json(text)
    except (ValueError, RecursionError):
        data = _yaml(text)
    return data if isinstance(data, dict | list) else text


def _json(text: str) -> Any:
    data = json.loads(text, parse_constant=_refuse_constant, parse_float=_float, parse_int=_integer)
    level = [data]
    for _ in range(_DEEPEST):
        level = [member for one in level if isinstance(one, dict | list) for member in _members(one)]
        if not level:
            return data
    raise _UnreadableError


def _members(container: dict[str, Any] | list[Any]) -> Iterator[Any]:
    return iter(container.values() if isinstance(container, dict) else container)


def _yaml(text: str) -> Any:
    """The first document of a text; None if there is no usable one."""
    try:
        _require_shallow(text)
        loader = yaml.CSafeLoader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
            return None if node is None else _Reader().value(node)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError):
        return None


def _require_shallow(text: str) -> None:
    """Refuse a document whose events nest too deep, because composing a very deep one would crash the process."""
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, DocumentEndEvent):
            return
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _DEEPEST:
            raise _UnreadableError


class _Reader:
    """Converts the nodes of one document to JSON data and counts the result, because an alias is cheap to write."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def value(self, node: Node, depth: int = 0) -> Any:
        """The data of a node."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _UnreadableError
        if isinstance(node, SequenceNode):
            return [self.value(member, depth + 1) for member in node.value]
        if isinstance(node, MappingNode):
            return self._mapping(node, depth)
        return _scalar(node)

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, held in node.value:
            if isinstance(key, CollectionNode):
                raise _UnreadableError
            if key.tag != _MERGE:
                own[str(key.value)] = self.value(held, depth + 1)
                continue
            for source in held.value if isinstance(held, SequenceNode) else (held,):
                content = self.value(source, depth + 1)
                merged = {**(content if isinstance(content, dict) else {}), **merged}
        return {**merged, **own}


def _scalar(node: Node) -> Any:
    read = _READ_AS.get(node.tag)
    return read(str(node.value)) if read else str(node.value)


def _integer(text: str) -> Any:
    """A whole number in any base; its text if it is too long for an API."""
    try:
        return int(text, 0) if len(text) <= _MOST_DIGITS else text
    except ValueError:
        return int(text, 8) if text.strip("+-01234567") == "" else text


def _float(text: str) -> Any:
    """A number; its text if JSON cannot represent it."""
    try:
        return number if isfinite(number := float(text)) else text
    except ValueError:
        return text


def _refuse_constant(_: str) -> Any:
    raise _UnreadableError


_READ_AS: Mapping[str, Callable[[str], Any]] = {
    "tag:yaml.org,2002:null": lambda _: None,
    "tag:yaml.org,2002:bool": lambda text: text.lower() in _TRUE,
    "tag:yaml.org,2002:int": _integer,
    "tag:yaml.org,2002:float": _float,
}
