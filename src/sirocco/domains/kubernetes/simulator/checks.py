"""What is wrong with a declared value, as the rest of a sentence that begins with its key; None if nothing is."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubesim.names import label_key_problem, label_value_problem
from kubesim.resource import REPLICATED, resource_type
from sirocco.domains.kubernetes.operation import Operation
from sirocco.domains.kubernetes.simulator.amounts import amount, seconds_ago
from sirocco.domains.kubernetes.simulator.health import armed_failure, bare_word, health_of, health_words
from sirocco.oasis.canonical import canonical_json

Checker = Callable[[Any], str | None]

NONE = "none"
"""What a scenario writes where something must be absent."""
_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_MOST_SPANS, _MOST_NODES = 1000, 200


def as_text(value: Any) -> str:
    """A declared scalar as Kubernetes stores it: text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def is_broken_line(line: str) -> bool:
    """Whether a line would be read back as several; the break at its end is part of every line."""
    return "\n" in line.removesuffix("\n")


def scalar(value: Any) -> str | None:
    """A text, a number, true or false."""
    return None if isinstance(value, str | int | float) else "is not a text"


def text(value: Any) -> str | None:
    """A text."""
    return None if isinstance(value, str) else "is not a text"


def flag(value: Any) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else "is neither true nor false"


def count(value: Any) -> str | None:
    """How many."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return None if good else "is not a whole number of at least 0"


def small_count(value: Any) -> str | None:
    """How many, if each takes up space."""
    return count(value) or (f"is more than {_MOST_NODES}" if value > _MOST_NODES else None)


def port(value: Any) -> str | None:
    """The number of a port."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536
    return None if good else "is not a port number"


def unit_amount(value: Any) -> str | None:
    """A number with or without a unit."""
    return None if amount(value) else "is not an amount such as 95% or 250Mi"


def time(value: Any) -> str | None:
    """A time relative to the start."""
    return None if seconds_ago(value) is not None else "is not a time such as 25_minutes_ago, -30m or now"


def mapping(value: Any) -> str | None:
    """A mapping of any JSON values."""
    return "is not a map" if not isinstance(value, Mapping) else json_data(value)


def any_list(value: Any) -> str | None:
    """A list of any JSON values."""
    return "is not a list" if not is_list(value) else json_data(value)


def json_data(value: Any) -> str | None:
    """Any JSON value."""
    try:
        canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        return "holds a value that JSON cannot express"
    return None


def scalars(value: Any) -> str | None:
    """A mapping of scalars."""
    if not isinstance(value, Mapping):
        return "is not a map of texts"
    return next((f"holds {key}, which {problem}" for key, item in value.items() if (problem := scalar(item))), None)


def resources(value: Any) -> str | None:
    """Limits and requests of a container."""
    if not isinstance(value, Mapping) or not set(value) <= {"limits", "requests"}:
        return "is not a map of limits and requests"
    return next((f"holds {key}, which {problem}" for key, item in value.items() if (problem := scalars(item))), None)


def labels(value: Any) -> str | None:
    """A mapping that is valid as labels."""
    problem = scalars(value)
    if problem:
        return problem
    for key, item in value.items():
        problem = label_key_problem(str(key)) or label_value_problem(as_text(item))
        if problem:
            return f"holds {key}={as_text(item)}: {problem}"
    return None


def label_value(value: Any) -> str | None:
    """A text that is valid as the value of a label."""
    problem = scalar(value) or label_value_problem(as_text(value))
    return f"is {as_text(value)!r}: {problem}" if problem else None


def annotations(value: Any) -> str | None:
    """A mapping that is valid as annotations."""
    problem = scalars(value)
    if problem:
        return problem
    wrong = next((key for key in value if label_key_problem(str(key).lower())), None)
    return None if wrong is None else f"holds the key {wrong!r}, which no annotation can have"


def base64_values(value: Any) -> str | None:
    """A mapping of texts in base64."""
    problem = scalars(value)
    if problem:
        return problem
    wrong = next((key for key, item in value.items() if not _is_base64(as_text(item))), None)
    return None if wrong is None else f"holds {wrong}, which is not base64; use stringData for plain text"


def _is_base64(content: str) -> bool:
    try:
        base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def names(value: Any) -> str | None:
    """A list of names."""
    good = is_list(value) and all(isinstance(item, str) and item for item in value)
    return None if good else "is not a list of names"


