"""Label and field selectors: the request's text read into a predicate, with the server's own words for errors."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from kubesim.names import (
    label_value_problems,
    path_segment_problems,
    qualified_name_problems,
)
from kubesim.resource import by_noun
from kubesim.selection import labels_of
from kubesim.status import ApiError, bad_request

Predicate = Callable[[Mapping[str, Any]], bool]
LabelCondition = Callable[[Mapping[str, str]], bool]
_SYMBOLS = frozenset({",", "=", "==", "!=", "(", ")", "<", ">", "!"})
_COMPARISONS = frozenset({"=", "==", "!=", "<", ">"})
_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^\s=!(),<>]+")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_META = ("metadata.name", "metadata.namespace")
_EVENT = ("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
          "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
          "reportingComponent", "source", "type", *_META)  # fmt: skip
_FIELDS = by_noun({
    "pod": ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
            "status.podIP", "status.podIPs", "status.nominatedNodeName", *_META),
    "event": _EVENT,
    "secret": ("type", *_META),
    "namespace": ("status.phase", "metadata.name"),
    "node": ("spec.unschedulable", "metadata.name"),
    "replicationcontrollers": ("status.replicas", *_META),
    "job": ("status.successful", *_META),
    "certificatesigningrequests.certificates.k8s.io": ("spec.signerName", "metadata.name"),
})  # fmt: skip
"""The fields that the server indexes, for types that index more than their names."""
_NUMBERS = {"status.successful": "status.succeeded", "status.replicas": "status.replicas"}
_FLAGS = frozenset({"spec.unschedulable", "spec.hostNetwork"})
_OLDEST = 20
_HOST_NETWORK_SINCE = 28
_WORDED_ANEW = 34
"""The first release known to word refused selectors differently."""
_ALIASES = {"spec.host": "spec.nodeName"}


def label_selector(text: str, minor: int = _OLDEST) -> Predicate:
    """The predicate of the objects that a labelSelector selects; errors are worded as in the given release."""
    holds = label_condition(text, minor)
    return lambda item: holds(labels_of(item))


@lru_cache(maxsize=256)
def label_condition(text: str, minor: int = _OLDEST) -> LabelCondition:
    """The requirements of a labelSelector, equality-based and set-based, all of which must hold."""
    requirements = tuple(_Parser(text, minor).requirements())
    return lambda labels: all(holds(labels) for holds in requirements)


def selector_text(selector: Mapping[str, Any]) -> str:
    """An object's own selector as one text, in the order of its keys."""
    terms = [(str(key), f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for row in selector.get("matchExpressions") or ():
        key, operator = str(row.get("key", "")), str(row.get("operator", ""))
        values = ",".join(sorted(str(value) for value in row.get("values") or ()))
        text = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(
            operator, f"!{key}"
        )
        terms.append((key, text))
    return ",".join(text for _, text in sorted(terms))


def field_selector(noun: str, text: str, minor: int = _OLDEST, declared: tuple[str, ...] = ()) -> Predicate:
    """The predicate of a fieldSelector: only what the server indexes for the type, or its definition declares."""
    known = (*_FIELDS.get(noun, _META), *declared)
    if noun == "pod" and minor >= _HOST_NETWORK_SINCE:
        known = (*known, "spec.hostNetwork")
    terms = []
    for given, value, negated in _field_terms(text):
        path = _ALIASES.get(given, given) if noun == "pod" else given
        if path not in known:
            raise bad_request(f"field label not supported: {path}" if declared else _unknown_field(noun, path))
        terms.append((path, value, negated))
    return lambda item: all((_field(item, path) == value) is not negated for path, value, negated in terms)


def requested_name(text: str) -> str:
    """The object name that a fieldSelector asks for, or empty."""
    if "metadata.name" not in text:
        return ""
    try:
        terms = list(_field_terms(text))
    except ApiError:
        return ""
    names = (value for path, value, negated in terms if path == "metadata.name" and not negated)
    name = next(names, "")
    return "" if path_segment_problems(name) else name


def _unknown_field(noun: str, path: str) -> str:
    if noun == "job":
        return f"field label {json.dumps(path)} not supported for batchv1.Job"
    if noun == "cronjob":
        return f'field label {json.dumps(path)} not supported for "CronJob"'
    if noun in _FIELDS:
        return f"field label not supported: {path}"
    return f'{json.dumps(path)} is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field_terms(text: str) -> Iterator[tuple[str, str, bool]]:
    """Path, value and negation of each term; the server checks them in alphabetical order."""
    for part in sorted(re.findall(r"(?:[^\\,]|\\.|\\$)+", text)):
        found = re.match(r"(.*?)(!=|==|=)(.*)", part, re.DOTALL)
        if not found:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        path, operator, value = found.groups()
        yield path, _unescape_value(value), operator == "!="


def _unescape_value(value: str) -> str:
    wrong = re.search(r"\\([^\\,=]|$)", re.sub(r"\\[\\,=]", "", value))
    if wrong:
        raise bad_request(f"invalid field selector: invalid escape sequence: {wrong[0]}")
    bare = re.sub(r"\\[\\,=]", "", value)
    unescaped = next((letter for letter in bare if letter in ",="), None)
    if unescaped:
        raise bad_request(f"invalid field selector: unescaped character in value: {ord(unescaped)}")
    return re.sub(r"\\([\\,=])", r"\1", value)


def _field(item: Mapping[str, Any], path: str) -> str:
    if path == "source":
        component = (item.get("source") or {}).get("component")
        return str(component or item.get("reportingComponent") or "")
    value: Any = item
    for segment in _NUMBERS.get(path, path).split("."):
        value = value.get(segment) if isinstance(value, Mapping) else None
    if path in _FLAGS:
        return "true" if value else "false"
    if path in _NUMBERS:
        return str(value or 0)
    if path == "status.podIPs":
        return ",".join(str(row.get("ip", "")) for row in value or ())
    return "" if value is None else str(value)


class _Parser:
    """Reads a labelSelector from left to right; refusals use the server's own words and punctuation."""

    def __init__(self, text: str, minor: int) -> None:
        self._minor = minor
        self._rest: list[str] = _TOKEN.findall(text)
        self._rest.reverse()

    def requirements(self) -> Iterator[LabelCondition]:
        while self._rest:
            if not self._is_identifier() and self._next_token() != "!":
                raise bad_request(f"found '{self._next_token()}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            if not self._rest:
                return
            separator = self._rest.pop()
            if separator != ",":
                raise bad_request(f"found '{separator}', expected: ',' or 'end of string'")
            if not self._is_identifier() and self._next_token() != "!":
                raise bad_request(f"found '{self._next_token()}', expected: identifier after ','")

    def _next_token(self) -> str:
        return self._rest[-1] if self._rest else ""

    def _is_identifier(self) -> bool:
        return bool(self._rest) and self._rest[-1] not in _SYMBOLS

    def _requirement(self) -> LabelCondition:
        is_absent = self._next_token() == "!"
        if is_absent:
            self._rest.pop()
        key = self._identifier()
        if problems := qualified_name_problems(key):
            raise _unreadable_error(f"invalid label key {_quote_text(key)}: {'; '.join(problems)}")
        if self._next_token() in {"", ","}:
            return (lambda labels: key not in labels) if is_absent else (lambda labels: key in labels)
        operator = self._rest.pop()
        if operator in {"in", "notin"}:
            values = self._values(key)
            return lambda labels: (key in labels and labels[key] in values) is (operator == "in")
        if operator not in _COMPARISONS:
            known = "in, notin, =, ==, !=, gt, lt" if self._minor >= _WORDED_ANEW else "'=', '!=', '==', 'in', notin'"
            raise _unreadable_error(f"found '{operator}', expected: {known}")
        value = "" if self._next_token() in {"", ","} else self._identifier()
        if operator in {"<", ">"}:
            if not _INTEGER.fullmatch(value):
                raise _unreadable_error("for 'Gt', 'Lt' operators, the value must be an integer")
            return lambda labels: _compares(labels.get(key), operator, int(value))
        _require_value(key, value, self._minor)
        return lambda labels: (labels.get(key) == value) is (operator != "!=")

    def _identifier(self) -> str:
        if not self._is_identifier():
            raise _unreadable_error(f"found '{self._next_token()}', expected: identifier")
        return self._rest.pop()

    def _values(self, key: str) -> frozenset[str]:
        opening = self._rest.pop() if self._rest else ""
        if opening != "(":
            raise _unreadable_error(f"found '{opening}' expected: '('")
        first = self._next_token()
        if not self._is_identifier() and first not in {",", ")"}:
            raise _unreadable_error(f"found '{first}', expected: ',', ')' or identifier")
        values: set[str] = set()
        expects_value = True
        while self._next_token() != ")":
            if self._is_identifier() and expects_value:
                values.add(self._rest.pop())
                expects_value = False
                if self._next_token() not in {",", ")"}:
                    raise _unreadable_error(f"found '{self._next_token()}', expected: ',' or ')'")
            elif self._next_token() == ",":
                self._rest.pop()
                if expects_value or self._next_token() in {",", ")"}:
                    values.add("")
                expects_value = True
            else:
                raise _unreadable_error(f"found '{self._next_token()}', expected: ',', or identifier")
        self._rest.pop()
        for index, value in enumerate(sorted(values)):
            _require_value(key, value, self._minor, index)
        return frozenset(values)


def _compares(value: str | None, operator: str, bound: int) -> bool:
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        return False
    return int(value) < bound if operator == "<" else int(value) > bound


def _require_value(key: str, value: str, minor: int, index: int = 0) -> None:
    problems = label_value_problems(value)
    if problems and minor >= _WORDED_ANEW:
        raise _unreadable_error(f"values[{index}][{key}]: Invalid value: {_quote_text(value)}: {'; '.join(problems)}")
    if problems:
        raise _unreadable_error(
            f"invalid label value: {_quote_text(value)}: at key: {_quote_text(key)}: {'; '.join(problems)}"
        )


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _unreadable_error(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")
