"""Converts plain data to nouns; everything invalid becomes findings with the place of the value, all at once."""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sirocco.errors import DocumentPath, Finding, Problem
from sirocco.oasis.archetype import SURFACES
from sirocco.oasis.noun import Noun
from sirocco.oasis.stimulus import Surface
from sirocco.profiles.rules import GOAL_FORMS, RULES, dotted_path
from sirocco.profiles.spelling import spelling_remedy
from sirocco.profiles.yaml_text import Node, Placeable

N = TypeVar("N", bound=Noun)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[N]):
    """A noun, unless a finding is an error, and the findings."""

    noun: N | None
    findings: tuple[Finding, ...]


def parse(
    model: type[N],
    document: Placeable,
    *,
    surfaces: tuple[Surface, ...] | None = None,
    goal_forms: str = GOAL_FORMS,
) -> Parsed[N]:
    """Parse a document as a `model`; unknown keys are dropped with a warning, so that a newer document still loads.

    The domain's knowledge is passed in: the surfaces that exist, and the form of a goal.
    """
    context = {SURFACES: surfaces} if surfaces is not None else None
    data = document.value
    findings: list[Finding] = []
    while True:
        try:
            noun = model.model_validate_json(json.dumps(data), strict=True, context=context)
        except ValidationError as error:
            details = error.errors(include_url=False)
        else:
            return Parsed(noun, tuple(findings))
        node = document.placed_node()
        unknown = [error_path(node, detail) for detail in details if detail["type"] == "extra_forbidden"]
        if not unknown:
            findings += findings_at(node, (_problem(node, detail, goal_forms) for detail in details))
            return Parsed(None, tuple(findings))
        data = copy.deepcopy(data)
        for path in unknown:
            findings.append(_unknown_key(model, node, path))
            _drop(data, path)


def finding_at(document: Placeable, problem: Problem) -> Finding:
    """A problem at the place that its path has in the document."""
    place = document.placed_node().place_of(problem.path)
    return RULES[problem.rule].finding(place, dotted_path(problem.path), problem.problem, problem.remedy)


def findings_at(document: Placeable, problems: Iterable[Problem]) -> list[Finding]:
    """Problems with their places."""
    return [finding_at(document, problem) for problem in problems]


def error_path(node: Node, detail: ErrorDetails) -> DocumentPath:
    """The path of an error in the document; pydantic mixes the names of its types into the location."""
    path: list[str | int] = []
    parts = detail["loc"]
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part in node.children:
            path.append(part)
            node = node.children[part]
        elif is_last and detail["type"] == "missing":
            path.append(part)
    return tuple(path)


def _unknown_key(model: type[Noun], node: Node, path: DocumentPath) -> Finding:
    *parents, key = path
    known = [field.alias or name for name, field in _noun_at(model, parents).model_fields.items()]
    found = get_close_matches(str(key), known, n=1)
    remedy = f"did you mean {found[0]!r}?" if found else "it is ignored; remove it, or put additions under x-sirocco"
    return RULES["field-unknown"].finding(node.place_of_key(path), dotted_path(path), f"unknown field {key!r}", remedy)


def _noun_at(model: type[Noun], parents: Iterable[str | int]) -> type[Noun]:
    """The noun that the mapping at `parents` is read as."""
    for part in parents:
        for name, field in model.model_fields.items():
            if part in {name, field.alias}:
                model = next(_nouns_in(field.annotation), model)
                break
    return model


def _nouns_in(annotation: Any) -> Iterator[type[Noun]]:
    if isinstance(annotation, type) and issubclass(annotation, Noun):
        yield annotation
    for argument in get_args(annotation):
        yield from _nouns_in(argument)


def _drop(data: Any, path: DocumentPath) -> None:
    *parents, key = path
    for part in parents:
        data = data[part]
    # An alias makes one mapping appear at two paths; dropping the key once is enough.
    data.pop(key, None)


def _problem(node: Node, detail: ErrorDetails, goal_forms: str) -> Problem:
    path = error_path(node, detail)
    if detail["type"] == "missing":
        return Problem("field-missing", path, f"required field {path[-1]!r} is missing", "add it")
    name = dotted_path(path) or "the document"
    return Problem("field-value", path, f"{name} {_complaint(detail)}", _remedy(detail, goal_forms))


_COMPLAINTS = {
    "string_type": "should be text",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "bool_type": "should be true or false",
    "tuple_type": "should be a list",
    "mapping_type": "should be a mapping",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "too_short": "is too short",
}


def _complaint(detail: ErrorDetails) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    if detail["type"] == "value_error":
        return f"is not valid: {context['error']}"
    known = _COMPLAINTS.get(detail["type"])
    shown = _value_text(detail["input"])
    if known is not None:
        return f"{known}, not {shown}"
    if detail["type"] in {"enum", "literal_error"}:
        return f"cannot be {shown}"
    return f"cannot be {shown}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _remedy(detail: ErrorDetails, goal_forms: str) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    kind, value = detail["type"], detail["input"]
    if kind == "value_error" and detail["loc"][-1:] == ("goal",):
        return f"write one of the two: {goal_forms}"
    if kind in {"enum", "literal_error"}:
        options = [part.strip("'") for part in context["expected"].replace(" or ", ", ").split(", ")]
        return spelling_remedy(str(value), options)
    if kind == "string_type" and value is not None:
        return "put it in quotes"
    if kind in {"int_type", "float_type", "bool_type"} and isinstance(value, str):
        return "remove the quotes"
    if kind == "too_short":
        return f"give at least {context['min_length']}"
    if kind == "string_pattern_mismatch":
        return f"it must match {context['pattern']}"
    if kind in {"tuple_type", "mapping_type", "dict_type", "model_type"}:
        return "write it as a list" if kind == "tuple_type" else "write it as key: value"
    return "correct the value"


def _value_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