def lines(value: Any) -> str | None:
    """A list of lines."""
    if not is_list(value) or not all(isinstance(item, str) for item in value):
        return "is not a list of lines"
    return "holds a line with a line break in it" if any(map(is_broken_line, value)) else None


def output(value: Any) -> str | None:
    """A line, or a list of lines."""
    return lines([value] if isinstance(value, str) else value)


def environment(value: Any) -> str | None:
    """Variables as a mapping, or as a list like that of a container."""
    if is_list(value):
        good = all(isinstance(item, Mapping) and text(item.get("name")) is None for item in value)
        pairs = [(item["name"], {key: item[key] for key in item if key != "name"}) for item in value] if good else []
        value = {name: content.get("value", content) for name, content in pairs} if good else None
    if not isinstance(value, Mapping):
        return "is not a map of variables"
    wrong = next((name for name, item in value.items() if scalar(item) and key_reference(name, item) is None), None)
    return None if wrong is None else f"holds {wrong}, which is neither a text nor a key of a secret or configmap"


def key_reference(variable: str, item: Any) -> dict[str, Any] | None:
    """The source of a variable's value, a key of a secret or config map; by default the key has the variable's name.

    Written as `{valueFrom: {secretKeyRef: {name, key}}}`, or shorter without `valueFrom`, or with the name alone.
    """
    source = item.get("valueFrom", item) if isinstance(item, Mapping) else None
    if not isinstance(source, Mapping) or len(source) != 1 or (source is not item and len(item) != 1):
        return None
    ((kind, reference),) = source.items()
    if isinstance(reference, str) and reference:
        reference = {"name": reference, "key": variable}
    good = (
        kind in {"secretKeyRef", "configMapKeyRef"}
        and isinstance(reference, Mapping)
        and ({"name", "key"} <= set(reference) <= {"name", "key", "optional"})
    )
    return {kind: dict(reference)} if good else None


def containers(value: Any) -> str | None:
    """A list of containers: Kubernetes containers with their health and their logs."""
    if not is_list(value) or not all(isinstance(item, Mapping) and item.get("name") for item in value):
        return "is not a list of containers with names"
    for item in value:
        checks: Mapping[str, Checker] = {"env": environment, "status": status, "logs": output, "resources": resources}
        for key, check in checks.items():
            problem = check(item[key]) if key in item else None
            if problem:
                return f"holds {item['name']}, whose {key} {problem}"
    return json_data(value)


def conditions(value: Any) -> str | None:
    """A list of conditions."""
    allowed = {"type", "status", "reason", "message"}
    good = is_list(value) and all(
        isinstance(item, Mapping) and "type" in item and set(item) <= allowed and not any(map(scalar, item.values()))
        for item in value
    )
    return None if good else "is not a list of conditions with type, status, reason, message"


def status(value: Any) -> str | None:
    """The health of a workload or a container."""
    return None if health_of(value) else f"is {value!r}; supported: {', '.join(health_words())}"


def one_of(*words: str) -> Checker:
    """One of a few words, in any case and with any separators."""
    known = {bare_word(word) for word in words}

    def check(value: Any) -> str | None:
        good = isinstance(value, str) and bare_word(value) in known
        return None if good else f"is {value!r}; supported: {', '.join(words)}"

    return check


def any_of(*checks: Checker) -> Checker:
    """What one of the checks accepts; the message is the first one's."""

    def check(value: Any) -> str | None:
        problems = [one(value) for one in checks]
        return None if None in problems else problems[0]

    return check


def or_none(check: Checker) -> Checker:
    """What the check accepts, or the word for none."""
    return any_of(check, lambda value: None if value == NONE else "")


def failure(value: Any) -> str | None:
    """A failure that waits for an operation."""
    good = isinstance(value, str) and armed_failure(value) is not None
    return None if good else "is not FAILURE-on-OPERATION, such as image-pull-backoff-on-restart"


def scale_target(value: Any) -> str | None:
    """A workload whose size can be changed."""
    kind, _, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    row = resource_type(kind)
    good = row is not None and row.noun in REPLICATED and bool(name)
    return None if good else "is not a workload, such as deployment/NAME"


def reference(value: Any) -> str | None:
    """An object as kind/name."""
    kind, _, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    return None if resource_type(kind) and name else "is not an object, such as deployment/NAME"


