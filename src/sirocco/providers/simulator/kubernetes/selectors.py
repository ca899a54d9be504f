"""Label and field selectors: the request's text read into a predicate, with the server's own words when it is wrong."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sirocco.providers.simulator.kubernetes.names import label_key_problem, label_value_problem
from sirocco.providers.simulator.kubernetes.status import ApiError, bad_request

Predicate = Callable[[Mapping[str, Any]], bool]
_Requirement = Callable[[Mapping[str, str]], bool]
_SYMBOLS = frozenset({",", "=", "==", "!=", "(", ")", "<", ">", "!"})
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
            raise bad_request(f"field label not supported: {path}" if noun in _FIELDS else _no_field(path))
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


def _requirements(rest: list[str]) -> list[_Requirement]:
    """All requirements of a selector's tokens; refusals use the server's own words and punctuation."""
    requirements = []
    while rest:
        if rest[0] in _SYMBOLS - {"!"}:
            raise bad_request(f"found '{rest[0]}', expected: !, identifier, or 'end of string'")
        requirements.append(_requirement(rest))
        if rest and rest[0] != ",":
            raise bad_request(f"found '{rest[0]}', expected: ',' or 'end of string'")
        if rest and rest.pop(0) and not rest:
            raise bad_request("found '', expected: identifier after ','")
    return requirements


def _requirement(rest: list[str]) -> _Requirement:
    """One requirement, taken off the front of the tokens."""
    absent = rest[0] == "!"
    if absent:
        rest.pop(0)
    key = _identifier(rest)
    if problem := label_key_problem(key):
        raise _unreadable(f'invalid label key "{key}": {problem}')
    if absent:
        return lambda labels: key not in labels
    if not rest or rest[0] == ",":
        return lambda labels: key in labels
    operator = rest.pop(0)
    if operator in {"in", "notin"}:
        values = _values(rest, key)
        return lambda labels: (key in labels and labels[key] in values) is (operator == "in")
    if operator not in {"=", "==", "!=", "<", ">"}:
        raise _unreadable(f"found '{operator}', expected: '=', '!=', '==', 'in', notin'")
    value = "" if not rest or rest[0] == "," else _checked(_identifier(rest), key)
    if operator in {"<", ">"}:
        return lambda labels: _compares(labels.get(key), operator, value)
    return lambda labels: (labels.get(key) == value) is (operator != "!=")


def _compares(value: str | None, operator: str, bound: str) -> bool:
    if value is None or not (value.lstrip("-").isdecimal() and bound.lstrip("-").isdecimal()):
        return False
    return int(value) < int(bound) if operator == "<" else int(value) > int(bound)


def _identifier(rest: list[str]) -> str:
    if not rest or rest[0] in _SYMBOLS:
        raise _unreadable(f"found '{rest[0] if rest else ''}', expected: identifier")
    return rest.pop(0)


def _values(rest: list[str], key: str) -> frozenset[str]:
    if not rest or rest[0] != "(":
        raise _unreadable(f"found '{rest[0] if rest else ''}' expected: '('")
    rest.pop(0)
    values = set()
    while rest and rest[0] != ")":
        if rest[0] == ",":
            rest.pop(0)
        else:
            values.add(_checked(_identifier(rest), key))
    if not rest:
        raise _unreadable("found '', expected: ',' or ')'")
    rest.pop(0)
    return frozenset(values)


def _checked(value: str, key: str) -> str:
    if problem := label_value_problem(value):
        raise _unreadable(f'invalid label value: "{value}": at key: "{key}": {problem}')
    return value


def _unreadable(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")


def _expression(row: Mapping[str, Any]) -> _Requirement:
    key, operator = str(row.get("key", "")), row.get("operator")
    values = frozenset(str(value) for value in row.get("values") or ())
    if operator == "In":
        return lambda labels: labels.get(key) in values
    if operator == "NotIn":
        return lambda labels: labels.get(key) not in values
    if operator == "DoesNotExist":
        return lambda labels: key not in labels
    return lambda labels: key in labels
