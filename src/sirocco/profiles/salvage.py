"""Reads as much as possible of an invalid document: invalid parts are filled in, so that the rest is still checked.

Nothing salvaged here is ever run or bound; it only serves to find all problems at once.
"""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import MinLen
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from sirocco.errors import DocumentPath, Problem
from sirocco.oasis.archetype import SURFACES
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Surface
from sirocco.profiles.parse import error_path
from sirocco.profiles.yaml_text import Placeable, node_of

N = TypeVar("N", bound=Noun)
_ATTEMPTS = 50
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Salvaged(Generic[N]):
    """A noun whose parts at `gaps` are not from the document."""

    noun: N
    gaps: frozenset[DocumentPath]

    def is_certain(self, problem: Problem) -> bool:
        """Whether a problem is in the document, and not in what was filled in or depends on it."""
        return is_certain(problem, self.gaps)


def is_certain(problem: Problem, gaps: frozenset[DocumentPath]) -> bool:
    """Whether a problem neither lies in a gap of a document nor follows from one."""
    if any(_is_below(problem.path, gap) or (problem.path and _is_below(gap, problem.path)) for gap in gaps):
        return False
    is_declared = not any(gap[:1] == ("preconditions",) for gap in gaps)
    return is_declared or problem.rule not in _LOOKED_UP


_LOOKED_UP = frozenset({
    "applicability-mode", "assertion-undeclared", "entry-without-reading", "goal-not-covered", "injection-absent",
    "injection-reference", "object-undeclared", "reaction-target", "shape-carrier", "shape-scope", "shape-surface",
    "slot-missing", "state-resource", "stimulus-prose", "stimulus-target", "task-forbidden", "value-reference",
})  # fmt: skip
"""Rules that look something up in the preconditions."""


def salvage(model: type[N], document: Placeable, surfaces: tuple[Surface, ...] | None = None) -> Salvaged[N] | None:
    """As much of a document that is not a valid `model` as can be read; None if that is hardly anything."""
    if not isinstance(document.value, Mapping):
        return None
    data: Any = copy.deepcopy(dict(document.value))
    context = {SURFACES: surfaces} if surfaces is not None else None
    gaps: set[DocumentPath] = set()
    for _ in range(_ATTEMPTS):
        try:
            return Salvaged(model.model_validate_json(json.dumps(data), strict=True, context=context), frozenset(gaps))
        except ValidationError as error:
            node = node_of(data, document.placed_node().place)
            paths = {error_path(node, one): one["type"] for one in error.errors(include_url=False)}
        for path, kind in paths.items():
            if kind == "extra_forbidden":
                _put(data, path, _MISSING)
                continue
            gap = _next_gap(path, gaps)
            if not gap:
                return None
            gaps.add(gap)
            _put(data, gap, _filling_at(model, gap))
    return None


def _next_gap(path: DocumentPath, gaps: set[DocumentPath]) -> DocumentPath:
    """The next place to fill in: if a filling is itself invalid, the value that contains it is replaced."""
    while path in gaps and path:
        path = path[:-1]
    return path


def _is_below(path: DocumentPath, above: DocumentPath) -> bool:
    return path[: len(above)] == above


def _put(data: Any, path: DocumentPath, value: Any) -> None:
    *parents, key = path
    for part in parents:
        data = data[part]
    if value is not _MISSING:
        data[key] = value
    elif isinstance(data, dict):
        data.pop(key, None)


def _filling_at(model: type[Noun], path: DocumentPath) -> Any:
    """A value that is valid at a path of a document of `model`."""
    held: Any = model
    for part in path[:-1]:
        held = _inside(held, part)
    found = _field(held, path[-1])
    return _filling_of_field(found) if found is not None else _filling(_inside(held, path[-1]))


def _field(annotation: Any, part: str | int) -> FieldInfo | None:
    for noun in _nouns(annotation):
        for name, field in noun.model_fields.items():
            if part in {name, field.alias}:
                return field
    return None


def _inside(annotation: Any, part: str | int) -> Any:
    """The type of what is under a key or at a position of a value of that type."""
    if (field := _field(annotation, part)) is not None:
        return field.annotation
    for one in _alternatives(annotation):
        arguments = get_args(one)
        if get_origin(one) is tuple and isinstance(part, int):
            return arguments[0]
        if isinstance(get_origin(one), type) and issubclass(get_origin(one), Mapping):
            return arguments[1]
    return Any


def _nouns(annotation: Any) -> list[type[Noun]]:
    return [one for one in _alternatives(annotation) if isinstance(one, type) and issubclass(one, Noun)]


def _alternatives(annotation: Any) -> list[Any]:
    """The types that a type is one of."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return [one for part in get_args(annotation) for one in _alternatives(part)]
    return [annotation]


def _filling_of_field(field: FieldInfo) -> Any:
    filling = _filling(field.annotation)
    needs_one = any(isinstance(limit, MinLen) for limit in field.metadata)
    return [_filling(_inside(field.annotation, 0))] if filling == [] and needs_one else filling


def _filling(annotation: Any) -> Any:
    """The simplest value of a type."""
    alternatives = _alternatives(annotation)
    if NoneType in alternatives:
        return None
    first = alternatives[0]
    if get_origin(first) is Literal:
        return get_args(first)[0]
    if get_origin(first) is tuple:
        return []
    if isinstance(first, type) and issubclass(first, Noun):
        required = ((field.alias or name, field) for name, field in first.model_fields.items() if field.is_required())
        return {name: _filling_of_field(field) for name, field in required}
    if isinstance(first, type) and issubclass(first, Enum):
        return next(iter(first)).value
    return _SIMPLE.get(first, {})


_SIMPLE: Mapping[Any, Any] = {str: "x", int: 1, float: 1.0, bool: False}