def operation(value: Any) -> str | None:
    """An operation as assertions write it."""
    try:
        Operation.parse(value)
    except (ValueError, TypeError, AttributeError) as error:
        return f"is not an operation: {error}"
    return None


def event_list(value: Any) -> str | None:
    """A list of events."""
    allowed = {"type", "reason", "object", "message", "age", "count"}
    if not is_list(value):
        return "is not a list of events"
    for item in value:
        if not isinstance(item, Mapping) or not {"object", "message"} <= set(item) <= allowed:
            return "holds an event without object and message, or with keys beside " + ", ".join(sorted(allowed))
        kind, _, name = str(item["object"]).partition("/")
        if resource_type(kind) is None or not name or any(map(scalar, item.values())):
            return f"holds an event about {item['object']!r}, which is not an object such as deployment/NAME"
        if item.get("type", "Normal") not in {"Normal", "Warning"}:
            return f"holds an event of type {item['type']!r}; events are Normal or Warning"
        problem = ("age" in item and time(item["age"])) or ("count" in item and count(item["count"]))
        if problem:
            return f"holds an event whose age or count {problem}"
    return None


def metric(value: Any) -> str | None:
    """What describes a series: an amount, a time, a word, or a list of samples."""
    if isinstance(value, str | int | float):
        finite = isinstance(value, str) or amount(value) is not None
        return None if finite and value != "" else "is not a number or a word"
    if not is_list(value) or not value:
        return "is neither a value nor a list of samples"
    units = set()
    for item in value:
        good = isinstance(item, Mapping) and set(item) == {"t", "value"} and seconds_ago(item["t"]) is not None
        told = amount(item["value"]) if good else None
        if told is None:
            return "holds a sample that is not {t: TIME, value: AMOUNT}"
        units |= {told.unit} - {""}
    return f"holds samples in different units: {', '.join(sorted(units))}" if len(units) > 1 else None


def metric_name(name: str) -> str | None:
    """Whether a series can have the name."""
    return None if _METRIC_NAME.fullmatch(name) else "is not a name that a metric can have"


def series(value: Any) -> str | None:
    """Series by their names."""
    if not isinstance(value, Mapping):
        return "is not a map of series"
    for name, item in value.items():
        problem = metric_name(str(name)) or metric(item)
        if problem:
            return f"holds {name}, which {problem}"
    return None


def panels(value: Any) -> str | None:
    """The panels of a dashboard, by title or with their content."""
    good = is_list(value) and all(
        (isinstance(item, str) and item) or (isinstance(item, Mapping) and text(item.get("title")) is None)
        for item in value
    )
    return json_data(value) if good else "is not a list of panels with titles"


def span(value: Any) -> str | None:
    """A span with the spans that it called."""
    return _span_problem(value, [0])


def spans(value: Any) -> str | None:
    """Spans with the spans that they called."""
    if not is_list(value) or not value:
        return "is not a list of spans"
    seen = [0]
    return next((problem for item in value if (problem := _span_problem(item, seen))), None)


def _span_problem(value: Any, seen: list[int]) -> str | None:
    allowed = {"name", "operation", "service", "duration_ms", "children", "status", "attributes", "start_ms"}
    seen[0] += 1
    if seen[0] > _MOST_SPANS:
        return f"holds more than {_MOST_SPANS} spans"
    if not isinstance(value, Mapping) or not set(value) <= allowed:
        return "holds a span with keys beside " + ", ".join(sorted(allowed))
    if not isinstance(value.get("name", value.get("operation")), str) or amount(value.get("duration_ms")) is None:
        return "holds a span without a name or operation, or without duration_ms"
    problem = (
        mapping(value.get("attributes", {})) or scalar(value.get("service", "")) or scalar(value.get("status", ""))
    )
    if problem:
        return f"holds a span with a part that {problem}"
    children = value.get("children", ())
    if not is_list(children):
        return "holds a span whose children are not a list"
    return next((problem for child in children if (problem := _span_problem(child, seen))), None)


def stages(value: Any) -> str | None:
    """The stages of a pipeline, by name or with their outcome."""
    good = is_list(value) and all(
        isinstance(item, str) or (isinstance(item, Mapping) and isinstance(item.get("name"), str)) for item in value
    )
    return json_data(value) if good else "is not a list of stages with names"


def is_list(value: Any) -> bool:
    """Whether a value is a list."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
