"""Label and field selectors: the request's text read into a predicate, with the server's own words when it is wrong."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sirocco.providers.simulator.status import ApiError, bad_request

Predicate = Callable[[Mapping[str, Any]], bool]
_TOKEN = re.compile(r"\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)")
_FIELDS = {
    "pod": ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
            "status.podIP"),
    "event": ("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
              "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
              "source", "type"),
    "secret": ("type",),
    "namespace": ("status.phase",),
    "node": ("spec.unschedulable",),
    "replicaset": ("status.replicas",),
    "job": ("status.successful",),
}  # fmt: skip


def label_selector(text: str) -> Predicate:
    """The predicate of a labelSelector: equality and set based requirements, all of which must hold."""
    requirements = _requirements(_TOKEN.findall(text))
    return lambda item: all(holds(labels_of(item)) for holds in requirements)


def match_labels(selector: Mapping[str, Any]) -> Predicate:
    """The predicate of an object's own `matchLabels` and `matchExpressions`."""
    wanted = dict(selector.get("matchLabels") or {})
    expressions = [_expression(row) for row in selector.get("matchExpressions") or ()]

    def matches(item: Mapping[str, Any]) -> bool:
        labels = labels_of(item)
        return all(labels.get(key) == value for key, value in wanted.items()) and all(
            holds(labels) for holds in expressions
        )

    return matches


def field_selector(noun: str, text: str) -> Predicate:
    """The predicate of a fieldSelector; only the fields that the server indexes for the type are selectable."""
    terms = []
    for term in filter(None, (part.strip() for part in text.split(","))):
        path, negated, value = _field_term(term)
        if path not in {"metadata.name", "metadata.namespace", *_FIELDS.get(noun, ())}:
            raise bad_request(f'field label not supported: "{path}"' if noun in _FIELDS else _no_field(path))
        terms.append((path.split("."), negated, value))
    return lambda item: all((_field(item, path) == value) is not negated for path, negated, value in terms)


def requested_name(text: str) -> str:
    """The object name that a fieldSelector asks for, or empty."""
    for term in text.split(","):
        found = re.fullmatch(r"\s*metadata\.name\s*==?\s*(\S+)\s*", term)
        if found:
            return found.group(1)
    return ""


def labels_of(item: Mapping[str, Any]) -> Mapping[str, str]:
    """An object's labels."""
    return (item.get("metadata") or {}).get("labels") or {}


def _no_field(path: str) -> str:
    return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field_term(term: str) -> tuple[str, bool, str]:
    for operator in ("!=", "==", "="):
        path, found, value = term.partition(operator)
        if found:
            return path.strip(), operator == "!=", value.strip()
    raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")


def _field(item: Mapping[str, Any], path: list[str]) -> str:
    value: Any = item
    for segment in path:
        value = value.get(segment, "") if isinstance(value, Mapping) else ""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _requirements(tokens: list[str]) -> list[Callable[[Mapping[str, str]], bool]]:
    requirements = []
    rest = list(tokens)
    while rest:
        requirements.append(_requirement(rest))
        if rest:
            if rest[0] != ",":
                raise _unexpected(rest[0], "',' or 'end of string'", comma=True)
            rest.pop(0)
            if not rest:
                raise _unexpected("", "identifier after ','", comma=True)
    return requirements


def _requirement(rest: list[str]) -> Callable[[Mapping[str, str]], bool]:
    """One requirement, taken off the front of the tokens."""
    absent = rest[0] == "!"
    if absent:
        rest.pop(0)
    key = _word(rest)
    if absent:
        return lambda labels: key not in labels
    if not rest or rest[0] == ",":
        return lambda labels: key in labels
    operator = rest.pop(0)
    if operator in {"=", "=="}:
        value = _value(rest)
        return lambda labels: labels.get(key) == value
    if operator == "!=":
        value = _value(rest)
        return lambda labels: labels.get(key) != value
    if operator in {"in", "notin"}:
        values = _values(rest)
        return lambda labels: (key in labels and labels[key] in values) is (operator == "in")
    if operator in {"<", ">"}:
        bound = _value(rest)
        return lambda labels: _compares(labels.get(key), operator, bound)
    raise _unexpected(operator, "=, !=, ==, in, notin, <, >" if operator else "operator")


def _compares(value: str | None, operator: str, bound: str) -> bool:
    if value is None or not (value.lstrip("-").isdecimal() and bound.lstrip("-").isdecimal()):
        return False
    return int(value) < int(bound) if operator == "<" else int(value) > int(bound)


def _word(rest: list[str]) -> str:
    if not rest or rest[0] in {",", "=", "==", "!=", "(", ")", "<", ">", "!"}:
        raise _unexpected(rest[0] if rest else "", "!, identifier, or ',' or 'end of string'")
    return rest.pop(0)


def _value(rest: list[str]) -> str:
    if not rest or rest[0] == ",":
        return ""
    if rest[0] in {"=", "==", "!=", "(", ")", "<", ">", "!"}:
        raise _unexpected(rest[0], "identifier")
    return rest.pop(0)


def _values(rest: list[str]) -> frozenset[str]:
    if not rest or rest[0] != "(":
        raise _unexpected(rest[0] if rest else "", "'('")
    rest.pop(0)
    values = set()
    while rest and rest[0] != ")":
        if rest[0] == ",":
            rest.pop(0)
        else:
            values.add(_word(rest))
    if not rest:
        raise _unexpected("", "')'")
    rest.pop(0)
    return frozenset(values)


def _unexpected(found: str, expected: str, *, comma: bool = False) -> ApiError:
    if comma:
        return bad_request(f"found '{found}', expected: {expected}")
    return bad_request(f"unable to parse requirement: found '{found}' expected: {expected}")


def _expression(row: Mapping[str, Any]) -> Callable[[Mapping[str, str]], bool]:
    key, operator = str(row.get("key", "")), row.get("operator")
    values = frozenset(str(value) for value in row.get("values") or ())
    if operator == "In":
        return lambda labels: labels.get(key) in values
    if operator == "NotIn":
        return lambda labels: labels.get(key) not in values
    if operator == "DoesNotExist":
        return lambda labels: key not in labels
    return lambda labels: key in labels
